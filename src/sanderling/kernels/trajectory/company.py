"""Company, tick by tick: pairs that come near, that part, and that have stayed for long enough.

moved ──► each is compared with those it may be near ──► far from its anchor? it looks around
pairs that have come wait in a line; when one is due and has stayed, it is told

Company that lasts costs nothing as long as none of the two moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.trajectory.crowd import Crowd, bucket_in, line_of, settle, square
from sanderling.kernels.trajectory.partners import (
    APART,
    Partners,
    add_to,
    found_in,
    has_room,
    take_from,
    with_room,
)
from sanderling.kernels.trajectory.waiting import Waiting, go_on, is_due, is_full, wait, widened


class Asked(NamedTuple):
    """By query, as squares: how far company reaches; how far apart the anchors of two may be that know each
    other; how far from its anchor one may be. How long company has to last. Both sides may be one.
    """

    reach: F64
    wide: F64
    still: F64
    stay: I64
    is_self: bool


class Moves(NamedTuple):
    """By query, then tick: where an object is from then on, and in which cell."""

    tick: I64
    one: I64
    at: F64
    cell: I64


class Told(NamedTuple):
    """Left, right, tick, sign of what is told. `looked`: how many distances were worked out."""

    rows: I64
    looked: int


@jit
def _longer(rows: I64, n: int, more: int) -> I64:
    found = np.empty((2 * (n + more), 4), np.int64)
    found[:n] = rows[:n]
    return found


@jit_bare
def _tell(rows: I64, n: int, crowd: Crowd, is_self: bool, one: int, other: int, tick: int, sign: int) -> int:
    """The left one first; where both sides are one, a pair is told either way round."""
    if not is_self and crowd.party[one] & 1:
        one, other = other, one
    rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3] = one, other, tick, sign
    if not is_self or one == other:
        return n + 1
    rows[n + 1, 0], rows[n + 1, 1], rows[n + 1, 2], rows[n + 1, 3] = other, one, tick, sign
    return n + 2


@jit_bare
def _tell_first(
    crowd: Crowd, partners: Partners, waiting: Waiting, query: int, stay: int, is_self: bool, rows: I64,
    n: int,
) -> int:  # fmt: skip
    """The first pair of a line, if it has stayed, at the tick at which it was due."""
    at = waiting.first[query]
    one, other, since = waiting.one[at], waiting.other[at], waiting.since[at]
    there = found_in(partners, one, other)
    if there >= 0 and partners.since[there] == since:
        n = _tell(rows, n, crowd, is_self, one, other, since + stay, 1)
    go_on(waiting, query)
    return n


@jit_bare
def _compare(
    crowd: Crowd, partners: Partners, reach: float, stay: int, is_self: bool, one: int, tick: int,
    rows: I64, n: int, came: I64,
) -> tuple[int, int]:  # fmt: skip
    """One with those that it may be near; who parts is told, and who comes is in `came`: so many."""
    many, start = 0, partners.start[one]
    for at in range(start, start + partners.length[one]):
        other, since = partners.other[at], partners.since[at]
        is_near = square(crowd.at, one, crowd.at, other) <= reach
        if is_near == (since != APART):
            continue
        if is_near:
            came[many] = other
            many += 1
        elif since + stay < tick:
            n = _tell(rows, n, crowd, is_self, one, other, tick, -1)
        partners.since[at] = tick if is_near else APART
        if other != one:
            partners.since[found_in(partners, other, one)] = partners.since[at]
    return n, many


@jit_bare
def _let_go(crowd: Crowd, partners: Partners, wide: float, one: int) -> None:
    """Those that are apart, and whose anchors are."""
    k = 0
    while k < partners.length[one]:
        at = partners.start[one] + k
        other = partners.other[at]
        if partners.since[at] != APART or square(crowd.anchor, one, crowd.anchor, other) <= wide:
            k += 1
            continue
        take_from(partners, one, at)
        if other != one:
            take_from(partners, other, found_in(partners, other, one))


@jit_bare
def _around(
    crowd: Crowd, partners: Partners, wide: float, is_self: bool, one: int, column: int, row: int, met: I64
) -> tuple[int, int]:
    """Whose anchors are not far, and who are not known yet: how many, up to what `met` holds; how many were
    looked at.
    """
    n, looked, anchor = 0, 0, crowd.anchor
    party = crowd.party[one] if is_self else crowd.party[one] ^ 1
    for r in range(row - 1, row + 2):
        line = line_of(party, r)
        for c in range(column - 1, column + 2):
            other = crowd.head[bucket_in(line, c, len(crowd.head))]
            while other >= 0:
                looked += 1
                is_wanted = square(anchor, one, anchor, other) <= wide and crowd.party[other] == party
                if is_wanted and found_in(partners, one, other) < 0:
                    if n < len(met):
                        met[n] = other
                    n += 1
                other = crowd.next[other]
    return n, looked


@jit
def walk_company(
    crowd: Crowd, partners: Partners, waiting: Waiting, asked: Asked, queries: I64, starts: I64,
    moves: Moves, closed_to: int,
) -> tuple[Told, Partners, Waiting]:  # fmt: skip
    """What is told up to a tick: the moves of queries[k] are those from starts[k] on."""
    rows, n, looked = np.empty((64, 4), np.int64), 0, 0
    met, is_self = np.empty(64, np.int64), asked.is_self
    for k in range(len(queries)):
        query, i, is_over = queries[k], starts[k], False
        reach, wide, still = asked.reach[query], asked.wide[query], asked.still[query]
        stay = asked.stay[query]
        while not is_over:
            is_over = i == starts[k + 1]
            tick, begin = closed_to + 1 if is_over else moves.tick[i], i
            while is_due(waiting, query, stay, tick - 1):
                if n + 2 > len(rows):
                    rows = _longer(rows, n, 2)
                n = _tell_first(crowd, partners, waiting, query, stay, is_self, rows, n)
            while i < starts[k + 1] and moves.tick[i] == tick:
                for axis in range(3):
                    crowd.at[moves.one[i], axis] = moves.at[i, axis]
                i += 1
            for m in range(begin, i):
                one = moves.one[m]
                known = partners.length[one]
                if n + 2 * known > len(rows):
                    rows = _longer(rows, n, 2 * known)
                if known > len(met):
                    met = np.empty(2 * known, np.int64)
                n, many = _compare(crowd, partners, reach, stay, is_self, one, tick, rows, n, met)
                looked += known
                for j in range(many):
                    if is_full(waiting):
                        waiting = widened(waiting)
                    wait(waiting, query, one, met[j], tick)
                if square(crowd.at, one, crowd.anchor, one) <= still:
                    continue
                settle(crowd, one, moves.cell[m, 0], moves.cell[m, 1])
                _let_go(crowd, partners, wide, one)
                if np.isnan(crowd.at[one, 0]):
                    continue
                column, row = moves.cell[m, 0], moves.cell[m, 1]
                many, seen = _around(crowd, partners, wide, is_self, one, column, row, met)
                if many > len(met):
                    met = np.empty(2 * many, np.int64)
                    many, seen = _around(crowd, partners, wide, is_self, one, column, row, met)
                looked += seen
                for j in range(many):
                    other = met[j]
                    if found_in(partners, one, other) >= 0:
                        continue  # two of the cells around share a bucket
                    since = APART
                    if square(crowd.at, one, crowd.at, other) <= reach:
                        since = tick
                        if is_full(waiting):
                            waiting = widened(waiting)
                        wait(waiting, query, one, other, tick)
                    if not has_room(partners, one):
                        partners = with_room(partners, one)
                    add_to(partners, one, other, since)
                    if other == one:
                        continue
                    if not has_room(partners, other):
                        partners = with_room(partners, other)
                    add_to(partners, other, one, since)
    return Told(rows[:n], looked), partners, waiting
