"""Whether two events may stand for two variables of a trigger: times, distances, values.

Variables that are interchangeable (those of a set) are one kind, any other variable is a kind of its own.
What is asked of two kinds is the widest of what is asked of their variables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64
from sanderling.kernels.jit import jit_bare
from sanderling.kernels.trigger.live import BOUND, NULLS, ORDER, TS, Live
from sanderling.space.metric import apart

LESS, EQUAL, MORE = 1, 2, 4  # an operator is the sum of what it takes
KIND_OF, SET_OF = 0, 1  # columns of `variables`
NO_SET = -1
AFTER, UNTIL = 0, 1  # columns of times
NEAR, NEAR_STRICT, FAR, FAR_STRICT = range(4)  # columns of `rings`
LEFT, RIGHT, TAKES, IS_FLOAT, IS_DIFFERENCE = range(5)  # columns of `compares`
FIRST_OF, LAST_OF, SIZE_OF = range(3)  # columns of `kinds`
RADIUS, SQUARED = 0, 1  # columns of `reach`


class Pairs(NamedTuple):
    """What decides, by trigger and two variables; distances squared."""

    variables: I64
    times: I64
    rings: F64
    start: I64  # compares of u and v stand from start[u, v] to start[u, v + 1]
    compares: I64
    constant: F64  # by trigger and compare


class Rules(NamedTuple):
    """What triggers of one shape ask, by trigger and two kinds; and by two variables."""

    kinds: I64  # by kind
    turns: I64  # by trigger and kind: in which turn others are looked for, those that are rarest first
    times: I64
    reach: F64
    lasts: I64  # by trigger and kind: how long others may still come; -1: none may
    side: F64  # by trigger: of a cell
    pairs: Pairs


@jit_bare
def takes_order(takes: int, is_less: bool, is_equal: bool) -> bool:
    return (takes & (LESS if is_less else EQUAL if is_equal else MORE)) != 0


@jit_bare
def takes_doubles(takes: int, a: float, b: float) -> bool:
    """NaN is above all numbers, and equals itself."""
    if np.isnan(a) or np.isnan(b):
        return takes_order(takes, not np.isnan(a), np.isnan(a) and np.isnan(b))
    return takes_order(takes, a < b, a == b)


@jit_bare
def values_agree(pairs: Pairs, whole: I64, t: int, u: int, a: int, v: int, b: int) -> bool:
    first = BOUND + pairs.variables[-1, KIND_OF] + 1
    for k in range(pairs.start[u, v], pairs.start[u, v + 1]):
        c, constant = pairs.compares[k], pairs.constant[t, k]
        if (whole[a, NULLS] >> c[LEFT]) & 1 or (whole[b, NULLS] >> c[RIGHT]) & 1:
            return False
        p, q = first + c[LEFT], first + c[RIGHT]
        if c[IS_FLOAT]:
            x, y = whole[a, p : p + 1].view(np.float64)[0], whole[b, q : q + 1].view(np.float64)[0]
            if c[IS_DIFFERENCE]:
                x, y = x - y, constant
            if not takes_doubles(c[TAKES], x, y):
                return False
        elif c[IS_DIFFERENCE]:
            if not takes_doubles(c[TAKES], float(whole[a, p] - whole[b, q]), constant):
                return False
        elif not takes_order(c[TAKES], whole[a, p] < whole[b, q], whole[a, p] == whole[b, q]):
            return False
    return True


@jit_bare
def between(place: F64, a: int, b: int) -> float:
    """The square of the distance between two entries."""
    return apart(place[a, 0], place[a, 1], place, a, place, b)


@jit_bare
def agree(pairs: Pairs, live: Live, t: int, u: int, a: int, v: int, b: int) -> bool:
    """Whether entry a as variable u and entry b as variable v satisfy all that trigger t asks of the two."""
    whole, gap = live.whole, live.span[b, TS] - live.span[a, TS]
    if gap < pairs.times[t, u, v, AFTER] or gap > pairs.times[t, u, v, UNTIL]:
        return False
    # Different events, in event order: each set is found once.
    if pairs.variables[u, SET_OF] != NO_SET and pairs.variables[u, SET_OF] == pairs.variables[v, SET_OF]:
        first, second = (a, b) if u < v else (b, a)
        if whole[first, ORDER] >= whole[second, ORDER]:
            return False
    near, far = pairs.rings[t, u, v, NEAR], pairs.rings[t, u, v, FAR]
    far_strict = pairs.rings[t, u, v, FAR_STRICT] != 0
    if near < np.inf or far > 0 or far_strict:
        d2 = between(live.place, a, b)
        if near < np.inf and not (d2 < near if pairs.rings[t, u, v, NEAR_STRICT] != 0 else d2 <= near):
            return False
        if (far > 0 or far_strict) and not (d2 > far if far_strict else d2 >= far):
            return False
    if len(pairs.compares) == 0:
        return True
    return values_agree(pairs, whole, t, u, a, v, b) and values_agree(pairs, whole, t, v, b, u, a)
