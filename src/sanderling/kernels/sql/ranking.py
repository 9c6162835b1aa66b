"""Ordered rows by owner: a search tree for each, balanced by chance (a treap) that every run repeats.

Rows are known by number. What is compared are their codes, column by column; texts by their bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sanderling.arrays import I64, Bools
from sanderling.kernels.hashing import mix
from sanderling.kernels.jit import jit


class Rule(NamedTuple):
    """The columns that rows are ordered by: where each one's code is, and the bit that says it is NULL."""

    place: I64
    null_word: I64
    null_bit: I64
    is_descending: Bools
    is_null_first: Bools
    is_text: Bools


class Forest(NamedTuple):
    """All trees: codes of rows, how often each is there, what hangs below it to both sides; their roots."""

    codes: I64
    times: I64
    lower: I64
    upper: I64
    root: I64
    rule: Rule
    offsets: npt.NDArray[np.int32]
    texts: npt.NDArray[np.uint8]


@jit
def text_is_less(f: Forest, a: int, b: int) -> bool:
    i, j = f.offsets[a], f.offsets[b]
    while i < f.offsets[a + 1] and j < f.offsets[b + 1]:
        if f.texts[i] != f.texts[j]:
            return bool(f.texts[i] < f.texts[j])
        i += 1
        j += 1
    return bool(f.offsets[a + 1] - f.offsets[a] < f.offsets[b + 1] - f.offsets[b])


@jit
def is_before(f: Forest, a: int, b: int) -> bool:
    """Whether row a comes before row b."""
    rule = f.rule
    for k in range(len(rule.place)):
        a_null = (f.codes[a, rule.null_word[k]] >> rule.null_bit[k]) & 1
        b_null = (f.codes[b, rule.null_word[k]] >> rule.null_bit[k]) & 1
        if a_null != b_null:
            return bool((a_null == 1) == rule.is_null_first[k])
        x, y = f.codes[a, rule.place[k]], f.codes[b, rule.place[k]]
        if x == y:
            continue
        is_less = text_is_less(f, x, y) if rule.is_text[k] else x < y
        return bool(is_less != rule.is_descending[k])
    return False


@jit
def weight(row: int) -> np.uint64:
    return mix(np.uint64(row) + np.uint64(0x9E3779B97F4A7C15))


@jit
def below(f: Forest, row: int, side: int) -> int:
    return int(f.lower[row] if side == 0 else f.upper[row])


@jit
def put_below(f: Forest, row: int, side: int, other: int) -> None:
    if side == 0:
        f.lower[row] = other
    else:
        f.upper[row] = other


@jit
def hang(f: Forest, owner: int, above: int, side: int, row: int) -> None:
    """Puts a row below another, or on top (above < 0)."""
    if above < 0:
        f.root[owner] = row
    else:
        put_below(f, above, side, row)


@jit
def enter(f: Forest, owner: int, row: int) -> None:
    """A row that is not in its owner's tree comes into it."""
    above, side, at = -1, 0, f.root[owner]
    mine = weight(row)
    while at >= 0 and weight(at) > mine:
        above, side = at, 0 if is_before(f, row, at) else 1
        at = below(f, above, side)
    hang(f, owner, above, side, row)
    # What was there is split: the smaller to one side, the greater to the other.
    smaller, smaller_side, greater, greater_side = row, 0, row, 1
    while at >= 0:
        if is_before(f, at, row):
            put_below(f, smaller, smaller_side, at)
            smaller, smaller_side = at, 1
            at = below(f, at, 1)
        else:
            put_below(f, greater, greater_side, at)
            greater, greater_side = at, 0
            at = below(f, at, 0)
    put_below(f, smaller, smaller_side, -1)
    put_below(f, greater, greater_side, -1)


@jit
def leave(f: Forest, owner: int, row: int) -> None:
    """A row goes out of its owner's tree."""
    above, side, at = -1, 0, f.root[owner]
    while at != row:
        above, side = at, 0 if is_before(f, row, at) else 1
        at = below(f, above, side)
    a, b = below(f, row, 0), below(f, row, 1)
    while a >= 0 and b >= 0:
        if weight(a) > weight(b):
            hang(f, owner, above, side, a)
            above, side, a = a, 1, below(f, a, 1)
        else:
            hang(f, owner, above, side, b)
            above, side, b = b, 0, below(f, b, 0)
    hang(f, owner, above, side, a if a >= 0 else b)


@jit
def change(f: Forest, owner: int, row: int, sign: int) -> None:
    """A row is there more or less often."""
    was_in = f.times[row] != 0
    f.times[row] += sign
    if f.times[row] != 0 and not was_in:
        enter(f, owner, row)
    elif f.times[row] == 0 and was_in:
        leave(f, owner, row)


@jit
def enter_all(f: Forest, owner: I64) -> None:
    """All rows come into trees that are empty."""
    for row in range(len(owner)):
        if f.times[row] != 0:
            enter(f, owner[row], row)


@jit
def outermost(f: Forest, owner: int, side: int) -> int:
    """The first (side 0) or last (side 1) row of an owner, or -1."""
    at = f.root[owner]
    while at >= 0 and below(f, at, side) >= 0:
        at = below(f, at, side)
    return int(at)


@jit
def neighbour(f: Forest, owner: int, row: int, side: int) -> int:
    """The last row before this one (side 0), or the first behind it; it need not be in the tree itself."""
    found, at = -1, f.root[owner]
    while at >= 0:
        if side == 1 and is_before(f, row, at):
            found, at = at, below(f, at, 0)
        elif side == 0 and is_before(f, at, row):
            found, at = at, below(f, at, 1)
        else:
            at = below(f, at, side)
    return int(found)


@jit
def walk_extremes(f: Forest, group: I64, starts: I64, row: I64, sign: I64) -> tuple[I64, I64]:
    """The first and the last row of each step's group before it (line 0) and after it (line 1), or -1.

    Changes stand in order of their steps, those of step s from starts[s] on.
    """
    first, last = np.empty((2, len(group)), np.int64), np.empty((2, len(group)), np.int64)
    for s in range(len(group)):
        first[0, s], last[0, s] = outermost(f, group[s], 0), outermost(f, group[s], 1)
        for i in range(starts[s], starts[s + 1]):
            change(f, group[s], row[i], sign[i])
        first[1, s], last[1, s] = outermost(f, group[s], 0), outermost(f, group[s], 1)
    return first, last
