"""Of each object those that it is near or may soon be, each with the tick since when: a list that grows.

Lists stand one behind the other; one that is full moves to the end, with twice the room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I32, I64
from sanderling.kernels.jit import jit, jit_bare

LEAST_ROOM = 8
APART = np.iinfo(np.int64).max  # since when, of who may be near soon


class Partners(NamedTuple):
    """By object where its list begins, how long it is, how long it may get; `used`: how far lists reach.

    A pair stands in the lists of both; who is near itself, once in its own.
    """

    start: I64
    length: I32
    room: I32
    other: I32
    since: I64
    used: I64


@jit_bare
def found_in(partners: Partners, one: int, other: int) -> int:
    """Its place in the list, or -1."""
    start = partners.start[one]
    for at in range(start, start + partners.length[one]):
        if partners.other[at] == other:
            return at
    return -1


@jit_bare
def has_room(partners: Partners, one: int) -> bool:
    return bool(partners.length[one] < partners.room[one])


@jit_bare
def add_to(partners: Partners, one: int, other: int, since: int) -> None:
    """Behind those that are in the list of one, which has room."""
    at = partners.start[one] + partners.length[one]
    partners.other[at], partners.since[at] = other, since
    partners.length[one] += 1


@jit_bare
def take_from(partners: Partners, one: int, at: int) -> None:
    """The last takes its place."""
    last = partners.start[one] + partners.length[one] - 1
    partners.other[at], partners.since[at] = partners.other[last], partners.since[last]
    partners.length[one] -= 1


@jit
def with_room(partners: Partners, one: int) -> Partners:
    """The list of one with room for one more."""
    used, room = partners.used[0], max(LEAST_ROOM, 2 * partners.room[one])
    if used + room > len(partners.other):
        other, since = np.empty(2 * (used + room), np.int32), np.empty(2 * (used + room), np.int64)
        other[:used], since[:used] = partners.other[:used], partners.since[:used]
        partners = Partners(partners.start, partners.length, partners.room, other, since, partners.used)
    start, length = partners.start[one], partners.length[one]
    partners.other[used : used + length] = partners.other[start : start + length]
    partners.since[used : used + length] = partners.since[start : start + length]
    partners.start[one], partners.room[one], partners.used[0] = used, room, used + room
    return partners


@jit
def pairs_of(partners: Partners, count: int) -> tuple[I64, I64, I64]:
    """All pairs that are near, each as it stands in the list of its smaller one."""
    n = 0
    for one in range(count):
        n += partners.length[one]
    ones, others, since = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for one in range(count):
        for at in range(partners.start[one], partners.start[one] + partners.length[one]):
            if one <= partners.other[at] and partners.since[at] != APART:
                ones[n], others[n], since[n] = one, partners.other[at], partners.since[at]
                n += 1
    return ones[:n], others[:n], since[:n]


@jit
def set_since(partners: Partners, one: I64, other: I64, since: I64) -> None:
    """Of pairs that are near."""
    for i in range(len(one)):
        partners.since[found_in(partners, one[i], other[i])] = since[i]
        partners.since[found_in(partners, other[i], one[i])] = since[i]
