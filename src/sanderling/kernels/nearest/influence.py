"""Which kNN queries does a change concern? Each has an influence: within its k-th distance, and its region.

A query is looked at again if its focal object moved, or if an object changed that was in its
influence or is. Queries are in cells by the middle of their influence, on levels by its size;
those with fewer than k objects and no region concern everything, and are wide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sanderling.arrays import F64, I8, I32, I64, U64, Bools
from sanderling.kernels.inside.grid import bucket_of, cell_of
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.nearest.cells import NOBODY, longer, near, put
from sanderling.kernels.nearest.nearest import INFINITE, find_nearest, is_nowhere
from sanderling.kernels.nearest.seekers import Changes, FocalPlaces, Lists, Scene, Seekers, Sights
from sanderling.space.coverages import bounds_at, follow_to, holds_at, is_everywhere
from sanderling.space.metric import LAT, LON, apart, around_place, beyond

# Asking an object whom it concerns costs about as much as a search; a wide query is a small part of it.
LOOKS_AN_OBJECT = 16


# Why a query is looked at again: an object in its influence changed, or everything may be different.
TOUCHED, MOVED = np.int8(1), np.int8(2)


# ----- where queries are looked for


@jit
def leave_wide(q: int, c: int, wide_head: I32, wide_next: I32, wide_previous: I32) -> None:
    before, after = wide_previous[q], wide_next[q]
    if before >= 0:
        wide_next[before] = after
    else:
        wide_head[c] = after
    if after >= 0:
        wide_previous[after] = before


@jit
def forget(q: int, c: int, sights: Any) -> None:
    """Nothing concerns the query any more."""
    middles = sights.middles
    if middles.bucket[q] >= 0:
        sights.on_level[middles.level[q]] -= 1
        put(middles, q, np.nan, np.nan)
    if sights.is_wide[q]:
        leave_wide(q, c, sights.wide_head, sights.wide_next, sights.wide_previous)
        sights.is_wide[q] = False
        sights.wide_count[c] -= 1


@jit
def influence_of(at: F64, q: int, kth: float, kind: int, region: F64) -> tuple[float, float, float, float]:
    """A box around all places that are within the k-th distance and in the region."""
    x1, y1, x2, y2 = bounds_at(kind, region, q, at)
    if kth < INFINITE:
        left, low, right, high = around_place(at, q, kth)
        x1, y1, x2, y2 = max(x1, left), max(y1, low), min(x2, right), min(y2, high)
    return x1, y1, x2, y2


@jit
def listen(which: I32, condition: I32, sights: Any) -> None:
    """From now on what happens within their influence concerns these queries."""
    place, kth, kind, region = sights.place, sights.kth, sights.kind, sights.region
    middles, reach, on_level, is_wide = sights.middles, sights.reach, sights.on_level, sights.is_wide
    head, next_, previous, wide_count = (
        sights.wide_head, sights.wide_next, sights.wide_previous, sights.wide_count,
    )  # fmt: skip
    level_of, bucket = middles.level, middles.bucket
    for q in which:
        if is_nowhere(place[q, 0], region[q, 0]):
            forget(q, condition[q], sights)
            continue
        x1, y1, x2, y2 = influence_of(place, q, kth[q], kind[q], region)
        middle_x, middle_y = x1 / 2 + x2 / 2, y1 / 2 + y2 / 2
        size = max(x2 - middle_x, y2 - middle_y, 0.0)
        level = 0
        while level < len(reach) and not size <= reach[level]:
            level += 1
        is_listed = bucket[q] >= 0
        if is_wide[q] or (is_listed and level_of[q] != level):
            forget(q, condition[q], sights)
            is_listed = False
        if level < len(reach):
            on_level[level] += int(not is_listed)
            level_of[q] = level
            put(middles, q, middle_x, middle_y)
            continue
        c = condition[q]
        next_[q], previous[q] = head[c], -1
        if head[c] >= 0:
            previous[head[c]] = q
        head[c] = q
        is_wide[q] = True
        wide_count[c] += 1


@jit
def concerns(
    q: int, x: float, y: float, places: F64, p: int, at: F64, kth: F64, kind: I8, region: F64
) -> bool:
    """Whether place p, whose first two columns are x and y, is in the query's influence."""
    # Not in a box beforehand: whatever else is fetched costs more than this.
    return apart(x, y, places, p, at, q) <= kth[q] and (
        is_everywhere(kind[q]) or holds_at(kind[q], region, q, x, y, places, p)
    )


@jit_bare
def is_elsewhere(place: F64, p: int, spots: F64, i: int) -> bool:
    """On the globe, where the map has one place for two: whether a place is another than that of line i."""
    return len(spots) > 0 and not (place[p, LON] == spots[i, LON] and place[p, LAT] == spots[i, LAT])


