"""The k nearest objects to a place: cells are looked at ring by ring, until no nearer one can come.

2 2 2 2 2
2 1 1 1 2      The k-th distance so far is a circle; once it is inside the square that has
2 1 0 1 2      been looked at, nobody outside is nearer.
2 1 1 1 2
2 2 2 2 2
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sanderling.arrays import F64, I32, I64, Bools
from sanderling.kernels.inside.grid import bucket_of, cell_of
from sanderling.kernels.jit import jit
from sanderling.kernels.nearest.cells import NOBODY, longer, near
from sanderling.space.coverages import bounds_at, holds_at, is_everywhere, plain_holds_place
from sanderling.space.metric import apart, around_place, beyond_edge, plain_squared

INFINITE = np.inf


@jit
def is_nowhere(x: float, a: float) -> bool:
    """Whether the focal object of a query, or of its region, is absent."""
    return x != x or a != a


@jit
def is_before(d2: float, point: int, other_d2: float, other: int) -> bool:
    return d2 < other_d2 or (d2 == other_d2 and point < other)


@jit
def sink(heap_d2: F64, heap: I32, n: int, d2: float, point: int) -> None:
    """Puts an entry at the top of a heap of n whose top is free; the farthest comes to the top."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and is_before(heap_d2[child], heap[child], heap_d2[child + 1], heap[child + 1]):
            child += 1
        if not is_before(d2, point, heap_d2[child], heap[child]):
            break
        heap_d2[at], heap[at] = heap_d2[child], heap[child]
        at = child
    heap_d2[at], heap[at] = d2, point


@jit
def rise(heap_d2: F64, heap: I32, n: int, d2: float, point: int) -> None:
    """Adds an entry to a heap of n."""
    at = n
    while at > 0:
        above = (at - 1) // 2
        if not is_before(heap_d2[above], heap[above], d2, point):
            break
        heap_d2[at], heap[at] = heap_d2[above], heap[above]
        at = above
    heap_d2[at], heap[at] = d2, point


@jit
def nearest_first(heap_d2: F64, heap: I32, n: int) -> None:
    """A heap to a list, in place."""
    for last in range(n - 1, 0, -1):
        d2, point = heap_d2[last], heap[last]
        heap_d2[last], heap[last] = heap_d2[0], heap[0]
        sink(heap_d2, heap, last, d2, point)


@jit
def offer(heap_d2: F64, heap: I32, n: int, k: int, dropped: float, d2: float, point: int) -> Any:
    """An entry that is not farther than the k-th; gives how many there are, and the nearest one left out."""
    if n < k:
        rise(heap_d2, heap, n, d2, point)
        return n + 1, dropped
    if not is_before(d2, point, heap_d2[0], heap[0]):
        return n, min(dropped, d2)
    dropped = min(dropped, heap_d2[0])
    sink(heap_d2, heap, n, d2, point)
    return n, dropped


