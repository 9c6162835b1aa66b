"""What a summary warns of: refused rows, columns of nothing, unknown focal objects, silent queries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sanderling.batches import Batch
from sanderling.deliver.changes import arrivals_in
from sanderling.deliver.warnings import warnings_of
from sanderling.figures.arrivals import Arrivals
from sanderling.ingest.files import SourceFile
from sanderling.ingest.read import read_slice
from sanderling.ingest.slices import Slicer
from sanderling.operate.shard.shard import Shard
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.route.pack import pack

STREAM = """CREATE STREAM s (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, free BOOLEAN, other STRING)
  KEY id TIME ts LOCATION (x, y);"""
HEAD = "id,ts,x,y,free,other\n"


def plan_of(*selects: str) -> Plan:
    planner = Planner()
    planner.run_script(STREAM + ";".join(f"REGISTER QUERY q{n} AS {s}" for n, s in enumerate(selects)))
    return planner.plan()


def warned(tmp_path: Path, text: str, *selects: str, told: tuple[int, ...] = ()) -> list[str]:
    """By two shards, as a source cuts and packs it; `told` are updates by query."""
    plan, path = plan_of(*selects), tmp_path / "s.csv"
    path.write_text(HEAD + text)
    stream = plan.streams[0]
    slicer = Slicer([SourceFile("s.csv", str(path))], "csv", 20, 20)
    shards, came, offset = [Shard(plan, n) for n in range(2)], Arrivals(), slicer.first()
    while (found := slicer.next(offset)) is not None:
        piece, offset = found
        mine: list[list[Batch]] = [[], []]
        read = read_slice(replace(stream.stream, format="csv"), piece)
        for shard, batch in pack(stream, piece, read, 2):
            mine[shard].append(batch)
        said = [b for shard, batches in zip(shards, mine, strict=True) for b in shard.advance(batches)]
        came.add(arrivals_in(said).get("s", Arrivals()))
    return warnings_of(plan, {"s": came}, np.array(told or [1] * len(selects)))


def test_a_column_that_is_always_null_where_somebody_asks_for_it(tmp_path: Path) -> None:
    rows = "a,1,1,1,,\nb,2,1,1,,\nc,3,1,1,,\n"
    assert warned(tmp_path, rows, "SELECT id FROM s WHERE free") == [
        'free of "s" was NULL in every reading: look at its type'
    ]
    assert warned(tmp_path, rows, "SELECT id FROM s") == []
    assert warned(tmp_path, rows + "d,4,1,1,true,\n", "SELECT id FROM s WHERE free") == []


def test_focal_objects_that_nobody_heard_of(tmp_path: Path) -> None:
    rows = "a,1,1,1,,\nb,2,1,1,,\n"
    near = "SELECT id FROM s INSIDE ('M', '{}', 5)"
    assert warned(tmp_path, rows, near.format("a"), near.format("b")) == []
    assert warned(
        tmp_path, rows, near.format("a"), near.format("B "), "SELECT id FROM s kNN ('M', 2, 'zoe')"
    ) == ['there was no reading of B , zoe in "s", whom queries follow']


def test_most_rows_are_dead_letters(tmp_path: Path) -> None:
    rows = "a,1,1,1,,\nb,soon,1,1,,\nc,2,,1,,\n"
    assert warned(tmp_path, rows, "SELECT id FROM s") == [
        '2 of 3 rows of "s" are dead letters: unreadable_time in row 3 of s.csv: ts: "soon" is not a time'
        " between the years 1 and 9999, as a number of seconds; a TIMESTAMP is read by time_format = '…'"
    ]


@pytest.mark.parametrize(
    ("told", "said"),
    [((1, 1), []), ((1, 0), ['"q1" never had a row']), ((0,), ["2 queries never had a row: q0, q1"])],
)
def test_queries_that_never_had_a_row(tmp_path: Path, told: tuple[int, ...], said: list[str]) -> None:
    selects = ("SELECT id FROM s", "SELECT id FROM s WHERE x > 9")
    assert warned(tmp_path, "a,1,1,1,,\n", *selects, told=told) == said
