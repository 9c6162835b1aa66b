"""Events, one by one in event order, against the live ones: solutions out, and what is kept until when.

event ──► let go what has expired ──► meet the live ones ──► renew their bounds ──► search ──► keep it, or not

LOOSE keeps an event as long as any other may come for it, if all that had to come before it are there.
TIGHT keeps it as long as each other variable has an event for it that may live, or one may still come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.kernels.agree import Rules, may_meet
from sanderling.kernels.jit import jit
from sanderling.kernels.live import (
    NONE,
    Live,
    bucket,
    cell,
    expire,
    expiry,
    give_back,
    hold,
    take,
)  # fmt: skip
from sanderling.kernels.search import grown, search

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ENDLESS = np.int64(1) << np.int64(62)


class Rows(NamedTuple):
    """Events by trigger, in event order; an event that several triggers take has several rows."""

    trigger: I64
    order: I64
    ts: I64
    x: F64
    y: F64
    is_of: npt.NDArray[np.uint64]  # a bit for each variable it may stand for
    value: I64
    is_null: Bools


class How(NamedTuple):
    is_first: bool
    is_tight: bool
    is_grid: bool


class Found(NamedTuple):
    """Of the event at hand, by kind that it stands for: its entry, and where others' entries stand."""

    mine: I64
    start: I64  # by two kinds
    end: I64
    is_complete: Bools


@jit
def fill(rules: Rules, live: Live, rows: Rows, row: int, kind: int, how: How) -> int:
    """A new entry for an event that stands for a kind; nothing has been met yet."""
    entry, t, ts = take(live), rows.trigger[row], rows.ts[row]
    live.trigger[entry], live.kind[entry], live.order[entry] = t, kind, rows.order[row]
    live.ts[entry], live.x[entry], live.y[entry] = ts, rows.x[row], rows.y[row]
    live.value[entry], live.is_null[entry] = rows.value[row], rows.is_null[row]
    for d in range(len(rules.size_of)):
        until = rules.until[t, kind, d]
        is_asked = is_other(rules, kind, d) and (how.is_tight or until <= 0)
        live.bound[entry, d] = ts + until if is_asked else ENDLESS
    return entry


@jit
def is_other(rules: Rules, c: int, d: int) -> bool:
    """Whether an event of kind c needs one of kind d."""
    return bool(c != d or rules.size_of[c] > 1)


@jit
def walk(
    rules: Rules, live: Live, entry: int, d: int, head: int, older: I64, cells: tuple[int, int, bool],
    pool: I64, top: int,
) -> tuple[I64, int]:  # fmt: skip
    """Adds those linked from the head on that may meet an entry."""
    t, c = live.trigger[entry], live.kind[entry]
    cell_x, cell_y, is_cell = cells
    earliest = live.ts[entry] + rules.after[t, c, d]
    # From new to old, also where cells share a bucket.
    while head != NONE and live.ts[head] >= earliest:
        is_there = not is_cell or (
            live.cell_x[head] == cell_x and live.cell_y[head] == cell_y
            and live.trigger[head] == t and live.kind[head] == d
        )  # fmt: skip
        if is_there and may_meet(rules, live, t, c, entry, d, head):
            if top == len(pool):
                pool = grown(pool)
            pool[top] = head
            top += 1
        head = older[head]
    return pool, top


@jit
def look(rules: Rules, live: Live, entry: int, d: int, is_grid: bool, pool: I64, top: int) -> tuple[I64, int]:
    """Adds the live entries of kind d that may meet an entry."""
    t, c = live.trigger[entry], live.kind[entry]
    reach = rules.reach[t, c, d]
    if not is_grid or reach == np.inf:
        head = live.newest[t * len(rules.size_of) + d]
        return walk(rules, live, entry, d, head, live.older, (0, 0, False), pool, top)
    x, y, side = live.x[entry], live.y[entry], rules.side[t]
    for cell_x in range(cell(x - reach, side), cell(x + reach, side) + 1):
        for cell_y in range(cell(y - reach, side), cell(y + reach, side) + 1):
            head = live.cell_newest[bucket(live, t, d, cell_x, cell_y)]
            cells = (cell_x, cell_y, True)
            pool, top = walk(rules, live, entry, d, head, live.cell_older, cells, pool, top)
    return pool, top


@jit
def meet_past(rules: Rules, live: Live, found: Found, how: How, pool: I64) -> tuple[I64, int]:
    """Looks for events of variables that had to come before; without one, the event is not needed."""
    top = 0
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE:
            continue
        for d in range(len(found.mine)):
            if is_other(rules, c, d) and rules.until[live.trigger[entry], c, d] < 0:
                found.start[c, d] = top
                pool, top = look(rules, live, entry, d, how.is_grid, pool, top)
                found.end[c, d] = top
                if found.start[c, d] == top:
                    give_back(live, entry)
                    found.mine[c] = NONE
                    break
    return pool, top


