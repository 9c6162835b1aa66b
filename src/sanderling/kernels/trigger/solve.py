"""A trigger's events, one by one in event order, against its live ones: solutions, and what is kept how long.

event ──► meet the live ones ──► renew their bounds ──► search ──► keep it, or not

Trigger by trigger: what one remembers is little, and stays near the processor meanwhile.

LOOSE keeps an event as long as any other may come for it, if all that had to come before it are there.
TIGHT keeps it as long as each other variable has an event for it that may live, or one may still come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I64
from sanderling.kernels.jit import jit_bare
from sanderling.kernels.trigger.agree import FIRST_OF, LAST_OF, SIZE_OF, UNTIL, Rules
from sanderling.kernels.trigger.live import (
    BOUND,
    END,
    EXPIRY,
    NONE,
    NULLS,
    ORDER,
    TS,
    Live,
    has_cells,
    has_room,
    put_in_cell,
)
from sanderling.kernels.trigger.meet import look, may_meet
from sanderling.kernels.trigger.search import FULL, Desk, search

ENDLESS = np.int64(1) << np.int64(62)
# The bit of `is_of` of an event that completes nothing here, since another merge partition searches for it.
GUEST = 63
# Why the kernel comes back, beside the number of a list without room.
DONE, TOLD_IS_FULL = -1, -2


class Events(NamedTuple):
    """Events in event order; and by trigger those it takes, in event order too.

    `order` numbers events for as long as a solver lives. `value` has the columns that constraints compare,
    doubles by their bits.
    """

    order: I64
    ts: I64
    place: F64  # as `metric.spread` gives them
    value: I64
    nulls: I64  # a bit for each value
    start: I64  # those of the t-th trigger stand from start[t] to start[t + 1]
    event: I64  # which of the events
    is_of: npt.NDArray[np.uint64]  # a bit for each variable whose own conditions it satisfies, and GUEST


class How(NamedTuple):
    is_first: bool
    is_tight: bool
    few: int  # lists with no more room than this are looked through, without cells


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
def stands_for(rules: Rules, events: Events, row: int, c: int) -> bool:
    return bool((events.is_of[row] >> np.uint64(rules.kinds[c, FIRST_OF])) & np.uint64(1))


@jit_bare
def fill(rules: Rules, live: Live, events: Events, e: int, t: int, entry: int, kind: int, how: How) -> None:
    """A new entry for an event that stands for a kind; nothing has been met yet."""
    ts, whole, kinds = events.ts[e], live.whole, len(rules.kinds)
    live.span[entry, TS] = ts
    for k in range(live.place.shape[1]):
        live.place[entry, k] = events.place[e, k]
    whole[entry, ORDER], whole[entry, NULLS] = events.order[e], events.nulls[e]
    for k in range(whole.shape[1] - BOUND - kinds):
        whole[entry, BOUND + kinds + k] = events.value[e, k]
    for d in range(kinds):
        until = rules.times[t, kind, d, UNTIL]
        is_asked = is_other(rules.kinds, kind, d) and (how.is_tight or until <= 0)
        whole[entry, BOUND + d] = ts + until if is_asked else ENDLESS


@jit_bare
def expiry(rules: Rules, live: Live, t: int, c: int, entry: int) -> int:
    """The last moment in which an entry may be needed."""
    last = live.span[entry, TS] + rules.lasts[t, c]
    for d in range(len(rules.kinds)):
        last = min(last, live.whole[entry, BOUND + d])
    return int(last)


@jit_bare
def meet_past(rules: Rules, live: Live, t: int, found: Found, how: How, pool: I64) -> int:
    """Looks for events of variables that had to come before; without one, the event is not needed."""
    top = 0
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE:
            continue
        for k in range(len(found.mine)):
            d = rules.turns[t, c, k]
            if rules.times[t, c, d, UNTIL] < 0 and is_other(rules.kinds, c, d):
                found.start[c, d] = top
                top = look(rules, live, t, c, entry, d, how.few, pool, top)
                found.end[c, d] = top
                if found.start[c, d] == top:
                    found.mine[c] = NONE
                    break
    return top


@jit_bare
def meet_others(rules: Rules, live: Live, t: int, found: Found, how: How, pool: I64, top: int) -> int:
    """Looks for events of variables that may come before, at the same time and later; itself among them."""
    for c in range(len(found.mine)):
        entry = found.mine[c]
        found.is_complete[c] = entry != NONE
        if entry == NONE:
            continue
        for k in range(len(found.mine)):
            d = rules.turns[t, c, k]
            until = rules.times[t, c, d, UNTIL]
            if until < 0 or not is_other(rules.kinds, c, d):
                continue
            found.start[c, d] = top
            if how.is_tight:
                # One that lives for this moment only renews nobody: all others wait at least as long.
                is_met = rules.lasts[t, c] > 0
            else:
                # Who waits for an event of this very moment (until 0, either way) has to learn of it.
                is_met = until == 0 or rules.times[t, d, c, UNTIL] == 0
            if is_met or found.is_complete[c]:
                top = look(rules, live, t, c, entry, d, how.few, pool, top)
                if c != d and found.mine[d] != NONE and may_meet(rules, live, t, c, entry, d, found.mine[d]):
                    pool[top] = found.mine[d]
                    top += 1
            found.end[c, d] = top
            if top == found.start[c, d]:
                found.is_complete[c] = 0
    return top


@jit_bare
def renew(rules: Rules, live: Live, t: int, found: Found, pool: I64, is_tight: bool) -> None:
    """Those who met have each other: the one as long as the other may live, or (LOOSE) for good."""
    span, whole = live.span, live.whole
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE or rules.lasts[t, c] < 0:
            continue
        mine = span[entry, TS] + rules.lasts[t, c] if is_tight else ENDLESS
        for d in range(len(found.mine)):
            if not is_other(rules.kinds, c, d):
                continue
            for p in range(found.start[c, d], found.end[c, d]):
                other = pool[p]
                theirs = span[other, TS] + rules.lasts[t, d] if is_tight else ENDLESS
                whole[entry, BOUND + d] = max(whole[entry, BOUND + d], theirs)
                if whole[other, BOUND + c] < mine:
                    whole[other, BOUND + c] = mine
                    span[other, EXPIRY] = expiry(rules, live, t, d, other)


@jit_bare
def comes_before(out: I64, a: int, b: int) -> bool:
    for v in range(1, out.shape[1]):
        if out[a, v] != out[b, v]:
            return bool(out[a, v] < out[b, v])
    return False


@jit_bare
def solve(
    rules: Rules, live: Live, t: int, found: Found, row: int, is_first: bool, pool: I64, desk: Desk, out: I64,
    told: int,
) -> int:  # fmt: skip
    """Adds the solutions that the event at hand completes, or the smallest; how many are told then."""
    before = told
    for c in range(len(found.mine)):
        if not found.is_complete[c]:
            continue
        told = search(
            rules.pairs, live, t, row, rules.kinds[c, LAST_OF], found.mine[c], found.start[c], found.end[c],
            pool, is_first, desk, out, told,
        )  # fmt: skip
        if told == FULL:
            break
        if is_first and told == before + 2:
            told -= 1
            if comes_before(out, told, before):
                for k in range(out.shape[1]):
                    out[before, k] = out[told, k]
    return told


@jit_bare
def keep(rules: Rules, live: Live, t: int, found: Found, few: int) -> None:
    kinds = len(found.mine)
    for c in range(kinds):
        entry, number = found.mine[c], t * kinds + c
        if entry != NONE and rules.lasts[t, c] >= 0:
            live.span[entry, EXPIRY] = expiry(rules, live, t, c, entry)
            live.lists[number, END] += 1
            if has_cells(live.lists, number, few):
                put_in_cell(live, number, entry, rules.side[t])


@jit_bare
def without_room(rules: Rules, live: Live, events: Events, row: int, t: int, few: int) -> int:
    """A list that the event at hand cannot be put behind, or DONE."""
    kinds, now = len(rules.kinds), events.ts[events.event[row]]
    for c in range(kinds):
        if stands_for(rules, events, row, c) and not has_room(live, t * kinds + c, now, rules.side[t], few):
            return t * kinds + c
    return DONE


@jit_bare
def meet(
    rules: Rules, live: Live, events: Events, row: int, t: int, how: How, found: Found, pool: I64
) -> bool:
    """Takes up an event; whether it may complete something. Its entries stand behind their lists."""
    kinds = len(found.mine)
    for c in range(kinds):
        found.mine[c] = NONE
        if stands_for(rules, events, row, c):
            found.mine[c] = live.lists[t * kinds + c, END]
            fill(rules, live, events, events.event[row], t, found.mine[c], c, how)
    top = meet_past(rules, live, t, found, how, pool)
    top = meet_others(rules, live, t, found, how, pool, top)
    if top > 0:
        renew(rules, live, t, found, pool, how.is_tight)
    some = 0
    for c in range(kinds):
        some += found.is_complete[c]
    return some > 0 and not events.is_of[row] >> np.uint64(GUEST)


@jit_bare
def advance(
    rules: Rules, live: Live, events: Events, how: How, trigger: int, row: int, found: Found, pool: I64,
    desk: Desk, out: I64, told: int,
) -> tuple[int, int, int]:  # fmt: skip
    """From a row of `events.event` on, of a trigger: adds what it completes to `out`, which has `told`.

    How far it came, what is told then, and why it came back: DONE, TOLD_IS_FULL, or a list without room.
    The row it came to may have met others, and meets them again: it renews nothing twice.
    """
    for t in range(trigger, len(events.start) - 1):
        while row < events.start[t + 1]:
            full = without_room(rules, live, events, row, t, how.few)
            if full != DONE:
                return row, told, full
            if meet(rules, live, events, row, t, how, found, pool):
                more = solve(rules, live, t, found, row, how.is_first, pool, desk, out, told)
                if more == FULL:
                    return row, told, TOLD_IS_FULL
                told = more
            keep(rules, live, t, found, how.few)
            row += 1
    return row, told, DONE