@jit_bare
def settle(place: F64, p: int, x: float, y: float, spots: F64, i: int) -> None:
    """Place p is there from now on; on the globe it is the whole of line i."""
    place[p, 0], place[p, 1] = x, y
    for column in range(2, place.shape[1]):
        place[p, column] = spots[i, column]


@jit
def mark_around(
    m: int, m_end: int, seekers: Any, sights: Any, scene: Any, changes: Any, marked: I32, n: int
) -> tuple[int, I32, I32]:
    """Marks the queries that are concerned by objects where they were, or where they are now.

    Gives how many are marked, and which of them was touched by whom.
    """
    # Taken out of their tuples once: inside the loop each use would count references.
    condition, watch = seekers.condition, seekers.watch
    mark, at, kth = sights.mark, sights.place, sights.kth
    kind, region, reach, on_level = sights.kind, sights.region, sights.reach, sights.on_level
    cell, level_of, head, next_, _, bucket, middle, _ = sights.middles
    wide_head, wide_next = sights.wide_head, sights.wide_next
    _, who, new_x, new_y, _, bits, holds, spots = changes
    place, held = scene.objects.place, scene.holds
    there = spots if len(spots) else place  # on a plane nobody looks into it
    found = np.empty(len(mark), np.int32)
    touched, by = np.empty(4 * (m_end - m) + 64, np.int32), np.empty(4 * (m_end - m) + 64, np.int32)
    touches = 0
    for i in range(m, m_end):
        o = who[i]
        old = (place[o, 0], place[o, 1])
        new = (new_x[i], new_y[i])
        is_moved = not (old[0] == new[0] and old[1] == new[1]) or is_elsewhere(place, o, spots, i)
        has_changed = is_moved or bits[i] != 0
        for c in range(len(holds)):
            has_changed = has_changed or held[c, o] != holds[c, i]
        if not has_changed:
            continue
        for level in range(len(reach)):
            if on_level[level] == 0:
                continue
            far = reach[level]
            # After a small step one look finds the queries around both places.
            is_step = abs(new[0] - old[0]) <= far and abs(new[1] - old[1]) <= far
            for is_new in (False, True):
                (x, y), (u, v) = (new if is_new else old), (new if is_new or is_step else old)
                if x != x or (is_new and is_step):
                    continue
                many = near(
                    cell[level], level_of, head, next_, bucket, middle, level,
                    min(x - beyond(x, far), u - beyond(u, far)), min(y - beyond(y, far), v - beyond(v, far)),
                    max(x + beyond(x, far), u + beyond(u, far)), max(y + beyond(y, far), v + beyond(v, far)),
                    found,
                )  # fmt: skip
                while touches + many > len(by):
                    touched, by = longer(touched), longer(by)
                for q in found[:many]:
                    c = condition[q]
                    if mark[q] != MOVED and (
                        is_moved or held[c, o] != holds[c, i] or (bits[i] & watch[q]) != 0
                    ):
                        is_concerned = (
                            held[c, o] and concerns(q, old[0], old[1], place, o, at, kth, kind, region)
                        ) or (holds[c, i] and concerns(q, new[0], new[1], there, i, at, kth, kind, region))
                        # Written whether it counts or not.
                        touched[touches], by[touches], marked[n] = q, o, q
                        touches += int(is_concerned)
                        n += int(is_concerned and mark[q] == 0)
                        mark[q] = max(mark[q], int(is_concerned))
        for c in range(len(wide_head)):
            q = wide_head[c] if held[c, o] or holds[c, i] else NOBODY
            while q >= 0:
                if mark[q] != MOVED and (is_moved or held[c, o] != holds[c, i] or (bits[i] & watch[q]) != 0):
                    is_concerned = (
                        held[c, o] and concerns(q, old[0], old[1], place, o, at, kth, kind, region)  # type: ignore[arg-type]
                    ) or (
                        holds[c, i] and concerns(q, new[0], new[1], there, i, at, kth, kind, region)  # type: ignore[arg-type]
                    )
                    if touches == len(by):
                        touched, by = longer(touched), longer(by)
                    touched[touches], by[touches], marked[n] = q, o, q
                    touches += int(is_concerned)
                    n += int(is_concerned and mark[q] == 0)
                    mark[q] = max(mark[q], int(is_concerned))
                q = wide_next[q]
    return n, touched[:touches], by[:touches]


# ----- a tick


