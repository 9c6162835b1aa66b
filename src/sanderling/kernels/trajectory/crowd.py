"""Objects where they are, and by cell where they were when they last looked around: their anchors.

Who stays close to its anchor need not look around again: all whom it may be near are known. Cells are not
numbered. A line of cells is hashed to a bucket, and its columns go on from there, so that three cells side by
side are three buckets side by side. Cells that share a bucket only cost a look.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I32, I64
from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit, jit_bare
from sanderling.space.metric import chord

NOWHERE = -1


class Crowd(NamedTuple):
    """By object its place and its anchor as vectors (on a plane the third is 0; NaN: nowhere), its party, and
    the bucket of its anchor with who is in it before and behind, and the last look that marked it. By bucket
    the first that is in it. `looks`: how many there were.

    Party 2q is the left side of a query's company, 2q + 1 its right; where both are the same, all are left.
    """

    at: F64
    anchor: F64
    party: I32
    bucket: I64
    next: I32
    before: I32
    mark: I64
    head: I32
    looks: I64


@jit_bare
def line_of(party: int, cell: int) -> np.uint64:
    """Where the buckets of a line of cells begin."""
    return mix(np.uint64(cell) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(party))


@jit_bare
def bucket_in(line: np.uint64, cell: int, buckets: int) -> int:
    return int(np.int64((line + np.uint64(cell)) & np.uint64(buckets - 1)))


@jit_bare
def leave(crowd: Crowd, one: int) -> None:
    bucket = crowd.bucket[one]
    if bucket == NOWHERE:
        return
    behind, before = crowd.next[one], crowd.before[one]
    if behind >= 0:
        crowd.before[behind] = before
    if before >= 0:
        crowd.next[before] = behind
    else:
        crowd.head[bucket] = behind
    crowd.bucket[one] = NOWHERE


@jit_bare
def enter(crowd: Crowd, one: int, bucket: int) -> None:
    first = crowd.head[bucket]
    crowd.next[one], crowd.before[one] = first, -1
    if first >= 0:
        crowd.before[first] = one
    crowd.head[bucket], crowd.bucket[one] = one, bucket


@jit_bare
def settle(crowd: Crowd, one: int, column: int, row: int) -> None:
    """Its anchor is where it is now, in this cell."""
    leave(crowd, one)
    crowd.anchor[one, 0], crowd.anchor[one, 1] = crowd.at[one, 0], crowd.at[one, 1]
    crowd.anchor[one, 2] = crowd.at[one, 2]
    if not np.isnan(crowd.at[one, 0]):
        enter(crowd, one, bucket_in(line_of(crowd.party[one], row), column, len(crowd.head)))


@jit_bare
def square(a: F64, one: int, b: F64, other: int) -> float:
    """How far apart two are."""
    return float(chord(a[one, 0], a[one, 1], a[one, 2], b[other, 0], b[other, 1], b[other, 2]))


@jit
def enter_all(crowd: Crowd, ones: I64, cells: I64) -> None:
    """Those whose anchors are in these cells, into empty buckets."""
    for i in range(len(ones)):
        line = line_of(crowd.party[ones[i]], cells[i, 1])
        enter(crowd, ones[i], bucket_in(line, cells[i, 0], len(crowd.head)))
