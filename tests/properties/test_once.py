"""A SELECT that is asked once: as at any tick, the sum of what the same query has told since the start."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.clock import show_time, tick_end
from sanderling.errors import QueryError
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.planner import Planner
from tests.ask.archived import archived, past_of
from tests.ask.asking import asked, of_files, of_shards, rows_of
from tests.engine.direct import DirectRun
from tests.oracle.oracle import comparable
from tests.properties.chance import Chance, made_of
from tests.properties.queries import KINDS
from tests.properties.runs import RELAXED, declarations, fences, write_csv
from tests.properties.scenes import COLUMNS
from tests.properties.spoken import spoken
from tests.properties.test_sql import MANY, case, write
from tests.properties.test_sql import declarations as declarations_of
from tests.properties.worlds import SECOND, World, worlds

__all__ = ["fences"]

Rows = Counter[tuple[object, ...]]


def told_up_to(lines: Iterable[str], name: str, tick: int | None) -> Rows:
    """The sum of a query's updates."""
    held: Rows = Counter()
    for update in map(json.loads, lines):
        if update["query"] == name and (tick is None or update["tick"] <= show_time(tick)):
            held[tuple(comparable(v) for v in update["row"].values())] += update["sign"]
    return +held


def counted(rows: Iterable[tuple[object, ...]]) -> Rows:
    return Counter(tuple(comparable(v) for v in row) for row in rows)


def statements(world: World) -> list[str]:
    return [f"REGISTER QUERY {a.query.name} AS {a.sql}" for a in world.asks]


def of_path(world: World, fences: Path, path: Path) -> list[str]:
    stream, *others = declarations(world, fences)
    return [stream.replace("WITH (", f"WITH (path = '{path}', "), *others]


@RELAXED
@given(
    world=st.one_of(worlds(has_nearest=True), worlds(has_window=True)), at_s=st.integers(-3, 24),
    bytes_=st.sampled_from([40, 1 << 20]), shards=st.sampled_from([1, 3]),
)  # fmt: skip
def test_as_of_a_time_is_the_sum_of_what_was_told_up_to_it(
    world: World, at_s: int, bytes_: int, shards: int, fences: Path, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "readings.csv", world.readings)
    planner = Planner()
    planner.run_script(";\n".join([*of_path(world, fences, path), *statements(world)]))
    run = DirectRun(planner.plan(), shards, bytes_)
    run.feed_file("objects", path, is_last=True)
    tick = tick_end(at_s * SECOND, world.tick_s * SECOND)
    for ask in world.asks:
        wanted = told_up_to(run.updates, ask.query.name, tick)
        assert counted(of_files(planner, f"AT {at_s} {ask.sql}", tmp_path)) == wanted
        as_of = ask.sql.replace("FROM objects o", f"FROM objects AS OF {at_s} o")
        assert counted(of_files(planner, as_of, tmp_path)) == wanted
        assert counted(of_files(planner, ask.sql, tmp_path)) == told_up_to(run.updates, ask.query.name, None)