@jit
def meet_others(rules: Rules, live: Live, found: Found, how: How, pool: I64, top: int) -> I64:
    """Looks for events of variables that may come before, at the same time and later; itself among them."""
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE:
            continue
        found.is_complete[c] = True
        for d in range(len(found.mine)):
            until = rules.until[live.trigger[entry], c, d]
            if not is_other(rules, c, d) or until < 0:
                continue
            found.start[c, d] = top
            # Who waits for an event of this very moment (until 0, one way or the other) has to learn of it.
            is_now = until == 0 or rules.until[live.trigger[entry], d, c] == 0
            if how.is_tight or found.is_complete[c] or is_now:
                pool, top = look(rules, live, entry, d, how.is_grid, pool, top)
                mine = found.mine[d]
                if c != d and mine != NONE and may_meet(rules, live, live.trigger[entry], c, entry, d, mine):
                    if top == len(pool):
                        pool = grown(pool)
                    pool[top] = mine
                    top += 1
            found.end[c, d] = top
            if top == found.start[c, d]:
                found.is_complete[c] = False
    return pool


@jit
def renew(rules: Rules, live: Live, found: Found, pool: I64, is_tight: bool) -> None:
    """Those who met have each other: the one as long as the other may live, or (LOOSE) for good."""
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE or rules.lasts[live.trigger[entry], c] < 0:
            continue
        lasts = rules.lasts[live.trigger[entry]]
        mine = live.ts[entry] + lasts[c] if is_tight else ENDLESS
        for d in range(len(found.mine)):
            if not is_other(rules, c, d):
                continue
            for p in range(found.start[c, d], found.end[c, d]):
                other = pool[p]
                theirs = live.ts[other] + lasts[d] if is_tight else ENDLESS
                live.bound[entry, d] = max(live.bound[entry, d], theirs)
                live.bound[other, c] = max(live.bound[other, c], mine)


@jit
def comes_before(out: I64, a: int, b: int) -> bool:
    for v in range(1, out.shape[1]):
        if out[a, v] != out[b, v]:
            return bool(out[a, v] < out[b, v])
    return False


@jit
def solve(
    rules: Rules, live: Live, found: Found, row: int, how: How, pool: I64, stack: I64, out: I64, told: int
) -> tuple[I64, I64, int]:
    """Adds the solutions that the event at hand completes, or the smallest of them."""
    before = told
    for c in range(len(found.mine)):
        if found.mine[c] == NONE or not found.is_complete[c]:
            continue
        stack, out, told = search(
            rules, live, row, rules.last_of[c], found.mine[c], found.start[c], found.end[c], pool,
            how.is_first, stack, out, told,
        )  # fmt: skip
        if how.is_first and told == before + 2:
            told -= 1
            if comes_before(out, told, before):
                out[before] = out[told]
    return stack, out, told


@jit
def keep(rules: Rules, live: Live, found: Found, how: How) -> None:
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE:
            continue
        t = live.trigger[entry]
        if rules.lasts[t, c] < 0:
            give_back(live, entry)
        else:
            hold(live, entry, expiry(live, rules.lasts, entry), rules.side[t], how.is_grid)


@jit
def advance(rules: Rules, live: Live, rows: Rows, how: How) -> I64:
    """Solutions: a row that completes one, and the order of the event of each variable."""
    kinds = len(rules.size_of)
    shape = (kinds, kinds)
    found = Found(
        np.full(kinds, NONE), np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(kinds, np.bool_)
    )
    pool, stack = np.empty(1024, np.int64), np.empty(1024, np.int64)
    out, told = np.empty((256, len(rules.kind_of) + 1), np.int64), 0
    for row in range(len(rows.ts)):
        expire(live, rules.lasts, rows.ts[row], how.is_grid)
        for c in range(kinds):
            is_of = (rows.is_of[row] >> np.uint64(rules.first_of[c])) & np.uint64(1)
            found.mine[c] = fill(rules, live, rows, row, c, how) if is_of else NONE
        pool, top = meet_past(rules, live, found, how, pool)
        pool = meet_others(rules, live, found, how, pool, top)
        renew(rules, live, found, pool, how.is_tight)
        stack, out, told = solve(rules, live, found, row, how, pool, stack, out, told)
        keep(rules, live, found, how)
    return out[:told]


@jit
def close(rules: Rules, live: Live, now: int, is_grid: bool) -> None:
    """No event at `now` or before comes any more."""
    expire(live, rules.lasts, now + 1, is_grid)


@jit
def settle(rules: Rules, live: Live, old: Live, by_order: I64, is_grid: bool) -> None:
    """Takes over entries of another, in event order; their triggers are those of `live`."""
    for n in range(len(by_order)):
        was, entry = by_order[n], take(live)
        live.trigger[entry], live.kind[entry], live.order[entry] = (
            old.trigger[was],
            old.kind[was],
            old.order[was],
        )
        live.ts[entry], live.x[entry], live.y[entry] = old.ts[was], old.x[was], old.y[was]
        live.value[entry], live.is_null[entry] = old.value[was], old.is_null[was]
        live.bound[entry] = old.bound[was]
        hold(live, entry, expiry(live, rules.lasts, entry), rules.side[live.trigger[entry]], is_grid)
