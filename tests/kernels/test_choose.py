"""Choosing the nearest out of lists, and comparing choices, against their plain twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.nearest.choose import choose, compare, plain_choose, plain_compare

distances = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.5, np.inf]), max_size=5).map(sorted)
shards = st.lists(distances, min_size=2, max_size=2)


@given(st.lists(st.tuples(shards, st.integers(1, 6)), max_size=4))
def test_the_first_k_of_all_lists_are_chosen(moments: list[tuple[list[list[float]], int]]) -> None:
    lengths = np.array([[len(each) for each in lists] for lists, _ in moments], np.int64).reshape(-1, 2)
    starts = (np.cumsum(lengths) - lengths.ravel()).reshape(-1, 2)
    d2 = np.array([far for lists, _ in moments for each in lists for far in each], np.float64)
    offsets, rows, is_tied = choose(starts, lengths, np.array([k for _, k in moments], np.int64), d2)
    for m, (lists, k) in enumerate(moments):
        wanted, is_doubtful = plain_choose(lists, k)
        chosen = rows[offsets[m] : offsets[m + 1]]
        assert sorted(d2[chosen].tolist()) == wanted and is_tied[m] == is_doubtful
        assert len(set(chosen.tolist())) == len(chosen)


marks = st.lists(st.integers(-3, 60), unique=True, max_size=45)


@given(st.lists(marks, min_size=1, max_size=4), st.data())
def test_changes_are_told_by_object(moments: list[list[int]], data: st.DataObject) -> None:
    mark, choices = [], []
    for m, objects in enumerate(moments):
        same = choices[m - 1] if m else {}
        rows = {}
        for o in objects:
            if o in same and data.draw(st.booleans()):
                rows[o] = same[o]
            else:
                rows[o] = len(mark)
                mark.append(o)
        choices.append(rows)
    offsets = np.cumsum([0, *(len(c) for c in choices)])
    rows = np.array([row for c in choices for row in c.values()], np.int64)
    has_before = np.arange(len(moments)) > 0
    moment, before, after = compare(offsets, rows, has_before, np.array(mark, np.int64))
    for m in range(1, len(moments)):
        mine = moment == m
        told = set(zip(before[mine].tolist(), after[mine].tolist(), strict=True))
        assert told == plain_compare(choices[m - 1], choices[m]) and len(told) == mine.sum()
