"""Events that triggers may still need: as what they are needed, where to find them, and until when.

An entry is an event that stands for one kind of variable of one trigger. The entries of a trigger's kind are
a list, in event order, with room behind it:

START ── gone ── BEGIN ── living, and gone among them ── END ── free ── START + ROOM

Nothing is taken out of the middle. What is gone is seen to be so by its EXPIRY, which never grows again then;
it makes place when the room is full. Long lists know for each cell of a grid its newest entry, and each entry
the one before it in its cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64
from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit_bare

NONE = -1
EDGE = 4e18  # cells end here

START, BEGIN, END, ROOM = range(4)  # columns of `lists`
TS, EXPIRY = 0, 1  # columns of `span`
# Columns of `whole`. From BOUND on by kind: until when that kind has, or may have, an event for this one;
# then the values that constraints compare, doubles by their bits, with a bit each in NULLS.
ORDER, NULLS, OLDER, BOUND = range(4)


class Live(NamedTuple):
    lists: I64  # by trigger and kind
    span: I64  # by entry: its time, and the last moment in which it may be needed
    place: F64  # as `metric.spread` gives them
    whole: I64
    heads: I64  # in the room of each list: the newest entry of a cell, by its hash


def new_live(rooms: I64, spare: int, columns: int, of_place: int) -> Live:
    """Empty lists with these rooms, and some room more; what is not used is never touched.

    So many columns has what is whole, and what is said of a place.
    """
    ends = np.cumsum(rooms)
    starts, room = ends - rooms, int(ends[-1] if len(ends) else 0) + spare
    lists = np.stack([starts, starts, starts, rooms], axis=1)
    return Live(
        lists, np.empty((room, 2), np.int64), np.empty((room, of_place)), np.empty((room, columns), np.int64),
        np.empty(room, np.int64),
    )  # fmt: skip


# ----- cells


@jit_bare
def cell(place: float, side: float) -> int:
    """Grows with the place, however large; no number is below all."""
    at = place / side
    if not at > -EDGE:
        return int(-EDGE)
    return int(np.floor(at)) if at < EDGE else int(EDGE)


@jit_bare
def head_of(lists: I64, number: int, cell_x: int, cell_y: int) -> int:
    """Where the newest entry of a cell stands in `heads`; cells may share it. Rooms are powers of two."""
    h = mix(np.uint64(cell_x) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(cell_y))
    return int(lists[number, START] + np.int64(h & np.uint64(lists[number, ROOM] - 1)))


@jit_bare
def entry_head(live: Live, number: int, entry: int, side: float) -> int:
    at = live.place[entry]
    return head_of(live.lists, number, cell(at[0], side), cell(at[1], side))


@jit_bare
def put_in_cell(live: Live, number: int, entry: int, side: float) -> None:
    head = entry_head(live, number, entry, side)
    live.whole[entry, OLDER] = live.heads[head]
    live.heads[head] = entry


@jit_bare
def put_in_cells(live: Live, number: int, side: float) -> None:
    """All entries of a list anew."""
    start, room = live.lists[number, START], live.lists[number, ROOM]
    for head in range(start, start + room):
        live.heads[head] = NONE
    for entry in range(live.lists[number, BEGIN], live.lists[number, END]):
        put_in_cell(live, number, entry, side)


@jit_bare
def has_cells(lists: I64, number: int, few: int) -> bool:
    """Whether a list is so long that its cells are worth it."""
    return bool(lists[number, ROOM] > few)


# ----- coming and going


@jit_bare
def copy_entry(source: Live, a: int, target: Live, b: int) -> None:
    for k in range(2):
        target.span[b, k] = source.span[a, k]
    for k in range(source.place.shape[1]):
        target.place[b, k] = source.place[a, k]
    for k in range(source.whole.shape[1]):
        target.whole[b, k] = source.whole[a, k]


@jit_bare
def let_go_first(live: Live, number: int, now: int) -> int:
    """Where the living begin."""
    begin, end = live.lists[number, BEGIN], live.lists[number, END]
    while begin < end and live.span[begin, EXPIRY] < now:
        begin += 1
    live.lists[number, BEGIN] = begin
    return int(begin)


@jit_bare
def let_go_last(live: Live, number: int, now: int, side: float, few: int) -> None:
    """Those that came last and are gone already: many live for their own moment only."""
    begin, end = live.lists[number, BEGIN], live.lists[number, END]
    is_in_cells = has_cells(live.lists, number, few)
    while begin < end and live.span[end - 1, EXPIRY] < now:
        end -= 1
        if is_in_cells:
            live.heads[entry_head(live, number, end, side)] = live.whole[end, OLDER]
    live.lists[number, END] = end


@jit_bare
def move(
    source: Live, begin: int, end: int, target: Live, number: int, now: int, side: float, few: int
) -> None:
    """The living among some entries become a list, from its start on."""
    to = target.lists[number, START]
    for entry in range(begin, end):
        if source.span[entry, EXPIRY] >= now:
            copy_entry(source, entry, target, to)
            to += 1
    target.lists[number, BEGIN], target.lists[number, END] = target.lists[number, START], to
    if has_cells(target.lists, number, few):
        put_in_cells(target, number, side)


@jit_bare
def has_room(live: Live, number: int, now: int, side: float, few: int) -> bool:
    """Whether one more can come, once what is gone has made place; half of a room stays free then."""
    lists = live.lists
    let_go_last(live, number, now, side, few)
    if lists[number, END] < lists[number, START] + lists[number, ROOM]:
        return True
    move(live, lists[number, BEGIN], lists[number, END], live, number, now, side, few)
    return bool(2 * (lists[number, END] - lists[number, START]) <= lists[number, ROOM])


@jit_bare
def move_to(live: Live, number: int, start: int, room: int, now: int, side: float, few: int) -> None:
    """A list into more room, elsewhere."""
    begin, end = live.lists[number, BEGIN], live.lists[number, END]
    live.lists[number, START], live.lists[number, ROOM] = start, room
    move(live, begin, end, live, number, now, side, few)


@jit_bare
def move_all(source: Live, target: Live, of: I64, now: int, side: F64, kinds: int, few: int) -> None:
    """By list of the target the one of the source that it takes over, or NONE."""
    for number in range(len(of)):
        if of[number] != NONE:
            begin, end = source.lists[of[number], BEGIN], source.lists[of[number], END]
            move(source, begin, end, target, number, now, side[number // kinds], few)


@jit_bare
def settle(live: Live, side: F64, kinds: int, few: int) -> None:
    """Entries have been written into lists: now into their cells."""
    for number in range(len(live.lists)):
        if has_cells(live.lists, number, few):
            put_in_cells(live, number, side[number // kinds])