@jit
def move_focals(f: int, f_end: int, focal_places: Any, seekers: Any, sights: Any, marked: I32, n: int) -> int:
    """Queries go along with their focal objects, and are marked."""
    _, who, xs, ys, spots = focal_places
    first, of_focal, focal, region_focal = (
        seekers.first, seekers.of_focal, seekers.focal, seekers.region_focal,
    )  # fmt: skip
    place, region = sights.place, sights.region
    mark, is_live, kind = sights.mark, sights.is_live, sights.kind
    for i in range(f, f_end):
        for j in range(first[who[i]], first[who[i] + 1]):
            q = of_focal[j]
            has_moved = False
            if focal[q] == who[i]:
                has_moved = place[q, 0] != xs[i] or place[q, 1] != ys[i] or is_elsewhere(place, q, spots, i)
                settle(place, q, xs[i], ys[i], spots, i)
            if region_focal[q] == who[i]:
                a, b, c = region[q, 0], region[q, 1], region[q, 2]
                follow_to(kind[q], region, q, xs[i], ys[i], spots, i)
                has_moved = has_moved or region[q, 0] != a or region[q, 1] != b or region[q, 2] != c
            if has_moved and is_live[q] and mark[q] == 0:
                mark[q] = MOVED
                marked[n] = q
                n += 1
    return n


@jit
def move_objects(m: int, m_end: int, changes: Any, scene: Any) -> None:
    _, who, xs, ys, rows, bits, holds, spots = changes
    objects, bounds, now_holds, row, changed = (
        scene.objects,
        scene.bounds,
        scene.holds,
        scene.row,
        scene.changed,
    )
    bucket, place, size, mask = objects.bucket, objects.place, objects.cell[0], len(objects.head) - 1
    left, low, right, high = bounds
    present = scene.present[0]
    for i in range(m, m_end):
        o = who[i]
        present -= int(bucket[o] >= 0)
        to = -1
        if xs[i] == xs[i]:
            column, line = cell_of(xs[i], size), cell_of(ys[i], size)
            to = bucket_of(column, line, mask)
            left, low, right, high = min(left, column), min(low, line), max(right, column), max(high, line)
            present += 1
        if to == bucket[o]:
            # Most stay in their cell. The counts of blocks may then be wrong: here nobody asks for them.
            settle(place, o, xs[i], ys[i], spots, i)
        else:
            put(objects, o, xs[i], ys[i])
            settle(place, o, xs[i], ys[i], spots, i)
        row[o], changed[o] = rows[i], bits[i]
        for c in range(len(holds)):
            now_holds[c, o] = holds[c, i]
    scene.present[0] = present
    bounds[0], bounds[1], bounds[2], bounds[3] = left, low, right, high


@jit
def is_worth_asking(m: int, m_end: int, searches: int, sights: Any, scene: Any, changes: Any) -> bool:
    """Whether asking the objects whom they concern costs less than so many searches."""
    who, holds, held, wide_count = changes.object, changes.holds, scene.holds, sights.wide_count
    cost = (m_end - m) * LOOKS_AN_OBJECT
    for c in range(len(holds)):
        if wide_count[c] > 0:
            for i in range(m, m_end):
                cost += wide_count[c] if held[c, who[i]] or holds[c, i] else 0
    return bool(cost <= searches * LOOKS_AN_OBJECT)


@jit
def disturb(
    m: int, m_end: int, f: int, f_end: int, seekers: Any, sights: Any, scene: Any, changes: Any,
    focal_places: Any,
) -> tuple[I32, I64, I32]:  # fmt: skip
    """Everything moves as in one tick; gives the queries that are to be looked at again.

    Also where the objects of each begin that touched it, and these objects; a query without them has
    moved itself, and has to be searched anew.
    """
    mark, is_live, live = sights.mark, sights.is_live, sights.live[0]
    marked = np.empty(len(is_live) + 1, np.int32)  # one more, for what is written before it counts
    touched, by = np.empty(0, np.int32), np.empty(0, np.int32)
    n = move_focals(f, f_end, focal_places, seekers, sights, marked, 0)
    if is_worth_asking(m, m_end, live - n, sights, scene, changes):
        n, touched, by = mark_around(m, m_end, seekers, sights, scene, changes, marked, n)
    elif n < live:
        for q in range(len(is_live)):
            if is_live[q] and mark[q] == 0:
                mark[q] = MOVED
                marked[n] = q
                n += 1
    move_objects(m, m_end, changes, scene)
    place_of = np.empty(len(is_live), np.int32)
    for j in range(n):
        mark[marked[j]] = 0
        place_of[marked[j]] = j
    first, objects = np.zeros(n + 1, np.int64), np.empty(len(by), np.int32)
    for e in range(len(by)):
        first[place_of[touched[e]] + 1] += 1
    for j in range(n):
        first[j + 1] += first[j]
    for e in range(len(by)):
        at = place_of[touched[e]]
        objects[first[at]] = by[e]
        first[at] += 1
    # Filling moved every beginning to its end: shift back.
    for j in range(n, 0, -1):
        first[j] = first[j - 1]
    first[0] = 0
    return marked[:n], first, objects


