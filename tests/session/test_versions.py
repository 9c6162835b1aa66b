"""The versions of a plan on disk: many of them, and what a killed run leaves."""

from __future__ import annotations

from pathlib import Path

from sanderling.plan.grow.living import LivingPlan
from sanderling.session.connect import connect
from sanderling.spark.plans import PlanFolder

STREAM = "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"


def moving(name: str, focal: str) -> str:
    return f"REGISTER QUERY {name} AS SELECT id FROM cars INSIDE ('M', '{focal}', 1)"


def test_a_worker_that_is_new_to_very_many_versions_finds_them_all(tmp_path: Path) -> None:
    plan, folder = LivingPlan(), PlanFolder.in_(tmp_path)
    plan.execute(STREAM)
    folder.keep(plan.start().plan)
    for number in range(600):
        change = plan.execute(moving("q", f"o{number}") if number % 2 == 0 else "DROP QUERY q")
        folder.keep(change.plan, change.growth)
    newest = folder.newest()
    assert newest == 600
    assert len(folder.followed("cars")) == 300
    assert set(folder.plan(newest).templates()) <= set(folder.templates(newest))
    fresh = PlanFolder.in_(tmp_path)
    assert folder.templates(newest) == fresh.templates(newest) and len(fresh.followed("cars")) == 300


def test_a_version_that_was_never_said_does_not_come_back(tmp_path: Path) -> None:
    """Killed between leaving a version for the workers and writing it into the journal."""
    session = connect(checkpoint=tmp_path)
    session.execute(STREAM)
    session._note_start()
    session.execute(moving("known", "a"))
    session.stop()
    plan = LivingPlan()
    plan.execute(STREAM)
    PlanFolder.in_(tmp_path / "plans").keep(plan.start().plan)
    PlanFolder.in_(tmp_path / "queries", are_named=True).keep(plan.start().plan)
    for text in (moving("known", "a"), moving("lost", "b")):
        change = plan.execute(text)
        for name in ("plans", "queries"):
            PlanFolder.in_(tmp_path / name, are_named=name == "queries").keep(change.plan, change.growth)
    with connect(checkpoint=tmp_path) as session:
        assert session.queries == ["known"]
        for name in ("plans", "queries"):
            folder = PlanFolder.in_(tmp_path / name, are_named=name == "queries")
            assert folder.newest() == 1
            assert folder.followed("cars").to_pylist() == ["a"]
