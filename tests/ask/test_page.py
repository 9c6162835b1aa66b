"""A table in each form says the same rows."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sanderling.ask.page import written
from sanderling.errors import ConfigError

TIME = datetime(2024, 5, 1, 8, 0, 0, 500_000)
ROWS = pa.table(
    {
        "name": ["a,b", None, 'say "no"\nmore'],
        "n": pa.array([10, 2, None], pa.int32()),
        "x": [0.1, 1e300, 3.0],
        "at": pa.array([TIME, None, TIME.replace(microsecond=0)], pa.timestamp("us")),
        "is_new": [True, False, None],
    }
)


def test_lines_for_people() -> None:
    assert written(ROWS, "table").decode().splitlines() == [
        "name               n       x  at                           is_new",
        "--------------  ----  ------  ---------------------------  ------",
        "a,b               10     0.1  2024-05-01T08:00:00.500000Z  true",
        "NULL               2  1e+300  NULL                         false",
        'say "no"\\nmore  NULL       3  2024-05-01T08:00:00Z         NULL',
        "(3 rows)",
    ]


def test_csv_and_json_and_parquet() -> None:
    read = list(csv.DictReader(io.StringIO(written(ROWS, "csv").decode())))
    assert [row["name"] for row in read] == ["a,b", "", 'say "no"\nmore']
    assert read[0]["at"] == "2024-05-01T08:00:00.500000Z"
    said = [json.loads(line) for line in written(ROWS, "json").splitlines()]
    assert said[0] == {"name": "a,b", "n": 10, "x": 0.1, "at": "2024-05-01T08:00:00.500000Z", "is_new": True}
    assert said[2]["n"] is None
    assert pq.read_table(io.BytesIO(written(ROWS, "parquet"))).equals(ROWS)


def test_no_rows() -> None:
    nothing = ROWS.slice(0, 0)
    assert written(nothing, "json") == b""
    assert written(nothing, "table").endswith(b"(0 rows)\n")
    assert written(nothing, "csv") == b'"name","n","x","at","is_new"\n'


def test_another_form() -> None:
    with pytest.raises(ConfigError) as e:
        written(ROWS, "xml")
    assert e.value.code == "config.bad_option"
