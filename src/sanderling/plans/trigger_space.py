"""Whether a trigger can be searched place by place, and how far from where it is an event has to be known.

The plane, or the flat map of the globe, is cut into tracts. A solution is told where the event is that
completes it, so an event has to be known as far away as one may be that comes with it or after it: its halo.
Where all pairs of variables are bounded in distance, all halos are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sanderling.arrays import F64
from sanderling.plans.constraint_graph import SLACK, Graph
from sanderling.plans.nodes import Variable
from sanderling.space.sphere import FOLD_STRETCH, MAP_SLACK

# A tract is at least so many halos wide. The wider, the fewer events are needed in two of them; the narrower,
# the more of them there are to share out. From two on an event reaches at most one neighbour each way.
SPAN = 8.0
# Squares of distances below this are not exact, so what is nearer than this counts as the same place.
LEAST = 1e-150
# So many triggers are routed by space. With more of them all cores have some, and no event is needed twice.
FEW = 16
# The halo of a trigger that one tract holds.
WHOLE = float("inf")


def unbounded_pair(graph: Graph) -> tuple[int, int] | None:
    """Two variables, by number, that may be any distance apart: the square of their bound is no number."""
    with np.errstate(over="ignore"):
        found = np.argwhere(~np.isfinite((graph.near * (1 + SLACK)) ** 2))
    return (int(found[0][0]), int(found[0][1])) if len(found) else None


def halos_of(graph: Graph, variables: Sequence[Variable], branches: int) -> list[float]:
    """By branch, of a completed graph without an unbounded pair; what always comes last needs none."""
    m = len(variables)
    is_waited_for = (graph.until >= 0) & ~np.eye(m, dtype=np.bool_)
    near = graph.near * FOLD_STRETCH + MAP_SLACK if graph.is_globe else graph.near
    reach = np.where(is_waited_for, near * (1 + SLACK) + LEAST, 0.0).max(axis=-1)
    return [max(float(reach[v]) for v in range(m) if variables[v].branch == b) for b in range(branches)]


def side_of(halo: F64) -> F64:
    """How wide tracts are: a power of two, so that triggers with similar halos have the same."""
    _, exponent = np.frexp(SPAN * halo)
    return np.where(halo == WHOLE, WHOLE, np.where(halo > 2 * LEAST, np.ldexp(1.0, exponent), 1.0))
