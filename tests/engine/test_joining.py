"""Queries over two streams that are registered while one stream is ahead of the other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sanderling.plan.grow.living import LivingPlan
from tests.engine.direct import DirectRun

STREAM = "CREATE STREAM {} (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
ASKED = {
    "union": "SELECT id FROM cars UNION ALL SELECT id FROM vans",
    "join": "SELECT a.id, b.id AS other FROM cars a JOIN vans b ON a.x = b.x",
    "near": "SELECT b.id, COUNT(*) AS n FROM cars a JOIN vans b ON DISTANCE(a, b) <= 3 GROUP BY b.id",
    "window": "SELECT COUNT(*) AS n FROM cars a JOIN vans b ON a.y = b.y WINDOW 9 SECONDS",
}

Feed = Callable[..., list[str]]


@pytest.fixture(params=["one shard", "seven shards", "restarts", "turns"])
def run(request: pytest.FixtureRequest) -> DirectRun:
    living = LivingPlan()
    living.execute(f"{STREAM.format('cars')}; {STREAM.format('vans')}")
    shards = {"one shard": 1, "seven shards": 7}.get(request.param, 2)
    return DirectRun(living.start().plan, shards, 1, takes_turns=request.param == "turns", living=living)


@pytest.fixture
def feed(run: DirectRun, tmp_path: Path, request: pytest.FixtureRequest) -> Feed:
    batches = iter(range(1000))

    def feed(stream: str, *rows: str, is_last: bool = False) -> list[str]:
        seen = len(run.updates)
        (tmp_path / "rows.csv").write_text("id,ts,x,y\n" + "".join(f"{row}\n" for row in rows))
        run.feed_file(stream, tmp_path / "rows.csv", is_last)
        if "restarts" in request.node.name:
            run.restart(is_snapshot=next(batches) % 2 == 1)
        told = [json.loads(line) for line in run.updates[seen:]]
        return [
            f"{u['tick'][17:19]} {'+' if u['sign'] > 0 else '-'} {' '.join(map(str, u['row'].values()))}"
            for u in told
        ]

    return feed


def test_it_begins_when_both_have_come_to_the_same_tick(run: DirectRun, feed: Feed) -> None:
    feed("cars", "a,1,1,1", "b,9,2,2", "b,10,2,2")
    feed("vans", "v,1,1,1", "w,2,5,5", "w,3,5,5")
    run.execute(f"REGISTER QUERY q AS {ASKED['union']}")
    assert feed("vans", "v,4,1,1", "u,6,7,7", "w,8,5,5") == [] == run.ask("q")
    assert feed("cars", "c,11,3,3", "a,13,1,1") == []
    assert feed("vans", "w,10,5,5") == [] == run.ask("q")
    assert feed("vans", "u,12,7,7") == ["10 + a", "10 + b", "10 + u", "10 + v", "10 + w", "11 + c"]


def test_it_begins_at_once_where_the_stream_ahead_has_no_past(run: DirectRun, feed: Feed) -> None:
    run.execute(f"REGISTER QUERY q AS {ASKED['union']}")
    feed("cars", "a,5,1,1", "a,9,1,1")
    assert feed("vans", "v,1,1,1", "v,2,1,1", "v,4,1,1", "v,7,2,2") == ["01 + v", "05 + a"]


def test_it_may_be_dropped_while_it_waits(run: DirectRun, feed: Feed) -> None:
    feed("cars", "a,1,1,1", "a,10,1,1")
    feed("vans", "v,1,1,1", "v,3,1,1")
    run.execute(f"REGISTER QUERY q AS {ASKED['union']}")
    feed("vans", "v,4,1,1", "v,6,1,1")
    run.execute(f"DROP QUERY q; REGISTER QUERY q AS {ASKED['join']}")
    feed("cars", "a,12,1,1")
    assert feed("vans", "v,14,1,1") == ["10 + a v"]


@pytest.mark.parametrize("asked", ASKED.values(), ids=list(ASKED))
def test_whoever_asks_gets_what_the_updates_add_up_to(run: DirectRun, feed: Feed, asked: str) -> None:
    feed("cars", "a,1,1,1", "b,2,2,2")
    feed("vans", "v,1,1,1", "w,2,2,2")
    run.execute(f"REGISTER QUERY q AS {asked}")
    for rows in (
        ("cars", "a,3,2,2", "b,5,3,3", "c,7,1,1"), ("vans", "v,3,2,2", "v,4,2,1"),
        ("cars", "b,8,5,5", "c,11,2,2"), ("vans", "w,6,1,1", "u,9,5,5"), ("vans", "v,20,1,1"),
    ):  # fmt: skip
        feed(*rows)
        held: Counter[str] = Counter()
        for update in map(json.loads, run.updates):
            held[json.dumps(update["row"])] += update["sign"]
        assert all(n >= 0 for n in held.values())
        assert Counter(json.dumps(json.loads(line)["row"]) for line in run.ask("q")) == +held
    assert held


def test_readings_leave_and_fall_silent_in_a_stream_that_has_ended_while_another_goes_on(
    run: DirectRun, feed: Feed
) -> None:
    """For the query over both; one over the stream alone has ended with it."""
    cars = "SELECT id FROM cars WINDOW 2 SECONDS"
    run.execute(f"REGISTER QUERY q AS {cars} UNION ALL SELECT id FROM vans WINDOW 3 SECONDS")
    run.execute(f"REGISTER QUERY alone AS {cars}; REGISTER QUERY n AS SELECT COUNT(*) AS n FROM alone")
    feed("cars", "a,1,1,1", is_last=True)
    assert {json.loads(line)["query"] for line in run.updates} == {"alone", "n"}
    assert feed("vans", "v,2,1,1", "v,5,1,1") == ["01 + a", "02 + v", "03 - a"]
    assert feed("vans", "v,6,1,1", is_last=True) == ["06 + v"]


@pytest.mark.parametrize("clause", ["kNN (1, 0, 0)", "WINDOW 1 ROWS"])
def test_what_is_merged_of_one_stream_is_in_an_answer_once(run: DirectRun, feed: Feed, clause: str) -> None:
    run.execute(f"REGISTER QUERY q AS SELECT id FROM cars {clause} UNION ALL SELECT id FROM vans {clause}")
    feed("cars", "a,1,1,1", "a,2,1,1")
    feed("vans", "v,1,1,1", "v,2,1,1")
    assert [json.loads(line)["row"]["id"] for line in run.ask("q")] == ["a", "v"]


def test_nobody_waits_for_a_stream_that_ended_before_the_query_came(run: DirectRun, feed: Feed) -> None:
    run.execute(f"REGISTER QUERY first AS {ASKED['join']}")
    feed("vans", "v,1,1,1", "v,2,1,1")
    assert feed("cars", "a,1,1,1", is_last=True) == ["01 + a v"]
    run.execute(f"DROP QUERY first; REGISTER QUERY q AS {ASKED['union']}")
    assert feed("vans", "w,4,5,5", "w,6,5,5") == ["02 + a", "02 + v", "04 + w"]
