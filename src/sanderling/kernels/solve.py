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
    unowned_rules,
)
from sanderling.kernels.jit import jit, unowned
from sanderling.kernels.live import (
    BOUND,
    KEY,
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
    unowned_live,
)
from sanderling.kernels.meet import look, meet_itself
from sanderling.kernels.search import search

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

ENDLESS = np.int64(1) << np.int64(62)


class Rows(NamedTuple):
    """Events by trigger, in event order; an event that several triggers take has several rows."""

    trigger: I64
    order: I64
    ts: I64
    place: F64  # x and y
    is_of: npt.NDArray[np.uint64]  # a bit for each variable it may stand for
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


@jit
def is_other(kinds: I64, c: int, d: int) -> bool:
    """Whether an event of kind c needs one of kind d."""
    return bool(c != d or kinds[c, SIZE_OF] > 1)


@jit
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


@jit
def meet_past(rules: Rules, live: Live, t: int, found: Found, how: How, pool: I64) -> tuple[I64, int]:
    """Looks for events of variables that had to come before; without one, the event is not needed."""
    top = 0
    for c in range(len(found.mine)):
        entry = found.mine[c]
        for d in range(len(found.mine)):
            if found.mine[c] != NONE and rules.times[t, c, d, UNTIL] < 0 and is_other(rules.kinds, c, d):
                found.start[c, d] = top
                pool, top = look(rules, live, entry, d, how.is_grid, pool, top)
                found.end[c, d] = top
                if found.start[c, d] == top:
                    give_back(live.spare, live.counts, entry)
                    found.mine[c] = NONE
    return pool, top


@jit
def meet_others(
    rules: Rules, live: Live, t: int, found: Found, how: How, pool: I64, top: int
) -> tuple[I64, int]:
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
                pool, top = look(rules, live, entry, d, how.is_grid, pool, top)
                if c != d and found.mine[d] != NONE:
                    pool, top = meet_itself(rules, live.whole, live.place, entry, found.mine[d], pool, top)
            found.end[c, d] = top
            if top == found.start[c, d]:
                found.is_complete[c] = 0
    return pool, top


@jit
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


@jit
def comes_before(out: I64, a: int, b: int) -> bool:
    for v in range(1, out.shape[1]):
        if out[a, v] != out[b, v]:
            return bool(out[a, v] < out[b, v])
    return False


@jit
def solve(
    rules: Rules, live: Live, found: Found, row: int, is_first: bool, pool: I64, stack: I64, out: I64,
    told: int,
) -> tuple[I64, I64, int]:  # fmt: skip
    """Adds the solutions that the event at hand completes, or the smallest of them."""
    before = told
    for c in range(len(found.mine)):
        if not found.is_complete[c]:
            continue
        stack, out, told = search(
            rules.pairs, live.whole, live.place, row, rules.kinds[c, LAST_OF], found.mine[c], found.start[c],
            found.end[c], pool, is_first, stack, out, told,
        )  # fmt: skip
        if is_first and told == before + 2:
            told -= 1
            if comes_before(out, told, before):
                out[before] = out[told]
    return stack, out, told


@jit
def keep(rules: Rules, live: Live, t: int, found: Found, is_grid: bool) -> None:
    for c in range(len(found.mine)):
        entry = found.mine[c]
        if entry == NONE:
            continue
        if rules.lasts[t, c] < 0:
            give_back(live.spare, live.counts, entry)
        else:
            hold(live, entry, rules.lasts, rules.side[t], is_grid)


@jit
def advance(rules: Rules, live: Live, rows: Rows, how: How) -> I64:
    """Solutions: a row that completes one, and the order of the event of each variable."""
    rules, live = unowned_rules(rules), unowned_live(live)
    kinds = len(rules.kinds)
    table = np.zeros((2 * kinds + 2, kinds), np.int64)
    found = Found(
        unowned(table[0]), unowned(table[2 : 2 + kinds]), unowned(table[2 + kinds :]), unowned(table[1])
    )
    pool, stack = np.empty(1024, np.int64), np.empty(1024, np.int64)
    out, told = np.empty((256, len(rules.pairs.variables) + 1), np.int64), 0
    for row in range(len(rows.ts)):
        t, now = rows.trigger[row], rows.ts[row]
        if live.heap[0, KEY] < now:
            expire(live, rules.lasts, now, how.is_grid)
        for c in range(kinds):
            found.mine[c] = NONE
            if (rows.is_of[row] >> np.uint64(rules.kinds[c, FIRST_OF])) & np.uint64(1):
                found.mine[c] = take(live.spare, live.counts)
                fill(rules, live.whole, live.place, rows, row, found.mine[c], c, how)
        pool, top = meet_past(rules, live, t, found, how, pool)
        pool, top = meet_others(rules, live, t, found, how, pool, top)
        if top > 0:
            renew(rules, live.whole, t, found, pool, how.is_tight)
        if found.is_complete.any():
            stack, out, told = solve(rules, live, found, row, how.is_first, pool, stack, out, told)
        keep(rules, live, t, found, how.is_grid)
    table[0] = NONE  # it has an owner until here
    return out[:told]


@jit
def close(rules: Rules, live: Live, now: int, is_grid: bool) -> None:
    """No event at `now` or before comes any more."""
    expire(live, rules.lasts, now + 1, is_grid)


@jit
def settle(rules: Rules, live: Live, whole: I64, place: F64, is_grid: bool) -> None:
    """Takes over entries of another, in event order; their triggers are those of `live`."""
    for n in range(len(whole)):
        entry = take(live.spare, live.counts)
        live.whole[entry], live.place[entry] = whole[n], place[n]
        hold(live, entry, rules.lasts, rules.side[whole[n, TRIGGER]], is_grid)
