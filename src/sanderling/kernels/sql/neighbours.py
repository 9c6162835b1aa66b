"""NN: the nearest rows of one side to rows of the other, tick by tick, told as pairs that come and go.

right rows that change ──► left rows that have them within reach ─┐
left rows that change ────────────────────────────────────────────┴─► their lists before and after ─► minus

How far a left row's last neighbour is, is its reach: what changes beyond it is nothing to the row. Lists are
not remembered: that of before is searched for among the rows of before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.jit import jit
from sanderling.space.metric import apart, beyond_edge

# So many searches in a tick pay for a grid; fewer look at every row.
WORTH_A_GRID = 16
ROWS_IN_A_CELL = 2.0


class Seekers(NamedTuple):
    """The left side by row: where, as `metric.spread` has it, how often it is there, its own key, its reach
    as a square.
    """

    at: F64
    times: I64
    own: I64
    reach: F64


class Sought(NamedTuple):
    """The right side by row: where, how often it is there, its key, its rank among those as far away."""

    at: F64
    times: I64
    own: I64
    rank: I64


class Of(NamedTuple):
    """Rows of some queries that are there or come, those of query q from starts[q] on."""

    rows: I64
    starts: I64


class Changes(NamedTuple):
    """In order of query, then tick: those of query q from starts[q] on."""

    is_right: Bools
    row: I64
    tick: I64
    sign: I64
    starts: I64


class Grid(NamedTuple):
    """Right rows by cell, row after row of cells: those of cell c from starts[c] on."""

    rows: I64
    starts: I64
    x: float
    y: float
    side: float
    wide: int
    high: int
    slack: float  # what rounding may put on the wrong side of a border


class List(NamedTuple):
    """A heap of the first k so far, the last of them on top: square of its distance, rank, row."""

    square: F64
    rank: I64
    row: I64


class Seeker(NamedTuple):
    """A left row among all; `is_other`: rows of its own key are none of its neighbours."""

    all: F64
    number: int
    x: float
    y: float
    own: int
    is_other: bool


class Found(NamedTuple):
    """How many rows a list has, how often they are there together, and how many places were compared."""

    size: int
    total: int
    looked: int


class Told(NamedTuple):
    """The first n pairs: left row, right row, tick, sign. `looked` is how many places were compared."""

    pairs: I64
    n: int
    looked: int


@jit
def is_behind(list_: List, i: int, j: int) -> bool:
    if list_.square[i] != list_.square[j]:
        return bool(list_.square[i] > list_.square[j])
    return bool(list_.rank[i] > list_.rank[j])


@jit
def swap(list_: List, i: int, j: int) -> None:
    list_.square[i], list_.square[j] = list_.square[j], list_.square[i]
    list_.rank[i], list_.rank[j] = list_.rank[j], list_.rank[i]
    list_.row[i], list_.row[j] = list_.row[j], list_.row[i]


@jit
def push(list_: List, size: int, square: float, rank: int, row: int) -> None:
    list_.square[size], list_.rank[size], list_.row[size] = square, rank, row
    at = size
    while at > 0 and is_behind(list_, at, (at - 1) // 2):
        swap(list_, at, (at - 1) // 2)
        at = (at - 1) // 2


@jit
def pop(list_: List, size: int) -> None:
    """Takes the top out; what is left are size - 1."""
    swap(list_, 0, size - 1)
    at, size = 0, size - 1
    while True:
        last = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and is_behind(list_, child, last):
                last = child
        if last == at:
            return
        swap(list_, at, last)
        at = last


@jit
def offer(
    list_: List, size: int, total: int, k: int, square: float, row: int, times: I64, rank: I64
) -> tuple[int, int]:
    """A row that may be among the first k; rows count as often as they are there."""
    if total >= k and (square > list_.square[0] or (square == list_.square[0] and rank[row] > list_.rank[0])):
        return size, total
    push(list_, size, square, rank[row], row)
    size, total = size + 1, total + times[row]
    while total - times[list_.row[0]] >= k:
        total -= times[list_.row[0]]
        pop(list_, size)
        size -= 1
    return size, total


@jit
def look_at(rows: I64, seeker: Seeker, k: int, right: Sought, times: I64, list_: List, found: Found) -> Found:
    size, total, looked = found
    for row in rows:
        if times[row] > 0 and not (seeker.is_other and right.own[row] == seeker.own):
            square = apart(seeker.x, seeker.y, seeker.all, seeker.number, right.at, row)
            size, total = offer(list_, size, total, k, square, row, times, right.rank)
    return Found(size, total, looked + len(rows))


@jit
def column_of(x: float, first: float, side: float, n: int) -> int:
    """Which of n columns of cells a place is in, or is nearest to."""
    return int(min(max((x - first) / side, 0.0), n - 1.0))


@jit
def left_out(grid: Grid, seeker: Seeker, cx: int, cy: int, ring: int) -> float:
    """How near to the seeker rows may be in cells beyond a ring; infinite, if there are none."""
    beyond = np.inf
    if cx - ring > 0:
        beyond = min(beyond, seeker.x - (grid.x + (cx - ring) * grid.side))
    if cx + ring < grid.wide - 1:
        beyond = min(beyond, grid.x + (cx + ring + 1) * grid.side - seeker.x)
    if cy - ring > 0:
        beyond = min(beyond, seeker.y - (grid.y + (cy - ring) * grid.side))
    if cy + ring < grid.high - 1:
        beyond = min(beyond, grid.y + (cy + ring + 1) * grid.side - seeker.y)
    return beyond - grid.slack


@jit
def search(grid: Grid, seeker: Seeker, k: int, right: Sought, times: I64, list_: List) -> Found:
    """The first k of rows that are there so often, ring by ring of cells."""
    found = Found(0, 0, 0)
    cx = column_of(seeker.x, grid.x, grid.side, grid.wide)
    cy = column_of(seeker.y, grid.y, grid.side, grid.high)
    ring = 0
    while True:
        first, last = max(cx - ring, 0), min(cx + ring, grid.wide - 1)
        for row in range(max(cy - ring, 0), min(cy + ring, grid.high - 1) + 1):
            is_whole = row == cy - ring or row == cy + ring
            column, step = (first, 1) if is_whole else (cx - ring, 2 * ring)
            while column <= last:
                if column >= 0:
                    cell = row * grid.wide + column
                    rows = grid.rows[grid.starts[cell] : grid.starts[cell + 1]]
                    found = look_at(rows, seeker, k, right, times, list_, found)
                column += step
        beyond = left_out(grid, seeker, cx, cy, ring)
        is_far = beyond > 0.0 and beyond_edge(beyond, right.at) > list_.square[0]
        is_enough = found.total >= k and is_far
        if beyond == np.inf or is_enough:
            return found
        ring += 1


@jit
def side_of(n: int, width: float, height: float, furthest: float) -> float:
    """Of cells for about as many rows each; 0 where that would be lost in rounding."""
    area, longest = width * height, max(width, height)
    side = np.sqrt(area * ROWS_IN_A_CELL / n)
    # A thin strip has no more cells than rows.
    side = max(side, longest * ROWS_IN_A_CELL / n)
    return side if np.isfinite(side) and side > 1e-12 * furthest and furthest < 1e150 else 0.0


@jit
def grid_of(rows: I64, right: Sought, is_worth: bool) -> Grid:
    """The rows in cells; in one, where they are few or that is not worth it."""
    n, side = len(rows), 0.0
    x0, x1, y0, y1 = np.inf, -np.inf, np.inf, -np.inf
    if is_worth and n > 0:
        for row in rows:
            x0, x1 = min(x0, right.at[row, 0]), max(x1, right.at[row, 0])
            y0, y1 = min(y0, right.at[row, 1]), max(y1, right.at[row, 1])
        furthest = max(max(abs(x0), abs(x1)), max(abs(y0), abs(y1)))
        side = side_of(n, x1 - x0, y1 - y0, furthest)
    if side == 0.0:
        return Grid(rows, np.array([0, n]), 0.0, 0.0, 1.0, 1, 1, 0.0)
    wide, high = int((x1 - x0) / side) + 1, int((y1 - y0) / side) + 1
    cell, starts = np.empty(n, np.int64), np.zeros(wide * high + 1, np.int64)
    for i in range(n):
        cell[i] = column_of(right.at[rows[i], 1], y0, side, high) * wide
        cell[i] += column_of(right.at[rows[i], 0], x0, side, wide)
        starts[cell[i] + 1] += 1
    starts = np.cumsum(starts)
    at, ordered = starts[:-1].copy(), np.empty(n, np.int64)
    for i in range(n):
        ordered[at[cell[i]]] = rows[i]
        at[cell[i]] += 1
    return Grid(ordered, starts, x0, y0, side, wide, high, 1e-9 * side + 1e-14 * furthest)


@jit
def is_touched(at: F64, number: int, reach: float, changed: I64, right: Sought) -> bool:
    x, y = at[number, 0], at[number, 1]
    for row in changed:  # noqa: SIM110, kernels have no generators
        if not apart(x, y, at, number, right.at, row) > reach:
            return True
    return False


@jit
def who_looks(seekers: I64, left: Seekers, then: I64, right: Sought, changed: I64) -> I64:
    """Left rows that come or go, or that have a row within reach which does."""
    looks, m = np.empty(len(seekers), np.int64), 0
    # Where it would take longer to find out, all look.
    is_for_all = len(changed) > 4 * WORTH_A_GRID
    for row in seekers:
        if left.times[row] == 0 and then[row] == 0:
            continue
        is_own = left.times[row] != then[row]
        if is_own or is_for_all or is_touched(left.at, row, left.reach[row], changed, right):
            looks[m] = row
            m += 1
    return looks[:m]


@jit
def add_shares(list_: List, found: Found, k: int, times: I64, weight: int, share: I64) -> None:
    """How often each of a list is there; the last of it only up to k."""
    for i in range(found.size):
        over = found.total - k if i == 0 and found.total > k else 0
        share[list_.row[i]] += weight * (times[list_.row[i]] - over)


@jit
def tell(row: int, tick: int, list_: List, size: int, share: I64, told: Told) -> Told:
    """What differs of the rows of a list, and is told then."""
    pairs, n, looked = told
    for i in range(size):
        other = list_.row[i]
        if share[other] != 0:
            if n == len(pairs):
                more = np.empty((2 * n, 4), np.int64)
                more[:n] = pairs
                pairs = more
            pairs[n, 0], pairs[n, 1], pairs[n, 2], pairs[n, 3] = row, other, tick, share[other]
            n += 1
            share[other] = 0
    return Told(pairs, n, looked)


@jit
def new_list(room: int) -> List:
    return List(np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64))


@jit
def walk_neighbours(
    k: int, is_other: bool, left: Seekers, right: Sought, lefts: Of, rights: Of, changes: Changes
) -> Told:
    """All changes in their order; both sides, and how far rows reach, are then as they are at the end."""
    told = Told(np.empty((len(changes.row) + 16, 4), np.int64), 0, 0)
    left_then, right_then = left.times.copy(), right.times.copy()
    share = np.zeros(len(right.at), np.int64)
    room = min(k, max(len(rights.rows), 1)) + 2
    before, after = new_list(room), new_list(room)
    for q in range(len(changes.starts) - 1):
        seekers = lefts.rows[lefts.starts[q] : lefts.starts[q + 1]]
        sought = rights.rows[rights.starts[q] : rights.starts[q + 1]]
        first = changes.starts[q]
        while first < changes.starts[q + 1]:
            tick, behind = changes.tick[first], first
            while behind < changes.starts[q + 1] and changes.tick[behind] == tick:
                then = right_then if changes.is_right[behind] else left_then
                then[changes.row[behind]] += changes.sign[behind]
                behind += 1
            changed = changes.row[first:behind][changes.is_right[first:behind]]
            changed = changed[right.times[changed] != right_then[changed]]
            looks = who_looks(seekers, left, left_then, right, changed)
            grid = grid_of(sought, right, len(looks) > WORTH_A_GRID)
            for row in looks:
                seeker = Seeker(left.at, row, left.at[row, 0], left.at[row, 1], left.own[row], is_other)
                was, now = Found(0, 0, 0), Found(0, 0, 0)
                if left.times[row] != 0:
                    was = search(grid, seeker, k, right, right.times, before)
                    add_shares(before, was, k, right.times, -left.times[row], share)
                if left_then[row] != 0:
                    now = search(grid, seeker, k, right, right_then, after)
                    add_shares(after, now, k, right_then, left_then[row], share)
                    left.reach[row] = after.square[0] if now.total >= k else np.inf
                told = tell(row, tick, before, was.size, share, told)
                told = tell(row, tick, after, now.size, share, told)
                told = Told(told.pairs, told.n, told.looked + was.looked + now.looked)
            for i in range(first, behind):
                row = changes.row[i]
                if changes.is_right[i]:
                    right.times[row] = right_then[row]
                else:
                    left.times[row] = left_then[row]
            first = behind
    return told
