"""Lists of queries against plain Python: made, shared out, and dealt to triggers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.trigger.deal import NOBODY, Sighted, deal
from sanderling.kernels.trigger.sightings import dealt, listed, plain_listed
from sanderling.kernels.trigger.solve import GUEST
from sanderling.kernels.trigger.tracts import reached
from sanderling.route.by_space import Tracts

seeds = st.integers(0, 2**32 - 1)
PLACES = (0.0, -0.0, 1.0, -7.9, 16.0, 31.999, 1e15, -1e300, 1e308, np.inf, -np.inf, np.nan)


def some_lists(rng: np.random.Generator, n: int, queries: int) -> tuple[npt.NDArray, npt.NDArray]:
    size = rng.integers(0, 4, n)
    start = np.append(0, np.cumsum(size)).astype(np.int32)
    return start, rng.integers(0, queries, start[-1]).astype(np.int32)


@given(seed=seeds, n=st.sampled_from([0, 1, 5, 2047, 2049]), queries=st.integers(0, 5))
def test_readings_are_listed_with_the_queries_whose_conditions_hold(seed: int, n: int, queries: int) -> None:
    rng = np.random.default_rng(seed)
    holds, is_there = rng.random((4, n)) < 0.3, rng.random(n) < 0.8
    condition, query = rng.integers(0, 4, queries), np.sort(rng.integers(0, 99, queries)).astype(np.int32)
    asked = holds, condition, query, is_there
    for got, wanted in zip(listed(*asked), plain_listed(*asked), strict=True):
        assert got.dtype == wanted.dtype and got.tolist() == wanted.tolist()


@given(seed=seeds, n=st.integers(0, 6), parts=st.integers(1, 4))
def test_lists_are_cut_into_parts_in_which_all_stands_in_order(seed: int, n: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    start, query = some_lists(rng, n, 9)
    to = np.stack([rng.permutation(max(parts, 3))[:3] for _ in range(len(query))] or [np.empty(3)])
    to = -np.sort(-np.where(to < parts, to, -1).astype(np.int32)[: len(query)])
    rows, queries, row, size, out = dealt(start, query, to, parts)
    for part in range(parts):
        some = slice(rows[part], rows[part + 1])
        lists = np.split(out[queries[part] : queries[part + 1]], np.cumsum(size[some])[:-1])
        got = [(r, mine.tolist()) for r, mine in zip(row[some].tolist(), lists, strict=False)]
        wanted = [
            (r, [int(query[k]) for k in range(start[r], start[r + 1]) if part in to[k].tolist()])
            for r in range(n)
        ]
        assert got == [(r, mine) for r, mine in wanted if mine]


@given(seed=seeds, partitions=st.integers(1, 7))
def test_merge_partitions_are_reached_as_the_plain_way_says(seed: int, partitions: int) -> None:
    rng = np.random.default_rng(seed)
    queries = np.array([0, 3, 8])
    halo = rng.choice([0.0, 0.5, 2.0], (3, 2))
    tracts = Tracts(queries, halo, rng.choice([1.0, 4.0], 3))
    start, query = some_lists(rng, 8, 12)
    x, y = (rng.choice([*PLACES, *rng.uniform(-40, 40, 20)], 8) for _ in range(2))
    owner = np.repeat(np.arange(8), np.diff(start))
    for branch in (0, 1):
        got = reached(start, query, x, y, tracts.sides(), tracts.halos(branch), partitions)
        wanted = tracts.reached(branch, query.astype(np.int64), x[owner], y[owner], partitions)
        for a, b in zip(got.tolist(), wanted.tolist(), strict=True):
            some = a[: [*a, -1].index(-1)]
            assert len(set(some)) == len(some) and set(some) == set(b)


@given(seed=seeds, n=st.integers(0, 9), of=st.integers(1, 3))
def test_events_are_dealt_to_triggers_once_as_all_that_they_may_be(seed: int, n: int, of: int) -> None:
    rng = np.random.default_rng(seed)
    queries = np.array([1, 2, 5, 6])
    tracts = Tracts(queries, np.ones((4, 3)), rng.choice([1.0, 4.0], 4))
    start, query = some_lists(rng, n, 8)
    event, branch = np.sort(rng.integers(0, 4, n)), rng.integers(0, 3, n)
    event = np.unique(event, return_inverse=True)[1]
    place = rng.uniform(-9, 9, (4, 2))
    taker = np.full(8, NOBODY)
    taker[queries[[0, 1, 3]]] = np.arange(3)  # one has ended
    mask = np.array([1, 6, 8], np.uint64)
    sighted = Sighted(event, branch, start[:-1].astype(np.int64), start[1:].astype(np.int64), query)
    first, out, is_of, guests = deal(sighted, mask, taker, 3, place, tracts.sides(), 0, of)
    bits: dict[tuple[int, int], int] = {}
    are_guests = 0
    for r in range(n):
        for q in query[start[r] : start[r + 1]].tolist():
            if taker[q] != NOBODY:
                x, y = place[event[r]]
                home = int(tracts.home(np.array([q]), np.array([x]), np.array([y]), of)[0])
                pair = int(taker[q]), int(event[r])
                bits[pair] = bits.get(pair, 0) | int(mask[branch[r]]) | (home != 0) << GUEST
                are_guests += home != 0
    got = [
        (t, e, b)
        for t in range(3)
        for e, b in zip(
            out[first[t] : first[t + 1]].tolist(), is_of[first[t] : first[t + 1]].tolist(), strict=True
        )
    ]
    assert got == [(t, e, b) for (t, e), b in sorted(bits.items())]
    assert guests == are_guests
