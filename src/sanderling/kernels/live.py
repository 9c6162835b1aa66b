"""Events that triggers may still need: as what they are needed, where to find them, and until when.

An entry is an event that stands for one kind of variable of one trigger. Entries are linked from new to old:
those of a trigger's kind, and those of a cell of the grid. A heap knows which entry may go next.

There are few arrays, with many columns: what is known of an entry stands together, and calls hand on little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit_bare

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

NONE = -1
EDGE = 4e18  # cells end here

# Columns of `whole`. From BOUND on by kind: until when that kind has, or may have, an event for this one;
# then the values that constraints compare, doubles by their bits, with a bit each in NULLS.
TRIGGER, KIND, ORDER, TS, NULLS, EVENT, CELL_X, CELL_Y, OLDER, NEWER, CELL_OLDER, CELL_NEWER = range(12)
BOUND = 12
KEY, ENTRY = 0, 1  # columns of `heap`
FREE_ENTRY, FREE_EVENT, ORDER_OF, ENTRIES_OF = range(4)  # columns of `spare`: stacks; then by event
# Places in `counts`; LISTS is how many heads of lists stand before those of cells.
FREE, FREE_EVENTS, HEAP, ENTRIES, EVENTS, MOST_ENTRIES, MOST_EVENTS, LAST, LISTS = range(9)


class Live(NamedTuple):
    whole: I64  # by entry
    place: F64  # by entry: x and y
    heads: I64  # the newest of each list, by trigger and kind; then of each cell, by its hash
    heap: I64
    spare: I64
    counts: I64


def new_live(room: int, lists: int, columns: int) -> Live:
    """Nothing yet, with room for so many entries."""
    buckets = 1 << max(4, (2 * room - 1).bit_length())
    live = Live(
        np.zeros((room, columns), np.int64), np.zeros((room, 2)), np.full(lists + buckets, NONE),
        np.zeros((room, 2), np.int64), np.zeros((room, 4), np.int64), np.zeros(LISTS + 1, np.int64),
    )  # fmt: skip
    live.spare[:, :2] = np.arange(room)[::-1, None]
    live.counts[[FREE, FREE_EVENTS, LAST, LISTS]] = room, room, NONE, lists
    return live


# ----- the heap: the entry with the smallest key on top


@jit_bare
def push(heap: I64, counts: I64, key: int, entry: int) -> None:
    at = counts[HEAP]
    counts[HEAP] += 1
    while at > 0 and heap[(at - 1) // 2, KEY] > key:
        above = (at - 1) // 2
        heap[at, KEY], heap[at, ENTRY] = heap[above, KEY], heap[above, ENTRY]
        at = above
    heap[at, KEY], heap[at, ENTRY] = key, entry


@jit_bare
def sink(heap: I64, some: int, key: int, entry: int) -> None:
    """Puts an entry in the place of the one on top, of so many."""
    at = 0
    while 2 * at + 1 < some:
        below = 2 * at + 1
        if below + 1 < some and heap[below + 1, KEY] < heap[below, KEY]:
            below += 1
        if heap[below, KEY] >= key:
            break
        heap[at, KEY], heap[at, ENTRY] = heap[below, KEY], heap[below, ENTRY]
        at = below
    heap[at, KEY], heap[at, ENTRY] = key, entry


# ----- links


@jit_bare
def cell(place: float, side: float) -> int:
    """Grows with the place, however large; no number is below all."""
    at = place / side
    if not at > -EDGE:
        return int(-EDGE)
    return int(np.floor(at)) if at < EDGE else int(EDGE)


@jit_bare
def bucket(buckets: int, trigger: int, kind: int, cell_x: int, cell_y: int) -> int:
    h = np.uint64(cell_x) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(cell_y)
    h = h * np.uint64(0xD1B54A32D192ED03) + np.uint64(trigger) * np.uint64(64) + np.uint64(kind)
    return int(mix(h) & np.uint64(buckets - 1))


@jit_bare
def put_first(whole: I64, heads: I64, head: int, entry: int, older: int) -> None:
    """Links an entry before all others; `older` is the column of the links, the next one leads back."""
    old = heads[head]
    whole[entry, older], whole[entry, older + 1], heads[head] = old, NONE, entry
    if old != NONE:
        whole[old, older + 1] = entry


@jit_bare
def take_out(whole: I64, heads: I64, head: int, entry: int, older: int) -> None:
    old, new = whole[entry, older], whole[entry, older + 1]
    if old != NONE:
        whole[old, older + 1] = new
    if new != NONE:
        whole[new, older] = old
    else:
        heads[head] = old


@jit_bare
def cell_head(whole: I64, heads: I64, lists: int, entry: int) -> int:
    w = whole[entry]
    return int(lists + bucket(len(heads) - lists, w[TRIGGER], w[KIND], w[CELL_X], w[CELL_Y]))


@jit_bare
def link(live: Live, entry: int, kinds: int, side: float, is_grid: bool) -> None:
    whole, heads = live.whole, live.heads
    put_first(whole, heads, whole[entry, TRIGGER] * kinds + whole[entry, KIND], entry, OLDER)
    if is_grid:
        whole[entry, CELL_X] = cell(live.place[entry, 0], side)
        whole[entry, CELL_Y] = cell(live.place[entry, 1], side)
        put_first(whole, heads, cell_head(whole, heads, live.counts[LISTS], entry), entry, CELL_OLDER)


@jit_bare
def unlink(live: Live, entry: int, kinds: int, is_grid: bool) -> None:
    whole, heads = live.whole, live.heads
    take_out(whole, heads, whole[entry, TRIGGER] * kinds + whole[entry, KIND], entry, OLDER)
    if is_grid:
        take_out(whole, heads, cell_head(whole, heads, live.counts[LISTS], entry), entry, CELL_OLDER)


# ----- coming and going


@jit_bare
def take(spare: I64, counts: I64) -> int:
    """A free entry."""
    counts[FREE] -= 1
    return int(spare[counts[FREE], FREE_ENTRY])


@jit_bare
def give_back(spare: I64, counts: I64, entry: int) -> None:
    spare[counts[FREE], FREE_ENTRY] = entry
    counts[FREE] += 1


@jit_bare
def expiry(whole: I64, lasts: I64, entry: int) -> int:
    """The last moment in which an entry may be needed."""
    last = whole[entry, TS] + lasts[whole[entry, TRIGGER], whole[entry, KIND]]
    for d in range(lasts.shape[1]):
        last = min(last, whole[entry, BOUND + d])
    return int(last)


@jit_bare
def hold(live: Live, entry: int, lasts: I64, side: float, is_grid: bool) -> None:
    """An entry, whose columns are there, lives from now on; those of one event come one after the other."""
    whole, counts, spare = live.whole, live.counts, live.spare
    order, last = whole[entry, ORDER], counts[LAST]
    if last == NONE or spare[last, ORDER_OF] != order or spare[last, ENTRIES_OF] == 0:
        counts[FREE_EVENTS] -= 1
        last = spare[counts[FREE_EVENTS], FREE_EVENT]
        spare[last, ORDER_OF], spare[last, ENTRIES_OF], counts[LAST] = order, 0, last
        counts[EVENTS] += 1
        counts[MOST_EVENTS] = max(counts[MOST_EVENTS], counts[EVENTS])
    whole[entry, EVENT] = last
    spare[last, ENTRIES_OF] += 1
    counts[ENTRIES] += 1
    counts[MOST_ENTRIES] = max(counts[MOST_ENTRIES], counts[ENTRIES])
    link(live, entry, lasts.shape[1], side, is_grid)
    push(live.heap, counts, expiry(whole, lasts, entry), entry)


@jit_bare
def let_go(live: Live, entry: int, kinds: int, is_grid: bool) -> None:
    unlink(live, entry, kinds, is_grid)
    spare, counts, event = live.spare, live.counts, live.whole[entry, EVENT]
    spare[event, ENTRIES_OF] -= 1
    counts[ENTRIES] -= 1
    if spare[event, ENTRIES_OF] == 0:
        spare[counts[FREE_EVENTS], FREE_EVENT] = event
        counts[FREE_EVENTS] += 1
        counts[EVENTS] -= 1
    give_back(spare, counts, entry)


@jit_bare
def expire(live: Live, lasts: I64, now: int, is_grid: bool) -> None:
    """Lets go what is not needed from now on. A key may be too early, since bounds grow, never too late."""
    heap, counts = live.heap, live.counts
    while counts[HEAP] > 0 and heap[0, KEY] < now:
        entry = heap[0, ENTRY]
        last = expiry(live.whole, lasts, entry)
        if last >= now:
            sink(heap, counts[HEAP], last, entry)
        else:
            counts[HEAP] -= 1
            some = counts[HEAP]
            sink(heap, some, heap[some, KEY], heap[some, ENTRY])
            let_go(live, entry, lasts.shape[1], is_grid)
