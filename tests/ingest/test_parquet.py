"""Parquet: ranges of rows, and types that differ from the declared ones."""

from __future__ import annotations

import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sanderling.errors import DataError
from sanderling.ingest.files import find_files
from sanderling.ingest.read import raw_rows

from .streams import TAXI, ingest, make_stream, reasons, rows, slices_of


def write(folder, row_group_size=1000, **columns):
    pq.write_table(pa.table(columns), folder / "taxis.parquet", row_group_size=row_group_size)
    return folder / "taxis.parquet"


@pytest.mark.parametrize("size", [1, 3, 7, 10, 100])
@pytest.mark.parametrize("group", [1, 4, 7, 100])
def test_neither_slices_nor_row_groups_show(tmp_path, size, group):
    path = write(
        tmp_path,
        group,
        other=[0] * 25,
        id=[f"k{i}" for i in range(25)],
        ts=range(25),
        x=range(25),
        y=[1.5] * 25,
    )
    found = ingest(make_stream(format="parquet"), path, size=size)
    assert rows(found, "id", "ts", "x", "__row") == [(f"k{i}", i, float(i), i + 1) for i in range(25)]


def test_an_empty_file_has_no_rows(tmp_path):
    path = write(
        tmp_path,
        id=pa.array([], pa.string()),
        ts=pa.array([], pa.int64()),
        x=pa.array([], pa.float64()),
        y=pa.array([], pa.float64()),
    )
    assert ingest(make_stream(format="parquet"), path).rows == 0


def test_rows_that_cannot_be_readings_are_shown_as_json(tmp_path):
    path = write(
        tmp_path,
        id=["a", None, "", "d", "e", "f", "g"],
        ts=[1, 1, 1, None, 1, 1, 1 << 60],
        X=[1.0, 1.0, 1.0, 1.0, None, math.nan, 1.0],
        y=[1.0] * 7,
        unused=[b"\xff"] * 7,
    )
    found = ingest(make_stream(format="parquet"), path)
    assert reasons(found) == {
        2: "missing_key",
        3: "missing_key",
        4: "missing_time",
        5: "missing_place",
        6: "bad_place",
        7: "unreadable_time",
    }
    assert json.loads(found.letters["raw"][3].as_py()) == {"id": "e", "ts": 1, "X": None, "y": 1.0}


def test_times_with_zones_and_nanoseconds_become_utc_microseconds(tmp_path):
    ts = pa.array([1_999, None, 1 << 62], pa.timestamp("ns", "Europe/Riga"))
    path = write(tmp_path, id=["a", "b", "c"], ts=ts, x=[1, 2, 3], y=[1, 2, 3])
    found = ingest(make_stream("id STRING, ts TIMESTAMP, x DOUBLE, y DOUBLE", "parquet"), path)
    assert rows(found, "__ts") == [(1,), ((1 << 62) // 1000,)]
    assert reasons(found) == {2: "missing_time"}


def test_raw_rows_survive_whatever_the_columns_hold(tmp_path):
    path = write(
        tmp_path,
        id=pa.array([b"\xff"]),
        ts=pa.array([1 << 62], pa.timestamp("us", "Europe/Riga")),
        x=pa.array([{"a": [1 << 62]}], pa.struct([("a", pa.list_(pa.timestamp("us")))])),
        y=pa.array([5], pa.duration("s")),
    )
    stream = make_stream("id STRING, ts TIMESTAMP, x DOUBLE, y DOUBLE", "parquet")
    found = ingest(stream, path)
    assert found.letters.num_rows == 1
    (piece,) = slices_of(find_files(str(path)), "parquet")
    assert raw_rows(stream, piece, [1]) == found.letters["raw"].to_pylist()
    assert set(json.loads(found.letters["raw"][0].as_py())) == {"id", "ts", "x", "y"}


def test_raw_rows_of_later_slices_count_from_the_file(tmp_path):
    path = write(tmp_path, 4, id=[f"k{i}" for i in range(10)], ts=range(10), x=range(10), y=range(10))
    piece = slices_of(find_files(str(path)), "parquet", 3)[2]
    assert [json.loads(raw)["id"] for raw in raw_rows(make_stream(format="parquet"), piece, [9, 7])] == [
        "k8",
        "k6",
    ]


def test_a_file_damaged_inside_is_named(tmp_path):
    path = write(tmp_path, id=[f"k{i}" for i in range(1000)], ts=range(1000), x=range(1000), y=range(1000))
    data = bytearray(path.read_bytes())
    data[4:2000] = b"\xff" * 1996
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        ingest(make_stream(format="parquet"), path)
    assert caught.value.code == "data.broken_parquet"


def test_what_does_not_fit_is_named_also_in_a_dictionary_column(tmp_path):
    path = write(tmp_path, id=["a"], ts=[1], x=pa.array(["abc"]).dictionary_encode(), y=[1])
    found = ingest(make_stream(format="parquet"), path)
    assert found.letters["detail"].to_pylist() == ['x: "abc" is not a DOUBLE']
    assert json.loads(found.letters["raw"][0].as_py())["x"] == "abc"


def test_a_column_with_a_dot_in_its_name_is_found(tmp_path):
    path = write(tmp_path, **{"a.b": ["k"], "a": [{"b": "wrong"}], "ts": [1], "x": [1], "y": [1]})
    found = ingest(make_stream(TAXI.replace("id ", "a.b "), "parquet", key="a.b"), path)
    assert rows(found, "a.b") == [("k",)]
