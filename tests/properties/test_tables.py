"""Tables of regions that change, against the oracle: at a time, or while the stream runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sanderling.clock import show_time
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.planner import Planner
from tests import oracle
from tests.engine.direct import DirectRun
from tests.oracle.held import with_previous
from tests.oracle.oracle import answer_at, arrive, comparable
from tests.properties.runs import RELAXED, Cut, cuts, declarations, engine_updates, pairing, write_csv
from tests.properties.table_tales import Fences, TableTale, table_tales
from tests.properties.worlds import SECOND

TALES, LIVING_TALES = (
    table_tales(has_times) | table_tales(has_times, has_window=True) for has_times in (True, False)
)


@RELAXED
@given(tale=TALES, cut=cuts)
def test_rows_come_and_go_at_times(tale: TableTale, cut: Cut, tmp_path: Path) -> None:
    world = tale.world
    table = Fences(tale.rows, world.tick_s * SECOND)
    edits = [table.edit(edit, None) for edit in sorted(tale.edits, key=lambda e: e.at or 0)]
    # The edits first: of statements of one time, those that stand first hold first.
    statements = [*(s for e in edits for s in e), *(s for a in world.asks for s in a.statements())]
    planner = Planner()
    path = tale.write(tmp_path / "fences.geojson")
    planner.run_script(";\n".join([*declared(tale, path), *statements]))
    run = DirectRun(planner.plan(), cut.shards, cut.bytes, cut.has_empty, cut.takes_turns)
    half = len(world.readings) // 2
    for number, part in enumerate((world.readings[:half], world.readings[half:])):
        if part:
            run.feed_file("objects", write_csv(tmp_path / "part.csv", part))
        if cut.restarts != "never":
            run.restart(is_snapshot=cut.restarts == "snapshot" or (cut.restarts == "mixed" and number == 0))
    run.close_to("objects", max(r.ts for r in world.readings))
    check(run, tale, table, [a.query for a in world.asks])


@RELAXED
@given(tale=LIVING_TALES, cut=cuts, pieces=st.integers(1, 4))
def test_rows_come_and_go_while_the_stream_runs(
    tale: TableTale, cut: Cut, pieces: int, tmp_path: Path
) -> None:
    world, tick_us = tale.world, tale.world.tick_s * SECOND
    table = Fences(tale.rows, tick_us)
    living = LivingPlan()
    path = tale.write(tmp_path / "fences.geojson")
    statements = [s for a in world.asks for s in a.statements()]
    living.execute(";\n".join([*declared(tale, path), *statements]))
    run = DirectRun(living.start().plan, cut.shards, cut.bytes, cut.has_empty, cut.takes_turns, living)
    step = max(1, -(-len(world.readings) // pieces))
    seen: list[oracle.Reading] = []
    for number in range(pieces):
        accepted, _, closed = arrive(seen, tick_us, world.lateness_s * SECOND, ended=False)
        for edit in tale.edits[number::pieces]:
            text = ";\n".join(table.edit(edit, None if closed is None else closed + tick_us))
            if text:
                run.execute(text)
        if closed is not None:
            check_answers(run, tale, table, accepted, closed)
        if cut.restarts != "never":
            run.restart(is_snapshot=cut.restarts == "snapshot" or (cut.restarts == "mixed" and number == 0))
        piece = world.readings[number * step : (number + 1) * step]
        if piece:
            run.feed_file("objects", write_csv(tmp_path / "piece.csv", piece))
            seen += piece
    run.close_to("objects", max(r.ts for r in world.readings))
    check(run, tale, table, [a.query for a in world.asks])


def declared(tale: TableTale, path: Path) -> list[str]:
    """A level that is nowhere in the file is a number all the same."""
    plain, whole = "CREATE TABLE fences KEY", "CREATE TABLE fences (name STRING, level BIGINT) KEY"
    return [text.replace(plain, whole) for text in declarations(tale.world, path)]


def stale_us(tale: TableTale) -> int | None:
    return None if tale.world.stale_after_s is None else tale.world.stale_after_s * SECOND


def check(run: DirectRun, tale: TableTale, table: Fences, asked: list[oracle.Query]) -> None:
    world = tale.world
    queries = [table.of(q) if not q.shapes else q for q in asked]
    args = (world.readings, queries, world.tick_s * SECOND, world.lateness_s * SECOND, stale_us(tale))
    result = oracle.run(*args)
    if not tale.has_window:
        assert oracle.run_fast(*args) == result
    got = engine_updates(run)
    assert Counter(got) == Counter((show_time(t), q, s, row) for t, q, s, row in result.updates)
    assert [u[0] for u in got] == sorted(u[0] for u in got)  # type: ignore[type-var]
    pairing(got)


def check_answers(
    run: DirectRun, tale: TableTale, table: Fences, accepted: list[oracle.Reading], closed: int
) -> None:
    """Asked for, an answer is what the oracle says it is: of the rows that were there then."""
    tick_us, stale = tale.world.tick_s * SECOND, stale_us(tale)
    known = with_previous(accepted, tick_us, stale)
    for asked in (a.query for a in tale.world.asks if not a.query.shapes):
        query = table.of(asked)
        wanted = answer_at(query, closed, known, tick_us, stale) if query.exists(closed) else Counter()
        told = [json.loads(line) for line in run.ask(query.name)]
        assert all(u["sign"] == 1 for u in told)
        assert Counter(tuple(comparable(v) for v in u["row"].values()) for u in told) == wanted
