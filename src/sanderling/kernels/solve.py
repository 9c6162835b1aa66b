"""Events, one by one in event order, against the live ones: solutions out, and what is kept until when.

event ──► let go what has expired ──► meet the live ones ──► renew their bounds ──► search ──► keep it, or not

LOOSE keeps an event as long as any other may come for it, if all that had to come before it are there.
TIGHT keeps it as long as each other variable has an event for it that may live, or one may still come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.kernels.agree import (
    FIRST_OF,
    LAST_OF,
    SIZE_OF,
    UNTIL,
    Rules,
)
from sanderling.kernels.jit import jit_bare
from sanderling.kernels.live import (
    BOUND,
    KIND,
    NONE,
    NULLS,
    ORDER,
    TRIGGER,
    TS,
    Live,
    expire,
    give_back,
    hold,
    take,
)
from sanderling.kernels.meet import look, meet_itself
from sanderling.kernels.search import FULL, Desk, search

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

ENDLESS = np.int64(1) << np.int64(62)
# The bit of `is_of` of an event that completes nothing here, since another merge partition searches for it.
GUEST = 63


class Rows(NamedTuple):
    """Events by trigger, in event order; an event that several triggers take has several rows."""

    trigger: I64
    order: I64
    ts: I64
    place: F64  # x and y
    is_of: npt.NDArray[np.uint64]  # a bit for each variable it may stand for, and GUEST
    value: I64
    nulls: I64  # a bit for each value


class How(NamedTuple):
    is_first: bool
    is_tight: bool
    is_grid: bool


class Found(NamedTuple):
    """Of the event at hand, by kind that it stands for: its entry, and where others' entries stand."""

    mine: I64
    start: I64  # by two kinds
    end: I64
    is_complete: I64


def new_found(kinds: int) -> Found:
    shape = (kinds, kinds)
    row, table = np.zeros(kinds, np.int64), np.zeros(shape, np.int64)
    return Found(row, table, table.copy(), row.copy())


@jit_bare
def is_other(kinds: I64, c: int, d: int) -> bool:
    """Whether an event of kind c needs one of kind d."""
    return bool(c != d or kinds[c, SIZE_OF] > 1)


@jit_bare
def fill(rules: Rules, whole: I64, place: F64, rows: Rows, row: int, entry: int, kind: int, how: How) -> None:
    """A new entry for an event that stands for a kind; nothing has been met yet."""
    t, ts, kinds = rows.trigger[row], rows.ts[row], len(rules.kinds)
    whole[entry, TRIGGER], whole[entry, KIND], whole[entry, TS] = t, kind, ts
    whole[entry, ORDER], whole[entry, NULLS] = rows.order[row], rows.nulls[row]
    place[entry, 0], place[entry, 1] = rows.place[row, 0], rows.place[row, 1]
    for k in range(rows.value.shape[1]):
        whole[entry, BOUND + kinds + k] = rows.value[row, k]
    for d in range(kinds):
        until = rules.times[t, kind, d, UNTIL]
        is_asked = is_other(rules.kinds, kind, d) and (how.is_tight or until <= 0)
        whole[entry, BOUND + d] = ts + until if is_asked else ENDLESS


@jit_bare
def meet_past(rules: Rules, live: Live, t: int, found: Found, how: How, pool: I64) -> int:
    """Looks for events of variables that had to come before; without one, the event is not needed."""
    top = 0
    for c in range(len(found.mine)):
        entry = found.mine[c]
        for d in range(len(found.mine)):
            if found.mine[c] != NONE and rules.times[t, c, d, UNTIL] < 0 and is_other(rules.kinds, c, d):
                found.start[c, d] = top
                top = look(rules, live, entry, d, how.is_grid, pool, top)
                found.end[c, d] = top
                if found.start[c, d] == top:
                    give_back(live.spare, live.counts, entry)
                    found.mine[c] = NONE
    return top


@jit_bare
def meet_others(rules: Rules, live: Live, t: int, found: Found, how: How, pool: I64, top: int) -> int:
    """Looks for events of variables that may come before, at the same time and later; itself among them."""
    for c in range(len(found.mine)):
        entry = found.mine[c]
        found.is_complete[c] = entry != NONE
        for d in range(len(found.mine)):
            until = rules.times[t, c, d, UNTIL]
            if entry == NONE or until < 0 or not is_other(rules.kinds, c, d):
                continue
            found.start[c, d] = top
            # Who waits for an event of this very moment (until 0, one way or the other) has to learn of it.
            is_now = until == 0 or rules.times[t, d, c, UNTIL] == 0
            if how.is_tight or found.is_complete[c] or is_now:
                top = look(rules, live, entry, d, how.is_grid, pool, top)
                if c != d and found.mine[d] != NONE:
                    top = meet_itself(rules, live.whole, live.place, entry, found.mine[d], pool, top)
            found.end[c, d] = top
            if top == found.start[c, d]:
                found.is_complete[c] = 0
    return top


