"""Readings that are held: which follows which, and which reading ends the time of which."""

from __future__ import annotations

from typing import Any

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.jit import jit
from sanderling.kernels.nearest.cells import longer
from sanderling.kernels.readings.fold import stale_tick

NEVER = np.iinfo(np.int64).max


@jit
def link(
    objects: I64, tick: I64, row: I64, last_row: I64, ts: I64, segment: I64, after: I64, cut: I64,
    segments: int, tick_us: int, stale_us: int,
) -> tuple[int, I64, I64]:  # fmt: skip
    """Puts readings, in order of object and time, behind the last ones of their objects.

    `row` is where a reading is held, -1 for one that says its object is gone. A segment is what an
    object says without being gone or silent for too long in between; `cut` has the tick that ended it.
    Changes `last_row`, `segment`, `after` and `cut`; gives the number of segments, the rows that now have one
    behind them, and the last rows of segments that ended.
    """
    followed, ended = np.empty(len(row), np.int64), np.empty(len(row), np.int64)
    n_followed, n_ended = 0, 0
    for k in range(len(row)):
        p, r = last_row[objects[k]], row[k]
        is_open = p >= 0 and cut[segment[p]] == NEVER
        if is_open:
            end = NEVER
            if stale_us >= 0 and stale_tick(ts[p], stale_us, tick_us) < tick[k]:
                end = stale_tick(ts[p], stale_us, tick_us)
            elif r < 0:
                end = tick[k]
            if end != NEVER:
                cut[segment[p]] = end
                ended[n_ended] = p
                n_ended += 1
                is_open = False
        if r < 0:
            continue
        if p >= 0:
            after[p] = r
            followed[n_followed] = p
            n_followed += 1
        if is_open:
            segment[r] = segment[p]
        else:
            segment[r] = segments
            cut[segments] = NEVER
            segments += 1
        last_row[objects[k]] = r
    return segments, followed[:n_followed], ended[:n_ended]


@jit
def push(
    size: int, rows: I64, tick: I64, objects: I64, after: I64, first: I64, count: I64, leave: I64
) -> I64:
    """n ROWS PER KEY: each of these rows, in order of object and time, pushes out its object's (n+1)th last.

    `first` and `count` have the oldest row that an object holds, and how many. Gives the rows that leave.
    """
    left = np.empty(len(rows), np.int64)
    n = 0
    for k in range(len(rows)):
        r = rows[k]
        o = objects[r]
        if count[o] == 0:
            first[o] = r
        count[o] += 1
        if count[o] > size:
            leave[first[o]] = tick[k]
            left[n] = first[o]
            n += 1
            first[o] = after[first[o]]
            count[o] -= 1
    return left[:n]


@jit
def meet(rows: I64, segment: I64, head: I64, before: I64, leave: I64) -> tuple[I64, I64]:
    """UNTIL: pairs of a row that is held and one of these, which come later in the same segment.

    `head` and `before` chain the held rows of a segment, the last first; those that have left are taken out.
    """
    held, coming = np.empty(len(rows) + 64, np.int64), np.empty(len(rows) + 64, np.int64)
    n = 0
    for r in rows:
        s = segment[r]
        last, h = -1, head[s]
        while h >= 0:
            following = before[h]
            if leave[h] != NEVER:
                if last < 0:
                    head[s] = following
                else:
                    before[last] = following
            else:
                if n == len(held):
                    held, coming = longer(held), longer(coming)
                held[n], coming[n] = h, r
                n += 1
                last = h
            h = following
        before[r] = head[s]
        head[s] = r
    return held[:n], coming[:n]


@jit
def release(segments: I64, head: I64, before: I64, leave: I64, cut: I64) -> I64:
    """UNTIL: what these segments still hold leaves with them."""
    left = np.empty(64, np.int64)
    n = 0
    for s in segments:
        h = head[s]
        while h >= 0:
            if leave[h] == NEVER:
                leave[h] = cut[s]
                if n == len(left):
                    left = longer(left)
                left[n] = h
                n += 1
            h = before[h]
        head[s] = -1
    return left[:n]


@jit
def relink(rows: I64, objects: I64, last_row: I64, after: I64) -> None:
    """Which row follows which, of these, in order of time."""
    for r in rows:
        p = last_row[objects[r]]
        if p >= 0:
            after[p] = r
        last_row[objects[r]] = r


@jit
def recount(objects: I64, leave: I64, first: I64, count: I64) -> None:
    """n ROWS PER KEY: the oldest row that each object holds, and how many."""
    for r in range(len(objects)):
        if leave[r] == NEVER:
            if count[objects[r]] == 0:
                first[objects[r]] = r
            count[objects[r]] += 1


@jit
def rechain(segment: I64, leave: I64, head: I64, before: I64) -> None:
    """UNTIL: the chains of held rows."""
    for r in range(len(segment)):
        if leave[r] == NEVER:
            before[r] = head[segment[r]]
            head[segment[r]] = r


def plain_leave(kind: str, size: int, ticks: list[int], cuts: dict[int, int], until: Any = None) -> list[int]:
    """The reference twin: when each reading of one object leaves, all being there in order of time.

    `cuts` has by number of a reading the tick after it in which the object was gone or silent; `until` says
    of two numbers whether the later ends the earlier.
    """
    found = []
    for i in range(len(ticks)):
        ends = [cuts[j] for j in range(i, len(ticks)) if j in cuts][:1] if kind != "rows per key" else []
        last = min((j for j in range(i, len(ticks)) if j in cuts), default=len(ticks))
        if kind == "rows per key":
            ends += [ticks[i + size]] if i + size < len(ticks) else []
        elif kind == "until next":
            ends += ticks[i + 1 : i + 2]
        else:
            ends += [ticks[j] for j in range(i + 1, min(last, len(ticks) - 1) + 1) if until(i, j)]
        found.append(min(ends, default=int(NEVER)))
    return found
