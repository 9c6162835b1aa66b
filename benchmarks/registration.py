"""Registering very many queries: a script read at once or one by one, a query table, and one more."""

from __future__ import annotations

import pickle
import tempfile
import time
import timeit
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.report import report
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.planner import Planner
from sanderling.plans.parts import for_shards
from sanderling.plans.plan import Plan

REASON = "from text, or a table, to a plan"
STREAM = """CREATE STREAM objects (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE, kind STRING)
  KEY id TIME ts LOCATION (x, y);
"""
MOVING = "SELECT id FROM objects INSIDE ('M', {i}, 0.01, 0.01)"
MIXED = (
    MOVING,
    "SELECT id FROM objects INSIDE (0.{i}, 0.25, 0.75, 0.{i})",
    "SELECT id, speed FROM objects WHERE speed > {i}.5 INSIDE (0.{i}, 0.5, 0.01)",
    "SELECT id FROM objects WHERE kind = 'kind {i}' AND speed BETWEEN {i} AND 99.5 INSIDE ('M', {i}, 0.02)",
)

# Q1 of the patterns' paper: in one place, then in another, then in the first again; long enough in each.
PATTERN = (
    "WITH InSchool AS (SELECT id FROM objects WHERE kind = 'marked' INSIDE (0.{i}, 0.25, 0.75, 0.{i}) "
    "PERSISTENCY 40 SECONDS), InPark AS (SELECT id FROM objects WHERE kind = 'marked' "
    "INSIDE (0.{i}, 0.5, 0.9, 0.{i}) "
    "PERSISTENCY 40 SECONDS) SELECT id, REACHED(away) AS away, REACHED(back) AS back FROM InSchool AS visit "
    "THEN InPark AS away WITHIN 1 HOUR THEN ENTERING InSchool AS back WITHIN 1 DAY OF visit"
)


def run(
    queries: int = 100_000, one_by_one: int = 5_000, patterns: int = 10_000, few: int = 200
) -> dict[str, float]:
    moving = [f"REGISTER QUERY q{i} AS {MOVING.format(i=i)}" for i in range(queries)]
    mixed = [f"REGISTER QUERY q{i} AS {MIXED[i % len(MIXED)].format(i=i)}" for i in range(queries)]
    rows: list[dict[str, Any]] = []
    for name, statements in (("one shape", moving), ("four shapes, mixed", mixed)):
        share = statements[:one_by_one]
        full, seconds = _planned(";\n".join(share), is_one_by_one=True)
        at_once, _ = _planned(";\n".join(share))
        _refuse_difference(full, at_once)
        rows.append(_row(f"{name}: each statement read by itself", len(share), seconds))
        plan, seconds = _planned(";\n".join(statements))
        rows.append(_row(f"{name}: what repeats is read once", queries, seconds))
        if statements is moving:
            by_script = plan
    script = [f"REGISTER PATTERN p{i} AS {PATTERN.format(i=i)}" for i in range(patterns)]
    full, seconds = _planned(";\n".join(script[:few]), is_one_by_one=True)
    at_once, _ = _planned(";\n".join(script[:few]))
    _refuse_difference(full, at_once)
    in_bulk = [_row("patterns: each read by itself", few, seconds)]
    _, seconds = _planned(";\n".join(script))
    in_bulk.append(_row("patterns of one shape", patterns, seconds))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "queries.parquet"
        _write_table(path, queries)
        by_table, seconds = _planned(f"REGISTER QUERIES FROM '{path}'")
    _refuse_difference(by_script, by_table)
    rows.append(_row("a query table of Parquet", queries, seconds))
    rows.append(_row("another one beside them, while they live", 1, _one_more(moving)))
    facts = {
        "queries": queries,
        "times faster, one shape": _ratio(rows[0], rows[1]),
        "times faster, four shapes": _ratio(rows[2], rows[3]),
        "times faster, a query table": _ratio(rows[0], rows[4]),
        **_sizes(by_script, queries),
    }
    facts["times faster, patterns"] = _ratio(*in_bulk)
    facts["seconds of 10,000 patterns (2 at most)"] = in_bulk[1]["seconds"] * 10_000 / patterns
    report("registration", REASON, [*rows, *in_bulk], facts)
    return {"ratio": _ratio(rows[0], rows[1])}


def _planned(script: str, is_one_by_one: bool = False) -> tuple[Plan, float]:
    """The plan, and the best of three in processor time, so that others on the machine do not show."""
    plans: list[Plan] = []

    def plan() -> None:
        planner = Planner(is_one_by_one=is_one_by_one)
        planner.run_script(STREAM)
        planner.run_script(script)
        plans[:] = [planner.plan()]

    seconds = min(timeit.repeat(plan, timer=time.process_time, number=1, repeat=3))
    return plans[0], seconds


def _one_more(statements: list[str], times: int = 21) -> float:
    """The median; what comes is planned, what is there is not looked at."""
    living = LivingPlan()
    living.execute(STREAM + ";\n".join(statements))
    living.start()
    seconds = []
    for number in range(times):
        started = time.process_time()
        change = living.execute(f"REGISTER QUERY more{number} AS {MOVING.format(i=number)}")
        seconds.append(time.process_time() - started)
        assert change.new_queries.tolist() == [len(statements) + number]
    regions = change.plan.streams[0].regions
    assert len(regions) == len(statements) + times and int(regions.focal[-1]) >= 0
    return float(np.median(seconds))


def _write_table(path: Path, queries: int) -> None:
    side = pa.array(np.full(queries, 0.01))
    parameters = pa.StructArray.from_arrays([pa.array(np.arange(queries)), side], ["id", "side"])
    template = "SELECT id FROM objects INSIDE ('M', :id, :side, :side)"
    names = [f"q{i}" for i in range(queries)]
    pq.write_table(
        pa.table({"name": names, "template": [template] * queries, "parameters": parameters}), path
    )


def _row(way: str, queries: int, seconds: float) -> dict[str, Any]:
    return {"way": way, "queries": queries, "seconds": seconds, "µs a query": 1e6 * seconds / queries}


def _ratio(slow: dict[str, Any], fast: dict[str, Any]) -> float:
    return float(slow["µs a query"] / fast["µs a query"])


def _sizes(plan: Plan, queries: int) -> dict[str, float]:
    data = pickle.dumps(for_shards(plan))
    started = time.process_time()
    pickle.loads(data)
    return {
        "bytes a query, of a pickled plan": len(pickle.dumps(plan)) / queries,
        "bytes a query, of what a worker loads": len(data) / queries,
        "seconds to load it": time.process_time() - started,
    }


def _refuse_difference(a: Plan, b: Plan) -> None:
    assert a.queries.names.equals(b.queries.names) and a.queries.sql.equals(b.queries.sql)
    for name in ("stream", "template", "begin", "end"):
        assert (getattr(a.queries, name) == getattr(b.queries, name)).all(), name
    (ours,), (theirs,) = a.streams, b.streams
    assert ours.templates == theirs.templates and ours.kept == theirs.kept
    assert ours.focals.equals(theirs.focals) and ours.regions.wkb == theirs.regions.wkb
    assert all(x.equals(y) for x, y in zip(ours.constants, theirs.constants, strict=True))
    for name in ("query", "template", "row_in_template", "kind", "a", "b", "c", "d", "focal", "begin", "end"):
        assert (getattr(ours.regions, name) == getattr(theirs.regions, name)).all(), name
