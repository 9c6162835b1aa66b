"""Whether two events may stand for two variables of a trigger: times, distances, values.

Variables that are interchangeable (those of a set) are one kind, any other variable is a kind of its own.
What is asked of two kinds is the widest of what is asked of their variables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.kernels.jit import jit
from sanderling.kernels.live import Live

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LESS, EQUAL, MORE = 1, 2, 4  # an operator is the sum of what it takes


class Pairs(NamedTuple):
    """What decides, by trigger and two variables; distances squared."""

    after: I64
    until: I64
    near: F64
    near_strict: Bools
    far: F64
    far_strict: Bools


class Compares(NamedTuple):
    """Of values; those of variables u and v stand from start[u, v] to start[u, v + 1]."""

    start: I64
    left: I64
    right: I64
    takes: I64
    is_float: Bools
    is_difference: Bools
    constant: F64  # by trigger and compare


class Rules(NamedTuple):
    """All that triggers of one shape ask, by trigger and two kinds, or two variables."""

    kind_of: I64  # by variable
    set_of: I64  # by variable, -1: none
    first_of: I64  # by kind
    last_of: I64
    size_of: I64
    after: I64  # by trigger and two kinds, as are the next three
    until: I64
    reach: F64
    reach2: F64
    lasts: I64  # by trigger and kind: how long others may still come; -1: none may
    side: F64  # by trigger: of a cell
    pairs: Pairs
    compares: Compares


@jit
def takes_order(takes: int, is_less: bool, is_equal: bool) -> bool:
    return (takes & (LESS if is_less else EQUAL if is_equal else MORE)) != 0


@jit
def takes_doubles(takes: int, a: float, b: float) -> bool:
    """NaN is above all numbers, and equals itself."""
    if np.isnan(a) or np.isnan(b):
        return takes_order(takes, not np.isnan(a), np.isnan(a) and np.isnan(b))
    return takes_order(takes, a < b, a == b)


@jit
def values_agree(c: Compares, live: Live, t: int, u: int, a: int, v: int, b: int) -> bool:
    for k in range(c.start[u, v], c.start[u, v + 1]):
        i, j = c.left[k], c.right[k]
        if live.is_null[a, i] or live.is_null[b, j]:
            return False
        if c.is_float[k]:
            x, y = live.value[a, i : i + 1].view(np.float64)[0], live.value[b, j : j + 1].view(np.float64)[0]
            if c.is_difference[k]:
                x, y = x - y, c.constant[t, k]
            if not takes_doubles(c.takes[k], x, y):
                return False
        else:
            p, q = live.value[a, i], live.value[b, j]
            if c.is_difference[k]:
                if not takes_doubles(c.takes[k], float(p - q), c.constant[t, k]):
                    return False
            elif not takes_order(c.takes[k], p < q, p == q):
                return False
    return True


@jit
def squared(live: Live, a: int, b: int) -> float:
    dx, dy = live.x[a] - live.x[b], live.y[a] - live.y[b]
    return float(dx * dx + dy * dy)


@jit
def agree(rules: Rules, live: Live, t: int, u: int, a: int, v: int, b: int) -> bool:
    """Whether entry a as variable u and entry b as variable v satisfy all that is asked of the two."""
    p = rules.pairs
    gap = live.ts[b] - live.ts[a]
    if gap < p.after[t, u, v] or gap > p.until[t, u, v]:
        return False
    # Different events, in event order: each set is found once.
    if rules.set_of[u] >= 0 and rules.set_of[u] == rules.set_of[v]:
        first, second = (a, b) if u < v else (b, a)
        if live.order[first] >= live.order[second]:
            return False
    near, far = p.near[t, u, v], p.far[t, u, v]
    if near < np.inf:
        d2 = squared(live, a, b)
        if not (d2 < near if p.near_strict[t, u, v] else d2 <= near):
            return False
    if far > 0 or p.far_strict[t, u, v]:
        d2 = squared(live, a, b)
        if not (d2 > far if p.far_strict[t, u, v] else d2 >= far):
            return False
    c = rules.compares
    return values_agree(c, live, t, u, a, v, b) and values_agree(c, live, t, v, b, u, a)


@jit
def may_meet(rules: Rules, live: Live, t: int, c: int, a: int, d: int, b: int) -> bool:
    """Whether entry a of kind c and entry b of kind d can be in one solution, as far as the two show."""
    gap = live.ts[b] - live.ts[a]
    if gap < rules.after[t, c, d] or gap > rules.until[t, c, d]:
        return False
    reach2 = rules.reach2[t, c, d]
    if reach2 < np.inf and not squared(live, a, b) <= reach2:
        return False
    if rules.size_of[c] > 1 or rules.size_of[d] > 1:
        return True
    return agree(rules, live, t, rules.first_of[c], a, rules.first_of[d], b)
