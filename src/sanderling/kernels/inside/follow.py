"""Regions that follow their focal objects: who crossed a border in which tick, whoever of the two moved.

In each tick:
  moved objects, old place ──► regions as they were ──► left, or stayed with a watched change
  the regions move
  moved objects, new place ──► regions as they are ──► entered
  moved regions, before and after ──► objects that did not move ──► left, entered
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sanderling.arrays import F64, I8, I32, I64, U64, Bools
from sanderling.kernels.inside.cross import IS, WAS, Moves
from sanderling.kernels.inside.grid import bucket_of, cell_of
from sanderling.kernels.jit import jit
from sanderling.kernels.nearest.cells import Cells, is_deserted, longer, near, put
from sanderling.space.coverages import holds_place, plain_holds_place
from sanderling.space.metric import beyond


class Followers(NamedTuple):
    """Regions around focal objects, in order of focal object: those of f are `first[f]` to `first[f + 1]`.

    `kind` is of coverages that may follow; `condition` and `watch` are as in `Rules`. By level: `reach_w` and
    `reach_h`, within which all of a level's regions end.
    """

    first: I64
    focal: I64
    kind: I8
    condition: I32
    watch: U64
    reach_w: F64
    reach_h: F64


class Stage(NamedTuple):
    """Where everything is between two ticks, and what conditions each object satisfies; changes in place.

    `aside` is a region's other place, while its cells say one of two, and half its sides, or its
    radius. `own` is the number that each focal object has among the objects, or -1; `row` each
    object's last reading. `present` is how many objects are there.
    """

    regions: Cells
    aside: F64
    objects: Cells
    own: I64
    row: I64
    holds: Bools
    present: I64


class FocalMoves(NamedTuple):
    """Focal objects that moved, in order of tick; NaN is gone."""

    tick: I64
    focal: I64
    x: F64
    y: F64


class Meetings(NamedTuple):
    """Who met which region: readings by row before and after, WAS and IS, and what changed."""

    tick: I64
    region: I32
    old_row: I64
    new_row: I64
    state: I8
    changed: U64


@jit
def from_objects(
    is_new: bool, tick: int, order: I64, followers: Any, stage: Any, moves: Any, new_row: I64,
    n: int, out: Any,
) -> Any:  # fmt: skip
    """What some moves met: from their old places among regions as they were, or from and as both are new."""
    # Taken out of their tuples once: inside a loop each use would count references (6x).
    _, focal_of, kind, condition, watch, reach_w, reach_h = followers
    regions, aside, _, own, row, _, _ = stage
    who, old_x, old_y, new_x, new_y, changed, held, holds = moves
    ticks, region_of, old_rows, new_rows, states, changes = out
    cell, level_of, head, next_, _, bucket, place, _ = regions
    here_x, here_y, here = (new_x, new_y, holds) if is_new else (old_x, old_y, held)
    there_x, there_y, there = (old_x, old_y, held) if is_new else (new_x, new_y, holds)
    found = np.empty(len(level_of), np.int32)
    # Copies of what was found, side by side: each is looked at by every object of a cell.
    near_by, focal = np.empty((len(level_of), 6)), np.empty(len(level_of), np.int64)
    sort, which, hit = np.empty_like(found), np.empty_like(found), np.empty(len(level_of) + 1, np.int32)
    k = 0
    while k < len(order):
        x1, y1 = here_x[order[k]], here_y[order[k]]
        if x1 != x1:
            k += 1
            continue
        x2, y2 = x1, y1
        column, line = cell_of(x1, cell[0]), cell_of(y1, cell[0])
        k_end = k + 1
        while k_end < len(order):
            x, y = here_x[order[k_end]], here_y[order[k_end]]
            if x != x or cell_of(x, cell[0]) != column or cell_of(y, cell[0]) != line:
                break
            x1, y1, x2, y2 = min(x1, x), min(y1, y), max(x2, x), max(y2, y)
            k_end += 1
        for level in range(len(reach_w)):
            count = near(
                cell[level], level_of, head, next_, bucket, place, level,
                x1 - beyond(x1, reach_w[level]), y1 - beyond(y1, reach_h[level]),
                x2 + beyond(x2, reach_w[level]), y2 + beyond(y2, reach_h[level]), found,
            )  # fmt: skip
            while n + count * (k_end - k) > len(ticks):
                ticks, region_of, old_rows = longer(ticks), longer(region_of), longer(old_rows)
                new_rows, states, changes = longer(new_rows), longer(states), longer(changes)
            for c in range(count):
                r = found[c]
                near_by[c, 0], near_by[c, 1] = place[r, 0], place[r, 1]
                for d in range(4):
                    near_by[c, 2 + d] = aside[r, d]
                sort[c], which[c], focal[c] = kind[r], condition[r], own[focal_of[r]]
            for i in order[k:k_end]:
                x, y = here_x[i], here_y[i]
                hits = 0
                for c in range(count):
                    # Written whether it counts or not: a branch here would be guessed wrong every third time.
                    hit[hits] = c
                    hits += holds_place(
                        sort[c], near_by[c, 0], near_by[c, 1], near_by[c, 4], near_by[c, 5], x, y
                    )
                for c in hit[:hits]:
                    if not here[which[c], i] or focal[c] == who[i]:
                        continue
                    w, h = near_by[c, 4], near_by[c, 5]
                    is_both = there[which[c], i] and holds_place(
                        sort[c], near_by[c, 2], near_by[c, 3], w, h, there_x[i], there_y[i]
                    )
                    if is_both and (is_new or not changed[i] & watch[found[c]]):
                        continue
                    ticks[n], region_of[n], changes[n] = tick, found[c], changed[i]
                    old_rows[n], new_rows[n] = row[who[i]], new_row[i]
                    states[n] = WAS | IS if is_both else (IS if is_new else WAS)
                    n += 1
        k = k_end
    return n, (ticks, region_of, old_rows, new_rows, states, changes)


@jit
def neighbours_together(m: int, m_end: int, x: F64, y: F64, cell: float, buckets: int) -> I64:
    """The moves from m to m_end, those of a cell together if they are many: less waiting for memory.

    Cells follow each other line by line where there are not too many of them, else by their hash.
    """
    if (m_end - m) * 64 < buckets:
        return np.arange(m, m_end)
    left, right, low, high = np.inf, -np.inf, np.inf, -np.inf
    for i in range(m, m_end):
        if x[i] == x[i]:
            left, right, low, high = min(left, x[i]), max(right, x[i]), min(low, y[i]), max(high, y[i])
    columns = (right - left) / cell + 2.0
    lines = (high - low) / cell + 2.0
    is_small = columns * lines < 4.0 * buckets  # not where nobody is anywhere
    first, lowest, wide, many = 0, 0, 0, buckets
    if is_small:
        first, lowest, wide = cell_of(left, cell), cell_of(low, cell), int(columns)
        many = (cell_of(high, cell) - lowest + 1) * wide
    bucket = np.zeros(m_end - m, np.int32)
    starts = np.zeros(many + 1, np.int32)
    for i in range(m, m_end):
        if x[i] == x[i]:
            column, line = cell_of(x[i], cell), cell_of(y[i], cell)
            if is_small:
                bucket[i - m] = (line - lowest) * wide + column - first
            else:
                bucket[i - m] = bucket_of(column, line, buckets - 1)
        starts[bucket[i - m] + 1] += 1
    for b in range(many):
        starts[b + 1] += starts[b]
    order = np.empty(m_end - m, np.int64)
    for i in range(m, m_end):
        order[starts[bucket[i - m]]] = i
        starts[bucket[i - m]] += 1
    return order


@jit
def from_regions(tick: int, focals: I64, followers: Any, stage: Any, n: int, out: Any) -> Any:
    """What the regions of moved focal objects met among the objects that are in cells."""
    first, _, kind, condition, _, reach_w, reach_h = followers
    regions, aside, objects, own, row, holds, _ = stage
    ticks, region_of, old_rows, new_rows, states, changes = out
    place, level_of = regions.place, regions.level
    cell, on, head, next_, _, bucket, object_place, crowd = objects
    found = np.empty(len(on), np.int32)
    for f in focals:
        for r in range(first[f], first[f + 1]):
            new_x, new_y, old_x, old_y = place[r, 0], place[r, 1], aside[r, 0], aside[r, 1]
            if new_x == old_x and new_y == old_y:
                continue
            level = level_of[r]
            # After a small step one look finds both, who left and who entered.
            is_step = abs(new_x - old_x) <= reach_w[level] and abs(new_y - old_y) <= reach_h[level]
            for is_new in (False, True):
                x, y = (new_x, new_y) if is_new or is_step else (old_x, old_y)
                u, v = (old_x, old_y) if is_step else (x, y)
                if x != x or (is_new and is_step):
                    continue
                x1, y1 = min(x, u) - beyond(x, reach_w[level]), min(y, v) - beyond(y, reach_h[level])
                x2, y2 = max(x, u) + beyond(x, reach_w[level]), max(y, v) + beyond(y, reach_h[level])
                if is_deserted(cell[0], crowd, x1, y1, x2, y2):
                    continue
                count = near(
                    cell[0], on, head, next_, bucket, object_place, 0, x1, y1, x2, y2, found
                )  # fmt: skip
                while n + count > len(ticks):
                    ticks, region_of, old_rows = longer(ticks), longer(region_of), longer(old_rows)
                    new_rows, states, changes = longer(new_rows), longer(states), longer(changes)
                for k in range(count):
                    o = found[k]
                    a, b, w, h = object_place[o, 0], object_place[o, 1], aside[r, 2], aside[r, 3]
                    was = holds_place(kind[r], old_x, old_y, w, h, a, b)
                    is_ = holds_place(kind[r], new_x, new_y, w, h, a, b)
                    if was == is_ or (is_ != is_new and not is_step):
                        continue
                    if not holds[condition[r], o] or own[f] == o:
                        continue
                    ticks[n], region_of[n], changes[n] = tick, r, 0
                    old_rows[n], new_rows[n] = row[o], row[o]
                    states[n] = IS if is_ else WAS
                    n += 1
    return n, (ticks, region_of, old_rows, new_rows, states, changes)


@jit
def move_regions(focals: I64, first: I64, regions: Any, aside: F64) -> None:
    """To the places that were put aside; where they were is put aside."""
    place = regions.place
    for f in focals:
        for r in range(first[f], first[f + 1]):
            x, y = place[r, 0], place[r, 1]
            put(regions, r, aside[r, 0], aside[r, 1])
            aside[r, 0], aside[r, 1] = x, y


@jit
def move_objects(m: int, m_end: int, stage: Any, moves: Any, new_row: I64) -> None:
    _, _, objects, _, row, now_holds, present = stage
    who, old_x, _, new_x, new_y, _, _, holds = moves
    for i in range(m, m_end):
        o = who[i]
        put(objects, o, new_x[i], new_y[i])
        present[0] += int(new_x[i] == new_x[i]) - int(old_x[i] == old_x[i])
        row[o] = new_row[i]
        for c in range(len(holds)):
            now_holds[c, o] = holds[c, i]


@jit
def in_order_of_regions(f: int, f_end: int, focals: I64, known: int) -> I64:
    """The focal moves from f to f_end, in order of focal object if they are many: less waiting for memory."""
    if (f_end - f) * 8 < known:
        return np.arange(f, f_end)
    place = np.full(known, -1, np.int32)
    for k in range(f, f_end):
        place[focals[k]] = k - f
    order = np.empty(f_end - f, np.int64)
    n = 0
    for at in place:
        if at >= 0:
            order[n] = f + at
            n += 1
    return order


@jit
def follow_all(
    followers: Any, stage: Any, move_tick: I64, moves: Any, new_row: I64, focal_moves: Any
) -> tuple[I64, I32, I64, I64, I8, U64]:
    first = followers.first
    regions, aside, objects, _, _, _, present = stage
    place = regions.place
    who, old_x = moves.object, moves.old_x
    focal_tick, focals, focal_x, focal_y = focal_moves
    room = 4 * len(who) + 64  # mostly enough; what is not used costs nothing
    out = (
        np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int64),
        np.empty(room, np.int64), np.empty(room, np.int8), np.empty(room, np.uint64),
    )  # fmt: skip
    n, m, f = 0, 0, 0
    while m < len(who) or f < len(focals):
        if f == len(focals) or (m < len(who) and move_tick[m] < focal_tick[f]):
            tick = move_tick[m]
        else:
            tick = focal_tick[f]
        m_end, f_end, still = m, f, present[0]
        while m_end < len(who) and move_tick[m_end] == tick:
            still -= int(old_x[m_end] == old_x[m_end])
            m_end += 1
        while f_end < len(focals) and focal_tick[f_end] == tick:
            f_end += 1
        moved = in_order_of_regions(f, f_end, focals, len(first) - 1)
        for k in moved:
            for r in range(first[focals[k]], first[focals[k] + 1]):
                aside[r, 0], aside[r, 1] = focal_x[k], focal_y[k]
        order = neighbours_together(m, m_end, old_x, moves.old_y, regions.cell[0], len(regions.head))
        for is_new in (False, True):
            n, out = from_objects(is_new, tick, order, followers, stage, moves, new_row, n, out)
            if not is_new:
                move_regions(focals[moved], first, regions, aside)
        if still > 0 and f < f_end:
            # Nobody who moved is in a cell, so that where everybody did the cells are empty.
            for i in range(m, m_end):
                put(objects, who[i], np.nan, np.nan)
            order = neighbours_together(f, f_end, focal_x, focal_y, objects.cell[0], len(objects.head))
            n, out = from_regions(tick, focals[order], followers, stage, n, out)
        for k in moved:
            for r in range(first[focals[k]], first[focals[k] + 1]):
                aside[r, 0], aside[r, 1] = place[r, 0], place[r, 1]
        move_objects(m, m_end, stage, moves, new_row)
        m, f = m_end, f_end
    ticks, region_of, old_rows, new_rows, states, changes = out
    return ticks[:n], region_of[:n], old_rows[:n], new_rows[:n], states[:n], changes[:n]


def follow(
    followers: Followers, stage: Stage, move_tick: I64, moves: Moves, new_row: I64, focal_moves: FocalMoves
) -> Meetings:
    """Who entered, left or stayed with a watched change, over all ticks of some moves; `stage` goes along."""
    return Meetings(*follow_all(followers, stage, move_tick, moves, new_row, focal_moves))


def plain_follow(
    followers: Followers, stage: Stage, move_tick: I64, moves: Moves, new_row: I64, focal_moves: FocalMoves
) -> set[tuple[int, ...]]:
    """The reference twin of `follow`: every object with every region, tick by tick; `stage` stays."""
    centre: list[Any] = stage.regions.place.tolist()
    where: list[Any] = stage.objects.place.tolist()
    row, holds = stage.row.copy(), stage.holds.copy()
    w, h = stage.aside[:, 2], stage.aside[:, 3]
    found: set[tuple[int, ...]] = set()

    def members() -> dict[tuple[int, int], int]:
        return {
            (o, r): int(row[o])
            for o, r in _all_pairs(len(where), len(centre))
            if holds[followers.condition[r], o]
            and stage.own[followers.focal[r]] != o
            and plain_holds_place(
                followers.kind[r], centre[r][0], centre[r][1], w[r], h[r], where[o][0], where[o][1]
            )
        }

    for tick in np.unique(np.concatenate([move_tick, focal_moves.tick])):
        before, changed, row_before = members(), np.zeros(len(where), np.uint64), row.copy()
        for i in np.flatnonzero(move_tick == tick):
            o = moves.object[i]
            where[o], row[o], holds[:, o] = (moves.new_x[i], moves.new_y[i]), new_row[i], moves.holds[:, i]
            changed[o] = moves.changed[i]
        for k in np.flatnonzero(focal_moves.tick == tick):
            f = focal_moves.focal[k]
            for r in range(followers.first[f], followers.first[f + 1]):
                centre[r] = (focal_moves.x[k], focal_moves.y[k])
        after = members()
        for o, r in before.keys() | after.keys():
            was, is_ = (o, r) in before, (o, r) in after
            if was != is_ or changed[o] & followers.watch[r]:
                state = WAS * was + IS * is_
                found.add((int(tick), r, int(row_before[o]), int(row[o]), state, int(changed[o])))
    return found


def _all_pairs(n: int, m: int) -> Iterable[tuple[int, int]]:
    return ((i, j) for i in range(n) for j in range(m))