@RELAXED
@given(
    world=st.one_of(worlds(has_nearest=True), worlds(has_window=True)), at_s=st.integers(-3, 22),
    flushes=st.lists(st.integers(-3, 20), max_size=3),
)  # fmt: skip
def test_an_archive_answers_as_the_whole_stream_does(
    world: World, at_s: int, flushes: list[int], fences: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, tick_us = tmp_path_factory.mktemp("world"), world.tick_s * SECOND
    path = write_csv(folder / "readings.csv", world.readings)
    planner = Planner()
    planner.run_script(";\n".join([*of_path(world, fences, path), *statements(world)]))
    run = DirectRun(planner.plan())
    run.feed_file("objects", path, is_last=True)
    archive = archived(planner, "objects", folder, [tick_end(s * SECOND, tick_us) for s in flushes])
    assert archive is not None and archive.kept_from is not None and archive.archived_to is not None
    tick, past = tick_end(at_s * SECOND, tick_us), past_of(archive)
    for ask in world.asks:
        sql = f"AT {at_s} {ask.sql}"
        if archive.kept_from <= tick <= archive.archived_to:
            wanted = told_up_to(run.updates, ask.query.name, tick)
            assert counted(rows_of(asked(planner, sql, past))) == wanted, sql
        else:
            with pytest.raises(QueryError) as e:
                asked(planner, sql, past)
            assert e.value.code in ("history.not_kept", "history.not_yet")
    for sql in ("SELECT id, x, y, speed FROM objects {}", "SELECT tick, sign FROM q0 {}"):
        begin, end = show_time(archive.kept_from), show_time(archive.archived_to)
        middle = sorted([archive.kept_from, tick, archive.archived_to])[1]
        cut, behind = show_time(middle), show_time(middle + 1)
        whole, one = (
            counted(rows_of(asked(planner, sql.format(f"BETWEEN '{begin}' AND '{to}'"), past)))
            for to in (end, cut)
        )
        other: Rows = Counter()
        if middle < archive.archived_to:
            between = f"BETWEEN '{behind}' AND '{end}'"
            other = counted(rows_of(asked(planner, sql.format(between), past)))
        assert (
            one + other
            == whole
            == counted(of_files(planner, sql.format(f"BETWEEN '{begin}' AND NOW"), folder))
        )


@MANY
@given(chance=made_of(lambda chance: chance))
def test_the_same_of_whole_queries_over_streams_and_tables(
    chance: Chance, fences: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Joins, aggregates, set operations, WITH, brackets, PERSISTENCY, queries of queries."""
    folder = tmp_path_factory.mktemp("scene")
    found = case(chance, tuple(kind for kind in KINDS if kind != "at"))
    streams, others = declarations_of(folder, fences, found.scene)[:2], found.scene.streams
    paths = {
        name: write(folder / f"{name}.csv", COLUMNS, [r.values for r in stream.readings])
        for name, stream in others.items()
    }
    said = [
        text.replace("WITH (", f"WITH (path = '{path}', ", 1)
        for text, path in zip(streams, paths.values(), strict=True)
    ]
    said += declarations_of(folder, fences, found.scene)[2:]
    said += [s for one in found.asked for s in one.statements()]
    said += [f"AT {change.at_s} {change.sql}" for change in found.scene.changes[1:]]
    planner = Planner()
    planner.run_script(";\n".join(said))
    run = DirectRun(planner.plan(), 2)
    for name in sorted({stream.stream.name for stream in run.plan.streams}):
        run.feed_file(name, paths[name], is_last=True)
    archives = [archived(planner, name, folder) for name in others]
    for one in found.asked:
        sql, at_s = spoken(one.registered.query), chance.choice([3, 0, 7, 11, 14, 30])
        tick = tick_end(at_s * SECOND, found.scene.tick_s * SECOND)
        wanted = told_up_to(run.updates, one.registered.name, tick)
        assert counted(of_files(planner, f"AT {at_s} {sql}", folder)) == wanted, sql
        read = [a for a in archives if a is not None]
        begin, end = max(a.kept_from or 0 for a in read), min(a.archived_to or 0 for a in read)
        if len(read) == len(archives) and begin <= tick <= end:
            assert counted(rows_of(asked(planner, f"AT {at_s} {sql}", past_of(*read)))) == wanted, sql


@RELAXED
@given(
    world=st.one_of(worlds(has_nearest=True), worlds(has_window=True)), shards=st.sampled_from([1, 3]),
    is_restarted=st.booleans(),
)  # fmt: skip
def test_now_is_the_answer_of_the_same_query_that_stays(
    world: World, shards: int, is_restarted: bool, fences: Path, tmp_path: Path
) -> None:
    """Where that has been there long enough that shards keep what its windows need."""
    living = LivingPlan()
    living.execute(";\n".join([*declarations(world, fences), *statements(world)]))
    run = DirectRun(living.start().plan, shards, living=living)
    run.feed_file("objects", write_csv(tmp_path / "readings.csv", world.readings))
    if is_restarted:
        run.restart()
    for ask in world.asks:
        held = told_up_to(run.ask(ask.query.name), ask.query.name, None)
        assert counted(of_shards(run, ask.sql)) == held, ask.sql
