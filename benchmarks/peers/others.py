"""What one would write instead: all answers anew at every tick, and how they differ from those before.

Each reads a tick's readings from Parquet and writes what changed to Parquet, tick by tick, and gives when
each tick was done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from scipy.spatial import cKDTree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

TOLD = pa.schema([("query", pa.int64()), ("tick", pa.int64()), ("sign", pa.int8()), ("id", pa.int64())])
# A pair of a query and an object as one number: there are fewer objects.
MANY = 1 << 32

Answers = Callable[[I64, F64, F64], I64]  # of all queries, at one tick


def by_duckdb(readings: Path, boxes: F64, out: Path) -> list[float]:
    """Boxes by the cells that they lie in, joined with the readings' cells; EXCEPT both ways."""
    out.mkdir()
    cells = round(1 / (boxes[0, 2] - boxes[0, 0]))
    names = ("query", "x1", "y1", "x2", "y2")
    given = pa.table(dict(zip(names, [np.arange(len(boxes)), *boxes.T], strict=True)))
    marks = []
    with duckdb.connect() as base:
        base.register("given", given)
        base.execute(
            f"""CREATE TABLE boxes AS SELECT *, u::BIGINT AS u, v::BIGINT AS v
              FROM given, range({cells + 1}) a(u), range({cells + 1}) b(v)
              WHERE u BETWEEN floor(x1 * {cells}) AND floor(x2 * {cells})
                AND v BETWEEN floor(y1 * {cells}) AND floor(y2 * {cells});
            CREATE TABLE before (query BIGINT, id BIGINT)"""
        )
        for tick in range(1, ticks_in(readings) + 1):
            base.execute(
                f"""CREATE TABLE now AS SELECT query, id FROM boxes JOIN (
                  SELECT id, x, y, floor(x * {cells})::BIGINT AS u, floor(y * {cells})::BIGINT AS v
                  FROM read_parquet('{readings}') WHERE ts = {tick}) USING (u, v)
                WHERE x BETWEEN x1 AND x2 AND y BETWEEN y1 AND y2;
                COPY (SELECT query, {tick}::BIGINT AS tick, 1::TINYINT AS sign, id
                        FROM (FROM now EXCEPT FROM before)
                      UNION ALL SELECT query, {tick}, -1, id FROM (FROM before EXCEPT FROM now))
                  TO '{out}/{tick:06}.parquet';
                DROP TABLE before;
                ALTER TABLE now RENAME TO before"""
            )
            marks.append(time.perf_counter())
    return marks


def by_strtree(readings: Path, boxes: F64, out: Path) -> list[float]:
    """A tree of the boxes, built once, asked for all places."""
    tree = shapely.STRtree(shapely.box(*boxes.T))

    def now(ids: I64, x: F64, y: F64) -> I64:
        place, box = tree.query(shapely.points(x, y), predicate="intersects")
        return np.asarray(box * MANY + ids[place])

    return _told(readings, now, out)


def by_kdtree(readings: Path, queries: int, k: int, out: Path) -> list[float]:
    """A tree of all places, built anew at every tick, asked by all cores for the nearest of some objects."""

    def now(ids: I64, x: F64, y: F64) -> I64:
        places = np.column_stack([x, y])
        _, near = cKDTree(places).query(places[:queries], k + 1, workers=-1)
        return np.asarray((ids[:queries, None] * MANY + ids[near[:, 1:]]).ravel())

    return _told(readings, now, out)


def _told(readings: Path, now: Answers, out: Path) -> list[float]:
    before, marks = np.empty(0, np.int64), []
    with pq.ParquetWriter(out, TOLD) as writer:
        for tick, (ids, x, y) in enumerate(_ticks(readings), start=1):
            pairs = np.sort(now(ids, x, y))
            came = np.setdiff1d(pairs, before, assume_unique=True)
            went = np.setdiff1d(before, pairs, assume_unique=True)
            both, before = np.concatenate([went, came]), pairs
            sign = np.repeat(np.array([-1, 1], np.int8), [len(went), len(came)])
            columns = [both // MANY, np.full(len(both), tick), sign, both % MANY]
            writer.write_table(pa.table(dict(zip(TOLD.names, columns, strict=True)), schema=TOLD))
            marks.append(time.perf_counter())
    return marks


def _ticks(readings: Path) -> Iterator[tuple[I64, F64, F64]]:
    """A tick is a row group."""
    with pq.ParquetFile(readings) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=["id", "x", "y"])
            ids, x, y = (column.to_numpy() for column in table.columns)
            yield ids, x, y


def ticks_in(readings: Path) -> int:
    return int(pq.read_metadata(readings).num_row_groups)
