"""What shards do for a query, in words: for all of it, or for a branch of a composed one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sanderling.clock import show_duration
from sanderling.figures.figures import OperatorId, Tally
from sanderling.plan.explain.outline import Outline
from sanderling.plans import operator_ids
from sanderling.plans.plan import (
    NEVER,
    OutputColumn,
    Over,
    PlannedQuery,
    StreamPlan,
    Template,
)
from sanderling.plans.selection import First, choice_words, first_in_force
from sanderling.space.coverages import is_everywhere, word_of
from sanderling.space.outlines.outline import word_of as outline_word
from sanderling.space.shapes.cap import CAP
from sanderling.space.shapes.disc import DISC
from sanderling.space.shapes.polygon import POLYGON

SHARD = "shard"
WIDE = "wide: compared with every reading"


def merged_words(plan: StreamPlan, template: Template, query: PlannedQuery, of: str = "") -> str | None:
    """What has to be known of all shards before its rows are known."""
    if template.is_nearest:
        return f"the {plan.nearest.k[_asked(plan, template, query)]} nearest{of} over all shards"
    if template.window is not None and template.window.is_of_all:
        return f"the last {template.window.reach} readings{of} over all shards"
    return None


def parts_of(
    plan: StreamPlan, template: Template, query: PlannedQuery, shared: str = "", figures: Tally | None = None
) -> tuple[Outline, ...]:
    """Side by side, from the select list down to the readings; what is asked first stands lower."""
    stream = plan.stream
    number, name, shown = template.id, stream.name, ", ".join(map(_item, template.outputs))
    clock = f"tick {show_duration(stream.tick_us)}, lateness {show_duration(stream.lateness_us)}"
    if stream.idle_after_us is not None:
        clock += f", partition {stream.partition}, idle_after {show_duration(stream.idle_after_us)}"
    if stream.ahead_us is not None:
        clock += f", ahead {show_duration(stream.ahead_us)}"
    warning = None if figures is None else figures.warning(name)
    join = Outline(
        _join(plan, template, query), SHARD, (shared,) if shared else (),
        operators=(_shared(template)(name), operator_ids.inside(number)),
    )  # fmt: skip
    asked = [join]
    if template.where is not None:
        where = Outline(
            f"where {template.where.words}",
            SHARD,
            choice_words(template, figures),
            operators=(operator_ids.where(number),),
        )
        is_below = first_in_force(plan, template, figures) is First.WHERE
        asked = [join, where] if is_below else [where, join]
    return (
        Outline(f"select {shown or 'nothing'}", SHARD, operators=(operator_ids.select(number),)),
        *asked,
        Outline(
            f"{_readings(template)} of {name}: {clock}", SHARD, (warning,) if warning else (),
            operators=_sources(name, template),
        ),
    )  # fmt: skip


def _shared(template: Template) -> Callable[[str], OperatorId]:
    """What works for all queries like it of a stream together."""
    if template.is_nearest:
        return operator_ids.nearest_all
    return {
        Over.NOW: operator_ids.inside_all,
        Over.WINDOW: operator_ids.windows_all,
        Over.EVENTS: operator_ids.sightings_all,
    }[template.over]


def _sources(stream: str, template: Template) -> tuple[OperatorId, ...]:
    """What readings are counted as; all windows of a stream hold one history."""
    if template.window is not None:
        return operator_ids.window(stream, template.window), operator_ids.history(stream)
    return ((operator_ids.events if template.is_sighted else operator_ids.readings)(stream),)


def _mine(plan: StreamPlan, template: Template, query: PlannedQuery) -> npt.NDArray[np.bool_]:
    """Its regions."""
    return np.asarray((plan.regions.query == query.id) & (plan.regions.template == template.id))


def _asked(plan: StreamPlan, template: Template, query: PlannedQuery) -> int:
    """Its row among kNN queries."""
    first = np.flatnonzero(_mine(plan, template, query))[0]
    return int(np.flatnonzero(plan.nearest.region == first)[0])


def _join(plan: StreamPlan, template: Template, query: PlannedQuery) -> str:
    """How readings and regions, or places, find each other."""
    regions, mine, stream = plan.regions, _mine(plan, template, query), plan.stream.name
    of_table = bool((regions.row[mine] >= 0).all())
    kind = POLYGON if of_table else int(regions.kind[mine][0])  # a table may be empty
    around = mine & (regions.row >= 0) & np.isin(regions.kind, [DISC, CAP])
    shape = word_of(POLYGON) if of_table else _word(plan, int(np.flatnonzero(mine)[0]))
    motion = "moving " if not of_table and regions.focal[mine][0] >= 0 else ""
    if template.is_nearest:
        asked = _asked(plan, template, query)
        to = "a focal object" if plan.nearest.focal[asked] >= 0 else "a place"
        among = "" if is_everywhere(kind) else f" inside {motion}{shape}"
        search = f"one search for all {len(plan.nearest)} kNN queries of {stream}"
        return f"knn: {plan.nearest.k[asked]} nearest to {to}{among}, {search}"
    if around.any():
        count = int((around & (regions.gone == NEVER)).sum())
        what = f"circles around {count} place{'' if count == 1 else 's'} of a table"
        return f"inside: {what}, one grid join for all {_alike(plan, template)} regions of {stream}"
    what = _of_table(plan, mine) if of_table else f"{motion}{shape}"
    if template.is_waited:
        return f"inside: {what}, looked at for those only that a run waits for"
    return f"inside: {what}, one grid join for all {_alike(plan, template)} regions of {stream}"


def _of_table(plan: StreamPlan, mine: npt.NDArray[np.bool_]) -> str:
    """Regions of a table that are there; and how many of them have no end."""
    there = mine & (plan.regions.gone == NEVER)
    count, wide = int(there.sum()), int(np.isinf(plan.regions.a[there]).sum())
    words = f"{count} region{'' if count == 1 else 's'} of a table"
    return f"{words} ({wide} {WIDE})" if wide else words


def _word(plan: StreamPlan, region: int) -> str:
    """What it is called; of what has no end, that every reading is compared with it."""
    outline, kind = plan.regions.wkb[region], int(plan.regions.kind[region])
    if outline is None:
        return word_of(kind)
    is_wide = bool(np.isinf(plan.regions.a[region]))
    return outline_word(outline) + (f" ({WIDE})" if is_wide else "")


def _alike(plan: StreamPlan, template: Template) -> int:
    """Regions that are asked for together: of NOW, of windows, or of triggers."""
    is_alike = plan.is_over(template.over) & (plan.regions.gone == NEVER) & ~plan.is_waited
    return int(is_alike.sum()) - (len(plan.nearest) if template.over is Over.NOW else 0)


def _readings(template: Template) -> str:
    """Which readings are looked at."""
    if template.window is not None:
        return f"window of readings, {template.window.words},"
    return "all readings" if template.is_sighted else "last readings"


def _item(output: OutputColumn) -> str:
    return named(output.expression.words, output.name)


def named(words: str, name: str) -> str:
    """An item of a select list as its author wrote it, with its name where that is another."""
    return words if name in (words, words.rsplit(".", 1)[-1]) else f"{words} AS {name}"
