"""The oracle of whole queries on cases worked out by hand; ticks of one second unless said."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle import Box, MovingBox, MovingDisc, Nearest, Reading
from tests.oracle.past import Past, Stream, Table
from tests.oracle.select import (
    Derived,
    Expression,
    Join,
    Near,
    Order,
    Query,
    Readings,
    Registered,
    Select,
    SetOperation,
    Sum,
    TableRows,
    Union,
    column,
)
from tests.oracle.sql import answer, run
from tests.oracle.sums import aggregate
from tests.oracle.times import closed_to, ticks_that_matter
from tests.oracle.windows import Lasting, Now, Rows, RowsPerKey, Until, UntilNext, Window

SECOND = 1_000_000


def reading(key: str, s: float, x: float = 0.0, speed: float | None = None, gone: bool = False) -> Reading:
    values = {"id": key, "ts": s, "x": x, "y": 0.0, "speed": speed}
    return Reading(key, int(s * SECOND), x, 0.0, values, gone)


def past(*readings: Reading, stale_s: int | None = None, lateness_s: int = 0) -> Past:
    stale = None if stale_s is None else stale_s * SECOND
    table = Table(
        ("name", "size"),
        [
            (None, [{"name": "a", "size": 1}, {"name": "b", "size": 2}]),
            (3 * SECOND, [{"name": "b", "size": 5}]),
        ],
    )
    stream = Stream(readings, SECOND, lateness_s * SECOND, stale)
    return Past({"cars": stream, "vans": Stream((), SECOND)}, {"sites": table})


def of(*names: str, alias: str = "c") -> tuple[tuple[str, Expression], ...]:
    return tuple((name, column(f"{alias}.{name}")) for name in names)


def held(window: Window, told: Past, s: int, **kwargs: object) -> list[tuple[object, ...]]:
    """Key and time of what a window holds, in order."""
    query = Select(of("id", "ts"), Readings("cars", "c", window, **kwargs))  # type: ignore[arg-type]
    return sorted(answer(query, told, s * SECOND).elements(), key=lambda row: (row[1], row[0]))


def at(query: Query, told: Past, s: int) -> list[tuple[object, ...]]:
    return sorted(answer(query, told, s * SECOND).elements(), key=repr)


# -- windows ------------------------------------------------------------------


def test_now_is_the_last_reading_of_each_object() -> None:
    told = past(reading("a", 1), reading("b", 1), reading("a", 2), reading("b", 2, gone=True))
    assert held(Now(), told, 1) == [("a", 1), ("b", 1)]
    assert held(Now(), told, 2) == [("a", 2)]


def test_a_lasting_window_is_open_at_its_beginning() -> None:
    told = past(reading("a", 1), reading("a", 2), reading("b", 2.5), reading("a", 3, gone=True))
    assert held(Lasting(2 * SECOND), told, 2) == [("a", 1), ("a", 2)]
    assert held(Lasting(2 * SECOND), told, 3) == [("a", 2), ("b", 2.5)]  # gone does not end it
    assert held(Lasting(2 * SECOND), told, 4) == [("b", 2.5)]
    assert held(Lasting(2 * SECOND), told, 5) == []


def test_all_readings_of_a_tick_are_in_a_window_and_the_later_arrival_replaces() -> None:
    told = past(reading("a", 0.5), reading("a", 1, speed=1.0), reading("a", 1, speed=2.0))
    query = Select(of("ts", "speed"), Readings("cars", "c", Lasting(SECOND)))
    assert at(query, told, 1) == [(0.5, None), (1, 2.0)]


def test_what_replaces_a_reading_may_be_that_it_is_gone() -> None:
    told = past(reading("a", 1), reading("a", 1, gone=True))
    assert held(Lasting(SECOND), told, 1) == []


def test_rows_are_the_last_of_all_by_time_and_key() -> None:
    told = past(reading("b", 1), reading("c", 2), reading("a", 2), reading("d", 2, gone=True))
    assert held(Rows(2), told, 2) == [("a", 2), ("c", 2)]
    assert held(Rows(1), told, 2) == [("c", 2)]
    assert held(Rows(9), told, 2) == [("b", 1), ("a", 2), ("c", 2)]


def test_a_region_selects_from_the_rows_and_not_the_other_way_round() -> None:
    told = past(reading("a", 1, x=1), reading("b", 2, x=9))
    assert held(Rows(1), told, 2, inside=Box(0, 0, 5, 5)) == []


def test_rows_per_key_are_counted_for_each_object() -> None:
    told = past(
        reading("a", 1), reading("a", 2), reading("b", 2), reading("a", 3), reading("a", 4, gone=True)
    )
    assert held(RowsPerKey(2), told, 4) == [("a", 2), ("b", 2), ("a", 3)]


def test_until_next_ends_with_the_next_reading_wherever_it_is() -> None:
    told = past(reading("a", 1, x=1), reading("b", 1, x=1), reading("a", 3, x=9))
    assert held(UntilNext(), told, 2, inside=Box(0, 0, 5, 5)) == [("a", 1), ("b", 1)]
    assert held(UntilNext(), told, 3, inside=Box(0, 0, 5, 5)) == [("b", 1)]


def test_until_ends_with_any_later_reading_that_makes_it_true() -> None:
    def is_faster(held: dict, later: dict) -> bool | None:  # type: ignore[type-arg]
        return None if None in (held["speed"], later["speed"]) else later["speed"] > held["speed"]

    told = past(
        reading("a", 1, speed=2.0), reading("b", 1, speed=9.0), reading("a", 2, speed=1.0),
        reading("a", 3), reading("a", 4, speed=3.0),
    )  # fmt: skip
    assert held(Until(is_faster), told, 3) == [("a", 1), ("b", 1), ("a", 2), ("a", 3)]
    assert held(Until(is_faster), told, 4) == [("b", 1), ("a", 3), ("a", 4)]


def test_being_gone_or_stale_ends_until_for_good() -> None:
    never = Until(lambda held, later: False)
    told = past(
        reading("a", 1), reading("b", 1), reading("a", 2, gone=True), reading("a", 3), reading("b", 4)
    )
    assert held(never, told, 4) == [("b", 1), ("a", 3), ("b", 4)]
    stale = past(*told.streams["cars"].readings, stale_s=1)
    assert held(never, stale, 2) == [("b", 1)]
    assert held(never, stale, 3) == [("a", 3)]  # b was silent for two seconds
    assert held(never, stale, 4) == [("a", 3), ("b", 4)]


def test_a_moving_region_judges_a_reading_as_it_was_at_its_tick_but_now_as_it_is() -> None:
    told = past(reading("f", 1, x=0), reading("a", 1, x=1), reading("f", 2, x=9), reading("b", 2, x=1))
    near_f = {"inside": MovingDisc("f", 2)}
    assert held(Now(), told, 1, **near_f) == [("a", 1)]
    assert held(Now(), told, 2, **near_f) == []
    assert held(Lasting(5 * SECOND), told, 2, **near_f) == [("a", 1)]
    assert held(UntilNext(), told, 2, **near_f) == [("a", 1)]


def test_a_reading_in_whose_tick_the_focal_object_was_absent_is_not_in() -> None:
    told = past(
        reading("a", 1), reading("f", 2), reading("a", 2), reading("a", 3), reading("f", 3, gone=True),
        reading("a", 4),
    )  # fmt: skip
    near_f = {"inside": MovingBox("f", 2, 2)}
    assert held(Lasting(9 * SECOND), told, 4, **near_f) == [("a", 2)]
    stale = past(reading("f", 1), reading("a", 2), reading("a", 3), stale_s=1)
    assert held(Lasting(9 * SECOND), stale, 3, **near_f) == [("a", 2)]


def test_the_place_at_the_close_of_the_tick_counts_also_for_what_was_said_before_it_came() -> None:
    told = past(reading("a", 1.2), reading("f", 1.8, x=1))
    assert held(Lasting(SECOND), told, 2, inside=MovingDisc("f", 1)) == [("a", 1.2)]


# -- one row --------------------------------------------------------------------


def test_previous_is_the_reading_before_but_not_across_an_absence() -> None:
    told = past(
        reading("a", 1, speed=1.0), reading("a", 2, speed=2.0), reading("a", 2, speed=3.0), reading("a", 3),
        reading("a", 4, gone=True), reading("a", 5, speed=5.0), reading("a", 9), stale_s=3,
    )  # fmt: skip
    before = Expression("PREVIOUS(c.speed)", lambda row: row["previous c.speed"])
    query = Select((*of("ts"), ("was", before)), Readings("cars", "c", Lasting(9 * SECOND)))
    # Silent from 5 to 9, but at no tick that closed it was stale: at 9 it has spoken again.
    assert at(query, told, 9) == [(1, None), (2, 1.0), (3, 3.0), (5, None), (9, 5.0)]
    later = past(*told.streams["cars"].readings, reading("a", 14, speed=1.0), stale_s=3)
    assert at(query, later, 14) == [(14, None), (9, 5.0)]


def test_a_condition_that_is_null_is_not_satisfied() -> None:
    told = past(reading("a", 1, speed=3.0), reading("b", 1))
    fast = Expression("c.speed > 2", lambda row: None if row["c.speed"] is None else row["c.speed"] > 2)
    assert at(Select(of("id"), Readings("cars", "c"), where=fast), told, 1) == [("a",)]


def test_the_nearest_are_sought_among_those_that_satisfy_the_condition() -> None:
    told = past(reading("a", 1, x=1), reading("b", 1, x=-1), reading("c", 1, x=2), reading("d", 1, x=5))
    not_a = Expression("c.id <> 'a'", lambda row: row["c.id"] != "a")
    query = Select(of("id"), Readings("cars", "c"), where=not_a, nearest=Nearest(2, 0.0, 0.0))
    assert at(query, told, 1) == [("b",), ("c",)]
    assert at(Select(of("id"), Readings("cars", "c"), nearest=Nearest(1, focal="a")), told, 1) == [("c",)]
    assert at(Select(of("id"), Readings("cars", "c"), nearest=Nearest(1, focal="z")), told, 1) == []


# -- aggregates -----------------------------------------------------------------


def test_sums_are_exact_and_rounded_once() -> None:
    assert aggregate("SUM", [1e16, 1.0, -1e16]) == 1.0
    assert aggregate("SUM", [0.1] * 10) == 1.0
    assert aggregate("AVG", [0.1] * 10) == 0.1
    assert aggregate("SUM", [2**62, 2**62 - 1]) == 2**63 - 1
    assert aggregate("SUM", [2**62, 2**62]) is None
    assert aggregate("SUM", [1e308, 1e308]) is None
    assert aggregate("AVG", [1, 2]) == 1.5
    assert aggregate("STDDEV", [1.0, 2.0, 3.0, 4.0]) == pytest.approx((5 / 3) ** 0.5)
    assert aggregate("STDDEV", [1e8, 1e8 + 1]) == pytest.approx(0.5**0.5)
    assert aggregate("STDDEV", [3.0]) is None


def test_null_counts_for_no_aggregate() -> None:
    assert aggregate("COUNT", [None, 1, 1]) == 2
    assert aggregate("COUNT", [None, 1, 1.0, 2], is_distinct=True) == 2
    for kind in ("SUM", "AVG", "MIN", "MAX", "STDDEV"):
        assert aggregate(kind, [None]) is None
    assert (aggregate("MIN", ["b", None, "a"]), aggregate("MAX", ["b", None, "a"])) == ("a", "b")


COUNT = Sum("COUNT")


def counted(**kwargs: object) -> Select:
    return Select((("n", COUNT.as_expression()),), Readings("cars", "c"), sums=(COUNT,), **kwargs)  # type: ignore[arg-type]


def test_without_groups_there_is_a_row_also_of_nothing() -> None:
    told = past(reading("a", 1), reading("a", 2, gone=True))
    assert at(counted(groups=()), told, 1) == [(1,)]
    assert at(counted(groups=()), told, 2) == [(0,)]


def test_groups_that_are_empty_leave_and_null_is_a_group() -> None:
    told = past(reading("a", 1, speed=1.0), reading("b", 1), reading("c", 1), reading("a", 2, gone=True))
    speed, n = column("c.speed"), COUNT.as_expression()
    query = Select(
        (("speed", speed), ("n", n)), Readings("cars", "c"), groups=(speed,), sums=(COUNT,)
    )  # fmt: skip
    assert at(query, told, 1) == [(1.0, 1), (None, 2)]
    assert at(query, told, 2) == [(None, 2)]


def test_having_selects_among_groups() -> None:
    told = past(reading("a", 1, speed=1.0), reading("b", 1), reading("c", 1))
    more = Expression("COUNT(*) > 1", lambda row: row["COUNT(*)"] > 1)
    assert at(counted(groups=(column("c.speed"),), having=more), told, 1) == [(2,)]
    assert at(counted(groups=(), having=Expression("false", lambda row: False)), told, 1) == []


def test_distinct_sees_null_equal_to_null() -> None:
    told = past(reading("a", 1), reading("b", 1), reading("c", 1, speed=-0.0), reading("d", 1, speed=0.0))
    query = Select(of("speed"), Readings("cars", "c"), is_distinct=True)
    assert answer(query, told, SECOND) == Counter([(None,), (0.0,)])


def test_the_first_in_an_order_with_ties_by_all_columns_and_null_last() -> None:
    told = past(
        reading("b", 1, speed=2.0), reading("a", 1, speed=2.0), reading("c", 1, speed=1.0), reading("d", 1)
    )

    def first(n: int, *orders: Order) -> list[tuple[object, ...]]:
        return at(Select(of("speed", "id"), Readings("cars", "c"), orders=orders, first=n), told, 1)

    assert first(1, Order("speed", is_descending=True)) == [(2.0, "a")]
    assert first(2, Order("speed")) == [(1.0, "c"), (2.0, "a")]
    assert first(4, Order("speed", is_descending=True))[3] == (None, "d")
    assert first(1, Order("speed", is_descending=True, is_null_first=True)) == [(None, "d")]
    assert first(1, Order("speed", is_descending=True), Order("id", is_descending=True)) == [(2.0, "b")]


def test_equal_rows_count_as_often_as_they_are_there() -> None:
    told = past(reading("a", 1, speed=1.0), reading("b", 1, speed=1.0), reading("c", 1, speed=2.0))
    query = Select(of("speed"), Readings("cars", "c"), orders=(Order("speed"),), first=2)
    assert at(query, told, 1) == [(1.0,), (1.0,)]


# -- several things --------------------------------------------------------------


def joined(is_left: bool) -> Select:
    on = ((column("c.id"), column("s.name")),)
    source = Join(Readings("cars", "c"), TableRows("sites", "s"), on, is_left=is_left)
    return Select((*of("id"), *of("size", alias="s")), source)


def test_a_table_that_changes_changes_what_is_joined_with_it() -> None:
    told = past(reading("a", 1), reading("c", 1), reading("b", 2), reading("x", 4))
    assert at(joined(False), told, 2) == [("a", 1), ("b", 2)]
    assert at(joined(False), told, 3) == [("b", 5)]
    assert at(joined(True), told, 1) == [("a", 1), ("c", None)]
    assert at(joined(True), told, 3) == [("a", None), ("b", 5), ("c", None)]
    told_of = run(told, [Registered("q", joined(False))]).updates
    assert [(u.tick // SECOND, u.sign, u.row) for u in told_of] == [
        (1, 1, ("a", 1)), (2, 1, ("b", 2)), (3, -1, ("a", 1)), (3, -1, ("b", 2)), (3, 1, ("b", 5)),
    ]  # fmt: skip


def test_null_joins_with_nothing() -> None:
    told = past(reading("a", 1), reading("b", 1))
    on = ((column("a.speed"), column("b.speed")),)
    pairs = Join(Readings("cars", "a"), Readings("cars", "b"), on)
    assert at(Select(of("id", alias="a"), pairs), told, 1) == []


def test_two_windows_joined_by_distance() -> None:
    told = past(reading("a", 1, x=0), reading("b", 1, x=3), reading("c", 1, x=4))

    def pairs(near: Near) -> list[tuple[object, ...]]:
        source = Join(Readings("cars", "a"), Readings("cars", "b"), near=near)
        earlier = Expression("a.id < b.id", lambda row: row["a.id"] < row["b.id"])
        return at(Select((("a", column("a.id")), ("b", column("b.id"))), source, where=earlier), told, 1)

    assert pairs(Near("a", "b", 3.0)) == [("a", "b"), ("b", "c")]
    assert pairs(Near("a", "b", 3.0, is_open=True)) == [("b", "c")]


def test_union_all_keeps_what_is_in_both_twice_and_a_query_can_be_read_from() -> None:
    told = past(reading("a", 1))
    plain = Select(of("id"), Readings("cars", "c"))
    both = Union((plain, plain))
    assert at(both, told, 1) == [("a",), ("a",)]
    assert at(Select(of("id", alias="d"), Derived(both, "d", "both_of_them")), told, 1) == [("a",), ("a",)]


def test_a_union_alone_has_each_row_once_and_its_limit_is_about_the_whole() -> None:
    told = past(reading("a", 1), reading("b", 1))
    plain = Select(of("id"), Readings("cars", "c"))
    assert at(Union((plain, plain), is_distinct=True), told, 1) == [("a",), ("b",)]
    assert at(Union((plain, plain), orders=(Order("id", is_descending=True),), first=3), told, 1) == [
        ("a",), ("b",), ("b",)
    ]  # fmt: skip


def test_intersect_and_except_go_by_how_often_a_row_is_on_either_side() -> None:
    told = past(reading("a", 1), reading("b", 1), reading("c", 1, x=9))
    plain = Select(of("id"), Readings("cars", "c"))
    near = Select(of("id"), Readings("cars", "c", inside=Box(0, 0, 5, 5)))
    twice = Union((plain, near))
    assert at(SetOperation("INTERSECT", twice, near), told, 1) == [("a",), ("b",)]
    assert at(SetOperation("INTERSECT", twice, twice, is_all=True), told, 1) == [
        ("a",), ("a",), ("b",), ("b",), ("c",)
    ]  # fmt: skip
    assert at(SetOperation("EXCEPT", twice, near), told, 1) == [("c",)]
    assert at(SetOperation("EXCEPT", twice, near, is_all=True), told, 1) == [("a",), ("b",), ("c",)]
    assert at(SetOperation("EXCEPT", near, twice, is_all=True), told, 1) == []


def test_null_is_null_in_intersect_and_except() -> None:
    told = past(reading("a", 1))
    unknown = Select(of("speed"), Readings("cars", "c"))
    assert at(SetOperation("INTERSECT", unknown, unknown), told, 1) == [(None,)]
    assert at(SetOperation("EXCEPT", unknown, unknown), told, 1) == []


# -- time -----------------------------------------------------------------------


def updates(told: Past, query: Registered, end: int | None = None) -> list[tuple[int, int, object]]:
    return [(u.tick // SECOND, u.sign, u.row[0]) for u in run(told, [query], end).updates]


def test_a_tick_nobody_reported_in_lets_readings_expire() -> None:
    told = past(reading("a", 1), reading("b", 9))
    query = Registered("q", Select(of("id"), Readings("cars", "c", Lasting(2 * SECOND))))
    assert updates(told, query) == [(1, 1, "a"), (3, -1, "a"), (9, 1, "b")]
    assert updates(told, query, end=11 * SECOND)[-1] == (11, -1, "b")


def test_a_query_that_begins_later_begins_with_its_whole_answer() -> None:
    told = past(reading("a", 1), reading("b", 5))
    query = Registered(
        "q", Select(of("id"), Readings("cars", "c", Lasting(4 * SECOND))), 2 * SECOND, 5 * SECOND
    )
    assert updates(told, query) == [(2, 1, "a")]  # nothing is said when it ends


def test_a_total_is_there_from_the_first_tick_on() -> None:
    told = past(reading("a", 3), reading("a", 5, gone=True))
    assert updates(told, Registered("q", counted(groups=()))) == [(3, 1, 1), (5, -1, 1), (5, 1, 0)]
    assert updates(told, Registered("q", counted(groups=()), 1 * SECOND)) == [
        (3, 1, 1),
        (5, -1, 1),
        (5, 1, 0),
    ]
    assert updates(told, Registered("q", counted(groups=()), 5 * SECOND)) == [(5, 1, 0)]


def test_a_query_over_two_streams_goes_on_to_the_end_of_the_longer() -> None:
    told = past(reading("a", 1), reading("b", 4))
    told.streams["vans"] = Stream([reading("v", 7)], SECOND)
    both = Join(Readings("cars", "c", Lasting(2 * SECOND)), Readings("vans", "v"), near=Near("c", "v", 9.0))
    query = Select(of("id"), both)
    assert closed_to(told, query) == 7 * SECOND
    assert ticks_that_matter(told, Registered("q", query)) == [s * SECOND for s in (1, 3, 4, 6, 7)]


def test_late_readings_are_not_seen() -> None:
    told = past(reading("a", 5), reading("b", 2), lateness_s=0)
    assert held(Lasting(9 * SECOND), told, 5) == [("a", 5)]
    assert held(Lasting(9 * SECOND), past(reading("a", 5), reading("b", 2), lateness_s=3), 5) == [
        ("b", 2), ("a", 5),
    ]  # fmt: skip
