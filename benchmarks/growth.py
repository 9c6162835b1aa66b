"""What more of everything costs: seconds a tick, and memory, as objects and queries grow."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import pictures
from benchmarks.engine import Engine
from benchmarks.report import report
from benchmarks.squares import plan_of, squares_script

REASON = "squares that follow objects, everything but Spark: what more of everything costs"


@dataclass(frozen=True)
class Case:
    """How much there is: parked objects report once; idle squares follow objects far away, that do too."""

    label: str
    moving: int
    parked: int = 0
    squares: int = 0
    idle_squares: int = 0
    are_parked_outside: bool = True


def cases(n: int) -> list[Case]:
    return [
        Case("as it is", n, squares=n),
        Case("2 × objects, all moving", 2 * n, squares=n),
        Case("2 × queries", n, squares=2 * n),
        Case("10 × objects, the added ones stand still", n, parked=9 * n, squares=n),
        Case("10 × queries, the added ones outside the busy area", n, squares=n, idle_squares=9 * n),
        Case("10 × objects, the added ones under the squares", n, parked=9 * n, squares=n,
             are_parked_outside=False),
    ]  # fmt: skip


def measure(case: Case, side: float, step: float, ticks: int) -> dict[str, float]:
    """Seconds, updates and memory of one case, in this process."""
    rng = np.random.default_rng(11)
    n = case.moving
    # Focal objects of idle squares report once, from a wide land where hardly anybody else is.
    total = n + case.parked + case.idle_squares
    x, y = rng.random(total), rng.random(total)
    x[n : n + case.parked] += 2.0 if case.are_parked_outside else 0.0
    x[n + case.parked :] = 4.0 + 30 * x[n + case.parked :]
    y[n + case.parked :] *= 30
    focals = np.concatenate([np.arange(case.squares) % n, np.arange(n + case.parked, total)])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = plan_of(squares_script(folder, folder / "none.parquet", focals, side))
    engine = Engine(plan)
    engine.tick({"id": np.arange(total), "x": x, "y": y})
    seconds, updates = [], []
    for _ in range(ticks + 2):
        x[:n] += rng.normal(0, step, n)
        y[:n] += rng.normal(0, step, n)
        took, count = engine.tick({"id": np.arange(n), "x": x[:n].copy(), "y": y[:n].copy()})
        seconds.append(took)
        updates.append(count)
    # The first ticks make room for everything.
    return {
        "seconds a tick": float(np.median(seconds[2:])), "updates a tick": float(np.median(updates[2:])),
        "bytes held": float(held_bytes(engine.shards)),
    }  # fmt: skip


def measure_apart(case: Case, side: float, step: float, ticks: int) -> dict[str, float]:
    """The same in a process of its own, where it finds nothing that another has made ready."""
    said = subprocess.run(
        [sys.executable, "-m", "benchmarks.growth", json.dumps([asdict(case), side, step, ticks])],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return found


def run(
    objects: int = 100_000, side: float = 0.01, step: float = 0.0005, ticks: int = 9, apart: int = 6
) -> dict[str, Any]:
    """The first so many cases in processes of their own."""
    rows: list[dict[str, Any]] = []
    for number, case in enumerate(cases(objects)):
        taken = (measure_apart if number < apart else measure)(case, side, step, ticks)
        rows.append({"case": case.label} | taken)
    base = rows[0]
    for row in rows:
        row["times"] = row["seconds a tick"] / base["seconds a tick"]
        row["µs an update"] = 1e6 * row["seconds a tick"] / max(row["updates a tick"], 1)
    facts = {
        "objects": objects, "queries": objects,
        "bytes an object": (rows[1]["bytes held"] - base["bytes held"]) / objects,
        "bytes a query": (rows[2]["bytes held"] - base["bytes held"]) / objects,
        "times with 10 × objects, the added ones still": rows[3]["times"],
        "times with 10 × queries outside": rows[4]["times"],
    }  # fmt: skip
    report("growth", REASON, rows, facts)
    pictures.growth(rows, facts)
    return {"rows": rows, **facts}


def held_bytes(thing: object, seen: set[int] | None = None) -> int:
    """The arrays and columns that something holds, however deep, each once."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes) if thing.base is None else held_bytes(thing.base, seen)
    if isinstance(thing, (pa.Array, pa.ChunkedArray, pa.Table)):
        return int(thing.get_total_buffer_size())
    if isinstance(thing, dict):
        parts = list(thing.values())
    elif isinstance(thing, (list, tuple)):
        parts = list(thing)
    else:
        names = [n for c in type(thing).__mro__ for n in getattr(c, "__slots__", ())]
        parts = [getattr(thing, n, None) for n in names] + list(getattr(thing, "__dict__", {}).values())
    return sum(held_bytes(part, seen) for part in parts)


if __name__ == "__main__":
    case, side, step, ticks = json.loads(sys.argv[1])
    print(json.dumps(measure(Case(**case), side, step, ticks)))
