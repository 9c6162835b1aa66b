"""Merge partitions under a plan that lives: what is dropped is forgotten, what is saved has its version."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sanderling.batches import Batch
from sanderling.merge.lists import ShardLists
from sanderling.merge.nearest import MergeNearest
from sanderling.merge.partition import Merge
from sanderling.plan.grow.living import LivingPlan
from sanderling.state import saved
from tests.engine.direct import DirectRun

STREAM = "CREATE STREAM taxi (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"
QUERIES = "".join(f"REGISTER QUERY q{n} AS SELECT id FROM taxi kNN (2, {n}, 0);" for n in range(6))


@pytest.fixture
def run(tmp_path: Path) -> DirectRun:
    living = LivingPlan()
    living.execute(STREAM + QUERIES)
    run = DirectRun(living.start().plan, 2, takes_turns=True, living=living)
    feed(run, tmp_path, 1)
    return run


def feed(run: DirectRun, folder: Path, tick: int) -> None:
    rows = "".join(f"{key},{t},{key},{tick}\n" for t in (tick, tick + 1) for key in range(20))
    (folder / "rows.csv").write_text("id,ts,x,y\n" + rows)
    run.feed_file("taxi", folder / "rows.csv")


def entries(merge: Merge) -> dict[int, int]:
    """By query how many entries its lists have."""
    return {
        int(query): int(length)
        for part in merge.takers
        if isinstance(part, MergeNearest)
        for query, length in zip(part.lists.queries, part.lists.length.sum(axis=1), strict=True)
        if length
    }


def known(run: DirectRun) -> set[int]:
    return {query for copies in run.merges for query in entries(copies.engine)}


def test_lists_of_dropped_queries_are_forgotten(run: DirectRun, tmp_path: Path) -> None:
    assert known(run) == {0, 1, 2, 3, 4, 5}
    run.execute("DROP QUERY q1; DROP QUERY q4")
    assert known(run) == {0, 2, 3, 5}
    feed(run, tmp_path, 3)
    assert known(run) == {0, 2, 3, 5}
    run.execute("; ".join(f"DROP QUERY q{n}" for n in (0, 2, 3, 5)))
    assert not any(list(copies.engine.takers) for copies in run.merges)
    assert all(len(saved.snapshot(copies.engine)) < 200 for copies in run.merges)


def test_a_number_is_not_taken_for_another_query(run: DirectRun, tmp_path: Path) -> None:
    run.execute("DROP QUERY q1; REGISTER QUERY q1 AS SELECT id FROM taxi kNN (2, 9, 0)")
    assert known(run) == {0, 2, 3, 4, 5} and run.ask("q1") == []
    feed(run, tmp_path, 3)
    assert known(run) == {0, 2, 3, 4, 5, 6} and len(run.ask("q1")) == 2


def test_what_is_saved_comes_back_under_its_version(run: DirectRun, tmp_path: Path) -> None:
    run.execute("DROP QUERY q0; REGISTER QUERY r AS SELECT id, x FROM taxi kNN (3, 9, 0)")
    feed(run, tmp_path, 3)
    run.execute("DROP QUERY q5")
    for number, copies in enumerate(run.merges):
        engine = copies.engine
        change, whole = saved.delta(engine), saved.snapshot(engine)
        for base, deltas in ((whole, []), (copies.base, [*copies.deltas, change])):
            back = run._new_merge(number)
            saved.restore(back, base, deltas)
            assert back.version == 2 and entries(back) == entries(engine)


def test_a_snapshot_is_of_its_version_whatever_has_been_announced_since(
    run: DirectRun, tmp_path: Path
) -> None:
    engine = run.merges[1].engine
    whole, wanted = saved.snapshot(engine), entries(engine)
    run.execute("DROP QUERY q1; DROP QUERY q4; REGISTER QUERY r AS SELECT id, x FROM taxi kNN (3, 9, 0)")
    back = Merge(run.plan, 1, run.plans.__getitem__)
    saved.restore(back, whole, [])
    assert back.version == 0 and entries(back) == wanted
    saved.catch_up(back, [saved.delta(run.merges[1].engine)])
    assert back.version == 1 and entries(back) == entries(run.merges[1].engine)


def test_a_column_that_says_the_key_again_is_saved_once() -> None:
    columns = {"d2": [1.0, 2.0, 3.0], "key": [7, 8, 9], "c0": [7, 8, 9], "c1": [7, 8, 0]}
    rows = pa.table(columns)
    lists = ShardLists(np.array([4, 6]), rows.schema)
    lists.make_room(2)
    start = lists.append(rows)
    lists.put(np.array([0, 1, 1]), np.array([1, 0, 1]), np.array([start, 0, start + 1]), np.array([1, 0, 2]))
    saved = lists.drain(is_whole=False)
    assert saved.column_names == ["query", "shard", "d2", "key", "c1"]
    back = ShardLists(np.array([4, 6]), rows.schema)
    back.replay(saved)
    assert back.store.to_pydict() == columns
    assert (back.start[back.length > 0] == lists.start[lists.length > 0]).all()
    assert (back.length == lists.length).all()


def test_one_asks_for_ranges_as_before(run: DirectRun, tmp_path: Path) -> None:
    """Rows without the key are merged; asked for, each shard says its own."""
    run.execute("REGISTER QUERY y AS SELECT y FROM taxi INSIDE (0, 0, 5, 5)")
    feed(run, tmp_path, 3)
    assert len(run.ask("y")) == 6


def test_a_window_that_comes_over_one_stream_leaves_the_order_of_another_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one batch, as on Spark: a plan that concerns one stream, and readings of the other."""
    living = LivingPlan()
    other = STREAM.replace("taxi", "bus")
    living.execute(STREAM + other + "REGISTER QUERY last AS SELECT id FROM taxi WINDOW 30 ROWS;"
                   "REGISTER QUERY buses AS SELECT id FROM bus WINDOW 1 ROWS")  # fmt: skip
    run = DirectRun(living.start().plan, 2, living=living)
    feed(run, tmp_path, 1)
    said: list[Batch] = []
    with monkeypatch.context() as patch:
        patch.setattr(run, "_tell", lambda batches: said.extend(batches) or [])
        run.execute("REGISTER QUERY more AS SELECT id FROM bus WINDOW 2 ROWS")
    advance = run._advance
    with monkeypatch.context() as patch:
        patch.setattr(run, "_advance", lambda batches: advance([[*said, *mine] for mine in batches]))
        (tmp_path / "rows.csv").write_text("id,ts,x,y\n7,3,0,0\n")
        run.feed_file("taxi", tmp_path / "rows.csv")
    run.close_to("taxi", 3_000_000)
    assert len(run.ask("last")) == 30


@pytest.mark.parametrize("shards", [1, 2, 7])
def test_more_rows_begin_with_those_that_fewer_rows_hold(shards: int, tmp_path: Path) -> None:
    living = LivingPlan()
    living.execute(STREAM.replace("(x, y)", "(x, y) WITH (stale_after = 1)"))
    living.execute("REGISTER QUERY three AS SELECT id, ts FROM taxi WINDOW 3 ROWS")
    run = DirectRun(living.start().plan, shards, living=living)
    rows = [f"{key},{ts},0,0" for ts in (1, 2, 3) for key in range(4)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,ts,x,y", *rows, "0,9,0,0", "0,10,0,0"]) + "\n")
    run.feed_file("taxi", tmp_path / "rows.csv")
    run.execute("REGISTER QUERY nine AS SELECT id, ts FROM taxi WINDOW 9 ROWS")
    run.close_to("taxi", 10_000_000)
    held = [tuple(json.loads(line)["row"].values()) for line in run.ask("nine")]
    assert held == [(0, 9), (0, 10), (2, 3), (3, 3)]
