"""Runs of patterns, as columns: what each waits for is walked in order of time, up to where its wait ends.

events of a key ─┐
who is there ────┴─► its watches: when it is reached ─► of a position: reached, broken, over, or waiting on
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I8, I64, Bools
from sanderling.kernels.jit import jit
from sanderling.kernels.persistency.stays import Stays

NEVER = np.iinfo(np.int64).max
NOBODY = -1
# What comes of a position.
WAITS, REACHED, BROKEN, OVER = range(4)
# What a run has of a step: nothing; it is done, but others of its position are not; it was reached.
NOT_YET, DONE, WHOLE = range(3)


class Happened(NamedTuple):
    """What happens to keys: each one's in order of time, from `start` to `end`; without any these are equal.

    `before` has since when a key stayed before the first, and `row_before` the row that it showed.
    """

    start: I64  # by key
    end: I64
    before: I64
    row_before: I64
    tick: I64  # by event
    row: I64
    since: I64


class Watches(NamedTuple):
    """By run and place in its position: what it waits for.

    It is counted from `u` on; `due` is when it is reached, if nothing changes. What waits for one key hangs
    together: `behind` and `ahead` have places, a run's first being its number times how many there are.
    """

    key: I64
    u: I64
    times: I64
    since: I64
    due: I64
    is_blocked: Bools
    behind: I64
    ahead: I64


class Asked(NamedTuple):
    """What a step asks, and by query how long it has to be."""

    is_entering: bool
    is_leaving: bool
    times: int
    stay: I64


class Waits(NamedTuple):
    """By run: when it may wait no longer, when it has to be looked at, and from when on it is looked at."""

    deadline: I64
    due: I64
    looked_from: I64


class Done(NamedTuple):
    """By run that is walked and place in its position: when, since when it counted, and with which row."""

    tick: I64
    since: I64
    row: I64


@jit
def walk_watches(
    place: int, asked: Asked, runs: I64, query: I64, armed: I64, deadline: I64, watches: Watches,
    happened: Happened, stays: Stays, closed_to: int, done: Done,
) -> None:  # fmt: skip
    """Of one step of a position, up to the tick that has closed: what `done` has already is done.

    `query` and `deadline` are by run, and `armed` by those that are walked: the tick from which on they wait.
    """
    for i in range(len(runs)):
        r = runs[i]
        k = watches.key[r, place]
        if k == NOBODY or done.tick[i, place] != NEVER:
            continue
        e, last = happened.start[k], happened.end[k]
        if e < last:
            since, row = happened.before[k], happened.row_before[k]
        else:
            since = stays.since[k]
            row = stays.row[k] if since != NEVER and stays.gone[k] == NEVER else np.int64(-1)
        while e < last and happened.tick[e] <= armed[i]:
            since, row = happened.since[e], happened.row[e]
            e += 1
        stay, until = asked.stay[query[r]], min(closed_to, deadline[r])
        u, count, from_ = watches.u[r, place], watches.times[r, place], watches.since[r, place]
        due, is_blocked = watches.due[r, place], watches.is_blocked[r, place]
        while True:
            now = due
            if e < last and happened.tick[e] <= now:
                now, since, row = happened.tick[e], happened.since[e], happened.row[e]
                if now <= until:
                    e += 1
            if now > until:
                break
            is_counted = row >= 0
            if asked.is_leaving:
                if is_counted:
                    from_, is_blocked, is_counted = NEVER, False, False
                else:
                    if from_ == NEVER and not is_blocked:
                        from_ = now
                    is_counted = not is_blocked
            elif is_counted:
                if since > u:
                    from_ = since
                elif asked.is_entering or count > 0:
                    is_counted = False
                elif from_ == NEVER:
                    from_ = now  # it is there since before: counted from now on
            due = NEVER
            if is_counted:
                if now < from_ + stay:
                    due = from_ + stay
                else:
                    count += 1
                    if count == asked.times:
                        done.tick[i, place], done.since[i, place] = now, from_
                        done.row[i, place] = -1 if asked.is_leaving else row
                        break
                    u, from_, is_blocked = now, NEVER, asked.is_leaving
        watches.u[r, place], watches.times[r, place], watches.since[r, place] = u, count, from_
        watches.due[r, place], watches.is_blocked[r, place] = due, is_blocked


@jit
def resolve(
    runs: I64, steps: int, nots: int, is_all: bool, done: Done, waits: Waits, watches: Watches,
    closed_to: int, outcome: I8, at: I64, how: I8,
) -> None:  # fmt: skip
    """What comes of a position, and at which tick; `how` says, by place, what of it is to be remembered.

    Where both come at one tick, what must not be comes before what is waited for, and that before its end.
    """
    for i in range(len(runs)):
        r = runs[i]
        deadline = waits.deadline[r]
        broken = reached = NEVER
        for place in range(steps, steps + nots):
            broken = min(broken, done.tick[i, place])
        count = 0
        for place in range(steps):
            if done.tick[i, place] != NEVER:
                count += 1
                is_first = reached == NEVER or (done.tick[i, place] > reached) == is_all
                reached = done.tick[i, place] if is_first else reached
        if (is_all and count < steps) or count == 0:
            reached = NEVER
        if deadline < waits.looked_from[r] <= closed_to:
            outcome[i], at[i] = OVER, waits.looked_from[r]  # it has been made shorter meanwhile
        elif broken != NEVER and broken <= reached:
            outcome[i], at[i] = BROKEN, broken
        elif reached != NEVER:
            outcome[i], at[i] = REACHED, reached
            for place in range(steps):
                is_chosen = done.tick[i, place] == reached
                if is_all or is_chosen:
                    how[i, place] = WHOLE
                if is_chosen and not is_all:
                    break
        elif deadline <= closed_to:
            outcome[i], at[i] = OVER, deadline
        else:
            outcome[i], due = WAITS, deadline
            for place in range(steps + nots):
                if done.tick[i, place] == NEVER:
                    due = min(due, watches.due[r, place])
                elif is_all:
                    how[i, place] = DONE
            waits.due[r] = due


@jit
def link(runs: I64, place: int, watches: Watches, head: I64, holds: I64) -> None:
    """From now on whoever asks for the keys of these watches finds their runs."""
    width = watches.key.shape[1]
    for i in range(len(runs)):
        k, w = watches.key[runs[i], place], runs[i] * width + place
        if k == NOBODY:
            continue
        watches.behind[w], watches.ahead[w] = head[k], -1
        if head[k] >= 0:
            watches.ahead[head[k]] = w
        head[k] = w
        holds[k] += 1


@jit
def unlink(runs: I64, place: int, watches: Watches, head: I64, holds: I64) -> I64:
    """The keys that nobody waits for any more."""
    width, n = watches.key.shape[1], 0
    left = np.empty(len(runs), np.int64)
    for i in range(len(runs)):
        k, w = watches.key[runs[i], place], runs[i] * width + place
        if k == NOBODY:
            continue
        behind, ahead = watches.behind[w], watches.ahead[w]
        if behind >= 0:
            watches.ahead[behind] = ahead
        if ahead >= 0:
            watches.behind[ahead] = behind
        else:
            head[k] = behind
        watches.key[runs[i], place] = NOBODY
        holds[k] -= 1
        if head[k] < 0:
            left[n] = k
            n += 1
    return left[:n]


@jit
def touched(keys: I64, head: I64, watches: Watches, is_marked: Bools) -> I64:
    """The runs that wait for these keys, each once; they are marked."""
    width, n = watches.key.shape[1], 0
    found = np.empty(len(is_marked), np.int64)
    for i in range(len(keys)):
        w = head[keys[i]]
        while w >= 0:
            r = w // width
            if not is_marked[r]:
                is_marked[r] = True
                found[n] = r
                n += 1
            w = watches.behind[w]
    return found[:n]


@jit
def skip(order: I64, key: I64, tick: I64, is_matched: Bools, since: I64, keys: int) -> tuple[Bools, I64]:
    """Of runs that end, in order of tick, matches first: which are left when each match drops others of its
    key that began up to it; and by key the tick of the last match.
    """
    is_kept, skipped_to = np.ones(len(order), np.bool_), np.full(keys, np.iinfo(np.int64).min)
    for i in order:
        if since[i] <= skipped_to[key[i]]:
            is_kept[i] = False
        elif is_matched[i]:
            skipped_to[key[i]] = tick[i]
    return is_kept, skipped_to
