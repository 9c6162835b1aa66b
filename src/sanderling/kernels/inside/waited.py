"""Who is waited for, and where they were and went: a region and an object each, against moves in time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.jit import jit, jit_bare
from sanderling.space.coverages import holds_place, plain_holds_place
from sanderling.space.geometry import Geometry


class Waiting(NamedTuple):
    """Each waits for an object in a region, from behind `after` to before `end`.

    `row` is the reading that the object had before the first move that counts, as far as is known, and
    `is_counted` says that there was one.
    """

    object: I64
    region: I64
    after: I64
    end: I64
    row: I64
    is_counted: Bools


class Met(NamedTuple):
    """By who waits, and move: whether its region held the object before, and after."""

    who: I64
    move: I64
    was: Bools
    is_: Bools


@jit_bare
def holds(geometry: Geometry, r: int, row: int, x: F64, y: F64) -> bool:
    if row < 0 or np.isnan(x[row]):
        return False
    kind, a, b, c, d = geometry.kind[r], geometry.a[r], geometry.b[r], geometry.c[r], geometry.d[r]
    return holds_place(kind, a, b, c, d, x[row], y[row])


@jit
def hang(objects: I64, n: int) -> tuple[I64, I64]:
    """By object the last who waits for it, and by who waits the one before; -1 is nobody."""
    head, behind = np.full(n, -1, np.int64), np.empty(len(objects), np.int64)
    for w in range(len(objects)):
        behind[w] = head[objects[w]]
        head[objects[w]] = w
    return head, behind


@jit
def meet(
    waiting: Waiting, head: I64, behind: I64, geometry: Geometry, tick: I64, object_: I64, old_row: I64,
    new_row: I64, x: F64, y: F64, until: int,
) -> Met:  # fmt: skip
    """Moves in order of time, of which those up to a tick are told, where a region held the object.

    Of a polygon, whether its bounds did.
    """
    mine, many, most = np.empty(len(tick), np.int64), 0, 0
    for m in range(len(tick)):
        w = head[object_[m]]
        if w >= 0:
            mine[many] = m
            many += 1
        while w >= 0:
            most += 1
            w = behind[w]
    who, move = np.empty(most, np.int64), np.empty(most, np.int64)
    was, is_ = np.empty(most, np.bool_), np.empty(most, np.bool_)
    n = 0
    for i in range(many):
        m = mine[i]
        w = head[object_[m]]
        while w >= 0:
            if tick[m] <= waiting.after[w]:
                waiting.row[w] = new_row[m]
            else:
                if not waiting.is_counted[w]:
                    waiting.row[w], waiting.is_counted[w] = old_row[m], True
                if tick[m] <= until and tick[m] < waiting.end[w]:
                    r = waiting.region[w]
                    before = holds(geometry, r, old_row[m], x, y)
                    after = holds(geometry, r, new_row[m], x, y)
                    if before or after:
                        who[n], move[n], was[n], is_[n] = w, m, before, after
                        n += 1
            w = behind[w]
    return Met(who[:n], move[:n], was[:n], is_[:n])


def plain_meet(
    waiting: Waiting, geometry: Geometry, tick: I64, object_: I64, old_row: I64, new_row: I64, x: F64, y: F64,
    until: int,
) -> list[tuple[int, int, bool, bool]]:  # fmt: skip
    """The reference twin of `meet`, in any order."""

    def is_held(r: int, row: int) -> bool:
        kind, a, b, c, d, _ = geometry
        return bool(
            row >= 0
            and not np.isnan(x[row])
            and plain_holds_place(kind[r], a[r], b[r], c[r], d[r], x[row], y[row])
        )

    found = []
    for w, (who, region, after, end, *_) in enumerate(zip(*waiting, strict=True)):
        mine = [m for m in range(len(tick)) if object_[m] == who]
        before, behind = [m for m in mine if tick[m] <= after], [m for m in mine if tick[m] > after]
        if before:
            waiting.row[w] = new_row[before[-1]]
        if behind:
            waiting.row[w], waiting.is_counted[w] = old_row[behind[0]], True
        for m in behind:
            was, is_ = is_held(region, old_row[m]), is_held(region, new_row[m])
            if tick[m] <= until and tick[m] < end and (was or is_):
                found.append((w, m, was, is_))
    return found
