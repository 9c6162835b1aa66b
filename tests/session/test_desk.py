"""Wishes out, answers in, without a stream."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from sanderling.batches import Batch, Kind
from sanderling.deliver.log import Log
from sanderling.errors import SanderlingError, SessionError, StateError
from sanderling.figures.figures import Figures
from sanderling.plan.grow.living import LivingPlan
from sanderling.route.controls import mark
from sanderling.session.desk import Desk

STREAM = "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"


@pytest.fixture
def plan() -> LivingPlan:
    plan = LivingPlan()
    plan.execute(STREAM + "REGISTER QUERY everybody AS SELECT id FROM cars")
    return plan


@pytest.fixture
def desk(tmp_path: Path, plan: LivingPlan) -> Desk:
    desk = Desk(tmp_path)
    desk.turn(plan.start())
    return desk


def said(work: Path) -> list[Batch]:
    log = Log(work / "control")
    return [batch for number in log.numbers() for batch in log.read(number)]


def rows(*signed: tuple[int, int, str]) -> pa.Table:
    query, sign, key = zip(*signed, strict=True)
    return pa.table(
        {
            "query": pa.array(query, pa.int64()), "tick": pa.array([1_000_000] * len(signed), pa.int64()),
            "sign": pa.array(sign, pa.int8()), "c0": pa.array(key, pa.string()),
        }
    )  # fmt: skip


def template(plan: LivingPlan, query: int) -> int:
    return int(plan.plan().queries.template[query])


def answered(work: Path, plan: LivingPlan, query: int, *keys: str) -> list[Batch]:
    """What comes back for the last question."""
    key = [b.ask for b in said(work) if b.kind == Kind.ASK][-1]
    table = rows(*((query, 1, key) for key in keys))
    return [Batch(Kind.ANSWER, table, "cars", template(plan, query), ask=key), mark(ask=key)]


def deltas(plan: LivingPlan, *signed: tuple[int, int, str]) -> Batch:
    return Batch(Kind.DELTAS, rows(*signed), "cars", template(plan, signed[0][0]))


def test_a_subscriber_gets_the_answer_then_each_update_once(
    desk: Desk, plan: LivingPlan, tmp_path: Path
) -> None:
    reader = desk.subscribe("EVERYBODY", 100)
    desk.deliver(0, [deltas(plan, (0, 1, "before"))])
    begin = answered(tmp_path, plan, 0, "before", "now")
    desk.deliver(1, [deltas(plan, (0, 1, "now")), *begin])
    desk.deliver(2, [deltas(plan, (0, -1, "before"))])
    desk.end()
    told = [(r["sign"], r["id"]) for batch in reader for r in batch.to_pylist()]
    assert told == [(1, "before"), (1, "now"), (-1, "before")]


def test_a_query_dropped_before_its_subscriber_had_an_answer(
    desk: Desk, plan: LivingPlan, tmp_path: Path
) -> None:
    early, late = desk.subscribe("everybody", 100), None
    begin = answered(tmp_path, plan, 0, "a")
    late = desk.subscribe("everybody", 100)
    change = plan.execute("DROP QUERY everybody")
    desk.turn(change)
    desk.announce(change.version)
    desk.deliver(0, [*begin, mark(version=change.version)])
    key = [b.ask for b in said(tmp_path) if b.kind == Kind.ASK][-1]
    desk.deliver(1, [mark(ask=key)])
    assert [batch.num_rows for batch in early] == [1]
    assert list(late) == []
    with pytest.raises(SessionError) as e:
        desk.subscribe("everybody", 100)
    assert e.value.code == "session.no_query"


def test_what_shards_know_of_a_new_focal_object_is_told_to_all_once_or_again_after_a_crash(
    desk: Desk, plan: LivingPlan, tmp_path: Path
) -> None:
    change = plan.execute("REGISTER QUERY near AS SELECT id FROM cars INSIDE ('M', 'a', 1)")
    desk.turn(change)
    desk.announce(change.version)
    known = pa.table({"id": ["a"], "x": [1.0]})
    batches = [
        Batch(Kind.SAID, known, "cars", version=change.version),
        mark(version=change.version),
    ]
    desk.deliver(0, batches)
    desk.deliver(1, [mark(version=change.version)])
    assert [b.kind for b in said(tmp_path)] == [Kind.PLAN, Kind.MARK, Kind.ACTIVATE]
    assert said(tmp_path)[-1].table == known
    # Killed after it was told, before that was noted: it is told again, which shards take as known.
    (tmp_path / "delivered.json").unlink()
    again = Desk(tmp_path)
    again.turn(change)
    again.deliver(0, batches)
    assert [b.kind for b in said(tmp_path)][-1] == Kind.ACTIVATE and again.delivered == 0


def test_names_are_found_as_statements_find_them(tmp_path: Path, plan: LivingPlan) -> None:
    plan.execute("REGISTER QUERY `İstanbul Straße` AS SELECT id FROM cars")
    desk = Desk(tmp_path)
    desk.turn(plan.start())
    assert desk.number_of("İstanbul STRASSE") == desk.number_of("İstanbul Straße") == 1
    with pytest.raises(SessionError) as e:
        desk.number_of("everyone")
    assert e.value.code == "session.no_query" and "everybody" in e.value.hint


def test_who_waits_for_an_answer_hears_why_there_will_be_none(tmp_path: Path, plan: LivingPlan) -> None:
    why: list[SanderlingError] = []
    desk = Desk(tmp_path, lambda: why[0] if why else None)
    desk.turn(plan.start())
    with pytest.raises(SessionError) as e:
        desk.answer("everybody", 0.1)
    assert e.value.code == "session.timeout"
    why.append(SessionError("session.stopped", "stopped"))
    with pytest.raises(SessionError) as e:
        desk.answer("everybody", 60)
    assert e.value.code == "session.stopped"


@pytest.mark.parametrize("text", ["", "[]", '{"delivered": 1}'])
def test_a_damaged_note_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "delivered.json").write_text(text)
    with pytest.raises(StateError) as e:
        Desk(tmp_path)
    assert e.value.code == "state.broken_ledger"


def test_figures_of_all_batches_add_up(plan: LivingPlan, desk: Desk) -> None:
    for number, (held, shard) in enumerate(((3, 0), (4, 1), (5, 0))):
        told = Figures()
        told.add("readings cars", 10, 7, 0.25)
        told.hold("readings cars", held)
        desk.deliver(number, [Batch(Kind.FIGURES, told.table(), shard=shard)])
    plan.figures = desk.figures
    (listing,) = plan.execute("EXPLAIN ANALYZE everybody").listings
    assert listing.rows[-1][1:] == ("30", "21", "9", "0.750")  # 5 and 4 are held now
    (listing,) = plan.execute("EXPLAIN everybody").listings
    assert listing.columns == ("plan",)
