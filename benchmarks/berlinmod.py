"""BerlinMOD's nine queries of a stream: how many readings a second each takes, five at once, and all of them.

All of it but Spark, one after the other in one process: packing, two shards, merge partitions, lines.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from benchmarks import pictures
from benchmarks.engine import Whole
from benchmarks.report import report
from sanderling.batches import ROW, TS
from sanderling.deliver.changes import gather
from sanderling.plan.planner import Planner

REASON = (
    "readings a second of processor time, of vehicles around Brussels: each query by itself, several at once"
)
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "berlinmod" / "brussels_trips.csv.gz"
AT_ONCE = 5
BATCH = 5_000


def run(rows: int | None = None, rounds: int = 3, data: Path = DATA) -> dict[str, float]:
    """All in one run, in turns; together they tell what each tells by itself."""
    readings = read(data)[:rows]
    queries = dict(re.findall(r"REGISTER QUERY (\w+) AS(.*?);", _script(), re.S))
    cases: dict[str, list[str]] = {"no queries": [], **{name: [name] for name in queries}}
    cases |= {f"the first {AT_ONCE} at once": list(queries)[:AT_ONCE], "all at once": list(queries)}
    taken = dict.fromkeys(cases, (float("inf"), 0))
    for turn in range(rounds + 1):
        for label, names in cases.items():
            some = readings if turn else readings[:BATCH]  # the first turn compiles
            measured = _measured({name: queries[name] for name in names}, some)
            taken[label] = min(taken[label], measured) if turn else taken[label]
    for label, names in cases.items():
        assert taken[label][1] == sum(taken[name][1] for name in names), label
    found: list[dict[str, Any]] = [
        {"queries": label, "at once": len(cases[label]), "readings a second": len(readings) / seconds,
         "updates": updates}
        for label, (seconds, updates) in taken.items()
    ]  # fmt: skip
    report("berlinmod", REASON, found, {"readings": len(readings)})
    pictures.berlinmod(found)
    return {str(row["queries"]): float(row["readings a second"]) for row in found}


def read(path: Path) -> pa.Table:
    """In order of time; of one vehicle at one time the last."""
    table = csv.read_csv(path).select(["time", "veh_id", "trip_id", "lon", "lat"])
    table = table.filter(pc.is_valid(table.column("time")))
    time_us = table.column("time").cast(pa.timestamp("us", "UTC"))
    table = table.set_column(0, "time", time_us.cast(pa.timestamp("us")))
    table = table.append_column(TS, time_us.cast(pa.int64()))
    return table.take(pa.array(np.argsort(table.column(TS).to_numpy(), kind="stable")))


def _script() -> str:
    text = (
        (EXAMPLES / "berlinmod.sql").read_text().replace("berlinmod_places", f"{EXAMPLES}/berlinmod_places")
    )
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def _measured(asked: dict[str, str], readings: pa.Table) -> tuple[float, int]:
    """Seconds of the processor, and how many updates."""
    planner = Planner(EXAMPLES)
    planner.run_script(_script().partition("REGISTER")[0])
    for name, select in asked.items():
        planner.run_script(f"REGISTER QUERY {name} AS{select};")
    engine, updates = Whole(planner.plan()), 0
    started = time.process_time()
    for first in range(0, len(readings), BATCH):
        engine.number += 1
        some = readings.slice(first, BATCH)
        some = some.append_column(ROW, pa.array(np.arange(1, len(some) + 1)))
        changes = gather(engine.plan, engine.told(some))
        updates += sum(len(engine.lines.of(change.rows)) for change in changes.values())
    return time.process_time() - started, updates
