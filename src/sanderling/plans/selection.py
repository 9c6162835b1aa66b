"""Where a template's selection stands, below INSIDE or above it: at first, and as shards have chosen."""

from __future__ import annotations

from enum import StrEnum

import pyarrow as pa

from sanderling.figures.figures import OperatorId, Tally
from sanderling.plans.operator_ids import by_pair, by_reading, inside_first, order
from sanderling.plans.plan import StreamPlan, Template

# With fewer distinct conditions than this every reading is judged by each of them, at first.
FEW_CONDITIONS = 16
# With more than this it never is.
MOST_CONDITIONS = 64
# Where every reading meets every region, pairs are never cheaper; but there is a limit to the memory.
MOST_EVERYWHERE = 1_000


class First(StrEnum):
    """What is asked first of a reading."""

    WHERE = "where"
    INSIDE = "inside"


def distinct_constants(
    template: Template, constants: pa.Table, is_everywhere: bool = False
) -> pa.Table | None:
    """The constants of each distinct condition of a template; None if they are too many."""
    names = [] if template.where is None else sorted(template.where.of_query)
    if not names:
        return pa.table({"one": [0]})
    found = constants.select(names).group_by(names, use_threads=False).aggregate([])
    most = MOST_EVERYWHERE if is_everywhere else MOST_CONDITIONS
    return found if found.num_rows <= most else None


def first_at_first(conditions: int) -> First:
    """Few conditions: WHERE, since most readings go no further. Many: INSIDE, since most pairs never meet."""
    return First.WHERE if conditions <= FEW_CONDITIONS else First.INSIDE


def first_in_force(plan: StreamPlan, template: Template, figures: Tally | None) -> First:
    """As most shards have it; as all of them begin, if nothing has been told."""
    shards, inside = (_held(figures, of(template.id)) for of in (order, inside_first))
    if shards and inside is not None:
        return First.INSIDE if 2 * inside > shards else First.WHERE
    constants = next(c for t, c in zip(plan.templates, plan.constants, strict=True) if t.id == template.id)
    distinct = distinct_constants(template, constants)
    return First.INSIDE if distinct is None else first_at_first(distinct.num_rows)


def choice_words(template: Template, figures: Tally | None) -> tuple[str, ...]:
    """In how many shards WHERE comes first, and by which counts; nothing if there is no choice."""
    shards, inside = (_held(figures, of(template.id)) for of in (order, inside_first))
    if not shards or inside is None or template.is_nearest:
        return ()
    where = f"before INSIDE in {shards - inside} of {shards} shard{'' if shards == 1 else 's'}"
    readings, pairs = (_held(figures, of(template.id)) for of in (by_reading, by_pair))
    if readings is None or pairs is None:
        return (f"{where}, with too little counted to choose",)
    return (f"{where}: at the last look {readings:,} readings to judge, or {pairs:,} pairs",)


def _held(figures: Tally | None, operator: OperatorId) -> int | None:
    return None if figures is None else figures.of((operator,)).held
