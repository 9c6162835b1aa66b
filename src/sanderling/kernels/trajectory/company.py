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
    Partners,
    add_to,
    found_in,
    has_made_room,
    lengthened,
    take_from,
    turn,
)
from sanderling.kernels.trajectory.waiting import Waiting, go_on, is_due, is_full, wait, widened
from sanderling.space.metric import chord

# What there may be no room in.
MET, PAIRS, ROWS, WAITING, LISTS = 1, 2, 3, 4, 5
# So many that moved are looked at together: what is read of them stays in the processor's nearest cache.
BLOCK = 128


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


class Pairs(NamedTuple):
    """To be looked at: where in the lists, in whose, what stands there, where in the list of the other, and
    since when they are near. The lists of a block.
    """

    at: I64
    of: I64
    code: I64
    twin: I64
    since: I64
    start: I64
    length: I64


class Told(NamedTuple):
    """Left, right, tick, sign of what is told. `looked`: how many distances were worked out; `more`: by how
    many more pairs are near.
    """

    rows: I64
    looked: int
    more: int


@jit
def _longer(rows: I64, n: int) -> I64:
    found = np.empty((2 * len(rows), 4), np.int64)
    found[:n] = rows[:n]
    return found


@jit
def _pairs(n: int) -> Pairs:
    at, of, code = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    twin, since = np.empty(n, np.int64), np.empty(n, np.int64)
    return Pairs(at, of, code, twin, since, np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64))


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
    if there >= 0 and partners.other[there] & 1 and partners.since[there] == since:
        n = _tell(rows, n, crowd, is_self, one, other, since + stay, 1)
    go_on(waiting, query)
    return n


@jit_bare
def _tell_due(
    crowd: Crowd, partners: Partners, waiting: Waiting, query: int, stay: int, is_self: bool, until: int,
    rows: I64, n: int,
) -> int:  # fmt: skip
    """All pairs of a line that are due up to a tick, or as many as there is room for."""
    while n + 2 <= len(rows) and is_due(waiting, query, stay, until):
        n = _tell_first(crowd, partners, waiting, query, stay, is_self, rows, n)
    return n


@jit_bare
def _place(crowd: Crowd, moves: Moves, first: int, last: int, tick: int) -> int:
    """Those that move at a tick are where they move to; how far they go."""
    i = first
    while i < last and moves.tick[i] == tick:
        for axis in range(3):
            crowd.at[moves.one[i], axis] = moves.at[i, axis]
        i += 1
    return i


@jit_bare
def _gathered(partners: Partners, ones: I64, first: int, last: int, pairs: Pairs) -> int:
    """The lists of as many as there is room for: the first whose is not among them.

    Loop by loop, so that the processor waits for many things at a time: where lists are, then what is in
    them.
    """
    end = min(last, first + BLOCK)
    for m in range(first, end):
        pairs.start[m - first], pairs.length[m - first] = partners.span[ones[m], 0], partners.span[ones[m], 1]
    n = 0
    for m in range(first, end):
        start, length = pairs.start[m - first], pairs.length[m - first]
        if n + length > len(pairs.code):
            return m
        for k in range(length):
            pairs.code[n + k] = partners.other[start + k]
        n += length
    return end


@jit_bare
def _turned(crowd: Crowd, reach: float, ones: I64, first: int, last: int, pairs: Pairs) -> tuple[int, int]:
    """Of these lists those come first that have come near, or parted: how many, and how many there were.

    Without a branch on what cannot be foreseen.
    """
    many, n, at = 0, 0, crowd.at
    for m in range(first, last):
        one, start = ones[m], pairs.start[m - first] - n
        x, y, z = at[one, 0], at[one, 1], at[one, 2]
        before = many
        for p in range(n, n + pairs.length[m - first]):
            code = pairs.code[p]
            other = np.uint64(code >> 1)
            pairs.at[many] = p
            square = chord(x, y, z, at[other, 0], at[other, 1], at[other, 2])
            many += int(square <= reach) ^ (code & 1)
        for k in range(before, many):
            p = pairs.at[k]
            pairs.at[k], pairs.of[k], pairs.code[k] = start + p, one, pairs.code[p]
        n += pairs.length[m - first]
    return many, n


