"""Events that triggers may still need: as what they are needed, where to find them, and until when.

An entry is an event that stands for one kind of variable of one trigger. Entries are linked from new to old:
those of a trigger's kind, and those of a cell of the grid. A heap knows which entry may go next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NONE = -1
# Where `counts` has: free entries, free events, the heap, entries, events, both at most, the last event.
FREE, FREE_EVENTS, HEAP, ENTRIES, EVENTS, MOST_ENTRIES, MOST_EVENTS, LAST = range(8)
EDGE = 4e18  # cells end here


class Live(NamedTuple):
    """By entry, unless said otherwise; `order` is the event's number, in event order."""

    trigger: I64
    kind: I64
    order: I64
    ts: I64
    x: F64
    y: F64
    value: I64  # by entry and column; doubles by their bits
    is_null: Bools
    bound: I64  # by entry and kind: until when that kind has, or may have, an event for this one
    event: I64
    cell_x: I64
    cell_y: I64
    older: I64
    newer: I64
    cell_older: I64
    cell_newer: I64
    newest: I64  # by trigger and kind
    cell_newest: I64  # by the cell's hash
    free: I64
    order_of: I64  # by event
    entries_of: I64  # by event
    free_event: I64
    heap_key: I64
    heap: I64
    counts: I64


def zeros(some: int) -> I64:
    return np.zeros(some, np.int64)


def new_live(room: int, lists: int, kinds: int, width: int) -> Live:
    """Nothing yet, with room for so many entries."""
    buckets = 1 << max(4, (2 * room - 1).bit_length())
    everyone = np.arange(room)[::-1]
    live = Live(
        trigger=zeros(room), kind=zeros(room), order=zeros(room), ts=zeros(room), x=np.zeros(room),
        y=np.zeros(room), value=np.zeros((room, width), np.int64), is_null=np.zeros((room, width), np.bool_),
        bound=np.zeros((room, kinds), np.int64), event=zeros(room), cell_x=zeros(room), cell_y=zeros(room),
        older=zeros(room), newer=zeros(room), cell_older=zeros(room), cell_newer=zeros(room),
        newest=np.full(lists, NONE), cell_newest=np.full(buckets, NONE), free=everyone.copy(),
        order_of=zeros(room), entries_of=zeros(room), free_event=everyone.copy(), heap_key=zeros(room),
        heap=zeros(room), counts=zeros(LAST + 1),
    )  # fmt: skip
    live.counts[FREE] = live.counts[FREE_EVENTS] = room
    live.counts[LAST] = NONE
    return live


# ----- the heap: the entry with the smallest key on top


