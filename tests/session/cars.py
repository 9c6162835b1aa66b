"""Readings that are dropped into a folder, and what a session makes of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from sanderling.session.session import Session
from sanderling.session.subscription import Subscription

SECOND = 1_000_000
ROWS = pa.schema(
    [
        ("the `id`", pa.string()), ("when", pa.timestamp("us", tz="UTC")), ("x", pa.float64()),
        ("y", pa.float32()), ("left", pa.bool_()),
    ]
)  # fmt: skip
Row = tuple[str | None, int | None, float | None, float, bool]  # key, second, x, y, gone


class Cars:
    """A folder of files, each of them a batch; a stream of them is called `rows`."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.folder.mkdir()
        self.files = 0

    def frame(self, spark: SparkSession) -> DataFrame:
        schema = "`the ``id``` STRING, when TIMESTAMP, x DOUBLE, y FLOAT, left BOOLEAN"
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder))

    def declare(self, session: Session) -> None:
        session.stream(
            self.frame(session.spark), name="the cars", key="the `id`", time="when", location=("x", "y"),
            gone="left",
        )  # fmt: skip

    def come(self, *rows: Row) -> None:
        columns = [pa.array(column) for column in zip(*rows, strict=True)]
        columns[1] = pa.array([None if r[1] is None else r[1] * SECOND for r in rows], pa.int64())
        table = pa.Table.from_arrays(
            [c.cast(f.type) for c, f in zip(columns, ROWS, strict=True)], schema=ROWS
        )
        temporary = self.folder / "_new"
        pq.write_table(table, temporary)
        os.utime(temporary, (self.files, self.files))  # Spark takes files in the order of their times
        temporary.replace(self.folder / f"{self.files:03}.parquet")
        self.files += 1


def told(batches: Iterable[pa.RecordBatch]) -> list[tuple[int, int, str]]:
    """Signed rows as (second, sign, key), sorted."""
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    return sorted((int(tick.replace(tzinfo=UTC).timestamp()), sign, key) for tick, sign, key in rows)


def waiting(subscription: Subscription) -> list[tuple[int, int, str]]:
    """What has come and not been read."""
    return told(iter(lambda: subscription.poll(0), None))


def answer(session: Session, name: str) -> list[str]:
    return sorted(session.answer(name).column(0).to_pylist())


def collected(frame: DataFrame, folder: Path) -> list[dict[str, Any]]:
    """All there is by now in a sink that is exactly-once; called again it goes on."""
    writer = frame.writeStream.format("parquet").option("path", str(folder / "rows"))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    return [row.asDict() for row in frame.sparkSession.read.parquet(str(folder / "rows")).collect()]


def second(moment: datetime) -> int:
    return int(moment.timestamp())
