"""What statements read that is packed: no copy of it stays where they are run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from sanderling.plan.planner import Planner

ROWS = b"id,ts,x,y\na,1,2,3\n"
QUERY = {"name": "q", "template": "SELECT id FROM taxi WHERE x > :least", "parameters": '{"least": 1}'}


def test_nothing_is_left_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, here = tmp_path / "data", tmp_path / "here"
    for folder in (data, here):
        folder.mkdir()
    (data / "taxi.csv.gz").write_bytes(gzip.compress(ROWS))
    (data / "queries.jsonl.gz").write_bytes(gzip.compress(json.dumps(QUERY).encode()))
    monkeypatch.chdir(here)
    planner = Planner()
    planner.run_script(
        f"""CREATE STREAM taxi KEY id TIME ts LOCATION (x, y) WITH (path = '{data}/taxi.csv.gz');
        CREATE TABLE stands KEY id LOCATION (x, y) WITH (path = '{data}/taxi.csv.gz');
        REFRESH TABLE stands;
        REGISTER QUERIES FROM '{data}/queries.jsonl.gz'"""
    )
    assert len(planner.queries) == 1 and len(planner.tables.values()[0].rows) == 1
    assert list(here.iterdir()) == []