@jit
def push(live: Live, key: int, entry: int) -> None:
    at = live.counts[HEAP]
    live.counts[HEAP] += 1
    while at > 0 and live.heap_key[(at - 1) // 2] > key:
        live.heap_key[at], live.heap[at] = live.heap_key[(at - 1) // 2], live.heap[(at - 1) // 2]
        at = (at - 1) // 2
    live.heap_key[at], live.heap[at] = key, entry


@jit
def sink(live: Live, key: int, entry: int) -> None:
    """Puts an entry in the place of the one on top."""
    at, some = 0, live.counts[HEAP]
    while 2 * at + 1 < some:
        below = 2 * at + 1
        if below + 1 < some and live.heap_key[below + 1] < live.heap_key[below]:
            below += 1
        if live.heap_key[below] >= key:
            break
        live.heap_key[at], live.heap[at] = live.heap_key[below], live.heap[below]
        at = below
    live.heap_key[at], live.heap[at] = key, entry


@jit
def pop(live: Live) -> None:
    live.counts[HEAP] -= 1
    last = live.counts[HEAP]
    if last > 0:
        sink(live, live.heap_key[last], live.heap[last])


# ----- links


@jit
def cell(place: float, side: float) -> int:
    """Grows with the place, however large; no number is below all."""
    at = place / side
    if not at > -EDGE:
        return int(-EDGE)
    return int(np.floor(at)) if at < EDGE else int(EDGE)


@jit
def bucket(live: Live, trigger: int, kind: int, cell_x: int, cell_y: int) -> int:
    h = mix(np.uint64(cell_x) + np.uint64(0x9E3779B97F4A7C15))
    h = mix(h ^ (np.uint64(cell_y) + np.uint64(0xD1B54A32D192ED03)))
    h = mix(h ^ (np.uint64(trigger) * np.uint64(64) + np.uint64(kind)))
    return int(h & np.uint64(len(live.cell_newest) - 1))


@jit
def link(live: Live, entry: int, side: float, is_grid: bool) -> None:
    """Puts an entry, whose columns are there, before all others of its list and cell."""
    head = live.trigger[entry] * live.bound.shape[1] + live.kind[entry]
    old = live.newest[head]
    live.older[entry], live.newer[entry], live.newest[head] = old, NONE, entry
    if old != NONE:
        live.newer[old] = entry
    if is_grid:
        live.cell_x[entry], live.cell_y[entry] = cell(live.x[entry], side), cell(live.y[entry], side)
        head = bucket(live, live.trigger[entry], live.kind[entry], live.cell_x[entry], live.cell_y[entry])
        old = live.cell_newest[head]
        live.cell_older[entry], live.cell_newer[entry], live.cell_newest[head] = old, NONE, entry
        if old != NONE:
            live.cell_newer[old] = entry


@jit
def unlink(live: Live, entry: int, is_grid: bool) -> None:
    old, new = live.older[entry], live.newer[entry]
    if old != NONE:
        live.newer[old] = new
    if new != NONE:
        live.older[new] = old
    else:
        live.newest[live.trigger[entry] * live.bound.shape[1] + live.kind[entry]] = old
    if is_grid:
        old, new = live.cell_older[entry], live.cell_newer[entry]
        if old != NONE:
            live.cell_newer[old] = new
        if new != NONE:
            live.cell_older[new] = old
        else:
            head = bucket(live, live.trigger[entry], live.kind[entry], live.cell_x[entry], live.cell_y[entry])
            live.cell_newest[head] = old


# ----- coming and going


@jit
def take(live: Live) -> int:
    """A free entry."""
    live.counts[FREE] -= 1
    return int(live.free[live.counts[FREE]])


@jit
def give_back(live: Live, entry: int) -> None:
    live.free[live.counts[FREE]] = entry
    live.counts[FREE] += 1


@jit
def hold(live: Live, entry: int, key: int, side: float, is_grid: bool) -> None:
    """An entry, whose columns are there, lives from now on; those of one event come one after the other."""
    counts, last = live.counts, live.counts[LAST]
    if last == NONE or live.order_of[last] != live.order[entry] or live.entries_of[last] == 0:
        counts[FREE_EVENTS] -= 1
        last = live.free_event[counts[FREE_EVENTS]]
        live.order_of[last], live.entries_of[last], counts[LAST] = live.order[entry], 0, last
        counts[EVENTS] += 1
        counts[MOST_EVENTS] = max(counts[MOST_EVENTS], counts[EVENTS])
    live.event[entry] = last
    live.entries_of[last] += 1
    counts[ENTRIES] += 1
    counts[MOST_ENTRIES] = max(counts[MOST_ENTRIES], counts[ENTRIES])
    link(live, entry, side, is_grid)
    push(live, key, entry)


@jit
def let_go(live: Live, entry: int, is_grid: bool) -> None:
    unlink(live, entry, is_grid)
    event = live.event[entry]
    live.entries_of[event] -= 1
    live.counts[ENTRIES] -= 1
    if live.entries_of[event] == 0:
        live.free_event[live.counts[FREE_EVENTS]] = event
        live.counts[FREE_EVENTS] += 1
        live.counts[EVENTS] -= 1
    give_back(live, entry)


@jit
def expiry(live: Live, lasts: I64, entry: int) -> int:
    """The last moment in which an entry may be needed."""
    last = live.ts[entry] + lasts[live.trigger[entry], live.kind[entry]]
    for d in range(live.bound.shape[1]):
        last = min(last, live.bound[entry, d])
    return int(last)


@jit
def expire(live: Live, lasts: I64, now: int, is_grid: bool) -> None:
    """Lets go what is not needed from now on. A key may be too early, since bounds grow, never too late."""
    while live.counts[HEAP] > 0 and live.heap_key[0] < now:
        entry = live.heap[0]
        last = expiry(live, lasts, entry)
        if last >= now:
            sink(live, last, entry)
        else:
            pop(live)
            let_go(live, entry, is_grid)
