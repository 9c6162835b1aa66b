"""Who passes where another has been, tick by tick: places that are left count for a while yet.

moved ──► those near its old place have been near up to now ──► its old place ends, its new one begins
      ──► of each other object the last place near the new one says how long the two have passed for
pairs wait in a heap, each once, for the tick at which their time may be over

Only the newest place of each is asked about: whoever was there earlier, and left earlier, is over sooner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I32, I64, Bools
from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.trajectory.company import Moves
from sanderling.kernels.trajectory.crowd import bucket_in, line_of, square
from sanderling.kernels.trajectory.trails import STANDING, Asked, Trails, begin_place, is_alive

NONE = -1


class Pairs(NamedTuple):
    """Pairs that are told, each with the last tick for which that is known (STANDING: they are near now), and
    whether it waits in the heap. `counts`: how many were ever taken, the first that is free again, and how
    many are in the heap.
    """

    one: I32
    other: I32
    until: I64
    waits: Bools
    next: I32
    head: I32
    due: I64  # the heap: by when, and which
    pair: I32
    counts: I64


class Told(NamedTuple):
    """Left, right, tick, sign of what is told. `looked`: how many distances were worked out."""

    rows: I64
    looked: int


def no_pairs() -> Pairs:
    few, counts = np.empty(16, np.int32), np.array([0, NONE, 0])
    return Pairs(
        few.copy(), few.copy(), np.empty(16, np.int64), np.empty(16, np.bool_), few.copy(),
        np.full(16, NONE, np.int32), np.empty(16, np.int64), few.copy(), counts,
    )  # fmt: skip


@jit_bare
def _bucket(one: int, other: int, buckets: int) -> int:
    code = (np.uint64(one) << np.uint64(32)) | np.uint64(other)
    return int(np.int64(mix(code) & np.uint64(buckets - 1)))


@jit
def _wider(pairs: Pairs) -> Pairs:
    """With room for twice as many, and chains anew."""
    n = pairs.counts[0]
    one, other, following = np.empty(2 * n, np.int32), np.empty(2 * n, np.int32), np.empty(2 * n, np.int32)
    until, waits = np.empty(2 * n, np.int64), np.empty(2 * n, np.bool_)
    one[:n], other[:n], until[:n], waits[:n] = (
        pairs.one[:n],
        pairs.other[:n],
        pairs.until[:n],
        pairs.waits[:n],
    )
    due, pair = np.empty(2 * n, np.int64), np.empty(2 * n, np.int32)
    due[:n], pair[:n] = pairs.due[:n], pairs.pair[:n]
    head = np.full(2 * n, NONE, np.int32)
    for at in range(n):  # all are taken: there was no room
        bucket = _bucket(one[at], other[at], 2 * n)
        following[at], head[bucket] = head[bucket], at
    return Pairs(one, other, until, waits, following, head, due, pair, pairs.counts)


@jit_bare
def _found(pairs: Pairs, one: int, other: int) -> int:
    at = pairs.head[_bucket(one, other, len(pairs.head))]
    while at >= 0 and not (pairs.one[at] == one and pairs.other[at] == other):
        at = pairs.next[at]
    return int(at)


@jit_bare
def _has_room(pairs: Pairs) -> bool:
    return bool(pairs.counts[1] >= 0 or pairs.counts[0] < len(pairs.one))


@jit_bare
def _add(pairs: Pairs, one: int, other: int) -> int:
    """There is room."""
    counts, at = pairs.counts, pairs.counts[1]
    if at >= 0:
        counts[1] = pairs.next[at]
    else:
        at = counts[0]
        counts[0] += 1
    bucket = _bucket(one, other, len(pairs.head))
    pairs.one[at], pairs.other[at] = one, other
    pairs.until[at], pairs.waits[at] = 0, False
    pairs.next[at], pairs.head[bucket] = pairs.head[bucket], at
    return int(at)


@jit_bare
def _remove(pairs: Pairs, at: int) -> None:
    bucket = _bucket(pairs.one[at], pairs.other[at], len(pairs.head))
    before, here = NONE, pairs.head[bucket]
    while here != at:
        before, here = here, pairs.next[here]
    if before == NONE:
        pairs.head[bucket] = pairs.next[at]
    else:
        pairs.next[before] = pairs.next[at]
    pairs.next[at], pairs.counts[1], pairs.one[at] = pairs.counts[1], at, NONE


@jit_bare
def _push(pairs: Pairs, due: int, which: int) -> None:
    at = pairs.counts[2]
    pairs.counts[2] += 1
    pairs.waits[which] = True
    while at > 0 and pairs.due[(at - 1) // 2] > due:
        pairs.due[at], pairs.pair[at] = pairs.due[(at - 1) // 2], pairs.pair[(at - 1) // 2]
        at = (at - 1) // 2
    pairs.due[at], pairs.pair[at] = due, which


@jit_bare
def _pop(pairs: Pairs) -> int:
    which, n = pairs.pair[0], pairs.counts[2] - 1
    pairs.counts[2] = n
    pairs.waits[which] = False
    due, last, at = pairs.due[n], pairs.pair[n], 0
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and pairs.due[child + 1] < pairs.due[child]:
            child += 1
        if pairs.due[child] >= due:
            break
        pairs.due[at], pairs.pair[at] = pairs.due[child], pairs.pair[child]
        at = child
    pairs.due[at], pairs.pair[at] = due, last
    return int(which)


@jit_bare
def _tell(rows: I64, n: int, pairs: Pairs, which: int, is_self: bool, tick: int, sign: int) -> int:
    """Where both sides are one, a pair is told either way round."""
    one, other = pairs.one[which], pairs.other[which]
    rows[n, 0], rows[n, 1], rows[n, 2], rows[n, 3] = one, other, tick, sign
    if not is_self or one == other:
        return n + 1
    rows[n + 1, 0], rows[n + 1, 1], rows[n + 1, 2], rows[n + 1, 3] = other, one, tick, sign
    return n + 2


@jit
def _longer(rows: I64, n: int) -> I64:
    found = np.empty((2 * n + 64, 4), np.int64)
    found[:n] = rows[:n]
    return found


@jit
def _expire(pairs: Pairs, is_self: bool, tick_us: int, tick: int, rows: I64, n: int) -> tuple[I64, int]:
    """Pairs whose time is over at a tick, or before."""
    while pairs.counts[2] and pairs.due[0] <= tick:
        due, which = pairs.due[0], _pop(pairs)
        if pairs.until[which] == STANDING:
            continue
        if pairs.until[which] + tick_us > due:
            _push(pairs, pairs.until[which] + tick_us, which)
            continue
        if n + 2 > len(rows):
            rows = _longer(rows, n)
        n = _tell(rows, n, pairs, which, is_self, due, -1)
        _remove(pairs, which)
    return rows, n


@jit_bare
def _ordered(trails: Trails, is_self: bool, one: int, other: int) -> tuple[int, int]:
    """As a pair has them: the smaller first, or the left one."""
    is_turned = one > other if is_self else bool(trails.party[one] & 1)
    return (other, one) if is_turned else (one, other)


@jit_bare
def _near(
    trails: Trails, asked: Asked, is_self: bool, place: int, tick: int, is_standing: bool
) -> tuple[int, int]:  # fmt: skip
    """Objects with a place near this one, and the last tick of the last such place: how many, in `met`. How
    many were looked at. On the way what is over goes.
    """
    trails.looks[0] += 1
    n, looked, one, looks = 0, 0, trails.one[place], trails.looks[0]
    column, line = trails.cell[place, 0], trails.cell[place, 1]
    query = trails.party[one] >> 1
    reach = asked.reach[query]
    party = trails.party[one] if is_self else trails.party[one] ^ 1
    for row in range(line - 1, line + 2):
        for shift in range(-1, 2):
            bucket = bucket_in(line_of(party, row), column + shift, len(trails.head))
            before, at = NONE, trails.head[bucket]
            while at >= 0:
                following, end, other = trails.next[at], trails.end[at], trails.one[at]
                if not is_alive(end, asked.stay[trails.party[other] >> 1], tick):
                    if before == NONE:
                        trails.head[bucket] = following
                    else:
                        trails.next[before] = following
                    at = following
                    continue
                before, at = at, following
                here = before
                is_known = trails.seen[other] == looks
                if trails.party[other] != party or (is_standing and end != STANDING):
                    continue
                if is_known and trails.last[other] >= end:
                    continue
                looked += 1
                if not square(trails.at, place, trails.at, here) <= reach:
                    continue  # infinitely far away from itself
                trails.last[other] = end
                if not is_known:
                    trails.seen[other] = looks
                    trails.met[n] = other
                    n += 1
    return n, looked


@jit
def walk_passing(
    trails: Trails, pairs: Pairs, asked: Asked, is_self: bool, moves: Moves, tick_us: int,
    closed_to: int,
) -> tuple[Told, Pairs]:  # fmt: skip
    """What is told up to a tick; moves are in order of time, and `trails` has room for them."""
    rows, n, looked, i, count = np.empty((64, 4), np.int64), 0, 0, 0, len(moves.tick)
    while i < count:
        tick, begin = moves.tick[i], i
        rows, n = _expire(pairs, is_self, tick_us, tick - tick_us, rows, n)
        while i < count and moves.tick[i] == tick:
            i += 1
        for m in range(begin, i):
            place = trails.standing[moves.one[m]]
            if place < 0:
                continue
            many, seen = _near(trails, asked, is_self, place, tick, True)
            looked += seen
            until = tick - tick_us + asked.stay[trails.party[moves.one[m]] >> 1]
            for k in range(many):
                one, other = _ordered(trails, is_self, moves.one[m], trails.met[k])
                which = _found(pairs, one, other)
                pairs.until[which] = until
                if not pairs.waits[which]:
                    _push(pairs, until + tick_us, which)
        for m in range(begin, i):
            place = trails.standing[moves.one[m]]
            if place >= 0:
                trails.end[place] = tick - tick_us
            trails.standing[moves.one[m]] = NONE
            if not np.isnan(moves.at[m, 0]):
                begin_place(trails, moves.one[m], moves.at[m], moves.cell[m], STANDING)
        for m in range(begin, i):
            place = trails.standing[moves.one[m]]
            if place < 0:
                continue
            many, seen = _near(trails, asked, is_self, place, tick, False)
            looked += seen
            stay = asked.stay[trails.party[moves.one[m]] >> 1]
            for k in range(many):
                one, other = _ordered(trails, is_self, moves.one[m], trails.met[k])
                last = trails.last[trails.met[k]]
                which = _found(pairs, one, other)
                if which < 0:
                    if not _has_room(pairs):
                        pairs = _wider(pairs)
                    which = _add(pairs, one, other)
                    if n + 2 > len(rows):
                        rows = _longer(rows, n)
                    n = _tell(rows, n, pairs, which, is_self, tick, 1)
                until = STANDING if last == STANDING else last + stay
                pairs.until[which] = max(pairs.until[which], until)
                if pairs.until[which] != STANDING and not pairs.waits[which]:
                    _push(pairs, pairs.until[which] + tick_us, which)
        rows, n = _expire(pairs, is_self, tick_us, tick, rows, n)
    rows, n = _expire(pairs, is_self, tick_us, closed_to, rows, n)
    return Told(rows[:n], looked), pairs


@jit
def pair_all(
    trails: Trails, pairs: Pairs, asked: Asked, is_self: bool, places: I64, tick_us: int, tick: int
) -> Pairs:
    """Of places that are all there, the pairs that they make, without telling."""
    for place in places:
        one = trails.one[place]
        many, _ = _near(trails, asked, is_self, place, tick, False)
        stay = asked.stay[trails.party[one] >> 1]
        for k in range(many):
            first, second = _ordered(trails, is_self, one, trails.met[k])
            which = _found(pairs, first, second)
            if which < 0:
                if not _has_room(pairs):
                    pairs = _wider(pairs)
                which = _add(pairs, first, second)
            last = min(trails.last[trails.met[k]], trails.end[place])
            pairs.until[which] = max(pairs.until[which], STANDING if last == STANDING else last + stay)
    for which in range(pairs.counts[0]):
        if pairs.until[which] != STANDING:
            _push(pairs, pairs.until[which] + tick_us, which)
    return pairs