@jit
def seek(
    at: F64, q: int, k: int, condition: int, without: int, without_too: int, kind: int, region: F64,
    size: float, head: I32, next_: I32, bucket: I32, place: F64, holds: Bools, bounds: I64, present: int,
    farthest: float, heap_d2: F64, heap: I32,
) -> tuple[int, float]:  # fmt: skip
    """Fills `heap` with the k nearest, nearest first; gives their number, and the nearest that was left out.

    `farthest` is a distance within which there are k of them, if one is known.
    """
    n, dropped = 0, INFINITE
    mask = len(head) - 1
    x, y = at[q, 0], at[q, 1]
    if is_nowhere(x, region[q, 0]):
        return n, dropped
    column, line = cell_of(x, size), cell_of(y, size)
    x1, y1, x2, y2 = bounds_at(kind, region, q, at)
    left, right = max(bounds[0], cell_of(x1, size)), min(bounds[2], cell_of(x2, size))
    low, high = max(bounds[1], cell_of(y1, size)), min(bounds[3], cell_of(y2, size))
    if left > right or low > high:
        return n, dropped
    ring = max(left - column, column - right, low - line, line - high, 0)
    last = max(right - column, column - left, high - line, line - low)
    seen, many = 0, present // 2 + 64
    while ring <= last:
        first_column, last_column = max(column - ring, left), min(column + ring, right)
        first_line, last_line = max(line - ring, low), min(line + ring, high)
        seen += last_column - first_column + last_line - first_line + 1
        if seen > many:
            break
        for across in range(first_column, last_column + 1):
            is_side = across in (column - ring, column + ring)
            step = 1 if is_side else max(2 * ring, 1)
            for on in range(first_line if is_side else line - ring, last_line + 1, step):
                # In this very function: a call with so many arrays would cost as much as the look itself.
                p = head[bucket_of(across, on, mask)] if on >= first_line else NOBODY
                while p >= 0:
                    px, py = place[p, 0], place[p, 1]
                    d2 = apart(px, py, place, p, at, q)  # type: ignore[arg-type]
                    if (
                        d2 <= farthest
                        and p != without and p != without_too and holds[condition, p]
                        and (is_everywhere(kind) or holds_at(kind, region, q, px, py, place, p))  # type: ignore[arg-type]
                        # Other cells may share the bucket, and have their turn.
                        and cell_of(px, size) == across and cell_of(py, size) == on
                    ):  # fmt: skip
                        n, dropped = offer(heap_d2, heap, n, k, dropped, d2, p)  # type: ignore[arg-type]
                        if n == k:
                            farthest = heap_d2[0]
                    p = next_[p]
        if n == k:
            edge = INFINITE
            if column - ring > left:
                edge = min(edge, x - (column - ring) * size)
            if column + ring < right:
                edge = min(edge, (column + ring + 1) * size - x)
            if line - ring > low:
                edge = min(edge, y - (line - ring) * size)
            if line + ring < high:
                edge = min(edge, (line + ring + 1) * size - y)
            # Sums, products and squares round.
            edge -= 1e-9 * size * (ring + 1) + 1e-12 * (abs(x) + abs(y))
            if edge > 0 and heap_d2[0] < beyond_edge(edge, at) * (1 - 1e-12):
                break
        ring += 1
    if seen > many:
        # More cells than objects: rather look at every object.
        n, dropped = 0, INFINITE
        for p in range(len(bucket)):
            if bucket[p] >= 0 and p != without and p != without_too and holds[condition, p]:
                px, py = place[p, 0], place[p, 1]
                d2 = apart(px, py, place, p, at, q)
                if (n < k or d2 <= heap_d2[0]) and holds_at(kind, region, q, px, py, place, p):
                    n, dropped = offer(heap_d2, heap, n, k, dropped, d2, p)
    nearest_first(heap_d2, heap, n)
    return n, dropped


@jit
def tied(
    at: F64, q: int, kth: float, condition: int, without: int, without_too: int, kind: int, region: F64,
    size: float, level: I32, head: I32, next_: I32, bucket: I32, place: F64, holds: Bools, found: I32,
) -> int:  # fmt: skip
    """Writes to `found` everybody whose distance is at most the k-th; gives their number."""
    x1, y1, x2, y2 = around_place(at, q, kth)
    many = near(size, level, head, next_, bucket, place, 0, x1, y1, x2, y2, found)
    n = 0
    for p in found[:many]:
        px, py = place[p, 0], place[p, 1]
        if (
            apart(px, py, place, p, at, q) <= kth
            and p != without and p != without_too and holds[condition, p]
            and holds_at(kind, region, q, px, py, place, p)
        ):  # fmt: skip
            found[n] = p
            n += 1
    return n


@jit
def surely_within(
    at: F64, q: int, kept: I32, condition: int, kind: int, region: F64,
    bucket: I32, place: F64, holds: Bools,
) -> float:  # fmt: skip
    """The distance of the farthest of some objects; infinite if one of them does not count any more."""
    farthest = 0.0
    for p in kept:
        px, py = place[p, 0], place[p, 1]
        if bucket[p] < 0 or not holds[condition, p] or not holds_at(kind, region, q, px, py, place, p):
            return INFINITE
        farthest = max(farthest, apart(px, py, place, p, at, q))
    return farthest


@jit
def patched(
    at: F64, q: int, k: int, kth: float, touching: I32, first: int, last: int,
    kept: I32, kept_d2: F64, start: int, n: int,
    condition: int, without: int, without_too: int, kind: int, region: F64,
    bucket: I32, place: F64, holds: Bools, list_d2: F64, list_: I32,
) -> int:  # fmt: skip
    """A list of n after some objects have changed, if it still holds the k nearest; gives its length, or -1.

    All that are not farther than the k-th was are those who were in the list, but for who left, and
    who came. If these are k, nobody else needs to be looked at.
    """
    for j in range(n):
        list_d2[j], list_[j] = kept_d2[start + j], kept[start + j]
    for e in range(first, last):
        o = touching[e]
        for was in range(n):
            if list_[was] == o:
                n -= 1
                for j in range(was, n):
                    list_d2[j], list_[j] = list_d2[j + 1], list_[j + 1]
                break
        if bucket[o] < 0 or o in (without, without_too) or not holds[condition, o]:
            continue
        d2 = apart(place[o, 0], place[o, 1], place, o, at, q)
        if d2 <= kth and holds_at(kind, region, q, place[o, 0], place[o, 1], place, o):
            to = n
            while to > 0 and is_before(d2, o, list_d2[to - 1], list_[to - 1]):
                list_d2[to], list_[to] = list_d2[to - 1], list_[to - 1]
                to -= 1
            list_d2[to], list_[to] = d2, o
            n += 1
    if (n < k and kth < INFINITE) or (n > k and list_d2[k] == list_d2[k - 1]):
        return -1
    return min(n, k)


