"""Rows that share a key, as chains: who meets whom, at a cost by what is asked and what is found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64
from sanderling.kernels.jit import jit, jit_bare
from sanderling.space.metric import chord, squared


class Places(NamedTuple):
    """Where rows are, and the square of how far they look (NaN: as far as the other does).

    On the globe a place is a vector of three; on a plane `z` is empty.
    """

    x: F64
    y: F64
    reach: F64
    z: F64


class Chains(NamedTuple):
    """By key the first row, by row the next and the one before; -1 is none."""

    head: I64
    next: I64
    before: I64


class Party(NamedTuple):
    """A side as it is: of each row how often it is there, its key (-1: none), its place, its partners."""

    chains: Chains
    times: I64
    key: I64
    places: Places
    matches: I64


class Changes(NamedTuple):
    """Rows that come and go, with the keys that partners of each may have (-1: none)."""

    row: I64
    tick: I64
    sign: I64
    probes: I64


class Rule(NamedTuple):
    """Who are partners: all of a key, or those that are near; whether rows of the left may stand alone."""

    is_near: bool
    is_open: bool
    is_left: bool


class Told(NamedTuple):
    """The first n pairs (left row, right row, tick, sign), and m rows alone (left row, tick, sign).

    `looked` is how many pairs were looked at.
    """

    pairs: I64
    pads: I64
    n: int
    m: int
    looked: int


@jit_bare
def are_near(a: Places, i: int, b: Places, j: int, is_open: bool) -> bool:
    """Squares are compared, in doubles."""
    reach = b.reach[j] if np.isnan(a.reach[i]) else a.reach[i]
    if len(a.z):
        square = chord(a.x[i], a.y[i], a.z[i], b.x[j], b.y[j], b.z[j])
    else:
        square = squared(a.x[i], a.y[i], b.x[j], b.y[j])
    return bool(square < reach) if is_open else bool(square <= reach)


@jit_bare
def link(chains: Chains, key: int, row: int) -> None:
    first = chains.head[key]
    chains.next[row], chains.before[row] = first, -1
    if first >= 0:
        chains.before[first] = row
    chains.head[key] = row


@jit_bare
def unlink(chains: Chains, key: int, row: int) -> None:
    behind, before = chains.next[row], chains.before[row]
    if behind >= 0:
        chains.before[behind] = before
    if before >= 0:
        chains.next[before] = behind
    else:
        chains.head[key] = behind


@jit_bare
def count_in(party: Party, row: int, sign: int) -> None:
    """A row is there more or less often; if it is there at all, it is in the chain of its key."""
    was_there = party.times[row] != 0
    party.times[row] += sign
    if party.key[row] >= 0 and (party.times[row] != 0) != was_there:
        if was_there:
            unlink(party.chains, party.key[row], row)
        else:
            link(party.chains, party.key[row], row)


@jit
def take_in(party: Party, row: I64, sign: I64) -> None:
    """Changes without a look at who is met."""
    for i in range(len(row)):
        count_in(party, row[i], sign[i])


@jit
def widened(rows: I64, n: int) -> I64:
    """The first n rows, with room behind them."""
    more = np.empty((2 * n, rows.shape[1]), np.int64)
    more[:n] = rows[:n]
    return more


@jit
def walk_run(
    changes: Changes, run: I64, is_right: bool, mine: Party, theirs: Party, rule: Rule, told: Told
) -> Told:
    """A run of changes of one side: each meets the other side as it is, then is taken in."""
    pairs, pads, n, m, looked = told
    head, behind, count = theirs.chains.head, theirs.chains.next, theirs.times
    here, there = mine.places, theirs.places
    for i in run:
        row, tick, sign = changes.row[i], changes.tick[i], changes.sign[i]
        partners = 0
        for p in range(changes.probes.shape[1]):
            key = changes.probes[i, p]
            at = head[key] if key >= 0 else -1
            while at >= 0:
                looked += 1
                if not rule.is_near or are_near(here, row, there, at, rule.is_open):
                    if n == len(pairs):
                        pairs = widened(pairs, n)
                    pairs[n, 0], pairs[n, 1] = (at, row) if is_right else (row, at)
                    pairs[n, 2], pairs[n, 3] = tick, sign * count[at]
                    n += 1
                    partners += count[at]
                    if rule.is_left and is_right:
                        alone = theirs.times[at] if theirs.matches[at] == 0 else 0
                        theirs.matches[at] += sign
                        now = theirs.times[at] if theirs.matches[at] == 0 else 0
                        if now != alone:
                            if m == len(pads):
                                pads = widened(pads, m)
                            pads[m, 0], pads[m, 1], pads[m, 2] = at, tick, now - alone
                            m += 1
                at = behind[at]
        if rule.is_left and not is_right:
            mine.matches[row] = partners
            if partners == 0:
                if m == len(pads):
                    pads = widened(pads, m)
                pads[m, 0], pads[m, 1], pads[m, 2] = row, tick, sign
                m += 1
        count_in(mine, row, sign)
    return Told(pairs, pads, n, m, looked)


@jit
def walk_partners(left: Party, right: Party, rule: Rule, changes: Changes, lefts: int, order: I64) -> Told:
    """Changes of both sides in this order; the first `lefts` of them are the left's.

    In order of time, what is looked at is what is there at the time, whatever else the changes bring.
    """
    told = Told(np.empty((len(order) + 16, 4), np.int64), np.empty((16, 3), np.int64), 0, 0, 0)
    first = 0
    while first < len(order):
        is_right = order[first] >= lefts
        behind = first + 1
        while behind < len(order) and (order[behind] >= lefts) == is_right:
            behind += 1
        if is_right:
            told = walk_run(changes, order[first:behind], True, right, left, rule, told)
        else:
            told = walk_run(changes, order[first:behind], False, left, right, rule, told)
        first = behind
    return told
