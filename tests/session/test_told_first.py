"""What a session is told before a reading comes is heard with that reading, not behind it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

import sanderling

LONGEST_WAIT_S = 60


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gate(folder: Path) -> type[DataSource]:
    """A source that tells of the reading at 1002 once the gate was shut, and is open again."""

    # Inside, so that workers get them by value.
    class Reader(DataSourceStreamReader):
        def initialOffset(self) -> dict[str, int]:
            return {"rows": 0}

        def latestOffset(self, *_: Any) -> dict[str, int]:
            if not (folder / "shut").exists():
                return {"rows": 2}
            (folder / "asked").touch()
            deadline = time.monotonic() + LONGEST_WAIT_S
            while not (folder / "open").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            return {"rows": 3}

        def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
            return [InputPartition((start["rows"], end["rows"]))]

        def read(self, partition: InputPartition) -> Iterator[tuple[str, int, float, float]]:
            for row in range(*partition.value):
                yield "a", 1000 + row, 1.0, 1.0

    class Gate(DataSource):
        @classmethod
        def name(cls) -> str:
            return "gate"

        def schema(self) -> str:
            return "id STRING, ts BIGINT, x DOUBLE, y DOUBLE"

        def streamReader(self, schema: Any) -> Reader:
            return Reader()

    return Gate


def test_who_is_registered_before_a_reading_comes_begins_with_it(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(gate(tmp_path))
    with sanderling.connect(spark, shards=2) as session:
        cars = spark.readStream.format("gate").load()
        session.stream(cars, name="cars", key="id", time="ts", location=("x", "y"))
        session.start()
        session.process_all()
        (tmp_path / "shut").touch()
        wait_for(tmp_path / "asked")
        session.register("all_cars", "SELECT id FROM cars")
        (tmp_path / "open").touch()
        session.process_all()
        assert session.answer("all_cars").to_pylist() == [{"id": "a"}]
