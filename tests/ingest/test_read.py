"""The door to ingest: what a reading holds, and that formats, folders and packing do not show."""

from __future__ import annotations

import gzip
import json
import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from sanderling.errors import InternalError, StateError
from sanderling.ingest.files import find_files
from sanderling.ingest.letters import REASONS
from sanderling.ingest.read import raw_rows, read_slice

from . import test_csv, test_json
from .streams import TAXI, ingest, ingest_text, make_stream, reasons, rows, slices_of

COLUMNS = TAXI + ", speed FLOAT, busy BOOLEAN, n SMALLINT, seen TIMESTAMP, day DATE"
TABLE = pa.table(
    {
        "id": ["a", "b", None, "d"],
        "ts": [1, 2, 3, 4],
        "x": [1.5, -0.0, 1.0, None],
        "y": [0.1, 1e-300, 1.0, 1.0],
        "speed": pa.array([0.5, None, 1, 2], pa.float32()),
        "busy": [True, None, False, True],
        "n": pa.array([1, -5, None, 4], pa.int16()),
        "seen": pa.array([0, 1_700_000_000_123_456, None, 1], pa.timestamp("us")),
        "day": pa.array([0, 19_000, None, 1], pa.date32()),
    }
)


def write_csv(folder):
    pacsv.write_csv(TABLE, folder / "a.csv")


def write_json(folder):
    lines = [json.dumps(row, default=str) for row in TABLE.to_pylist()]
    (folder / "a.json").write_text("\n".join(lines))


def write_parquet(folder):
    pq.write_table(TABLE, folder / "a.parquet")


def test_all_formats_give_the_same_readings(tmp_path):
    found = {}
    for format, write in {"csv": write_csv, "json": write_json, "parquet": write_parquet}.items():
        (tmp_path / format).mkdir()
        write(tmp_path / format)
        found[format] = ingest(make_stream(COLUMNS, format), tmp_path / format)
        assert list(reasons(found[format]).values()) == ["missing_key", "missing_place"]
    values = {format: f.readings.drop_columns("__row").to_pylist() for format, f in found.items()}
    assert values["csv"] == values["json"] == values["parquet"]
    assert rows(found["csv"], "__row") == [(2,), (3,)]
    assert rows(found["json"], "__row") == rows(found["parquet"], "__row") == [(1,), (2,)]


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_packing_does_not_show(tmp_path, format):
    {"csv": write_csv, "json": write_json, "parquet": write_parquet}[format](tmp_path)
    plain = tmp_path / f"a.{format}"
    packed = tmp_path / f"a.{format}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    stream = make_stream(COLUMNS, format)
    found = ingest(stream, packed, tmp_path / "copies")
    assert found.readings.equals(ingest(stream, plain).readings)
    assert set(found.letters["file"].to_pylist()) == {str(packed)}


def test_a_reading_holds_declared_columns_then_time_and_row(tmp_path):
    found = ingest_text(tmp_path, "y,x,ts,id\n4,3,2.5,a\n", "id STRING, ts DOUBLE, x DOUBLE, y INT")
    assert found.readings.schema == pa.schema(
        [
            ("id", pa.string()),
            ("ts", pa.float64()),
            ("x", pa.float64()),
            ("y", pa.int32()),
            ("__ts", pa.int64()),
            ("__row", pa.int64()),
        ]
    )
    assert found.readings.to_pylist() == [
        {"id": "a", "ts": 2.5, "x": 3.0, "y": 4, "__ts": 2_500_000, "__row": 2}
    ]


@pytest.mark.parametrize(
    ("type_name", "text", "us"),
    [
        ("BIGINT", "-1", -1_000_000),
        ("INT", "1727189555", 1_727_189_555_000_000),
        ("DOUBLE", "1727189555.123456", 1_727_189_555_123_456),
        ("DOUBLE", "0.1", 100_000),
        ("DOUBLE", "-0.0000014", -1),
        ("DOUBLE", "253402300799", 253_402_300_799_000_000),
        ("DOUBLE", "253402300799.5", 253_402_300_799_500_000),
        ("FLOAT", "0.5", 500_000),
        ("DATE", "1970-01-02", 86_400_000_000),
        ("TIMESTAMP", "1970-01-01T02:00:00+02:00", 0),
        ("TIMESTAMP", "1969-12-31 23:59:59.5", -500_000),
        ("TIMESTAMP", "0001-01-01", -62_135_596_800_000_000),
    ],
)
def test_time_is_microseconds_in_utc(tmp_path, type_name, text, us):
    found = ingest_text(
        tmp_path, f"id,ts,x,y\na,{text},1,1\n", f"id STRING, ts {type_name}, x DOUBLE, y DOUBLE"
    )
    assert rows(found, "__ts") == [(us,)]


