"""The oracle against hand-made cases, against Shapely, and its two versions against each other."""

import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from . import Area, Box, Disc, Everywhere, MovingBox, MovingDisc, Nearest, Query, Reading, run, run_fast
from .oracle import Values, always, tick_end

TICK = 10
SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]
HOLE = [(4, 4), (6, 4), (6, 6), (4, 6)]


def at(key, ts, x, y, gone=False, **values) -> Reading:
    return Reading(key, ts, x, y, {"id": key, "ts": ts, "x": x, "y": y, **values}, gone)


def of(*columns):
    return lambda values: tuple(values[column] for column in columns)


def inside(shape, name="q", **rest) -> Query:
    return Query(name, [(shape, {})], **{"select": of("id"), **rest})


def told(readings, queries, **chosen):
    """The updates as (tick, query, sign, row), from both versions."""
    plain = run(readings, queries, TICK, **chosen)
    assert run_fast(readings, queries, TICK, **chosen) == plain
    return plain.updates


# -- signed updates -----------------------------------------------------------


def test_place_case_1_staying_inside_tells_nothing():
    readings = [at("p", 10, 5, 5), at("p", 20, 6, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(10, "q", 1, ("p",))]


def test_place_case_2_leaving_tells_minus():
    readings = [at("p", 10, 5, 5), at("p", 20, 11, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(10, "q", 1, ("p",)), (20, "q", -1, ("p",))]


def test_place_case_3_entering_tells_plus():
    readings = [at("p", 10, 11, 5), at("p", 20, 6, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(20, "q", 1, ("p",))]


def test_place_case_4_staying_outside_tells_nothing():
    readings = [at("p", 10, 11, 5), at("p", 20, 12, 6)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == []


def test_place_figure_2():
    def point(key, ts, x, y):
        return at(key, ts, x, y, kind="point")

    def focal(key, ts, x, y):
        return at(key, ts, x, y, kind="focal")

    def query(name, shape):
        return inside(shape, name, where=lambda values: values["kind"] == "point")

    queries = [
        query("Q1", MovingBox("f1", 4, 4)),
        query("Q2", Box(18, 8, 24, 14)),
        query("Q3", MovingBox("f3", 8, 4)),
        query("Q4", Box(38, 8, 44, 14)),
        query("Q5", MovingBox("f5", 6, 6)),
    ]
    readings = [
        *(focal("f1", 10, 10, 10), focal("f3", 10, 30, 30), focal("f5", 10, 50, 50)),
        *(point("p1", 10, 20, 10), point("p2", 10, 70, 70), point("p3", 10, 40, 10), point("p4", 10, 41, 12)),
        *(point("p5", 10, 9, 10), point("p6", 10, 27, 30), point("p7", 10, 33, 30), point("p8", 10, 37, 30)),
        point("p9", 10, 51, 50),
        *(point("p1", 20, 23, 13), point("p2", 20, 72, 71), point("p3", 20, 43, 9), point("p4", 20, 46, 12)),
        *(focal("f1", 20, 13, 10), focal("f3", 20, 35, 30), focal("f5", 20, 52, 51)),
    ]
    assert told(readings, queries) == [
        *[(10, "Q1", 1, ("p5",)), (10, "Q2", 1, ("p1",))],
        *[(10, "Q3", 1, ("p6",)), (10, "Q3", 1, ("p7",))],
        *[(10, "Q4", 1, ("p3",)), (10, "Q4", 1, ("p4",)), (10, "Q5", 1, ("p9",))],
        *[(20, "Q1", -1, ("p5",)), (20, "Q3", -1, ("p6",)), (20, "Q3", 1, ("p8",)), (20, "Q4", -1, ("p4",))],
    ]


def test_a_changed_column_tells_minus_then_plus_and_an_unchanged_one_nothing():
    query = inside(Everywhere(), select=of("speed"))
    readings = [at("p", 10, 0, 0, speed=1), at("p", 20, 5, 5, speed=1), at("p", 30, 5, 5, speed=None)]
    assert told(readings, [query]) == [(10, "q", 1, (1,)), (30, "q", -1, (1,)), (30, "q", 1, (None,))]


def test_nan_equals_nan_and_rows_order_with_none_last():
    query = inside(Everywhere(), select=of("v"))
    readings = [at(key, 10, 0, 0, v=v) for key, v in enumerate([None, "a", math.nan, 2, float("nan"), -1])]
    again = [replace(reading, ts=20) for reading in readings]
    again[2] = at(2, 20, 0, 0, v=-math.nan)
    rows = [update.row for update in told(readings + again, [query])]
    assert str(rows) == "[(-1,), (2,), (nan,), (nan,), ('a',), (None,)]"


def test_identical_rows_are_counted():
    query = inside(Box(0, 0, 9, 9), select=of("kind"))
    readings = [at("a", 10, 1, 1, kind="bus"), at("b", 10, 2, 2, kind="bus"), at("a", 20, 99, 1, kind="bus")]
    assert told(readings, [query]) == [
        (10, "q", 1, ("bus",)),
        (10, "q", 1, ("bus",)),
        (20, "q", -1, ("bus",)),
    ]


def test_where_null_is_not_satisfied():
    def is_fast(values: Values) -> bool | None:
        return None if values["speed"] is None else values["speed"] > 60

    readings = [at("a", 10, 0, 0, speed=None), at("b", 10, 0, 0, speed=60), at("c", 10, 0, 0, speed=61)]
    assert told(readings, [inside(Everywhere(), where=is_fast)]) == [(10, "q", 1, ("c",))]


def test_a_join_with_regions_gives_pairs():
    districts = [(Box(0, 0, 5, 5), {"district": "west"}), (Area([(SQUARE, [])]), {"district": "all"})]
    query = Query("q", districts, select=of("id", "district"))
    readings = [at("p", 10, 5, 5), at("p", 20, 6, 5)]
    assert told(readings, [query]) == [
        (10, "q", 1, ("p", "all")),
        (10, "q", 1, ("p", "west")),
        (20, "q", -1, ("p", "west")),
    ]


def test_a_moving_query_is_empty_without_its_focal_object_and_never_holds_it():
    query = inside(MovingDisc("f", 5))
    readings = [at("p", 10, 3, 4), at("f", 20, 0, 0), at("f", 30, 1, 0, gone=True), at("f", 40, 0, 0)]
    assert told(readings, [query]) == [(20, "q", 1, ("p",)), (30, "q", -1, ("p",)), (40, "q", 1, ("p",))]


def test_the_k_nearest_are_told_and_ties_go_to_the_smaller_key():
    query = inside(Everywhere(), nearest=Nearest(2, 0, 0))
    readings = [at("c", 10, 1, 0), at("b", 10, 0, 1), at("a", 20, 0, -1), at("a", 30, 9, 9)]
    assert told(readings, [query]) == [
        (10, "q", 1, ("b",)), (10, "q", 1, ("c",)), (20, "q", -1, ("c",)), (20, "q", 1, ("a",)),
        (30, "q", -1, ("a",)), (30, "q", 1, ("c",)),
    ]  # fmt: skip


def test_the_nearest_are_those_among_the_inside_that_satisfy_the_condition():
    query = inside(Box(0, 0, 9, 9), nearest=Nearest(1, 0, 0), where=lambda values: values["x"] > 1)
    readings = [at("a", 10, 1, 1), at("b", 10, 5, 5), at("c", 10, -3, 0), at("d", 20, 2, 2)]
    assert told(readings, [query]) == [(10, "q", 1, ("b",)), (20, "q", -1, ("b",)), (20, "q", 1, ("d",))]


def test_a_focal_object_is_not_its_own_neighbour_and_takes_them_along_when_it_is_gone():
    query = inside(Everywhere(), nearest=Nearest(1, focal="f"))
    readings = [at("p", 10, 3, 4), at("f", 20, 0, 0), at("f", 30, 1, 0, gone=True), at("f", 40, 0, 0)]
    assert told(readings, [query]) == [(20, "q", 1, ("p",)), (30, "q", -1, ("p",)), (40, "q", 1, ("p",))]


# -- time ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ts", "end"), [(0, 0), (1, 10), (10, 10), (11, 20), (-1, 0), (-10, -10), (-11, -10)]
)
def test_a_tick_holds_its_end_but_not_its_beginning(ts, end):
    assert tick_end(ts, TICK) == end


def test_ticks_are_exact_far_from_the_epoch():
    assert tick_end(2**62 + 1, 1_000_000) == (2**62 // 1_000_000 + 1) * 1_000_000


def test_only_the_last_reading_of_a_tick_counts():
    readings = [at("p", 1, 5, 5), at("p", 2, 50, 5), at("p", 9, 6, 5)]
    assert told(readings, [inside(Box(0, 0, 10, 10))]) == [(10, "q", 1, ("p",))]


def test_of_two_readings_with_the_same_time_the_later_arrival_wins():
    readings = [at("p", 5, 5, 5, v="first"), at("p", 5, 5, 5, v="second")]
    assert told(readings, [inside(Everywhere(), select=of("v"))]) == [(10, "q", 1, ("second",))]


def test_an_older_reading_that_arrives_later_does_not_win():
    readings = [at("p", 7, 5, 5, v="new"), at("p", 5, 5, 5, v="old")]
    assert told(readings, [inside(Everywhere(), select=of("v"))]) == [(10, "q", 1, ("new",))]


def test_a_reading_is_late_only_once_the_clock_is_past_its_tick():
    readings = [at("a", 20, 0, 0), at("b", 11, 0, 0), at("c", 10, 0, 0), at("d", 21, 0, 0), at("e", 20, 0, 0)]
    result = run(readings, [inside(Everywhere())], TICK)
    assert result.late == [2, 4]
    assert [update.row for update in result.updates] == [("a",), ("b",), ("d",)]
    assert result == run_fast(readings, [inside(Everywhere())], TICK)


def test_lateness_holds_ticks_open():
    readings = [at("a", 10, 0, 0), at("a", 25, 50, 0), at("b", 3, 0, 0), at("b", 26, 0, 0), at("c", 10, 0, 0)]
    result = run(readings, [inside(Box(0, 0, 10, 10))], TICK, lateness_us=15)
    assert result.late == [4]
    assert result.updates == [(10, "q", 1, ("a",)), (10, "q", 1, ("b",)), (30, "q", -1, ("a",))]


@pytest.mark.parametrize(
    ("highest", "lateness", "closed_to"), [(30, 0, 20), (31, 0, 30), (36, 5, 30), (35, 5, 20)]
)
def test_without_an_end_a_tick_needs_a_later_reading_to_close(highest, lateness, closed_to):
    readings = [at("a", 20, 0, 0), at("b", 30, 0, 0), at("c", highest, 0, 0)]
    query = inside(Everywhere())
    result = run(readings, [query], TICK, lateness, ended=False)
    assert result == run_fast(readings, [query], TICK, lateness, ended=False)
    assert result.closed_to == closed_to
    whole = run(readings, [query], TICK, lateness)
    assert whole.closed_to == tick_end(highest, TICK)
    assert result.updates == [update for update in whole.updates if update.tick <= closed_to]


def test_nothing_comes_of_nothing():
    result = run([], [inside(Everywhere(), begin=10)], TICK)
    assert result == run_fast([], [inside(Everywhere(), begin=10)], TICK)
    assert (result.updates, result.late, result.closed_to) == ([], [], None)


def test_an_object_that_is_gone_leaves_and_may_come_back():
    readings = [at("p", 10, 5, 5), at("p", 20, 5, 5, gone=True), at("p", 30, 5, 5)]
    assert told(readings, [inside(Everywhere())]) == [
        (10, "q", 1, ("p",)),
        (20, "q", -1, ("p",)),
        (30, "q", 1, ("p",)),
    ]


def test_a_silent_object_leaves_in_a_tick_nobody_reported_in():
    readings = [at("p", 8, 5, 5), at("other", 100, 50, 50)]
    query = inside(Box(0, 0, 10, 10))
    # Silent for 22 at 30, which is not longer than 22; for 32 at 40, which is.
    assert told(readings, [query], stale_after_us=22) == [(10, "q", 1, ("p",)), (40, "q", -1, ("p",))]
    assert told(readings, [query], stale_after_us=21) == [(10, "q", 1, ("p",)), (30, "q", -1, ("p",))]
    assert told(readings, [query], stale_after_us=1) == []


def test_a_silent_focal_object_empties_its_query():
    readings = [at("f", 10, 0, 0), at("p", 30, 1, 1), at("p", 100, 1, 1)]
    assert told(readings, [inside(MovingBox("f", 2, 2))], stale_after_us=70) == [
        (30, "q", 1, ("p",)),
        (90, "q", -1, ("p",)),
    ]


def test_a_query_begins_with_its_whole_answer_and_ends_in_silence():
    readings = [at("p", 10, 5, 5), at("p", 60, 6, 6), at("p", 70, 7, 7), at("p", 90, 50, 50)]
    query = inside(Box(0, 0, 10, 10), select=of("id", "x"), begin=30, end=70)
    assert told(readings, [query]) == [
        (30, "q", 1, ("p", 5)),
        (60, "q", -1, ("p", 5)),
        (60, "q", 1, ("p", 6)),
    ]
    assert told(readings, [replace(query, begin=100)]) == []


def test_a_name_may_be_used_again_but_not_twice_at_once():
    readings = [at("p", 10, 5, 5), at("p", 60, 6, 6)]
    first = inside(Everywhere(), end=30)
    second = inside(Everywhere(), begin=30)
    assert told(readings, [first, second]) == [(10, "q", 1, ("p",)), (30, "q", 1, ("p",))]
    for overlapping in (inside(Everywhere()), replace(first, end=31), replace(second, begin=20)):
        with pytest.raises(ValueError, match="two queries"):
            run(readings, [overlapping, first, second], TICK)


# -- shapes -------------------------------------------------------------------


@pytest.mark.parametrize("box", [Box(0, 0, 10, 5), Box(10, 5, 0, 0), Box(0, 5, 10, 0)])
def test_a_box_has_its_borders_and_any_two_opposite_corners(box):
    assert all(box.holds(*p) for p in [(0, 0), (10, 5), (0, 5), (10, 0), (5, 5), (5, 2)])
    assert not any(box.holds(*p) for p in [(math.nextafter(10, 11), 2), (5, -5e-324), (11, 6), (math.nan, 2)])


def test_a_disc_compares_squares_in_doubles():
    assert Disc(0, 0, 5).holds(3, 4)
    assert not Disc(0, 0, 5).holds(3, math.nextafter(4, 5))
    # The doubles nearest 0.3 and 0.4 lie a hair's breadth outside; their rounded squares decide.
    assert Fraction(0.3) ** 2 + Fraction(0.4) ** 2 > Fraction(0.5) ** 2
    assert Disc(0, 0, 0.5).holds(0.3, 0.4)
    assert Disc(0, 0, 2**53).holds(2**53 + 1, 0)  # whole numbers become doubles first


def test_a_moving_box_measures_from_the_focal_object():
    box = MovingBox("f", 4, 2)
    assert all(box.holds(x, y, 10, 20) for x, y in [(12, 21), (8, 19), (10, 20)])
    assert not any(box.holds(x, y, 10, 20) for x, y in [(12.5, 20), (10, 21.5), (7.5, 20)])
    # In doubles 0.8 - 0.3 is 0.5 but 0.8 - 0.5 is above 0.3: the distance decides, not a corner.
    assert MovingBox("f", 1.0, 0).holds(0.3, 0, 0.8, 0)
    assert not Box(0.8 - 1.0 / 2, 0, 0.8 + 1.0 / 2, 0).holds(0.3, 0)
    assert not MovingBox("f", 0.6, 0).holds(0.4, 0, 0.1, 0)
    assert Box(0.1 - 0.6 / 2, 0, 0.1 + 0.6 / 2, 0).holds(0.4, 0)


@pytest.mark.parametrize("close", [False, True])
def test_borders_of_the_area_and_of_its_holes_belong_to_it(close):
    def ring(points):
        return points + points[:1] if close else points

    area = Area([(ring(SQUARE), [ring(HOLE)])])
    assert all(
        area.holds(*p) for p in [(0, 0), (10, 5), (5, 10), (1, 1), (4, 4), (5, 4), (6, 5), (3, 5), (5, 6)]
    )
    assert not any(area.holds(*p) for p in [(5, 5), (-1, 5), (11, 5), (5, 11), (5, -1), (math.nan, 5)])


def test_an_area_may_have_several_polygons_or_none():
    island = [(4.5, 4.5), (5.5, 4.5), (5.5, 5.5), (4.5, 5.5)]
    area = Area([(SQUARE, [HOLE]), (island, [])])
    assert area.holds(5, 5) and area.holds(1, 1) and not area.holds(4.25, 5)
    assert not Area([]).holds(0, 0) and not Area([([], [])]).holds(0, 0)


def test_an_area_is_exact_where_doubles_are_not():
    area = Area([([(-12, -12), (24, 24), (24, -12)], [])])
    assert 0.5 + 2**-53 + 12 == 12.5  # what a cross product in doubles would see
    assert area.holds(0.5, 0.5)
    assert area.holds(0.5 + 2**-53, 0.5)
    assert not area.holds(0.5, 0.5 + 2**-53)


@pytest.mark.parametrize("grid", [4, 8, None])
@pytest.mark.parametrize("seed", range(4))
def test_areas_agree_with_shapely(grid, seed):
    rng = random.Random(f"{grid} {seed}")

    def coordinate(low: float = 0, high: float = 1) -> float:
        return float(rng.randint(0, grid)) if grid else rng.uniform(low, high)

    compared = 0
    while compared < 3000:
        ring = [(coordinate(), coordinate()) for _ in range(rng.randint(3, 9))]
        region = shapely.make_valid(shapely.Polygon(ring))
        if rng.random() < 0.7:
            cut = shapely.Polygon([(coordinate(), coordinate()) for _ in range(3)])
            region = region.difference(cut if cut.is_valid else cut.envelope)
        parts = [part for part in shapely.get_parts(region) if part.geom_type == "Polygon"]
        region = shapely.MultiPolygon(parts)
        if not region.is_valid or region.is_empty:
            continue
        area = Area(
            [(list(part.exterior.coords), [list(hole.coords) for hole in part.interiors]) for part in parts]
        )
        corners = [tuple(corner) for corner in shapely.get_coordinates(region)]
        middles = [((ax + bx) / 2, (ay + by) / 2) for (ax, ay), (bx, by) in pairwise(corners)]
        points = corners + middles + [(coordinate(-0.1, 1.1), coordinate(-0.1, 1.1)) for _ in range(40)]
        for x, y in points:
            assert area.holds(x, y) == region.covers(shapely.Point(x, y)), (region.wkt, x, y)
        compared += len(points)


# -- the two versions, and what must hold of any run --------------------------

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


@settings(deadline=None, max_examples=500)
@given(readings_of_three, query_sets(), run_settings)
def test_fast_equals_plain(readings, queries, chosen):
    assert run_fast(readings, queries, TICK, **chosen) == run(readings, queries, TICK, **chosen)


@settings(deadline=None, max_examples=200)
@given(readings_of_three, query_sets(), run_settings)
def test_no_tick_that_matters_is_jumped_over(readings, queries, chosen):
    # A query that begins makes its tick matter; these hold nobody.
    nobody = [inside(Area([]), f"nobody {n}", begin=n * TICK) for n in range(-12, 12)]
    assert run(readings, queries + nobody, TICK, **chosen) == run(readings, queries, TICK, **chosen)


@settings(deadline=None, max_examples=200)
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


@settings(deadline=None, max_examples=200)
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
