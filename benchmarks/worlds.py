"""Objects that all move in every tick, in the unit square, as Parquet; seeded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def write_walk(
    path: Path, objects: int, ticks: int, step: float, seed: int = 1, types: tuple[str, ...] = ()
) -> Path:
    """A random walk with reflecting borders: id, ts in seconds, x, y; one reading an object and tick.

    If there are types, they take turns: what an object is follows from its number.
    """
    rng = np.random.default_rng(seed)
    x, y = rng.random(objects), rng.random(objects)
    ids = pa.array(np.arange(objects))
    schema = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("x", pa.float64()), ("y", pa.float64())])
    kinds = [pa.array(types).take(pa.array(np.arange(objects) % len(types)))] if types else []
    if types:
        schema = schema.append(pa.field("type", pa.string()))
    with pq.ParquetWriter(path, schema) as writer:
        for tick in range(1, ticks + 1):
            x, y = (1 - np.abs(1 - np.abs(v + rng.normal(0, step, objects))) for v in (x, y))
            columns = [ids, pa.array(np.full(objects, tick)), pa.array(x), pa.array(y), *kinds]
            writer.write_table(pa.table(columns, schema=schema))
    return path


def random_boxes(n: int, side: float, seed: int = 2) -> np.ndarray:  # type: ignore[type-arg]
    """n squares in the unit square, a row each: x1, y1, x2, y2."""
    corner = np.random.default_rng(seed).random((n, 2)) * (1 - side)
    return np.hstack([corner, corner + side])
