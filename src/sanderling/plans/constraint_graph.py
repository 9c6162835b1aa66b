"""What a trigger asks of its variables two by two, and all that follows from it.

stated bounds ──► shortest paths ──► every pair of variables bounded in time, and in space where that follows

Arrays are [m, m] for one trigger of m variables, or [n, m, m] for n triggers of one shape, which differ in
their constants only. Times are whole microseconds, so that a strict bound is the one beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.space.sphere import HALF_WAY_ROUND

# No bound: so far from zero that sums of two stay apart from it, and do not overflow.
FOREVER = 1 << 61
# What follows from distances only narrows the search: rounding must not take a solution away.
SLACK = 1e-9
# On the globe nothing is farther; a little less, since there chords hardly grow with the distance.
ANY_DISTANCE = HALF_WAY_ROUND * (1 - 1e-6)
INT, FLOAT = "int", "float"
Numbers = int | float | I64 | F64  # one for all triggers, or one for each


@dataclass(frozen=True, slots=True)
class Compare:
    """`left(Vi) op right(Vj)`, or `left(Vi) - right(Vj) op constant`; columns are those of events, by number.

    `op` is one of = <> < <= > >=. Whole numbers are compared as such, others as doubles, where NaN is above
    all numbers and equals itself. NULL satisfies nothing.
    """

    i: int
    left: int
    op: str
    j: int
    right: int
    kind: str = INT
    is_difference: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """The bounds of each pair; `complete` draws the conclusions.

    after   t_j - t_i >= after[i, j], in microseconds; -FOREVER where nothing is asked
    until   t_j - t_i <= until[i, j]; FOREVER where nothing is asked
    near    distance(i, j) <= near[i, j], or < where strict; inf where nothing is asked
    far     distance(i, j) >= far[i, j], or > where strict; 0 where nothing is asked
    stated  what was asked of distances, which decides; near and far only narrow the search
    constants  by compare: of a difference
    is_globe   distances are metres on the globe

    Conditions on two variables that are no compares are not here: they are judged of what the search finds.
    """

    names: tuple[str, ...]
    after: I64
    until: I64
    near: F64
    near_strict: Bools
    far: F64
    far_strict: Bools
    stated_near: F64
    stated_far: F64
    compares: tuple[Compare, ...]
    constants: F64
    set_of: I64
    is_globe: bool = False

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def loose(self) -> I64:
        """By variable how long an event of it lives at most: until no other event can come for it."""
        lives: I64 = np.maximum(self.until.max(axis=-1), 0)
        return lives


class Contradiction(Exception):
    """Variables in a circle, by number, whose bounds leave no room; the last is the first again."""


class Apart(Exception):
    """Two variables, by number, that are to be nearer than they are to be apart."""


class Unbounded(Exception):
    """Two variables, by number, of which the second may come any time after the first."""


def free(
    names: Sequence[str], n: int | None = None, set_of: Sequence[int] | None = None, is_globe: bool = False
) -> Graph:
    """Nothing asked yet, of one trigger or of n."""
    m = len(names)
    shape = (m, m) if n is None else (n, m, m)
    after, until = np.full(shape, -FOREVER, np.int64), np.full(shape, FOREVER, np.int64)
    near, far = np.full(shape, np.inf), np.zeros(shape)
    for bounds in (after, until, near):
        bounds[..., range(m), range(m)] = 0
    no = np.zeros(shape, np.bool_)
    sets = np.full(m, -1, np.int64) if set_of is None else np.asarray(set_of, np.int64)
    return Graph(
        tuple(names), after, until, near, no, far, no.copy(), near.copy(), far.copy(), (),
        np.zeros((*shape[:-2], 0)), sets, is_globe,
    )  # fmt: skip


# ----- what is stated


def between(graph: Graph, i: int, j: int, least: Numbers | None = None, most: Numbers | None = None) -> None:
    """t_j - t_i in [least, most], beside what was said before."""
    if least is not None:
        _tighten(graph, i, j, -np.asarray(least, np.int64))
    if most is not None:
        _tighten(graph, j, i, np.asarray(most, np.int64))


def _tighten(graph: Graph, j: int, i: int, most: I64) -> None:
    graph.until[..., i, j] = np.minimum(graph.until[..., i, j], most)
    graph.after[..., j, i] = np.maximum(graph.after[..., j, i], -most)


def nearer(graph: Graph, i: int, j: int, radius: Numbers, is_strict: bool) -> None:
    """distance(i, j) <= radius, or < it, beside what was said before."""
    for a, b in ((i, j), (j, i)):
        _narrow(graph.stated_near[..., a, b], graph.near_strict[..., a, b], radius, is_strict, 1)


def further(graph: Graph, i: int, j: int, radius: Numbers, is_strict: bool) -> None:
    """distance(i, j) >= radius, or > it, beside what was said before."""
    for a, b in ((i, j), (j, i)):
        _narrow(graph.stated_far[..., a, b], graph.far_strict[..., a, b], radius, is_strict, -1)


def _narrow(bound: F64, was_strict: Bools, radius: Numbers, is_strict: bool, sign: int) -> None:
    """In place: the smaller bound (the larger, with sign -1); of equal ones the strict one."""
    new = np.asarray(radius, np.float64)
    is_tighter, is_equal = sign * new < sign * bound, new == bound
    was_strict[...] = np.where(is_tighter, is_strict, was_strict | (is_equal & is_strict))
    bound[...] = np.where(is_tighter, new, bound)


# ----- what follows


def complete(graph: Graph) -> Graph:
    """The same with all that follows. A contradiction, or a pair without a bound in time, is raised."""
    until = _shortest(graph.until)
    is_odd = np.diagonal(until, axis1=-2, axis2=-1) < 0
    if is_odd.any():
        raise Contradiction(*_cycle(graph.until[tuple(np.argwhere(is_odd)[0][:-1])]))
    if (is_endless := until >= FOREVER // 2).any():
        raise Unbounded(*np.argwhere(is_endless)[0][-2:].tolist())
    near = _near(graph.stated_near)
    if graph.is_globe:
        near = np.where(near >= ANY_DISTANCE, np.inf, near)
    far = _far(graph.stated_far, near)
    is_touching = (graph.stated_far == graph.stated_near) & (graph.far_strict | graph.near_strict)
    if (pair := _first((graph.stated_far > near) | is_touching)) is not None:
        raise Apart(*pair)
    return replace(graph, until=until, after=-np.swapaxes(until, -1, -2), near=near, far=far)


def _first(is_so: Bools) -> tuple[int, int] | None:
    """The first pair, of any trigger, that is so; the smaller number first."""
    found = np.argwhere(is_so)
    return tuple(sorted(found[0][-2:].tolist())) if len(found) else None


def _shortest(bounds: I64) -> I64:
    """Shortest paths, in whole numbers; a pair that no path joins stays FOREVER apart."""
    found = bounds.copy()
    for k in range(bounds.shape[-1]):
        first, second = found[..., :, k, None], found[..., None, k, :]
        is_path = (first < FOREVER // 2) & (second < FOREVER // 2)
        # Circles below zero would double with each step: what is impossible need not be more so.
        through = np.maximum(np.where(is_path, first + second, FOREVER), -FOREVER)
        found = np.minimum(found, through)
    return found


def _cycle(bounds: I64) -> tuple[int, ...]:
    """A circle of bounds whose sum is below zero."""
    m = len(bounds)
    if (bounds[range(m), range(m)] < 0).any():
        odd = int(np.argmax(bounds[range(m), range(m)] < 0))
        return (odd, odd)
    away, before = np.zeros(m, np.int64), np.full(m, -1)
    last = -1
    for _ in range(m):  # after m rounds only circles still go down
        last = -1
        for i, j in np.argwhere((bounds < FOREVER // 2) & ~np.eye(m, dtype=bool)).tolist():
            if away[i] + bounds[i, j] < away[j]:
                away[j], before[j], last = away[i] + bounds[i, j], i, j
    for _ in range(m):
        last = int(before[last])
    cycle = [last]
    while len(cycle) == 1 or cycle[-1] != last:
        cycle.append(int(before[cycle[-1]]))
    return tuple(reversed(cycle))


def _near(stated: F64) -> F64:
    """The shortest way over others is a bound too, made a little wider than it is.

    One whose square is no number narrows nothing: it would be looked for everywhere, cell by cell.
    """
    found = stated.copy()
    with np.errstate(over="ignore"):
        for k in range(stated.shape[-1]):
            found = np.minimum(found, (found[..., :, k, None] + found[..., None, k, :]) * (1 + SLACK))
        return np.where(np.isfinite((found * (1 + SLACK)) ** 2), found, np.inf)


def _far(stated: F64, near: F64) -> F64:
    """What is far from one is not near another that is near that one."""
    found = stated.copy()
    for k in range(stated.shape[-1]):
        through = stated[..., :, k, None] * (1 - SLACK) - near[..., None, k, :]
        found = np.maximum(found, through)
    found = np.maximum(found, np.swapaxes(found, -1, -2))
    found[..., range(stated.shape[-1]), range(stated.shape[-1])] = 0
    return found