@jit
def find_nearest(
    which: I32, wanted: I64, first: I64, touching: I32, seekers: Any, sights: Any, scene: Any
) -> tuple[I64, I32, F64]:
    """For each of some queries all objects up to the distance of the `wanted`-th, nearest first.

    `touching[first[i]:first[i + 1]]` are the only objects that changed, if there are some; then its
    kept list is as good as a search.


    Gives where each list begins, the objects, and the squares of their distances. A list is longer
    than wanted only where distances are equal.
    """
    condition, focal, region_focal = seekers.condition, seekers.focal, seekers.region_focal
    kind, region, at = sights.kind, sights.region, sights.place
    k, start, count, kept, kept_d2 = seekers.k, seekers.start, sights.kept_count, sights.kept, sights.kept_d2
    kth = sights.kth
    size, level, head, next_, _, bucket, place, _ = scene.objects
    holds, bounds, own, present = scene.holds, scene.bounds, scene.own, scene.present[0]
    room = 16
    for i in range(len(which)):
        room = max(room, wanted[i] + first[i + 1] - first[i])
    heap_d2, heap = np.empty(room), np.empty(room, np.int32)
    starts = np.empty(len(which) + 1, np.int64)
    starts[0] = 0
    total = 0
    for i in range(len(which)):
        total += min(wanted[i], 1024)
    out, out_d2 = np.empty(total + 16, np.int32), np.empty(total + 16)
    found = np.empty(0, np.int32)
    end = 0
    for i in range(len(which)):
        q = which[i]
        without = own[focal[q]] if focal[q] >= 0 else -1
        without_too = own[region_focal[q]] if region_focal[q] >= 0 else -1
        kind_q = kind[q]
        n, dropped, farthest = -1, INFINITE, INFINITE
        if first[i] < first[i + 1] and count[q] <= k[q]:
            n = patched(
                at, q, k[q], kth[q], touching, first[i], first[i + 1], kept, kept_d2, start[q], count[q],
                condition[q], without, without_too, kind_q, region, bucket, place, holds, heap_d2, heap,
            )  # fmt: skip
        if n < 0 and count[q] == wanted[i] == k[q]:
            # Most of those who were nearest still are near.
            before = kept[start[q] : start[q] + count[q]]
            farthest = surely_within(at, q, before, condition[q], kind_q, region, bucket, place, holds)
        if n < 0:
            n, dropped = seek(
                at, q, wanted[i], condition[q], without, without_too, kind_q, region, size[0], head,
                next_, bucket, place, holds, bounds, present, farthest, heap_d2, heap,
            )  # fmt: skip
        is_tied = n == wanted[i] and dropped == heap_d2[n - 1]
        if is_tied:
            if len(found) == 0:
                found = np.empty(len(level), np.int32)
            n = tied(
                at, q, heap_d2[n - 1], condition[q], without, without_too, kind_q, region, size[0],
                level, head, next_, bucket, place, holds, found,
            )  # fmt: skip
        while end + n > len(out):
            out, out_d2 = longer(out), longer(out_d2)
        if is_tied:
            for j in range(n):
                p = found[j]
                out[end + j], out_d2[end + j] = p, apart(place[p, 0], place[p, 1], place, p, at, q)
        else:
            for j in range(n):
                out[end + j], out_d2[end + j] = heap[j], heap_d2[j]
        end += n
        starts[i + 1] = end
    return starts, out[:end], out_d2[:end]


def plain_nearest(q: int, seekers: Any, sights: Any, scene: Any) -> list[tuple[int, float]]:
    """The reference twin of `find_nearest`: one query, every object, no cells."""
    x, y = sights.place[q]
    focals = (seekers.focal[q], seekers.region_focal[q])
    without = [scene.own[f] for f in focals if f >= 0]
    found = []
    for o, (px, py) in enumerate(scene.objects.place):
        is_there = px == px and x == x and scene.holds[seekers.condition[q], o] and o not in without
        a, b, c, d = sights.region[q]
        if is_there and plain_holds_place(sights.kind[q], a, b, c, d, px, py):
            found.append((o, float(plain_squared(px, py, x, y))))
    kth = sorted(d2 for _, d2 in found)[: seekers.k[q]][-1:]
    return sorted((o, d2) for o, d2 in found if not kth or d2 <= kth[0])