@jit_bare
def _find_twins(partners: Partners, pairs: Pairs, n: int) -> None:
    """Where so many pairs stand in the lists of the others, and since when they are near."""
    for k in range(n):
        pairs.twin[k], pairs.since[k] = partners.span[pairs.code[k] >> 1, 0], partners.since[pairs.at[k]]
    for k in range(n):
        one, twin = pairs.of[k], pairs.twin[k]
        while partners.other[twin] >> 1 != one:
            twin += 1
        pairs.twin[k] = twin


@jit_bare
def _compare(
    crowd: Crowd, partners: Partners, waiting: Waiting, asked: Asked, query: int, ones: I64, first: int,
    last: int, tick: int, rows: I64, n: int, pairs: Pairs,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Each that moved with those that it may be near: who parts is told, who comes waits.

    How far it came, and what there was no room in (0: it is through); it may go on from there. How many rows
    there are, how many were looked at, by how many more pairs are near.
    """
    reach, stay, is_self, looked, more = asked.reach[query], asked.stay[query], asked.is_self, 0, 0
    m = first
    while m < last:
        begin = m
        m = _gathered(partners, ones, begin, last, pairs)
        if m == begin:
            return m, PAIRS, n, looked, more
        many, seen = _turned(crowd, reach, ones, begin, m, pairs)
        looked += seen
        _find_twins(partners, pairs, many)
        for k in range(many):
            at, one, code = pairs.at[k], pairs.of[k], pairs.code[k]
            if partners.other[at] != code:
                continue  # the other one moved, too
            other, since = code >> 1, pairs.since[k]
            if code & 1:
                if n + 2 > len(rows):
                    return begin, ROWS, n, looked, more
                if since + stay < tick:
                    n = _tell(rows, n, crowd, is_self, one, other, tick, -1)
                more -= 1
            else:
                if is_full(waiting):
                    return begin, WAITING, n, looked, more
                wait(waiting, query, one, other, tick)
                more += 1
            turn(partners, at, tick)
            if other != one:
                turn(partners, pairs.twin[k], tick)
    return last, 0, n, looked, more


@jit_bare
def _let_go(crowd: Crowd, partners: Partners, wide: float, one: int, met: I64) -> bool:
    """Those that are apart, and whose anchors are; the others are marked. Whether `met` has room for it."""
    many, start, length = 0, partners.span[one, 0], partners.span[one, 1]
    if length >= len(met):
        return False
    crowd.looks[0] += 1
    for at in range(start, start + length):
        code = partners.other[at]
        met[many], crowd.mark[code >> 1] = at, crowd.looks[0]
        many += int(not square(crowd.anchor, one, crowd.anchor, code >> 1) <= wide) & ~code & 1
    for k in range(many - 1, -1, -1):  # from behind: the last one takes the place of who goes
        other = partners.other[met[k]] >> 1
        take_from(partners, one, met[k])
        if other != one:
            take_from(partners, other, found_in(partners, other, one))
    return True


@jit_bare
def _around(
    crowd: Crowd, wide: float, is_self: bool, one: int, column: int, row: int, met: I64
) -> tuple[int, int]:
    """Whose anchors are not far, and who are not marked yet: how many, up to what `met` holds; how many were
    looked at.
    """
    n, looked, look = 0, 0, crowd.looks[0]
    x, y, z = crowd.anchor[one, 0], crowd.anchor[one, 1], crowd.anchor[one, 2]
    party = crowd.party[one] if is_self else crowd.party[one] ^ 1
    for r in range(row - 1, row + 2):
        line = line_of(party, r)
        for c in range(column - 1, column + 2):
            other = crowd.head[bucket_in(line, c, len(crowd.head))]
            while other >= 0:
                looked += 1
                far = chord(x, y, z, crowd.anchor[other, 0], crowd.anchor[other, 1], crowd.anchor[other, 2])
                if (far <= wide) & (crowd.mark[other] != look) and crowd.party[other] == party:
                    if n < len(met):
                        met[n] = other
                    n += 1
                    crowd.mark[other] = look  # two of the cells around may share a bucket
                other = crowd.next[other]
    return n, looked


@jit_bare
def _look_around(
    crowd: Crowd, partners: Partners, waiting: Waiting, asked: Asked, query: int, moves: Moves, first: int,
    last: int, tick: int, met: I64, is_going_on: bool,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Each that is far from its anchor settles, forgets who is far, and learns who is not.

    How far it came, and what there was no room in (0: it is through): then it has to go on with the same one,
    whose anchor is where it is already. How many were looked at, by how many more pairs are near.
    """
    reach, wide, still = asked.reach[query], asked.wide[query], asked.still[query]
    looked, more = 0, 0
    for m in range(first, last):
        one = moves.one[m]
        if square(crowd.at, one, crowd.anchor, one) <= still and not (is_going_on and m == first):
            continue
        column, row = moves.cell[m, 0], moves.cell[m, 1]
        settle(crowd, one, column, row)
        if not _let_go(crowd, partners, wide, one, met):
            return m, MET, looked, more
        if np.isnan(crowd.at[one, 0]):
            continue
        many, seen = _around(crowd, wide, asked.is_self, one, column, row, met)
        looked += seen
        if many > len(met):
            return m, MET, looked, more
        for j in range(many):
            other = met[j]
            is_near = square(crowd.at, one, crowd.at, other) <= reach
            if is_near and is_full(waiting):
                return m, WAITING, looked, more
            if not has_made_room(partners, one) or not has_made_room(partners, other):
                return m, LISTS, looked, more
            if is_near:
                wait(waiting, query, one, other, tick)
                more += 1
            add_to(partners, one, other, is_near, tick)
            if other != one:
                add_to(partners, other, one, is_near, tick)
    return last, 0, looked, more


@jit
def walk_company(
    crowd: Crowd, partners: Partners, waiting: Waiting, asked: Asked, queries: I64, starts: I64,
    moves: Moves, closed_to: int,
) -> tuple[Told, Partners, Waiting]:  # fmt: skip
    """What is told up to a tick: the moves of queries[k] are those from starts[k] on.

    What is done for each move is bare, and comes back where there is no room.
    """
    rows, n, looked, more = np.empty((64, 4), np.int64), 0, 0, 0
    met, is_self, pairs = np.empty(64, np.int64), asked.is_self, _pairs(16 * BLOCK)
    for k in range(len(queries)):
        query, i, is_over = queries[k], starts[k], False
        stay = asked.stay[query]
        while not is_over:
            is_over = i == starts[k + 1]
            tick, begin = closed_to + 1 if is_over else moves.tick[i], i
            while is_due(waiting, query, stay, tick - 1):
                n = _tell_due(crowd, partners, waiting, query, stay, is_self, tick - 1, rows, n)
                if n + 2 > len(rows):
                    rows = _longer(rows, n)
            if is_over:
                break
            i = _place(crowd, moves, begin, starts[k + 1], tick)
            m = begin
            while m < i:
                m, full, n, seen, came = _compare(
                    crowd, partners, waiting, asked, query, moves.one, m, i, tick, rows, n, pairs
                )
                looked, more = looked + seen, more + came
                if full == PAIRS:
                    pairs = _pairs(2 * partners.span[moves.one[m], 1])
                elif full == ROWS:
                    rows = _longer(rows, n)
                elif full == WAITING:
                    waiting = widened(waiting)
            m, full = begin, 0
            while m < i:
                m, full, seen, came = _look_around(
                    crowd, partners, waiting, asked, query, moves, m, i, tick, met, full > 0
                )
                looked, more = looked + seen, more + came
                if full == MET:
                    met = np.empty(2 * len(met), np.int64)
                elif full == WAITING:
                    waiting = widened(waiting)
                elif full == LISTS:
                    partners = lengthened(partners)
    return Told(rows[:n], looked, more), partners, waiting