@pytest.mark.parametrize("text", ["nan", "inf", "1e300", "-62135596801", "253402300800", "1e999"])
def test_a_number_that_is_no_time_is_unreadable(tmp_path, text):
    found = ingest_text(tmp_path, f"id,ts,x,y\na,{text},1,1\n", "id STRING, ts DOUBLE, x DOUBLE, y DOUBLE")
    assert reasons(found) == {2: "unreadable_time"}


def test_every_reason_is_provoked_by_some_hostile_line():
    assert set(test_csv.HOSTILE.values()) | set(test_json.HOSTILE.values()) == set(REASONS)


def test_a_file_cut_short_while_it_is_read_stops_the_run(tmp_path):
    (tmp_path / "a.csv").write_text("id,ts,x,y\na,1,1,1\n")
    (piece,) = slices_of(find_files(str(tmp_path)), "csv")
    (tmp_path / "a.csv").write_text("id,ts,x,y\na,1")
    with pytest.raises(StateError) as caught:
        read_slice(make_stream(), piece)
    assert caught.value.code == "state.source_changed"


def test_letters_are_in_order_of_rows_whatever_found_them(tmp_path):
    lines = ["a,1,x,1", ",1,1,1", "a", "a,1,1,1,1", '"', "a,1,,1"] * 3
    found = ingest_text(tmp_path, "id,ts,x,y\n" + "\n".join(lines))
    assert found.letters["row"].to_pylist() == list(range(2, 20))
    assert found.letters["raw"].to_pylist() == lines


def test_names_are_compared_without_case(tmp_path):
    found = ingest_text(tmp_path, "ID,TS,X,Y\na,1,2,3\n", key="Id", time="tS", x="X", y="Y")
    assert rows(found, "id", "ts") == [("a", 1)]


def test_several_files_follow_each_other_each_with_its_header(tmp_path):
    (tmp_path / "1.csv").write_text("id,ts,x,y\na,1,1,1")
    (tmp_path / "2.csv").write_text("")
    (tmp_path / "3.csv").write_text("y,x,ts,id,more\n1,1,2,b,?\n1,1\n")
    found = ingest(make_stream(), tmp_path)
    assert rows(found, "id", "ts", "__row") == [("a", 1, 2), ("b", 2, 2)]
    assert [f[-5:] for f in found.letters["file"].to_pylist()] == ["3.csv"]


def test_a_slice_may_be_read_by_many_threads_at_once(tmp_path):
    (tmp_path / "a.json").write_text('{"id":"a","ts":1,"x":2,"y":3}\n' * 2000)
    stream = make_stream(format="json")
    pieces = slices_of(find_files(str(tmp_path)), "json", 5000)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda piece: read_slice(stream, piece).rows, pieces * 5))
    assert sum(found) == 10_000


def test_a_forked_process_reads_with_a_database_of_its_own(tmp_path):
    (tmp_path / "a.json").write_text('{"id":"a","ts":1,"x":2,"y":3}\n' * 10)
    stream = make_stream(format="json")
    (piece,) = slices_of(find_files(str(tmp_path)), "json")
    assert read_slice(stream, piece).rows == 10
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(read_slice, (stream, piece)).get(60).rows == 10


def test_raw_rows_may_be_asked_for_in_any_order_and_twice(tmp_path):
    (tmp_path / "a.csv").write_text("id,ts,x,y\na,1,1,1\n\nb,1,1,1\r\n")
    (piece,) = slices_of(find_files(str(tmp_path)), "csv")
    assert raw_rows(make_stream(), piece, [4, 2, 3, 4]) == ["b,1,1,1", "a,1,1,1", "", "b,1,1,1"]
    assert raw_rows(make_stream(), piece, []) == []


def test_an_unknown_format_is_our_own_fault(tmp_path):
    (tmp_path / "a.csv").write_text("id,ts,x,y\na,1,1,1\n")
    (piece,) = slices_of(find_files(str(tmp_path)), "csv")
    with pytest.raises(InternalError):
        read_slice(make_stream(format="xml"), piece)
