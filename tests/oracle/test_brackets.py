"""Bracketed windows of the oracle, on cases worked out by hand."""

from __future__ import annotations

import pytest

from tests.oracle import Disc, MovingDisc, Reading
from tests.oracle.brackets import Refresh, nearby, neighbours, squared, tessellated, within
from tests.oracle.past import Stream
from tests.oracle.windows import Extent, Lasting, Now

TICK = 10


def at(key: str, ts: int, x: float, y: float = 0.0, gone: bool = False) -> Reading:
    return Reading(key, ts, x, y, {"id": key, "ts": ts, "x": x, "y": y}, gone)


def keys(readings: list[Reading]) -> list[object]:
    return [(r.key, r.ts) for r in readings]


STREAM = Stream([at("a", 5, 1.0), at("bus", 8, 0.0), at("b", 15, 9.0), at("bus", 18, 9.0)], TICK)


def test_an_extent_is_that_of_the_tick_for_past_readings_too() -> None:
    around = Extent(MovingDisc("bus", 2.0), Lasting(100))
    assert keys(around.holds(STREAM, 10)) == [("a", 5)]
    # The bus has moved on: what was near it then is not near it now.
    assert keys(around.holds(STREAM, 20)) == [("b", 15)]


def test_an_extent_that_stands_still_holds_what_its_scope_does() -> None:
    still = Disc(0.0, 0.0, 2.0)
    assert keys(sorted(Extent(still, Now()).holds(STREAM, 10), key=lambda r: r.ts)) == [("a", 5), ("bus", 8)]
    assert keys(Extent(still, Lasting(12)).holds(STREAM, 20)) == []
    assert keys(Extent(still, Lasting(13)).holds(STREAM, 20)) == [("bus", 8)]


@pytest.mark.parametrize(
    ("refresh", "tick", "wanted"),
    [
        (Refresh(30), 0, 0), (Refresh(30), 20, 0), (Refresh(30), 30, 30), (Refresh(30), 50, 30),
        # No multiple of the tick: 15 is in the tick of 20, 30 in its own, 45 in that of 50.
        (Refresh(15), 10, 0), (Refresh(15), 20, 20), (Refresh(15), 30, 30), (Refresh(15), 40, 30),
        (Refresh(15), 50, 50),
        (Refresh(4), 10, 10), (Refresh(4), 20, 20), (Refresh(30, 10), 30, 10), (Refresh(30, 10), 40, 40),
        (Refresh(30), -10, -30), (Refresh(30, 1000), 10, 10), (Refresh(30, 1000), 0, -20),
    ],
)  # fmt: skip
def test_a_window_is_looked_at_in_the_ticks_that_contain_multiples(
    refresh: Refresh, tick: int, wanted: int
) -> None:
    assert refresh.last(tick, TICK) == wanted
    assert wanted in refresh.between(wanted, tick, TICK)


def test_of_each_spot_the_nearest_and_each_object_once() -> None:
    now = [at("c", 1, 1.0), at("b", 1, -1.0), at("a", 1, 5.0)]
    assert keys(nearby(now, [(0.0, 0.0)], 1)) == [("b", 1)]
    assert keys(nearby(now, [(0.0, 0.0), (2.0, 0.0)], 2)) == [("b", 1), ("c", 1), ("a", 1)]
    assert nearby(now, [], 2) == []


def test_within_a_distance_of_any_spot() -> None:
    scope = [at("a", 1, 1.0), at("a", 2, 2.0), at("b", 2, 9.0)]
    assert keys(within(scope, [(0.0, 0.0), (2.0, 0.0)], 1.0)) == [("a", 1), ("a", 2)]


def test_of_each_tile_the_last_by_time_and_key() -> None:
    told = [at("b", 1, 1.0), at("a", 1, 2.0), at("a", 2, 1.0), at("c", 2, 9.0), at("d", 3, 99.0)]
    found = tessellated(told, lambda r: "west" if r.x < 5 else "east" if r.x < 50 else None, 2)
    assert [(tile, r.key, r.ts) for tile, r in found] == [
        ("west", "b", 1),
        ("west", "a", 2),
        ("east", "c", 2),
    ]


def test_neighbours_are_the_first_by_distance_and_then_by_their_order() -> None:
    others = [at("c", 1, 1.0), at("b", 1, -1.0), at("a", 1, 0.5)]
    found = neighbours((0.0, 0.0), others, 2, lambda a, b: squared(a, (b.x, b.y)), lambda r: (r.key, r.ts))
    assert keys(found) == [("a", 1), ("b", 1)]
