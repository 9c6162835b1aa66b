"""Rows that share a key, as chains: who meets whom, at a cost by what is asked and what is found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.kernels.jit import jit

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


class Places(NamedTuple):
    """Where rows are, and the square of how far they look (NaN: as far as the other does)."""

    x: F64
    y: F64
    reach: F64


class Chains(NamedTuple):
    """By key the first row, by row the next and the one before; -1 is none."""

    head: I64
    next: I64
    before: I64


@jit
def are_near(a: Places, i: int, b: Places, j: int, is_open: bool) -> bool:
    """Squares are compared, in doubles."""
    dx, dy = a.x[i] - b.x[j], a.y[i] - b.y[j]
    reach = b.reach[j] if np.isnan(a.reach[i]) else a.reach[i]
    square = dx * dx + dy * dy
    return bool(square < reach) if is_open else bool(square <= reach)


@jit
def find_partners(
    probes: I64, chains: Chains, is_near: bool, is_open: bool, mine: Places, theirs: Places
) -> tuple[I64, I64]:
    """For each row of probes (keys to look under, -1 for none) the rows found: who asked, and whom he met."""
    who, whom = np.empty(len(probes) + 16, np.int64), np.empty(len(probes) + 16, np.int64)
    n = 0
    for i in range(probes.shape[0]):
        for p in range(probes.shape[1]):
            at = chains.head[probes[i, p]] if probes[i, p] >= 0 else -1
            while at >= 0:
                if not is_near or are_near(mine, i, theirs, at, is_open):
                    if n == len(who):
                        more = np.empty(n, np.int64)
                        who, whom = np.concatenate((who, more)), np.concatenate((whom, more))
                    who[n], whom[n] = i, at
                    n += 1
                at = chains.next[at]
    return who[:n], whom[:n]


@jit
def link(chains: Chains, key: int, row: int) -> None:
    first = chains.head[key]
    chains.next[row], chains.before[row] = first, -1
    if first >= 0:
        chains.before[first] = row
    chains.head[key] = row


@jit
def unlink(chains: Chains, key: int, row: int) -> None:
    behind, before = chains.next[row], chains.before[row]
    if behind >= 0:
        chains.before[behind] = before
    if before >= 0:
        chains.next[before] = behind
    else:
        chains.head[key] = behind


@jit
def link_all(chains: Chains, key: I64) -> None:
    """Each row under its key, but those without one."""
    for row in range(len(key)):
        if key[row] >= 0:
            link(chains, key[row], row)


@jit
def take_in(chains: Chains, count: I64, key_of: I64, row: I64, sign: I64) -> None:
    """Rows are there more or less often; those that are there at all are in the chain of their key."""
    for i in range(len(row)):
        r = row[i]
        was_there = count[r] != 0
        count[r] += sign[i]
        if key_of[r] >= 0 and (count[r] != 0) != was_there:
            if was_there:
                unlink(chains, key_of[r], r)
            else:
                link(chains, key_of[r], r)
