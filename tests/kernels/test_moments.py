"""What changes where several shards have the nearest, moment by moment, against the plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.kernels.nearest.moments import differences, plain_differences
from tests.long import drawn

SHARDS, QUERIES, TICKS = 2, 3, 3
distances = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.5, np.inf]), max_size=4).map(sorted)


class Lists:
    """Of two shards, each with its own objects, drawn one after the other; rows as they are stored."""

    def __init__(self, data: st.DataObject):
        self.d2: list[float] = []
        self.mark: list[int] = []
        self.rank: list[int] = []
        self.data = data

    def draw(self, shard: int) -> list[int]:
        far = self.data.draw(distances)
        who = self.data.draw(st.lists(st.integers(0, 5), min_size=len(far), max_size=len(far), unique=True))
        first = len(self.d2)
        self.d2 += far
        self.mark += [10 * one + shard for one in who]
        self.rank += [-10 * one + shard for one in who]
        return list(range(first, len(self.d2)))


@settings(max_examples=drawn(100, 4000))
@given(st.data())
def test_moments_differ_as_the_k_nearest_of_all_do(data: st.DataObject) -> None:
    lists = Lists(data)
    before = {(q, s): lists.draw(s) for q in range(QUERIES) for s in range(SHARDS)}
    asked = st.tuples(st.integers(0, QUERIES - 1), st.integers(0, SHARDS - 1), st.integers(0, TICKS - 1))
    new = [(q, s, t, lists.draw(s)) for q, s, t in data.draw(st.lists(asked, max_size=8))]
    k = np.array(data.draw(st.lists(st.integers(1, 5), min_size=QUERIES, max_size=QUERIES)), np.int64)
    starts, lengths = (
        np.array([[of(before[q, s]) for s in range(SHARDS)] for q in range(QUERIES)], np.int64)
        for of in (lambda rows: rows[0] if rows else 0, len)
    )
    query, shard, tick = (np.array([one[i] for one in new], np.int64) for i in range(3))
    start = np.array([rows[0] if rows else 0 for *_, rows in new], np.int64)
    length = np.array([len(rows) for *_, rows in new], np.int64)
    order = np.lexsort((np.arange(len(new)), tick, query))
    d2, mark, rank = (
        np.array(lists.d2, np.float64),
        np.array(lists.mark, np.int64),
        np.array(lists.rank, np.int64),
    )

    def told(rank: np.ndarray, are_alike: bool = False) -> tuple[list[tuple[int, ...]], bool]:  # type: ignore[type-arg]
        *found, needs_ranks = differences(
            order, query, shard, tick, start, length, starts, lengths, k, d2, mark, rank, are_alike
        )
        return list(zip(*(column.tolist() for column in found), strict=True)), needs_ranks

    wanted = plain_differences(new, before, dict(enumerate(k.tolist())), lists.d2, lists.mark, lists.rank)
    found, needs_ranks = told(rank)
    assert len(found) == len(set(found)) and set(found) == wanted and not needs_ranks
    without, needs_ranks = told(rank[:0])
    assert needs_ranks or without == found
    alike, _ = told(rank, are_alike=True)
    assert alike == [one for one in found if -1 in one[2:]]
