"""Pairs that have come near and wait to be due: a line for each query, in order of time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import I32, I64
from sanderling.kernels.jit import jit, jit_bare


class Waiting(NamedTuple):
    """By query the first and the last of its line; in it pairs with the tick since when.

    `used`: how many places of lines were ever taken, and the first of those that are free again.
    """

    first: I64
    last: I64
    one: I32
    other: I32
    since: I64
    next: I64
    used: I64


@jit_bare
def is_due(waiting: Waiting, query: int, stay: int, until: int) -> bool:
    """Whether the first of a line is."""
    at = waiting.first[query]
    return bool(at >= 0 and waiting.since[at] + stay <= until)


@jit_bare
def is_full(waiting: Waiting) -> bool:
    return bool(waiting.used[1] < 0 and waiting.used[0] == len(waiting.one))


@jit_bare
def wait(waiting: Waiting, query: int, one: int, other: int, since: int) -> None:
    """At the end of the query's line; there is room."""
    at = waiting.used[1]
    if at >= 0:
        waiting.used[1] = waiting.next[at]
    else:
        at = waiting.used[0]
        waiting.used[0] += 1
    waiting.one[at], waiting.other[at], waiting.since[at], waiting.next[at] = one, other, since, -1
    if waiting.first[query] < 0:
        waiting.first[query] = at
    else:
        waiting.next[waiting.last[query]] = at
    waiting.last[query] = at


@jit_bare
def go_on(waiting: Waiting, query: int) -> None:
    """The first of a line is not waited for any more."""
    at = waiting.first[query]
    waiting.first[query] = waiting.next[at]
    waiting.next[at], waiting.used[1] = waiting.used[1], at


@jit
def widened(waiting: Waiting) -> Waiting:
    n = len(waiting.one)
    one, other = np.empty(2 * n + 16, np.int32), np.empty(2 * n + 16, np.int32)
    since, behind = np.empty(2 * n + 16, np.int64), np.empty(2 * n + 16, np.int64)
    one[:n], other[:n], since[:n], behind[:n] = waiting.one, waiting.other, waiting.since, waiting.next
    return Waiting(waiting.first, waiting.last, one, other, since, behind, waiting.used)


@jit
def wait_all(waiting: Waiting, query: I64, one: I64, other: I64, since: I64) -> Waiting:
    """In their order."""
    for i in range(len(query)):
        if is_full(waiting):
            waiting = widened(waiting)
        wait(waiting, query[i], one[i], other[i], since[i])
    return waiting
