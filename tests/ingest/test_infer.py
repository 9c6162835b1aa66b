"""Columns that nobody has declared: types by what stands in the file, and by what a column is for."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sanderling.catalog import PLAIN, Written
from sanderling.errors import ConfigError
from sanderling.ingest.infer import Roles, inferred_columns
from sanderling.plan.planner import Planner

ROLES = Roles("id", "ts", ("x", "y"), "off")


def inferred(path: Path, written: Written = PLAIN, roles: Roles = ROLES) -> dict[str, str]:
    format_ = {".csv": "csv", ".jsonl": "json", ".parquet": "parquet"}[path.suffix]
    found = inferred_columns(str(path), format_, written, roles, path.parent / "unpacked", None)
    return {column.name: column.type.name for column in found}


def csv(folder: Path, text: str) -> Path:
    path = folder / "a.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "-2", "0"], "BIGINT"), (["1", "2.5", "-1e3"], "DOUBLE"), (["007", "8"], "STRING"),
        (["1", "0"], "BIGINT"), (["true", "FALSE"], "BOOLEAN"), (["2024-05-01", "2024-02-29"], "DATE"),
        (["2024-05-01 08:00", "2024-05-01T08:00:00Z"], "TIMESTAMP"), (["2023-02-29"], "STRING"),
        (["", ""], "STRING"), (["1", "", "x"], "STRING"), (["99999999999999999999"], "DOUBLE"),
        (["-01.5"], "STRING"), (["0.5"], "DOUBLE"),
    ],
)  # fmt: skip
def test_the_narrowest_type_that_all_values_fit(tmp_path: Path, values: list[str], type_: str) -> None:
    path = csv(tmp_path, "n,v\n" + "".join(f"{n},{value}\n" for n, value in enumerate(values)))
    assert inferred(path)["v"] == type_


def test_what_a_column_is_for_says_more_than_a_few_rows(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,ts,x,y,off,region,__own,,x2\n1.5,soon,1,2,1,a,b,c,7\n")
    # A place of whole numbers by chance, 0 and 1 for false and true, a time that is to be told as unreadable.
    assert inferred(path) == {
        "id": "STRING", "ts": "TIMESTAMP", "x": "DOUBLE", "y": "DOUBLE", "off": "BOOLEAN", "x2": "BIGINT",
    }  # fmt: skip
    assert inferred(csv(tmp_path, "id,ts\n7,1714550401.5\n"))["ts"] == "DOUBLE"
    assert inferred(csv(tmp_path, "id,ts\n7,1714550401\n")) == {"id": "BIGINT", "ts": "BIGINT"}


def test_other_forms_of_times_separators_and_nothing(tmp_path: Path) -> None:
    path = csv(tmp_path, "a;t;n\n1;26/04/2026 10:00:00;NA\n2;-;5\n")
    assert inferred(path, Written(";", ("NA", "-"), "dd/MM/yyyy HH:mm:ss")) == {
        "a": "BIGINT", "t": "TIMESTAMP", "n": "BIGINT",
    }  # fmt: skip


def test_json_knows_texts_from_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        {"id": "7", "n": 7, "at": "2024-05-01T08:00:00Z", "list": [1]},
        {"n": 1.5, "late": None, "b": True},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{broken\n")
    assert inferred(path) == {
        "id": "STRING",
        "n": "DOUBLE",
        "at": "TIMESTAMP",
        "late": "STRING",
        "b": "BOOLEAN",
    }


def test_parquet_says_its_types(tmp_path: Path) -> None:
    table = pa.table({
        "id": pa.array(["a"]).dictionary_encode(), "n": pa.array([1], pa.uint32()),
        "i": pa.array([1], pa.int32()), "x": pa.array([1], pa.int8()),
        "t": pa.array([datetime.datetime(2024, 5, 1)], pa.timestamp("ns", "Europe/Riga")),
        "list": [[1]], "d": pa.array([datetime.date(2024, 5, 1)]), "f": pa.array([1.0], pa.float32()),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    assert inferred(tmp_path / "a.parquet") == {
        "id": "STRING", "n": "BIGINT", "i": "INT", "x": "DOUBLE", "t": "TIMESTAMP", "d": "DATE", "f": "FLOAT",
    }  # fmt: skip


def test_a_file_without_rows_tells_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"empty_file") as e:
        inferred(csv(tmp_path, "id,ts,x,y\n"))
    assert e.value.hint == "declare the columns"


def test_where_files_are_yet_to_come_the_columns_are_to_be_declared(tmp_path: Path) -> None:
    clauses = f"KEY id TIME ts LOCATION (x, y) WITH (path = '{tmp_path}/*.csv')"
    with pytest.raises(ConfigError, match="declare the columns") as e:
        Planner().run_script(f"CREATE STREAM s {clauses}")
    assert e.value.code == "config.missing_file"
    Planner().run_script(f"CREATE STREAM s (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) {clauses}")


def test_a_stream_is_declared_by_its_file(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,ts,x,y,free\nanna,2024-05-01 08:00:01,2,3,true\n")
    planner = Planner()
    (listing,) = planner.run_script(
        f"CREATE STREAM s KEY id TIME ts LOCATION (x, y) WITH (path = '{path}');"
        "REGISTER QUERY q AS SELECT id FROM s WHERE free; DESCRIBE STREAM s"
    )
    assert (listing.title, listing.columns) == ("stream s", ("column", "type", "role"))
    assert listing.rows == (
        ("id", "STRING", "key"), ("ts", "TIMESTAMP", "time"), ("x", "DOUBLE", "x"), ("y", "DOUBLE", "y"),
        ("free", "BOOLEAN", ""),
    )  # fmt: skip