@jit
def keep(
    which: I32, starts: I64, objects: I32, d2: F64, first: I64, seekers: Any, sights: Any, changed: U64
) -> Bools:
    """The queries have these lists now; gives whether there is anything new in each.

    `first` says which of them were touched, as `disturb` does: those have not moved.
    """
    k, start, condition, watch = seekers.k, seekers.start, seekers.condition, seekers.watch
    count, kept, kept_d2, kth = sights.kept_count, sights.kept, sights.kept_d2, sights.kth
    is_new = np.zeros(len(which), np.bool_)
    elsewhere, n_elsewhere = np.empty(len(which), np.int32), 0
    for i in range(len(which)):
        q, begin, n = which[i], starts[i], starts[i + 1] - starts[i]
        new = n != count[q] or n > k[q]
        farthest = 0.0
        for j in range(n):
            o, at = objects[begin + j], start[q] + j
            farthest = max(farthest, d2[begin + j])
            if not new:
                new = kept[at] != o or kept_d2[at] != d2[begin + j] or (changed[o] & watch[q]) != 0
        if new and n <= k[q]:
            for j in range(n):
                kept[start[q] + j], kept_d2[start[q] + j] = objects[begin + j], d2[begin + j]
        if n < k[q]:
            farthest = INFINITE
        if first[i] == first[i + 1] or farthest != kth[q]:
            elsewhere[n_elsewhere] = q
            n_elsewhere += 1
        count[q], kth[q], is_new[i] = n, farthest, new
    listen(elsewhere[:n_elsewhere], condition, sights)
    return is_new


@jit
def advance_all(seekers: Any, sights: Any, scene: Any, changes: Any, focal_places: Any) -> Any:
    tick_of, who = changes.tick, changes.object
    focal_tick, focals = focal_places.tick, focal_places.focal
    k, row, bits = seekers.k, scene.row, scene.changed
    ticks, queries, counts = np.empty(64, np.int64), np.empty(64, np.int32), np.empty(64, np.int64)
    rows, d2s = np.empty(1024, np.int64), np.empty(1024)
    n_lists, n_rows, m, f = 0, 0, 0, 0
    while m < len(who) or f < len(focals):
        if f == len(focals) or (m < len(who) and tick_of[m] < focal_tick[f]):
            tick = tick_of[m]
        else:
            tick = focal_tick[f]
        m_end, f_end = m, f
        while m_end < len(who) and tick_of[m_end] == tick:
            m_end += 1
        while f_end < len(focals) and focal_tick[f_end] == tick:
            f_end += 1
        which, first, by = disturb(m, m_end, f, f_end, seekers, sights, scene, changes, focal_places)
        if len(which):
            starts, objects, d2 = find_nearest(which, k[which], first, by, seekers, sights, scene)
            is_new = keep(which, starts, objects, d2, first, seekers, sights, bits)
            while n_lists + len(which) > len(ticks):
                ticks, queries, counts = longer(ticks), longer(queries), longer(counts)
            while n_rows + len(objects) > len(rows):
                rows, d2s = longer(rows), longer(d2s)
            for i in range(len(which)):
                if is_new[i]:
                    ticks[n_lists], queries[n_lists] = tick, which[i]
                    counts[n_lists] = starts[i + 1] - starts[i]
                    n_lists += 1
                    for j in range(starts[i], starts[i + 1]):
                        rows[n_rows], d2s[n_rows] = row[objects[j]], d2[j]
                        n_rows += 1
        for i in range(m, m_end):
            bits[who[i]] = 0
        m, f = m_end, f_end
    return ticks[:n_lists], queries[:n_lists], counts[:n_lists], rows[:n_rows], d2s[:n_rows]


@jit
def begin_all(which: I32, seekers: Any, sights: Any, scene: Any) -> Any:
    """These queries live from now on; gives their lists."""
    is_live, live, row = sights.is_live, sights.live, scene.row
    for q in which:
        live[0] += int(not is_live[q])
        is_live[q] = True
    untouched = np.zeros(len(which) + 1, np.int64)
    nobody = np.empty(0, np.int32)
    starts, objects, d2 = find_nearest(which, seekers.k[which], untouched, nobody, seekers, sights, scene)
    keep(which, starts, objects, d2, untouched, seekers, sights, scene.changed)
    return starts, row[objects], d2


@jit
def end_all(which: I32, seekers: Any, sights: Any) -> None:
    """These queries live no more."""
    for q in which:
        sights.live[0] -= int(sights.is_live[q])
        sights.is_live[q] = False
        forget(q, seekers.condition[q], sights)


def advance(
    seekers: Seekers, sights: Sights, scene: Scene, changes: Changes, focal_places: FocalPlaces
) -> Lists:
    """The lists that are new, over all ticks of some changes; `sights` and `scene` go along."""
    return Lists(*advance_all(seekers, sights, scene, changes, focal_places))