@jit_bare
def renew(rules: Rules, whole: I64, t: int, found: Found, pool: I64, is_tight: bool) -> None:
    """Those who met have each other: the one as long as the other may live, or (LOOSE) for good."""
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE or rules.lasts[t, c] < 0:
            continue
        mine = whole[entry, TS] + rules.lasts[t, c] if is_tight else ENDLESS
        for d in range(len(found.mine)):
            if not is_other(rules.kinds, c, d):
                continue
            for p in range(found.start[c, d], found.end[c, d]):
                other = pool[p]
                theirs = whole[other, TS] + rules.lasts[t, d] if is_tight else ENDLESS
                whole[entry, BOUND + d] = max(whole[entry, BOUND + d], theirs)
                whole[other, BOUND + c] = max(whole[other, BOUND + c], mine)


@jit_bare
def copy_row(source: I64 | F64, a: int, target: I64 | F64, b: int) -> None:
    for k in range(source.shape[1]):
        target[b, k] = source[a, k]


@jit_bare
def comes_before(out: I64, a: int, b: int) -> bool:
    for v in range(1, out.shape[1]):
        if out[a, v] != out[b, v]:
            return bool(out[a, v] < out[b, v])
    return False


@jit_bare
def solve(
    rules: Rules, live: Live, found: Found, row: int, is_first: bool, pool: I64, desk: Desk, out: I64,
    told: int,
) -> int:  # fmt: skip
    """Adds the solutions that the event at hand completes, or the smallest; how many are told then."""
    before = told
    for c in range(len(found.mine)):
        if not found.is_complete[c]:
            continue
        told = search(
            rules.pairs, live.whole, live.place, row, rules.kinds[c, LAST_OF], found.mine[c], found.start[c],
            found.end[c], pool, is_first, desk, out, told,
        )  # fmt: skip
        if told == FULL:
            break
        if is_first and told == before + 2:
            told -= 1
            if comes_before(out, told, before):
                copy_row(out, told, out, before)
    return told


@jit_bare
def keep(rules: Rules, live: Live, t: int, found: Found, is_grid: bool) -> None:
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE:
            continue
        if rules.lasts[t, c] < 0:
            give_back(live.spare, live.counts, entry)
        else:
            hold(live, entry, rules.lasts, rules.side[t], is_grid)


@jit_bare
def meet(rules: Rules, live: Live, rows: Rows, row: int, how: How, found: Found, pool: I64) -> bool:
    """Takes up an event; whether it may complete something."""
    t, now = rows.trigger[row], rows.ts[row]
    expire(live, rules.lasts, now, how.is_grid)
    for c in range(len(found.mine)):
        found.mine[c] = NONE
        if (rows.is_of[row] >> np.uint64(rules.kinds[c, FIRST_OF])) & np.uint64(1):
            found.mine[c] = take(live.spare, live.counts)
            fill(rules, live.whole, live.place, rows, row, found.mine[c], c, how)
    top = meet_past(rules, live, t, found, how, pool)
    top = meet_others(rules, live, t, found, how, pool, top)
    if top > 0:
        renew(rules, live.whole, t, found, pool, how.is_tight)
    some = 0
    for c in range(len(found.mine)):
        some += found.is_complete[c]
    return some > 0 and not rows.is_of[row] >> np.uint64(GUEST)


@jit_bare
def advance(
    rules: Rules, live: Live, rows: Rows, how: How, row: int, found: Found, pool: I64, desk: Desk, out: I64,
    told: int,
) -> tuple[int, int]:  # fmt: skip
    """From a row on: adds what it completes to `out`, which has `told` already.

    How far it came, and what is told then. A row for whose solutions there is no room has been taken up, and
    is to be gone on with as `again`.
    """
    while row < len(rows.ts):
        if meet(rules, live, rows, row, how, found, pool):
            more = solve(rules, live, found, row, how.is_first, pool, desk, out, told)
            if more == FULL:
                break
            told = more
        keep(rules, live, rows.trigger[row], found, how.is_grid)
        row += 1
    return row, told


@jit_bare
def again(
    rules: Rules, live: Live, rows: Rows, how: How, row: int, found: Found, pool: I64, desk: Desk, out: I64,
    told: int,
) -> int:  # fmt: skip
    """The row that there was no room for, in more room; what is told then, or FULL."""
    more = solve(rules, live, found, row, how.is_first, pool, desk, out, told)
    if more != FULL:
        keep(rules, live, rows.trigger[row], found, how.is_grid)
    return more


@jit_bare
def close(rules: Rules, live: Live, now: int, is_grid: bool) -> None:
    """No event at `now` or before comes any more."""
    expire(live, rules.lasts, now + 1, is_grid)


@jit_bare
def settle(rules: Rules, live: Live, whole: I64, place: F64, is_grid: bool) -> None:
    """Takes over entries of another, in event order; their triggers are those of `live`."""
    for n in range(len(whole)):
        entry = take(live.spare, live.counts)
        copy_row(whole, n, live.whole, entry)
        copy_row(place, n, live.place, entry)
        hold(live, entry, rules.lasts, rules.side[whole[n, TRIGGER]], is_grid)
