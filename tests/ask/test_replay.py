"""What is replayed from an archive is what was told, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling import command
from sanderling.ask.replay import Replay, Times
from sanderling.clock import show_time, tick_end
from sanderling.errors import ConfigError
from sanderling.plan.planner import Planner
from tests.ask.archived import archived
from tests.ask.test_archive import READINGS, STREAM
from tests.engine.direct import DirectRun
from tests.properties.runs import RELAXED, fences, write_csv
from tests.properties.test_once import counted, of_path, told_up_to
from tests.properties.worlds import SECOND, World, worlds

__all__ = ["fences"]

QUERIES = """REGISTER QUERY depot AS SELECT id, x FROM cars INSIDE (0, 0, 4, 4);
AT 30 REGISTER QUERY lately AS SELECT id, COUNT(*) AS n FROM cars [RANGE 5 SECONDS] GROUP BY id;
CREATE TRIGGER meeting FOR cars AS a, cars AS b WHEN a.id = 'anna' AND b.id = 'carl' AND DISTANCE(a, b) < 2
  AND b.ts - a.ts IN [0, 2] SELECT a.ts AS since, b.ts AS until;
"""


def replayed(path: Path, script: Path, out: Path, *options: str) -> str:
    command.app(["replay", str(path), str(script), "--out", str(out), *options], standalone_mode=False)
    return out.read_text()


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """An archive, a script, and what the script told of the files."""
    (tmp_path / "cars.csv").write_text(READINGS)
    stream = STREAM.format(path=tmp_path / "cars.csv")
    planner = Planner()
    planner.run_script(stream + QUERIES)
    run = DirectRun(planner.plan(), 3, 200)
    run.feed_file("cars", tmp_path / "cars.csv", is_last=True)
    archive = archived(planner, "cars", tmp_path, [26_000_000, 40_000_000])
    assert archive is not None
    (tmp_path / "queries.sql").write_text(QUERIES)
    return archive.folder, tmp_path / "queries.sql", run.updates


def test_a_replay_is_the_run_again(world: tuple[Path, Path, list[str]], tmp_path: Path) -> None:
    archive, script, told = world
    assert {json.loads(line)["query"] for line in told} == {"depot", "lately", "meeting"}
    assert replayed(archive, script, tmp_path / "out.jsonl") == "".join(told)
    script.write_text(STREAM.format(path="elsewhere.csv") + QUERIES)
    assert replayed(archive, script, tmp_path / "again.jsonl", "--speed", "1000") == "".join(told)


def test_a_part_begins_with_whole_answers(world: tuple[Path, Path, list[str]], tmp_path: Path) -> None:
    archive, script, told = world
    said = replayed(archive, script, tmp_path / "out.jsonl", "--from", "36", "--to", "1970-01-01 00:00:44")
    lines = said.splitlines()
    begin, end = show_time(36 * SECOND), show_time(44 * SECOND)
    for name in ("depot", "lately"):
        first = [line for line in lines if json.loads(line)["tick"] == begin]
        assert told_up_to(first, name, None) == told_up_to(told, name, 36 * SECOND)
        rest = [line for line in lines if json.loads(line)["query"] == name and line not in first]
        ticks = ((json.loads(line)["tick"], line.rstrip()) for line in told)
        assert rest == [
            line for tick, line in ticks if begin < tick <= end and json.loads(line)["query"] == name
        ]


def test_lines_come_at_a_pace(
    world: tuple[Path, Path, list[str]], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    archive, script, told = world
    command.app(["replay", str(archive), str(script), "--speed", "500"], standalone_mode=False)
    assert capfdbinary.readouterr().out.decode() == "".join(told)


@pytest.mark.parametrize(
    "stream, code",
    [
        (STREAM.replace("tick = 2", "tick = 4"), "history.other_stream"),
        (STREAM.replace("x DOUBLE", "x FLOAT"), "history.other_stream"),
        (STREAM.replace("cars", "vans", 1), "config.missing_path"),
    ],
)
def test_another_stream_is_refused(
    stream: str, code: str, world: tuple[Path, Path, list[str]], tmp_path: Path
) -> None:
    archive, script, _ = world
    script.write_text(stream + "REGISTER QUERY all AS SELECT id FROM " + stream.split()[2])
    with pytest.raises(ConfigError) as e:
        replayed(archive, script, tmp_path / "out.jsonl")
    assert e.value.code == code


def test_a_time_that_is_none(world: tuple[Path, Path, list[str]], tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as e:
        replayed(*world[:2], tmp_path / "out.jsonl", "--to", "noon")
    assert e.value.code == "config.bad_option"


@RELAXED
@given(
    world=st.one_of(worlds(has_nearest=True), worlds(has_window=True)), begin_s=st.integers(-2, 12),
    is_paced=st.booleans(),
)  # fmt: skip
def test_of_any_world(
    world: World, begin_s: int, is_paced: bool, fences: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("world")
    path = write_csv(folder / "readings.csv", world.readings)
    script = ";\n".join([*of_path(world, fences, path), *(s for ask in world.asks for s in ask.statements())])
    planner = Planner()
    planner.run_script(script)
    run = DirectRun(planner.plan())
    run.feed_file("objects", path, is_last=True)
    archive = archived(planner, "objects", folder)
    assert archive is not None and archive.kept_from is not None and archive.archived_to is not None
    again = DirectRun(run.plan)
    for _, batches in Replay.of(planner, {"objects": archive}, Times(is_paced=is_paced)).told():
        again._collect(batches)
    assert again.updates == run.updates
    begin = tick_end(begin_s * SECOND, world.tick_s * SECOND)
    if not archive.kept_from <= begin <= archive.archived_to:
        return
    later, times = DirectRun(run.plan), Times(begin_s * SECOND)
    for _, batches in Replay.of(planner, {"objects": archive}, times).told():
        later._collect(batches)
    for ask in world.asks:
        name = ask.query.name
        if ask.query.end is None:
            whole = told_up_to(run.updates, name, None)
            assert told_up_to(later.updates, name, None) == whole
    assert counted([]) == {}
