"""A completed constraint graph as what the kernels read: by trigger, variable and kind of variable."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I64
from sanderling.kernels.trigger.agree import EQUAL, LESS, MORE, Pairs, Rules
from sanderling.plans.constraint_graph import FLOAT, Graph
from sanderling.space.metric import squares_within
from sanderling.space.sphere import FOLD_STRETCH, MAP_SLACK

Column = TypeVar("Column", np.int64, np.float64, np.bool_)

TAKES = {"=": EQUAL, "<>": LESS | MORE, "<": LESS, "<=": LESS | EQUAL, ">": MORE, ">=": MORE | EQUAL}
# What follows from distances only narrows the search: rounding must not take a solution away.
WIDER = 1 + 1e-9


@np.errstate(over="ignore")  # the square of what is far is without end
def rules_of(graph: Graph) -> Rules:
    """Of a graph for several triggers, [n, m, m], or for one."""
    set_of = graph.set_of
    kind_of = _kinds(set_of)
    first_of = np.searchsorted(kind_of, np.arange(kind_of[-1] + 1))
    last_of = np.searchsorted(kind_of, np.arange(kind_of[-1] + 1), side="right") - 1
    after, until, near = _by_trigger(graph.after), _by_trigger(graph.until), _by_trigger(graph.near)
    is_pair = ~np.eye(len(set_of), dtype=np.bool_)
    until_kinds = _widest(np.where(is_pair, until, np.iinfo(np.int64).min), kind_of)
    after_kinds = -_widest(np.where(is_pair, -after, np.iinfo(np.int64).min + 1), kind_of)
    reach = _widest(np.where(is_pair, near, -np.inf), kind_of) * WIDER
    is_other = (kind_of[first_of] != kind_of[first_of][:, None]) | np.diag(last_of > first_of)
    lasts = np.where(is_other & (until_kinds >= 0), until_kinds, -1).max(axis=-1)
    # Cells are of the plane, or of the flat map.
    cells = reach * FOLD_STRETCH + MAP_SLACK if graph.is_globe else reach
    side = np.where(is_other & np.isfinite(reach), cells, 0.0).max(axis=(-1, -2))
    return Rules(
        np.stack([first_of, last_of, last_of - first_of + 1], axis=1),
        _turns(after_kinds, until_kinds, reach), np.stack([after_kinds, until_kinds], axis=-1),
        np.stack([cells, squares_within(reach, graph.is_globe)], axis=-1), lasts,
        np.where(side > 0, side, 1.0), _pairs(graph, kind_of, after, until),
    )  # fmt: skip


def _turns(after: I64, until: I64, reach: F64) -> I64:
    """By trigger and kind the others, the one that the fewest are within first: of the shortest time, then
    nearest.
    """
    long = until.astype(np.float64) - after.astype(np.float64)
    return np.ascontiguousarray(np.lexsort((reach, long), axis=-1))


def _by_trigger(array: npt.NDArray[Column]) -> npt.NDArray[Column]:
    return np.ascontiguousarray(array if array.ndim == 3 else array[None])


def _kinds(set_of: I64) -> I64:
    """By variable; those of a set stand together and are one."""
    is_new = np.append(True, (set_of[1:] < 0) | (np.diff(set_of) != 0))
    kinds: I64 = np.cumsum(is_new) - 1
    return kinds


def _widest(bounds: npt.NDArray[Column], kind_of: I64) -> npt.NDArray[Column]:
    """By two kinds the largest bound of their variables."""
    starts = np.searchsorted(kind_of, np.arange(kind_of[-1] + 1))
    found = np.maximum.reduceat(np.maximum.reduceat(bounds, starts, axis=-1), starts, axis=-2)
    return np.ascontiguousarray(found)


def _pairs(graph: Graph, kind_of: I64, after: I64, until: I64) -> Pairs:
    near, far = (
        squares_within(_by_trigger(bound), graph.is_globe) for bound in (graph.stated_near, graph.stated_far)
    )
    near_strict, far_strict = _by_trigger(graph.near_strict), _by_trigger(graph.far_strict)
    return Pairs(
        np.stack([kind_of, graph.set_of], axis=1),
        np.stack([after, until], axis=-1),
        np.stack([near, near_strict, far, far_strict], axis=-1),
        *_compares(graph, len(after)),
    )


def _compares(graph: Graph, n: int) -> tuple[I64, I64, F64]:
    """Where those of two variables begin, what each compares, and by trigger its constant."""
    m = len(graph.set_of)
    order = sorted(range(len(graph.compares)), key=lambda k: (graph.compares[k].i, graph.compares[k].j))
    some = [graph.compares[k] for k in order]
    codes = np.array([c.i * m + c.j for c in some], np.int64)
    # With one more column, for where those of the last variable end.
    wanted = np.arange(m)[:, None] * m + np.arange(m + 1)
    rows = [(c.left, c.right, TAKES[c.op], c.kind == FLOAT, c.is_difference) for c in some]
    constants = np.asarray(graph.constants, np.float64).reshape(n, len(some))[:, order]
    return (
        np.searchsorted(codes, wanted),
        np.array(rows, np.int64).reshape(-1, 5),
        np.ascontiguousarray(constants),
    )
