"""A run that follows its files: what comes is told as it comes, and goes on from a checkpoint."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.status import Status
from sanderling.deliver.targets import Targets, refuse_at_the_end, targets_of
from sanderling.errors import ConfigError, StateError
from sanderling.plan.planner import Planner
from sanderling.spark.follow import follow_plan
from sanderling.spark.run import RunOptions

SCRIPT = """
CREATE STREAM cabs (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (path = '{folder}/in', format = 'csv');
CREATE STREAM vans (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (path = '{folder}/vans-*.jsonl');
REGISTER QUERY depot AS SELECT id FROM cabs INSIDE (0, 0, 10, 10);
REGISTER QUERY vans_in AS SELECT id, x FROM vans INSIDE (0, 0, 10, 10);
"""
PATIENCE_S = 240

Step = Callable[[], bool] | None


class Killed(BaseException):
    pass


@dataclass
class Follow:
    """A run, driven by a story: it yields what has to be so before it goes on."""

    folder: Path
    spark: SparkSession
    targets: Targets
    notes: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def run(self, story: Iterator[Callable[[], bool]], checkpoint: Path | None) -> None:
        planner, text = Planner(), SCRIPT.format(folder=self.folder)
        planner.run_script(text)
        until, waiting = time.monotonic() + PATIENCE_S, next(story)

        def is_over(status: Status) -> bool:
            nonlocal waiting
            assert time.monotonic() < until, "it never came so far"
            while waiting():
                try:
                    waiting = next(story)
                except StopIteration:
                    return True
            return False

        def show(status: Status) -> None:
            self.notes += [status.note] if status.note else []
            self.seen.append(str(status))

        options = RunOptions(self.targets, "local[2]", 2, checkpoint, progress=show)
        follow_plan(planner.plan(), text, options, self.spark, is_over)


def add(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with open(path, "a") as file:
        file.write(text)


def test_what_comes_is_told_as_it_comes_also_after_a_kill(spark: SparkSession, tmp_path: Path) -> None:
    out, letters = tmp_path / "u.jsonl", tmp_path / "l.jsonl"
    follow = Follow(tmp_path, spark, Targets(out, False, letters))
    (tmp_path / "in").mkdir()
    a, b, vans = tmp_path / "in" / "a.csv", tmp_path / "in" / "b.csv", tmp_path / "vans-1.jsonl"

    def told(n: int) -> Callable[[], bool]:
        return lambda: out.exists() and out.read_text().count("\n") >= n

    def first() -> Iterator[Callable[[], bool]]:
        yield lambda: any("waiting for readings" in line for line in follow.seen)
        add(a, "id,ts,x,y\nanna,1,1,1\nben,1,5")  # half a line
        yield lambda: any("1 row, waiting for the first tick" in line for line in follow.seen)
        add(a, "0,1\nben,2,5,5\nanna,3,1,1\n")
        yield told(2)  # anna, then ben
        add(vans, '{"id": "v", "ts": 1, "x": 2, "y": 2}\n{"id": "v", "ts": 2, "x": 50, "y": 2}\n')
        yield told(3)
        add(b, "id,ts,x,y\nzoe,1,1,1\nanna,4,70,1\nben,5,5,5\n")  # zoe is late
        yield told(4)
        raise Killed

    with pytest.raises(Killed):
        follow.run(first(), tmp_path / "c")
    # While nobody looks: more lines, and output that the kill left behind the last batch.
    add(a, "ben,6,50,5\n")
    add(out, '{"query": "dep')

    def second() -> Iterator[Callable[[], bool]]:
        add(b, "anna,7,1,1\n")
        yield told(5)
        b.write_text("id,ts,x,y\nben,8,5,5\nben,9,5,5\n")  # begins anew
        yield told(7)

    follow.run(second(), tmp_path / "c")
    updates = [json.loads(line) for line in out.read_text().splitlines()]
    depot = [(u["tick"][17:19], u["sign"], u["row"]["id"]) for u in updates if u["query"] == "depot"]
    assert depot == [
        ("01", 1, "anna"), ("02", 1, "ben"), ("04", -1, "anna"), ("06", -1, "ben"), ("07", 1, "anna"),
        ("08", 1, "ben"),
    ]  # fmt: skip
    assert [u["row"] for u in updates if u["query"] == "vans_in"] == [{"id": "v", "x": 2.0}]
    (letter,) = map(json.loads, letters.read_text().splitlines())
    assert (letter["reason"], letter["raw"], letter["row"]) == ("late", "zoe,1,1,1", 2)
    assert [note for note in follow.notes if "b.csv" in note and "from its beginning" in note]
    other = replace(follow, targets=Targets(tmp_path / "v.jsonl", False, letters))
    with pytest.raises(StateError, match=r"output_gone"):
        other.run(second(), tmp_path / "c")


@pytest.mark.parametrize("name", ["u.csv", "tables/"])
def test_csv_and_tables_grow_too(spark: SparkSession, tmp_path: Path, name: str) -> None:
    follow = Follow(tmp_path, spark, targets_of(str(tmp_path / name), None))
    (tmp_path / "in").mkdir()
    log, out = tmp_path / "in" / "a.csv", tmp_path / name

    def rows() -> list[tuple[str, int, str]]:
        if name == "u.csv":
            found = list(csv.DictReader(out.read_text().splitlines())) if out.exists() else []
            return [(r["query"], int(r["sign"]), r["id"]) for r in found]
        files = sorted(out.rglob("*.parquet")) if out.exists() else []
        tables = {f: ds.dataset(f).to_table().to_pylist() for f in files}
        return [(f.parent.name.split("=")[1], r["sign"], r["id"]) for f, t in tables.items() for r in t]

    def story() -> Iterator[Callable[[], bool]]:
        add(log, "id,ts,x,y\nanna,1,1,1\nanna,2,1,1\n")
        yield lambda: rows() == [("depot", 1, "anna")]
        add(log, "anna,3,50,1\nanna,4,50,1\n")
        yield lambda: len(rows()) == 2

    follow.run(story(), None)
    assert rows() == [("depot", 1, "anna"), ("depot", -1, "anna")]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["in", name.rstrip("/")])


def test_what_is_written_at_the_end_is_refused() -> None:
    for targets in (targets_of("x.parquet", None), targets_of(None, None, is_final=True)):
        with pytest.raises(ConfigError, match=r"unknown_output.*--follow has none"):
            refuse_at_the_end(targets)


@pytest.mark.parametrize("out", ["x.jsonl", "x.csv", "tables/", None])
def test_what_grows_is_not_refused(out: str | None) -> None:
    refuse_at_the_end(targets_of(out, None))


def test_a_folder_that_cannot_get_anything(spark: SparkSession, tmp_path: Path) -> None:
    follow = Follow(tmp_path / "no", spark, Targets(None, False, None))
    with pytest.raises(ConfigError, match=r"missing_file.*there is no folder"):
        follow.run(iter([lambda: True]), None)
