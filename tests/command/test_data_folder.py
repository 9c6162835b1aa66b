"""A folder that no path leads out of: no root, no `..`, no link, no glob; nobody learns what is outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sanderling
from sanderling.command import app
from sanderling.errors import SanderlingError
from sanderling.ingest.files import SourceFile, find_files
from sanderling.plan.planner import Planner
from sanderling.spark.sources.find import find_input

STREAM = (
    "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
    " WITH (path = '{}', format = 'csv');"
)
TABLE = "CREATE TABLE sites (name STRING) KEY name WITH (path = '{}', format = 'csv');"
QUERIES = STREAM.format("cars.csv") + "REGISTER QUERIES FROM '{}' WITH (format = 'json');"
QUERY = "REGISTER QUERY q AS SELECT id FROM cars;"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder, and a folder beside it with the same files, which links lead to."""
    rows = {"name": "n", "template": "SELECT id FROM cars", "parameters": {}}
    for name in ("data", "data-2"):
        folder = tmp_path / name / "in"
        folder.mkdir(parents=True)
        for where in (folder, folder.parent):
            (where / "cars.csv").write_text("id,ts,x,y\na,1,1,1\n")
            (where / "sites.csv").write_text("name\nmine\n" if name == "data" else "name\nsecret\n")
            (where / "queries.jsonl").write_text(json.dumps(rows))
    (tmp_path / "data" / "folder").symlink_to(tmp_path / "data-2")
    (tmp_path / "data" / "link.csv").symlink_to(tmp_path / "data-2" / "sites.csv")
    (tmp_path / "data" / "fine.csv").symlink_to("in/sites.csv")
    (tmp_path / "data" / "nowhere.csv").symlink_to(tmp_path / "nothing" / "there.csv")
    return tmp_path / "data"


def code_of(script: str, data: Path) -> str:
    """The code that it ends with, whether a table is read or a stream is opened; none if all is well."""
    planner = Planner(data=data)
    try:
        planner.run_script(script)
        find_input(planner.plan(), data.parent / "work", data)
    except SanderlingError as e:
        assert "secret" not in str(e)
        return e.code
    return ""


INSIDE = ["{}", "in/{}", "./in/../in/{}", "in//{}", "*/{}", "i[n]/{}"]
OUTSIDE = [
    "../data-2/{}", "in/../../data-2/{}", "folder/{}", "folder/*/{}", "fol*/{}", "../data-2/*", "../*/{}",
    "/etc/passwd", "/proc/self/environ", "/proc/self/cwd/*", "~/{}", "../nothing/{}", "/nothing/{}",
    "nowhere.csv",
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "file"),
    [(STREAM + QUERY, "cars.csv"), (TABLE, "sites.csv"), (QUERIES, "queries.jsonl")],
    ids=["stream", "table", "query table"],
)
def test_nothing_outside_is_read(data: Path, statement: str, file: str) -> None:
    absolute = [f"{data}/{{}}", f"{data}/in/{{}}"]
    # Both of the last find links as well; refused as a whole, without a word about which.
    assert [code_of(statement.format(p.format(file)), data) for p in (*INSIDE[:4], *absolute)] == [""] * 6
    assert [code_of(statement.format(p.format(file)), data) for p in INSIDE[4:]] == [
        "config.outside_data",
        "",
    ]
    outside = [*OUTSIDE, f"{data}-2/{{}}", f"{data.parent}/{{}}"]
    codes = {path: code_of(statement.format(path.format(file)), data) for path in outside}
    assert set(codes.values()) == {"config.outside_data"}, codes
    assert code_of(statement.format("missing.csv"), data) == "config.missing_file"


def test_a_link_is_read_where_it_led_when_it_was_looked_at(data: Path) -> None:
    assert find_files("fine.csv", data) == (
        SourceFile(str(data / "fine.csv"), str((data / "in" / "sites.csv").resolve())),
    )
    assert find_files("fine.csv", data.parent / "data-2" / ".." / "data") == find_files("fine.csv", data)


def test_a_table_that_is_read_again_may_not_have_become_a_link(data: Path) -> None:
    planner = Planner(data=data)
    planner.run_script(TABLE.format("sites.csv"))
    (data / "sites.csv").unlink()
    (data / "sites.csv").symlink_to(data.parent / "data-2" / "sites.csv")
    with pytest.raises(SanderlingError) as e:
        planner.run_script("REFRESH TABLE sites")
    assert e.value.code == "config.outside_data" and e.value.hint


def test_the_command_and_a_session_have_one(data: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(TABLE.format("link.csv") + STREAM.format("cars.csv") + QUERY)
    for words in (["run", str(script)], ["explain", str(script), "q"]):
        for folder, code in ((data, "config.outside_data"), (script, "config.bad_option")):
            with pytest.raises(SanderlingError) as e:
                app([*words, "--data", str(folder)], standalone_mode=False)
            assert e.value.code == code
    with sanderling.connect(data=data) as session:
        session.execute(TABLE.format("fine.csv").replace("sites (", "fine ("))
        session.execute(STREAM.format("../data-2/cars.csv"))
        for call in (lambda: session.execute(TABLE.format("link.csv")), session.start):
            with pytest.raises(SanderlingError) as e:
                call()
            assert e.value.code == "config.outside_data"
