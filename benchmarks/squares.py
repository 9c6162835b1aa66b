"""A world of squares: every object reports in every tick, and squares follow some of the objects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan

I64 = npt.NDArray[np.int64]

STREAM = (
    "CREATE STREAM objects (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
    " WITH (path = '{path}')"
)
TEMPLATE = "SELECT id FROM objects INSIDE ('M', :id, :side, :side)"


def write_queries(path: Path, focals: I64, side: float) -> Path:
    """A query table: a square around each of the focal objects."""
    n = len(focals)
    parameters = pa.StructArray.from_arrays([pa.array(focals), pa.array(np.full(n, side))], ["id", "side"])
    names = pa.array(np.char.add("q", np.arange(n).astype(str)))
    pq.write_table(
        pa.table({"name": names, "template": pa.array([TEMPLATE] * n), "parameters": parameters}), path
    )
    return path


def squares_script(folder: Path, readings: Path, focals: I64, side: float, at: str = "") -> str:
    """The stream, and a square around each of the focal objects, from a time on."""
    stream = STREAM.format(path=readings)
    if not len(focals):
        return stream
    queries = write_queries(folder / f"squares_{len(focals)}.parquet", focals, side)
    return f"{stream};\n{at}REGISTER QUERIES FROM '{queries}'"


def plan_of(script: str) -> Plan:
    planner = Planner()
    planner.run_script(script)
    return planner.plan()
