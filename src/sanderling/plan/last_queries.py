"""Queries as rows, each with where it is: PLACE keeps one reading of each, as of each object."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64
from sanderling.clock import ALWAYS
from sanderling.plan.build.asked import Asked
from sanderling.plan.many.cohorts import Cohort, Member
from sanderling.space.coverages import bounds_of

ROWS = pa.schema(
    [
        ("name", pa.string()), ("kind", pa.string()), ("stream", pa.string()), ("begun", pa.timestamp("us")),
        ("sql", pa.string()), ("focal", pa.string()), ("k", pa.int64()), ("x", pa.float64()),
        ("y", pa.float64()),
    ]
)  # fmt: skip


def rows_of(members: Iterable[Member], stream: str | None = None) -> pa.Table:
    """In order of registration; `stream`: those that read it. NULL: from the beginning; no focal object.

    A place is the middle of a region, or what a kNN is nearest to; where a focal object is its readings say.
    """
    found: dict[int, tuple[Cohort, list[int], list[int]]] = {}
    for number, member in enumerate(members):
        _, rows, numbers = found.setdefault(id(member.cohort), (member.cohort, [], []))
        rows.append(member.row)
        numbers.append(number)
    order = list[int]()
    tables = [ROWS.empty_table()]
    for cohort, rows, numbers in found.values():
        if stream is None or stream in {scan.stream.name for scan in cohort.query.scans}:
            tables.append(_rows(cohort, np.array(rows)))
            order += numbers
    return pa.concat_tables(tables).take(pa.array(np.argsort(order))).combine_chunks()


def _rows(cohort: Cohort, rows: I64) -> pa.Table:
    n, begin = len(rows), cohort.begin[rows]
    (x, y), focal, k = _where(cohort, rows)
    columns = {
        "name": cohort.names.take(pa.array(rows)), "kind": [cohort.query.kind] * n,
        "stream": [cohort.query.stream.name] * n,
        "begun": pa.array(begin, mask=begin == ALWAYS).cast(pa.timestamp("us")),
        "sql": cohort.sql.take(pa.array(rows)), "focal": focal, "k": k,
        "x": pa.array(x, from_pandas=True), "y": pa.array(y, from_pandas=True),
    }  # fmt: skip
    return pa.table(columns, schema=ROWS)


def _where(cohort: Cohort, rows: I64) -> tuple[tuple[F64, F64], pa.Array, pa.Array]:
    """Of its first scan: of a query that joins a table there is no one place."""
    part, n = cohort.parts[0], len(rows)
    asked, nowhere = part.asked, np.full(n, np.nan)
    focal, k, place = pa.nulls(n, pa.string()), pa.nulls(n, pa.int64()), (nowhere, nowhere)
    if asked.nearest is not None and len(asked.nearest.k) == len(cohort):
        near = asked.nearest
        k = pa.array(near.k[rows])
        if near.focals is not None:
            return place, near.focals.take(pa.array(rows)).cast(pa.string()), k
        return (near.x[rows], near.y[rows]), focal, k
    if part.scan.table is not None or len(part) != len(cohort):
        return place, focal, k
    if asked.focals is not None:
        return place, asked.focals.take(pa.array(rows)).cast(pa.string()), k
    return _middles(asked, rows), focal, k


def _middles(asked: Asked, rows: I64) -> tuple[F64, F64]:
    """NaN of what is everywhere."""
    numbers = np.stack(asked.areas.numbers)[:, rows]
    boxes = np.array([bounds_of(asked.areas.kind, *column) for column in numbers.T.tolist()])
    with np.errstate(invalid="ignore"):
        x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    is_somewhere = np.isfinite(x) & np.isfinite(y)
    return np.where(is_somewhere, x, np.nan), np.where(is_somewhere, y, np.nan)


__all__ = ["ROWS", "rows_of"]
