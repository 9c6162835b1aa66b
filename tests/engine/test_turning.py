"""Batches pass between the announcement of a version and its activation: what happens then is not lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from sanderling.plan.grow.living import LivingPlan
from tests.engine.direct import DirectRun

STREAM = """CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, off BOOLEAN)
  KEY id TIME ts LOCATION (x, y) GONE off WITH (stale_after = 50);
REGISTER QUERY all AS SELECT id FROM taxi"""
# Two ways to ask for the same: kNN is merged, and its focal objects wait like those of INSIDE.
NEAR = {
    "inside": "REGISTER QUERY near AS SELECT id FROM taxi INSIDE ('M', 'anna', 5)",
    "nearest": "REGISTER QUERY near AS SELECT id FROM taxi INSIDE ('M', 'anna', 5) kNN ('M', 1, 'anna')",
    "nearest here": "REGISTER QUERY near AS SELECT id FROM taxi INSIDE ('M', 'anna', 5) kNN (2, 0, 0)",
}

Feed = Callable[..., list[str]]


@pytest.fixture(params=list(NEAR.values()), ids=list(NEAR))
def near(request: pytest.FixtureRequest) -> str:
    text: str = request.param
    return text


@pytest.fixture(params=["one shard", "seven shards", "restarts", "turns"])
def run(request: pytest.FixtureRequest) -> DirectRun:
    living = LivingPlan()
    living.execute(STREAM)
    shards = {"one shard": 1, "seven shards": 7}.get(request.param, 2)
    return DirectRun(living.start().plan, shards, 1, takes_turns=request.param == "turns", living=living)


@pytest.fixture
def feed(run: DirectRun, tmp_path: Path, request: pytest.FixtureRequest) -> Feed:
    """Readings as lines of csv; what is told of queries but `all` comes back."""
    batches = iter(range(1000))

    def feed(*rows: str) -> list[str]:
        seen = len(run.updates)
        (tmp_path / "rows.csv").write_text("id,ts,x,y,off\n" + "".join(f"{row}\n" for row in rows))
        run.feed_file("taxi", tmp_path / "rows.csv")
        if "restarts" in request.node.name:
            run.restart(is_snapshot=next(batches) % 2 == 1)
        told = [json.loads(line) for line in run.updates[seen:]]
        return [
            f"{u['tick'][17:19]} {'+' if u['sign'] > 0 else '-'} {u['query']} {u['row']['id']}"
            for u in told
            if u["query"] != "all"
        ]

    return feed


def test_a_version_waits_until_it_is_activated(run: DirectRun, feed: Feed, near: str) -> None:
    feed("anna,1,2,2,", "ben,1,3,3,", "ben,2,3,3,")
    run.execute(f"{near}; REGISTER QUERY still AS SELECT id FROM taxi INSIDE (0, 0, 9)", is_activated=False)
    assert feed("ben,3,3,4,", "ben,4,3,3,") == [] == run.ask("near")
    run.activate()
    assert feed("ben,5,3,4,") == ["04 + near ben", "04 + still anna", "04 + still ben"]


def test_what_is_dropped_goes_at_once(run: DirectRun, feed: Feed, near: str) -> None:
    run.execute("REGISTER QUERY still AS SELECT id FROM taxi INSIDE (0, 0, 9)")
    assert feed("anna,1,2,2,", "ben,1,3,3,", "ben,2,3,3,") == ["01 + still anna", "01 + still ben"]
    run.execute(f"DROP QUERY still; {near}", is_activated=False)
    assert feed("anna,3,90,2,", "ben,4,3,3,") == []


def test_a_reading_of_the_same_time_that_came_meanwhile_wins(run: DirectRun, feed: Feed, near: str) -> None:
    feed("ben,1,3,3,", "anna,2,2,2,")
    run.execute(near, is_activated=False)
    assert feed("anna,2,90,90,", "ben,2,91,91,") == []  # tick 2 is open
    run.activate()
    assert feed("ben,3,92,91,") == ["02 + near ben"]


def test_the_same_when_its_tick_has_closed_meanwhile(run: DirectRun, feed: Feed, near: str) -> None:
    feed("ben,1,3,3,", "anna,2,2,2,")
    run.execute(near, is_activated=False)
    assert feed("anna,2,90,90,", "ben,3,91,91,", "ben,4,91,91,") == []
    run.activate()
    assert all(e.streams["taxi"].focals.pending.num_rows == 0 for e in run.engines)  # what is past is past
    assert feed("ben,5,3,3,") == ["04 + near ben"]
    assert feed("ben,6,3,3,") == ["05 - near ben"]


def test_pending_readings_are_said_too(run: DirectRun, feed: Feed, near: str) -> None:
    feed("anna,1,90,90,", "ben,1,3,3,", "anna,2,2,2,")
    run.execute(near, is_activated=False)
    assert feed("ben,3,3,3,") == []
    run.activate()
    assert feed("ben,4,3,3,") == ["03 + near ben"]


def test_gone_meanwhile_is_gone(run: DirectRun, feed: Feed, near: str) -> None:
    feed("anna,1,2,2,", "ben,1,3,3,", "ben,2,3,3,")
    run.execute(near, is_activated=False)
    assert feed("anna,3,2,2,true", "ben,4,3,3,") == []
    run.activate()
    assert feed("ben,5,3,3,", "ben,6,3,3,") == []
    assert feed("anna,7,2,2,", "ben,8,3,3,") == ["07 + near ben"]


def test_silent_meanwhile_is_stale(run: DirectRun, feed: Feed, near: str) -> None:
    feed("anna,1,2,2,", "ben,1,3,3,", "ben,2,3,3,")
    run.execute(near, is_activated=False)
    assert feed("ben,52,3,3,", "ben,53,3,3,") == []
    run.activate()
    assert feed("ben,54,3,3,", "ben,55,3,3,") == []


def test_dropped_while_it_waits_it_never_lived(run: DirectRun, feed: Feed, near: str) -> None:
    feed("anna,1,2,2,", "ben,1,3,3,", "ben,2,3,3,")
    run.execute(near, is_activated=False)
    assert feed("anna,3,2,2,", "ben,4,3,3,") == []
    run.execute("DROP QUERY near", is_activated=False)
    assert feed("anna,5,2,2,", "ben,6,3,3,") == []
    run.activate()
    assert feed("anna,7,2,2,", "ben,8,3,3,") == []
    assert all(len(e.streams["taxi"].focals.keys) == 0 for e in run.engines)


def test_registered_again_while_it_waits_it_waits_for_the_last_version(
    run: DirectRun, feed: Feed, near: str
) -> None:
    feed("anna,1,2,2,", "ben,1,3,3,", "ben,2,3,3,")
    run.execute(near, is_activated=False)
    feed("anna,3,2,2,", "ben,4,3,3,")
    run.execute("DROP QUERY near", is_activated=False)
    feed("anna,5,2,2,true", "ben,6,3,3,")
    # She is gone, so nobody has anything to say of her; what was said before is of no account any more.
    run.execute(near, is_activated=False)
    assert feed("ben,7,3,3,", "ben,8,3,3,") == []
    run.activate()
    assert feed("ben,9,3,3,", "ben,10,3,3,") == []
    assert feed("anna,11,2,2,", "ben,12,3,3,") == ["11 + near ben"]


def test_a_later_version_does_not_overtake_one_that_waits(run: DirectRun, feed: Feed, near: str) -> None:
    feed("anna,1,2,2,", "ben,1,3,3,", "ben,2,3,3,")
    run.execute(near, is_activated=False)
    run.execute("REGISTER QUERY still AS SELECT id FROM taxi INSIDE (2, 2, 0.5)", is_activated=False)
    run.execute("REGISTER QUERY around AS SELECT id FROM taxi INSIDE ('M', 'ben', 5)", is_activated=False)
    assert feed("ben,3,3,3,") == []
    first, second = run.waiting
    run.waiting = [first]
    run.activate()
    assert feed("ben,4,3,3,") == ["03 + near ben", "03 + still anna"]
    run.waiting = [second]
    run.activate()
    assert feed("ben,5,3,3,") == ["04 + around anna"]


def test_the_nearest_are_those_to_where_the_focal_object_is_by_then(run: DirectRun, feed: Feed) -> None:
    feed("anna,1,2,2,", "ben,1,3,3,", "cleo,1,80,80,", "ben,2,3,3,")
    run.execute("REGISTER QUERY near AS SELECT id FROM taxi kNN ('M', 1, 'anna')", is_activated=False)
    assert feed("anna,3,90,90,", "ben,4,3,3,") == [] == run.ask("near")
    run.activate()
    assert run.ask("near") == []
    assert feed("ben,5,3,3,") == ["04 + near cleo"]
    assert feed("anna,6,2,2,", "ben,7,3,3,") == ["06 - near cleo", "06 + near ben"]
    assert len(run.ask("near")) == 1


@pytest.mark.parametrize("others", [0, 1])
def test_a_source_may_know_of_a_version_before_the_shards_do(
    run: DirectRun, feed: Feed, near: str, others: int
) -> None:
    if others:
        run.execute("REGISTER QUERY other AS SELECT id FROM taxi INSIDE ('M', 'carl', 1)")
    run.followed["taxi"] = pa.concat_arrays([run.followed["taxi"], pa.array(["anna"])])
    feed("anna,1,1,1,", "ben,1,2,2,", "anna,2,50,50,")
    feed("anna,3,2,2,", "ben,3,3,3,", "ben,4,3,3,")
    assert all(len(e.streams["taxi"].focals.row_of) == others for e in run.engines)
    run.execute(near)
    assert feed("ben,6,9,9,", "ben,7,9,9,") == ["04 + near ben", "06 - near ben"]
