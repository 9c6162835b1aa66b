"""What is sent to a server, as a Spark source: each sending is a file, and we read the files.

0.jsonl  1.parquet  2.csv  …     an offset is the number of a file, which stays until Spark has committed it
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from sanderling.batches import Slice
from sanderling.spark.engines.workers import begin_task
from sanderling.spark.sources.source import BlobSource, Layout, Packing, encoding_with, found, left

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "sanderling-posted"
FORMATS = {".jsonl": "json", ".csv": "csv", ".parquet": "parquet"}
# Files of one batch: what came while nobody looked is taken a piece at a time.
FILES_PER_BATCH = 256


@dataclass(frozen=True, slots=True)
class Posted:
    """What is sent for one stream."""

    stream: str
    folder: Path

    def blobs(self, spark: SparkSession, layout: Layout) -> DataFrame:
        spark.dataSource.register(PostedSource)
        mail = Mail(layout.packing(spark, self.stream), str(self.folder.resolve()))
        where = left(layout.work / f"posted-source-{self.folder.name}", mail, ENCODING)
        return spark.readStream.format(FORMAT).option("mail", where).load()


@dataclass(frozen=True, slots=True)
class Mail:
    """What the readers need: where the files are, and how their rows are packed."""

    packing: Packing
    folder: str


ENCODING = encoding_with(Mail)


def file_of(folder: Path, number: int) -> Path | None:
    """The file with a number, whatever its form."""
    return next((path for end in FORMATS if (path := folder / f"{number}{end}").exists()), None)


def numbers_in(folder: Path) -> list[int]:
    return sorted(int(p.stem) for p in folder.iterdir() if p.suffix in FORMATS and p.stem.isdigit())


def piece_of(number: int, path: Path) -> Slice:
    """All of a file. Its rows are in the order in which they were sent."""
    start, first = 0, 1
    if path.suffix == ".parquet":
        stop, first = pq.read_metadata(path).num_rows, 0
    else:
        stop = os.path.getsize(path)
    if path.suffix == ".csv":
        with open(path, "rb") as file:
            start, first = len(file.readline()), 2
    return Slice(number, path.name, str(path), start, stop, first, is_last=False, is_live=True)


class PostedSource(BlobSource):
    """The Spark data source `sanderling-posted`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamReader(self, schema: Any) -> PostedReader:
        return PostedReader(found(self.options["mail"], Mail, ENCODING))


class PostedReader(DataSourceStreamReader):
    def __init__(self, mail: Mail):
        self.mail = mail

    @property
    def folder(self) -> Path:
        return Path(self.mail.folder)

    def initialOffset(self) -> dict[str, int]:
        return {"file": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:
        number = start["file"]
        while number - start["file"] < FILES_PER_BATCH and file_of(self.folder, number) is not None:
            number += 1
        return {"file": number}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """A part of the files for each shard; a partition costs a task."""
        files = range(start["file"], end["file"])
        size = max(1, -(-len(files) // len(self.mail.packing.keys)))
        return [InputPartition(files[at : at + size]) for at in range(0, len(files), size)]

    def commit(self, end: dict[str, int]) -> None:
        for number in numbers_in(self.folder):
            path = file_of(self.folder, number) if number < end["file"] else None
            if path is not None:
                path.unlink(missing_ok=True)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        from sanderling.ingest.read import read_slice

        begin_task()
        for number in partition.value:
            path = file_of(self.folder, number)
            assert path is not None
            stream = replace(self.mail.packing.plan.stream, format=FORMATS[path.suffix])
            sent_at_us = int(os.stat(path).st_mtime * 1_000_000)
            piece = piece_of(number, path)
            yield from self.mail.packing.rows(piece, read_slice(stream, piece, sent_at_us))
