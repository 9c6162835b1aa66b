"""Of each object those that it is near or may soon be, each with the tick since when: a list that grows.

Lists stand one behind the other, in the order of objects as far as may be: those that are near each other
are read together. One that is full moves to the end, with twice the room; now and then all are packed.
Whether two are near is a part of the number: who looks at a list reads four bytes of each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I32, I64
from sanderling.kernels.jit import jit, jit_bare

LEAST_ROOM = 8


class Partners(NamedTuple):
    """By object its `span`: where its list begins, how long it is, how long it may get. `used`: how far lists
    reach. In lists twice the number of the other, and one more while both are near; and since when they are.

    A pair stands in the lists of both; who is near itself, once in its own.
    """

    span: I64
    other: I32
    since: I64
    used: I64


@jit_bare
def found_in(partners: Partners, one: int, other: int) -> int:
    """Its place in the list, or -1."""
    start = partners.span[one, 0]
    for at in range(start, start + partners.span[one, 1]):
        if partners.other[at] >> 1 == other:
            return at
    return -1


@jit_bare
def add_to(partners: Partners, one: int, other: int, is_near: bool, since: int) -> None:
    """Behind those that are in the list of one, which has room."""
    at = partners.span[one, 0] + partners.span[one, 1]
    partners.other[at], partners.since[at] = 2 * other + is_near, since
    partners.span[one, 1] += 1


@jit_bare
def take_from(partners: Partners, one: int, at: int) -> None:
    """The last takes its place; since when, if that is something."""
    last = partners.span[one, 0] + partners.span[one, 1] - 1
    partners.other[at] = partners.other[last]
    if partners.other[at] & 1:
        partners.since[at] = partners.since[last]
    partners.span[one, 1] -= 1


@jit_bare
def turn(partners: Partners, at: int, since: int) -> None:
    """Who was near is so no more, and the other way round."""
    partners.other[at], partners.since[at] = partners.other[at] ^ 1, since


@jit_bare
def has_made_room(partners: Partners, one: int) -> bool:
    """Whether the list of one has room for one more; it may have moved to the end."""
    if partners.span[one, 1] < partners.span[one, 2]:
        return True
    used, room = partners.used[0], max(LEAST_ROOM, 2 * partners.span[one, 2])
    if used + room > len(partners.other):
        return False
    start = partners.span[one, 0]
    for k in range(partners.span[one, 1]):
        partners.other[used + k], partners.since[used + k] = (
            partners.other[start + k],
            partners.since[start + k],
        )
    partners.span[one, 0], partners.span[one, 2], partners.used[0] = used, room, used + room
    return True


@jit
def lengthened(partners: Partners) -> Partners:
    """With room at the end, at least for any list to move there."""
    used = partners.used[0]
    n = 2 * (used + max(LEAST_ROOM, 2 * partners.span[:, 2].max()))
    other, since = np.empty(n, np.int32), np.empty(n, np.int64)
    other[:used], since[:used] = partners.other[:used], partners.since[:used]
    return Partners(partners.span, other, since, partners.used)


@jit
def packed(partners: Partners, count: int) -> Partners:
    """In the order of objects, each with some room to grow."""
    n = 0
    for one in range(count):
        n += _room_for(partners.span[one, 1])
    other, since = np.empty(n, np.int32), np.empty(n, np.int64)
    used = 0
    for one in range(count):
        start, length = partners.span[one, 0], partners.span[one, 1]
        for k in range(length):
            other[used + k], since[used + k] = partners.other[start + k], partners.since[start + k]
        partners.span[one, 0], partners.span[one, 2] = used, _room_for(length)
        used += _room_for(length)
    partners.used[0] = used
    return Partners(partners.span, other, since, partners.used)


@jit_bare
def _room_for(length: int) -> int:
    return int(length + length // 2 + 2) if length else 0


@jit
def pairs_of(partners: Partners, count: int) -> tuple[I64, I64, I64]:
    """All pairs that are near, each as it stands in the list of its smaller one."""
    n = 0
    for one in range(count):
        n += partners.span[one, 1]
    ones, others, since = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for one in range(count):
        start = partners.span[one, 0]
        for at in range(start, start + partners.span[one, 1]):
            other = partners.other[at]
            if one <= other >> 1 and other & 1:
                ones[n], others[n], since[n] = one, other >> 1, partners.since[at]
                n += 1
    return ones[:n], others[:n], since[:n]


@jit
def set_since(partners: Partners, one: I64, other: I64, since: I64) -> None:
    """Of pairs that are near."""
    for i in range(len(one)):
        partners.since[found_in(partners, one[i], other[i])] = since[i]
        partners.since[found_in(partners, other[i], one[i])] = since[i]
