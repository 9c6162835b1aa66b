"""Merge partitions are there from the batch on in which a query can need them, and stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import StateError
from sanderling.plan.grow.living import LivingPlan
from sanderling.session.session import Session
from sanderling.settings import Settings
from sanderling.spark.merging import Merging
from sanderling.spark.plans import PlanFolder
from sanderling.spark.sources.source import Layout
from sanderling.state.sealed import read_json
from tests.session.cars import Cars, answer
from tests.session.test_restart import FROM
from tests.session.test_versions import STREAM, moving


def states(work: Path) -> set[str]:
    return {p.name for p in (work / "states").iterdir()}


def test_a_session_has_merge_partitions_once_a_query_needs_them(spark: SparkSession, tmp_path: Path) -> None:
    cars, work = Cars(tmp_path / "cars"), tmp_path / "work"

    def connected() -> Session:
        session = sanderling.connect(spark, work, shards=2)
        cars.declare(session)
        return session

    with connected() as session:
        session.register("depot", f"{FROM} INSIDE (0, 0, 3, 3)")
        session.start()
        cars.come(("a", 1000, 1, 1, False), ("b", 1000, 2, 2, False), ("c", 1000, 4, 4, False))
        cars.come(("c", 1001, 2, 1, False))
        session.process_all()
        assert states(work) == {"shard-0", "shard-1"} and answer(session, "depot") == ["a", "b"]
        session.register("near", f"{FROM} kNN (2, 0, 0)")
        cars.come(("b", 1002, 9, 9, False))
        session.process_all()
        since = read_json(work / "merging", "merging")["since"]
        assert since > 1 and states(work) == {"shard-0", "shard-1", "merge-0", "merge-1"}
        assert answer(session, "near") == ["a", "c"] and answer(session, "depot") == ["a", "b", "c"]
        session.drop("near")
        cars.come(("b", 1003, 0, 0, False))
        session.process_all()
    with connected() as session:  # where nobody needs them now, and one more does later
        session.start()
        cars.come(("b", 1004, 0, 0, False))
        session.process_all()
        assert answer(session, "depot") == ["a", "b", "c"]
        session.register("again", f"{FROM} kNN (1, 0, 0)")
        cars.come(("c", 1005, 2, 1, False))
        session.process_all()
        assert answer(session, "again") == ["b"]
    assert read_json(work / "merging", "merging")["since"] == since


def test_from_when_on_there_are_merge_partitions_is_written_down(tmp_path: Path) -> None:
    living, plans = LivingPlan(), PlanFolder.in_(tmp_path / "plans")
    living.execute(STREAM)
    first = living.start().plan
    plans.keep(first)
    layout = Layout(first, plans, 2, tmp_path, Settings(), is_living=True)
    merging = Merging(tmp_path, layout.is_merged)

    def told(sql: str) -> None:
        change = living.execute(sql)
        plans.keep(change.plan, change.growth)

    told(moving("round", "a"))
    assert merging.since(3) is None
    told("REGISTER QUERY near AS SELECT id FROM cars kNN (1, 0, 0)")
    assert [merging.since(7), merging.since(8), Merging(tmp_path, layout.is_merged).since(7)] == [7, 7, 7]
    told("DROP QUERY near")
    fresh = PlanFolder.in_(tmp_path / "plans")
    assert [fresh.is_merged(n) for n in range(4)] == [False, False, True, True]
    (tmp_path / "states" / "merge-0").mkdir(parents=True)
    (tmp_path / "merging").unlink()
    with pytest.raises(StateError) as e:
        Merging(tmp_path, layout.is_merged)
    assert e.value.code == "state.broken_ledger" and str(tmp_path / "merging") in e.value.message
