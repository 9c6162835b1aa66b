"""Tables in memory as streams and tables: of pandas, of Arrow, and of whatever hands itself over as Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import ConfigError

CABS = {
    "id": ["anna", "ben", "anna", "ben"],
    "ts": pd.to_datetime([f"2024-05-01 08:00:0{second}" for second in (3, 1, 1, 2)]),
    "x": [1, 1, 1, 9],
    "y": [1, 1, 1, 9],
    "tags": [[1], [2], [3], [4]],
}  # fmt: skip
PLACE = {"key": "id", "time": "ts", "location": ("x", "y")}
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}


class Handed:
    """As Polars and others do it."""

    def __init__(self, table: pa.Table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


class Features:
    """As GeoPandas does it."""

    __geo_interface__: ClassVar[dict[str, Any]] = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {"name": "old town"}, "geometry": SQUARE}],
    }


def declared(session: sanderling.Session, frame: Any) -> None:
    session.stream(frame, name="cabs", **PLACE)
    session.table(pa.table({"id": ["anna", "ben"], "fee": [3, 4]}), name="fees", key="id")
    session.table(Features(), name="districts", key="name")
    session.register("paid", "SELECT c.id, f.fee FROM cabs c JOIN fees f ON c.id = f.id")
    session.register(
        "inside", "SELECT c.id, d.name FROM cabs c, districts d WHERE c.location INSIDE d.region"
    )


def test_tables_in_memory(spark: SparkSession, tmp_path: Path) -> None:
    frame = pd.DataFrame(CABS, index=[7, 7, 7, 7])
    with sanderling.connect(spark, tmp_path / "c", shards=2) as session:
        declared(session, frame)
        assert [c.name for c in session.streams[0].columns] == ["id", "ts", "x", "y"]
        session.start()
        session.process_all()
        # In order of time, whatever their order in the table; the last tick has closed: a table has an end.
        assert session.metrics()["dead_letters"] == {}
        assert sorted(session.answer("paid").to_pylist(), key=str) == [
            {"id": "anna", "fee": 3}, {"id": "ben", "fee": 4},
        ]  # fmt: skip
        assert session.answer("inside").to_pydict() == {"id": ["anna"], "name": ["old town"]}
    with sanderling.connect(spark, tmp_path / "c", shards=2) as session:
        declared(session, frame)  # the same is known
        assert sorted(session.queries) == ["inside", "paid"]


def test_other_libraries_and_what_is_no_table(spark: SparkSession, tmp_path: Path) -> None:
    with sanderling.connect(spark, shards=2) as session:
        table = pa.table({name: pa.array(values) for name, values in CABS.items() if name != "ts"})
        seconds = table.append_column("ts", pa.array([3.0, 1.0, 1.0, 2.0]))
        session.stream(Handed(seconds), name="handed", **PLACE)
        session.stream(seconds.to_batches()[0], name="batch", **PLACE)
        for frame, code in (
            (seconds.drop_columns(["x"]), "config.no_column"),
            ([1, 2], "config.not_streaming"),
        ):
            with pytest.raises(ConfigError, match=code):
                session.stream(frame, name="other", **PLACE)
        with pytest.raises(ConfigError) as e:
            session.table([1, 2], name="other", key="id")
        assert e.value.code == "config.no_table"
        assert {s.name: s.column("ts").type.name for s in session.streams} == {
            "handed": "DOUBLE",
            "batch": "DOUBLE",
        }  # type: ignore[union-attr]
