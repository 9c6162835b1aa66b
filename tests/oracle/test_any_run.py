"""What must hold of any run of the oracle: its two versions agree, and updates add up to answers."""

import math
import random
from collections import Counter
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.long import drawn

from . import Area, Box, Disc, Everywhere, MovingBox, MovingDisc, Nearest, Query, run, run_fast
from .cases import TICK, at, inside, of
from .oracle import always

small = st.integers(0, 4)
keys = st.sampled_from("abc")
holed = Area([([(0, 0), (4, 0), (4, 4), (0, 4)], [[(1, 1), (3, 1), (3, 3), (1, 3)]])])
shapes = st.one_of(
    st.just(Everywhere()),
    st.builds(Box, small, small, small, small),
    st.builds(Disc, small, small, small),
    st.just(holed),
    st.builds(MovingBox, keys, small, small),
    st.builds(MovingDisc, keys, small),
)
attributes = st.sampled_from([{"r": 0}, {"r": 1}])
readings_of_three = st.lists(
    st.builds(
        lambda key, ts, x, y, v, gone: at(key, ts, x, y, gone, v=v),
        keys,
        st.integers(-25, 60),
        small,
        small,
        st.sampled_from([0, 1, None, math.nan]),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=14,
)
nearest = st.none() | st.builds(Nearest, st.integers(1, 3), small, small, st.none() | keys)
times = st.none() | st.integers(-3, 7).map(lambda n: n * TICK)


@st.composite
def query_sets(draw):
    queries = []
    for name in "pqr"[: draw(st.integers(0, 3))]:
        pairs = draw(st.lists(st.tuples(shapes, attributes), min_size=1, max_size=3))
        where = draw(
            st.sampled_from([always, lambda values: None if values["v"] is None else values["x"] > 1])
        )
        select = of(*draw(st.lists(st.sampled_from(["id", "v", "r", "x"]), max_size=2)))
        query = Query(name, pairs, select, where, draw(times), draw(times), draw(nearest))
        queries.append(query)
        if query.end is not None and draw(st.booleans()):
            queries.append(replace(query, begin=query.end + draw(st.sampled_from([0, TICK])), end=None))
    return queries


run_settings = st.fixed_dictionaries(
    {
        "lateness_us": st.sampled_from([0, 5, 10, 30, 200]),
        "stale_after_us": st.sampled_from([None, None, 0, 7, 10, 25]),
        "ended": st.booleans(),
    }
)


@settings(deadline=None, max_examples=drawn(100, 5000))
@given(readings_of_three, query_sets(), run_settings)
def test_fast_equals_plain(readings, queries, chosen):
    assert run_fast(readings, queries, TICK, **chosen) == run(readings, queries, TICK, **chosen)


@settings(deadline=None, max_examples=drawn(50, 2000))
@given(readings_of_three, query_sets(), run_settings)
def test_no_tick_that_matters_is_jumped_over(readings, queries, chosen):
    # A query that begins makes its tick matter; these hold nobody.
    nobody = [inside(Area([]), f"nobody {n}", begin=n * TICK) for n in range(-12, 12)]
    assert run(readings, queries + nobody, TICK, **chosen) == run(readings, queries, TICK, **chosen)


@settings(deadline=None, max_examples=drawn(50, 2000))
@given(readings_of_three, query_sets(), run_settings)
def test_updates_add_up_to_answers_that_are_never_negative(readings, queries, chosen):
    result = run(readings, queries, TICK, **chosen)
    assert result.closed_to is not None or not result.updates
    for query in queries:
        total: Counter = Counter()
        for update in result.updates:
            if update.query == query.name and query.exists(update.tick):
                total[update.row] += update.sign
                assert total[update.row] >= 0


@settings(deadline=None, max_examples=drawn(50, 2000))
@given(readings_of_three, query_sets(), st.randoms(use_true_random=False), st.sampled_from([5, 20, 200]))
@example([at("a", 10, 0, 0), at("b", 11, 0, 0)], [inside(Everywhere())], random.Random(0), 1)
def test_disorder_within_the_lateness_does_not_show(readings, queries, rng, lateness):
    in_order = sorted(
        {(reading.key, reading.ts): reading for reading in readings}.values(), key=lambda one: one.ts
    )
    # Delaying each reading by less than the lateness puts none of them behind the clock.
    delayed = sorted(in_order, key=lambda reading: reading.ts + rng.uniform(0, lateness))
    result = run(delayed, queries, TICK, lateness)
    assert result.late == []
    assert result == run(in_order, queries, TICK)
