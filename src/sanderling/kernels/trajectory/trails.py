"""Where objects are and have been: places in cells, each with the last tick for which somebody was there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I32, I64
from sanderling.kernels.jit import jit, jit_bare
from sanderling.kernels.trajectory.crowd import bucket_in, line_of

STANDING = np.iinfo(np.int64).max  # until when, of a place where somebody is


class Asked(NamedTuple):
    """By query the square of how near is near, and for how long a place counts when it is left."""

    reach: F64
    stay: I64


class Trails(NamedTuple):
    """By place whose it is, where (on a plane the third is 0), its cell, its last tick (STANDING: the object
    is there), and what is behind it in its bucket. By bucket the first. By object its party (2q is the left
    side of a query, 2q + 1 the right), its place now (-1: none), and what a look finds of it. `looks`: how
    many looks there were, and how many places were taken.
    """

    one: I32
    at: F64
    cell: I64
    end: I64
    next: I32
    head: I32
    party: I32
    standing: I64
    seen: I64
    last: I64
    met: I64
    looks: I64


@jit_bare
def is_alive(end: int, stay: int, tick: int) -> bool:
    return bool(end == STANDING or end + stay >= tick)


@jit_bare
def begin_place(trails: Trails, one: int, at: F64, cell: I64, end: int) -> int:
    """A place more, in front of its bucket; there is room."""
    place = trails.looks[1]
    trails.looks[1] += 1
    trails.one[place], trails.end[place] = one, end
    for axis in range(3):
        trails.at[place, axis] = at[axis]
    trails.cell[place, 0], trails.cell[place, 1] = cell[0], cell[1]
    bucket = bucket_in(line_of(trails.party[one], cell[1]), cell[0], len(trails.head))
    trails.next[place], trails.head[bucket] = trails.head[bucket], place
    if end == STANDING:
        trails.standing[one] = place
    return int(place)


@jit
def begin_all(trails: Trails, one: I64, at: F64, cell: I64, end: I64) -> None:
    for i in range(len(one)):
        begin_place(trails, one[i], at[i], cell[i], end[i])
