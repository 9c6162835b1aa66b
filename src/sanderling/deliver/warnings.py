"""What whoever reads the summary should look at: rows that were refused, columns and queries of nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sanderling.figures.arrivals import Arrivals
from sanderling.plans.plan import ALWAYS, Plan, StreamPlan

SHOWN = 5


def warnings_of(plan: Plan, arrivals: Mapping[str, Arrivals], told: npt.NDArray[np.int64]) -> list[str]:
    """`told`: how many updates there were, by number of query; those behind its end had none."""
    came = [(s, arrivals.get(s.stream.name, Arrivals())) for s in plan.streams]
    empty = [warning for s, of in came if of.rows > of.unreadable for warning in _of_nothing(s, of)]
    return [*refusals_in(arrivals), *empty, *_silent(plan, told)]


def refusals_in(arrivals: Mapping[str, Arrivals]) -> list[str]:
    """Streams most of whose rows were refused."""
    found = (came.warning(stream) for stream, came in sorted(arrivals.items()))
    return [warning for warning in found if warning is not None]


def _of_nothing(stream: StreamPlan, came: Arrivals) -> list[str]:
    """Columns that are asked about and have never had a value, focal objects that nobody has heard of."""
    name, found = stream.stream.name, list[str]()
    asked = {column for template in stream.templates for column in template.of_reading}
    columns = [c.name for c in stream.stream.columns if c.name in asked and c.name not in came.filled]
    if columns:
        found.append(f'{_listed(columns)} of "{name}" was NULL in every reading: look at its type')
    focals = stream.focals.to_pylist() if len(stream.focals) <= SHOWN * 20 else []
    unseen = [str(key) for key in focals if key not in came.met]
    if unseen:
        found.append(f'there was no reading of {_listed(unseen)} in "{name}", whom queries follow')
    return found


def _silent(plan: Plan, told: npt.NDArray[np.int64]) -> list[str]:
    queries = plan.queries
    counts = np.zeros(len(queries), np.int64)
    counts[: len(told)] = told[: len(queries)]
    names = [str(queries.names[int(n)]) for n in np.flatnonzero((counts == 0) & (queries.end != ALWAYS))]
    if not names:
        return []
    if len(names) == 1:
        return [f'"{names[0]}" never had a row']
    return [f"{len(names):,} queries never had a row: {_listed(names)}"]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
