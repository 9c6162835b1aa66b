"""A DataFrame that the user brings, as a stream: its rows are checked, routed and packed in its own tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark_types

from sanderling.batches import Slice
from sanderling.catalog import Stream
from sanderling.ingest.formats.parquet import ParquetRows
from sanderling.ingest.formats.rows import Rows, whole
from sanderling.ingest.judge import Judge
from sanderling.ingest.letters import Faults
from sanderling.ingest.read import Ingested
from sanderling.plans.columns import by_places
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.sources.source import COLUMNS, Layout, Packing
from sanderling.types import TYPES, SqlType

# Rows packed at once; a partition with more becomes several slices.
SLICE_ROWS = 250_000

# Of a batch, the time that Spark has written down with its offsets: a batch that is read again has it again
# (decision 46). It is a number in the code that Spark makes of a plan, which is then compiled anew in every
# batch, here and in each task; of a function like `transform` Spark makes no code.
READ_AT = "element_at(transform(array(unix_micros(current_timestamp())), read_at -> read_at), 1)"

_TYPES: dict[type[spark_types.DataType], str] = {
    spark_types.BooleanType: "BOOLEAN",
    spark_types.ByteType: "TINYINT",
    spark_types.ShortType: "SMALLINT",
    spark_types.IntegerType: "INT",
    spark_types.LongType: "BIGINT",
    spark_types.FloatType: "FLOAT",
    spark_types.DoubleType: "DOUBLE",
    spark_types.DecimalType: "DOUBLE",
    spark_types.StringType: "STRING",
    spark_types.VarcharType: "STRING",
    spark_types.CharType: "STRING",
    spark_types.TimestampType: "TIMESTAMP",
    spark_types.TimestampNTZType: "TIMESTAMP",
    spark_types.DateType: "DATE",
}


def columns_of(frame: DataFrame) -> dict[str, SqlType]:
    """The columns of a DataFrame that our types can hold."""
    known = {f.name: _TYPES.get(type(f.dataType)) for f in frame.schema.fields}
    return {name: TYPES[type_] for name, type_ in known.items() if type_ is not None}


@dataclass(frozen=True, slots=True)
class Frame:
    """A streaming DataFrame as the source of one stream."""

    stream: str
    frame: DataFrame

    def blobs(self, spark: SparkSession, layout: Layout) -> DataFrame:
        packing = layout.packing(spark, self.stream)
        columns = packing.plan.stream.columns
        names = [f"`{c.name.replace('`', '``')}`" for c in columns]
        wanted = self.frame.selectExpr(*names, READ_AT)
        # Spark takes a dot or a backtick in a name for a part of the language here: columns go by number.
        return wanted.toDF(*by_places(len(columns) + 1)).mapInArrow(Packer(packing), COLUMNS)


@dataclass(frozen=True, slots=True)
class Packer:
    """Rows of a partition to blobs."""

    packing: Packing

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        begin_task()
        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        stream = self.packing.plan.stream
        is_ordered = stream.partition is not None  # rows of other tasks come neither before nor after ours
        for number, rows in enumerate(_slices(batches), partition * 1_000_000):
            piece = Slice(
                number, stream.name, stream.name, 0, 0, 1, is_last=False, is_ordered=is_ordered, is_live=True
            )
            read_at_us = rows.column(rows.num_columns - 1)[0].as_py()
            rows = rows.select(range(rows.num_columns - 1)).rename_columns([c.name for c in stream.columns])
            yield from self.packing.rows(piece, judged(stream, rows, read_at_us))


def _slices(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= SLICE_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if any(b.num_rows for b in waiting):
        yield pa.Table.from_batches(waiting)


def judged(stream: Stream, table: pa.Table, read_at_us: int) -> Ingested:
    """Rows that can be readings, and letters about the others; they came at this time."""
    source = ParquetRows(table, 1)
    numbers = np.arange(1, table.num_rows + 1, dtype=np.int64)
    rows = Rows(numbers, tuple(whole(column) for column in table.columns), Faults(), source)
    readings = Judge(stream, rows, read_at_us).readings()
    letters = rows.faults.letters(stream.name, stream.name, source.raw)
    return Ingested(readings, letters, readings.num_rows + letters.num_rows)
