"""A hundred triggers over the buoys' readings, each with alerts for 1 % of them, end to end on Spark.

All have one shape: a band of sea temperature, one of air temperature and one of wind, each with other bounds.
"""

from __future__ import annotations

import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.json as lines
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.buoys import MEASURED, VARIABLES, Stream, Wishes, judged, stream, wishes
from benchmarks.report import report
from benchmarks.squares import plan_of
from benchmarks.ticks_on_spark import measure
from benchmarks.triggers import beside_the_twin, part, solver_of, tuned

REASON = "triggers over the readings of buoys, each telling 1 %, end to end on Spark"
PROFILE_REASON = "where a batch's time goes with triggers: milliseconds on the way of the slower worker"
ASKED_OF = tuple(MEASURED.index(name) for name in ("sea_surface_temp", "air_temp", "zon_winds"))
SECOND = 1_000_000
LATER = "AT '2100-01-01' REGISTER QUERY later AS SELECT COUNT(*) AS n FROM buoys"


def run(
    batch: int = 200_000, batches: int = 5, numbers: tuple[int, ...] = (5, 100), rounds: int = 2,
    plain: int = 20_000, has_echo: bool = True, spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    readings = part(stream(batch * batches), 0, batch * batches)
    asked = tuned(wishes(max(numbers), 4.0, ASKED_OF), readings, 0.01)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        echo = declared(write(folder / "buoys.parquet", readings))
        texts = {"echo": echo} if has_echo else {}
        # With a query that has not begun: the second stage is there, and nothing goes through it.
        texts["two stages"] = f"{echo};\n{LATER}"
        for number in numbers:
            texts[f"{number} triggers"] = ";\n".join([echo, *statements(asked.some(slice(number)))])
        taken = measure({n: (plan_of(t), t) for n, t in texts.items()}, folder, batch, rounds, spark)
        for number in numbers:
            _check(folder / f"{number} triggers.jsonl", asked.some(slice(number)), readings)
    names = {"echo": "echo: no queries", "two stages": "echo, with a merge stage that is idle"}
    rows = [
        {
            "pipeline": names.get(label, label), "seconds a batch": taken.seconds(label),
            "readings a second": batch / taken.seconds(label),
            "times echo": taken.seconds(label) / taken.seconds("two stages"),
            "alerts a batch": taken.updates[label] / batches,
        }
        for label in texts
    ]  # fmt: skip
    most = taken.seconds(f"{max(numbers)} triggers")
    facts = {
        "readings": len(readings.ts), "readings a batch": batch,
        "verbosity, %": 100 * taken.updates[f"{max(numbers)} triggers"] / len(readings.ts) / max(numbers),
        **{f"kernel alone, readings a second, {n}": kernel(asked.some(slice(n)), readings) for n in numbers},
        "times faster than the plain twin": beside_the_twin(asked, part(readings, batch, plain)),
        "times echo with a merge stage": most / taken.seconds("two stages"),
    }  # fmt: skip
    report("triggers_on_spark", REASON, rows, facts)
    report("triggers_profile", PROFILE_REASON, taken.profile(), {})
    return {"ratio": facts["times echo with a merge stage"]}


def kernel(asked: Wishes, readings: Stream) -> float:
    """Readings a second of one core, by the processor's time."""
    solver, events = solver_of(asked, "TIGHT"), judged(readings, asked)
    started = time.process_time()
    solver.advance(events)
    return len(readings.ts) / (time.process_time() - started)


def write(path: Path, readings: Stream) -> Path:
    columns = {"id": readings.buoy, "ts": readings.ts // SECOND, "x": readings.x, "y": readings.y}
    ranks = {
        name: pa.array(rank, from_pandas=True) for name, rank in zip(MEASURED, readings.ranks, strict=True)
    }
    pq.write_table(pa.table(columns | ranks), path)
    return path


def declared(path: Path) -> str:
    measured = ", ".join(f"{name} DOUBLE" for name in MEASURED)
    return (
        f"CREATE STREAM buoys (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, {measured})"
        f" KEY id TIME ts LOCATION (x, y) WITH (path = '{path}', tick = '1 hour')"
    )


def statements(asked: Wishes) -> list[str]:
    low, high = asked.bands()
    names = [f"V{v + 1}" for v in range(VARIABLES)]
    found = []
    for t, radius in enumerate(asked.radius.tolist()):
        conditions = [
            f"{name}.{MEASURED[m]} BETWEEN {a!r} AND {b!r}"
            for name, m, a, b in zip(names, asked.measured[t], low[t].tolist(), high[t].tolist(), strict=True)
        ]
        for one, other in pairwise(names):
            conditions += [
                f"DISTANCE({one}, {other}) < {radius!r}",
                f"{other}.ts - {one}.ts IN [0, {asked.days} DAYS]",
            ]
        variables = ", ".join(f"buoys AS {name}" for name in names)
        found.append(f"CREATE TRIGGER t{t} FOR {variables} WHEN {' AND '.join(conditions)}")
    return found


def _check(out: Path, asked: Wishes, readings: Stream) -> None:
    """The same alerts as the kernel's, judged without SQL."""
    found = solver_of(asked, "TIGHT").advance(judged(readings, asked))
    wanted = [found.trigger]
    for events in found.order.T:
        wanted += [readings.buoy[events], readings.ts[events] // SECOND]
    told = lines.read_json(out)
    rows = told.column("row").combine_chunks()
    names = [f"V{v + 1}_{column}" for v in range(VARIABLES) for column in ("id", "ts")]
    got = [np.array([int(q[1:]) for q in told.column("query").to_pylist()])]
    got += [rows.field(name).to_numpy() for name in names]
    assert np.array_equal(*(np.stack(c)[:, np.lexsort(c)] for c in (got, wanted))), "other alerts"
