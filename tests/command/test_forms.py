"""What a run writes at its end: CSV, GeoJSON and Parquet of all queries; answers instead of changes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from sanderling.batches import Batch, Kind
from sanderling.deliver.sinks.files import Delivery
from sanderling.deliver.targets import targets_of
from sanderling.errors import ConfigError
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan

SCRIPT = """
CREATE STREAM cabs (id STRING, ts TIMESTAMP, x DOUBLE, y DOUBLE, tick STRING, seen TIMESTAMP, n INT)
  KEY id TIME ts LOCATION (x, y);
REGISTER QUERY places AS SELECT id, x, y AS north, tick FROM cabs;
REGISTER QUERY counts AS SELECT n, max(seen) AS seen, count(*) AS ID FROM cabs GROUP BY n;
REGISTER QUERY dropped AS SELECT id, x, y AS north, tick FROM cabs WHERE x > 3;
AT '2024-01-01' DROP QUERY dropped;
"""
SECOND = 1_000_000


def plan() -> Plan:
    planner = Planner()
    planner.run_script(SCRIPT)
    return planner.plan()


def deltas(plan: Plan, query: str, tick: int, *rows: tuple[object, ...]) -> Batch:
    """Rows with their signs before them."""
    (asked,) = (q for q in plan.queries if q.name == query)
    template = plan.templates()[asked.template]
    signs, *columns = zip(*rows, strict=True)
    fixed = [[asked.id] * len(rows), [tick * SECOND] * len(rows), signs]
    outputs = zip(template.outputs, columns, strict=True)
    own = [[v * SECOND if o.name == "seen" and v else v for v in column] for o, column in outputs]  # type: ignore[operator]
    arrays = [pa.array(c, f.type) for c, f in zip([*fixed, *own], template.schema(), strict=True)]
    outlet = next((t.outlet for t in plan.trees if t.template.id == template.id), "cabs")
    return Batch(Kind.DELTAS, pa.table(arrays, schema=template.schema()), outlet, template.id)


def told(plan: Plan) -> list[list[Batch]]:
    """In two batches; the second takes some of it back."""
    odd, anna = 'say "hi", ben', ("anna", 4.0, None, "")
    return [
        [
            deltas(plan, "places", 1, (1, odd, 1.5, 2.0, None), (1, *anna)),
            deltas(plan, "dropped", 1, (1, "anna", 4.0, 5.0, "x")),
            deltas(plan, "counts", 1, (1, 7, 1, 2)),
        ],
        [
            deltas(plan, "places", 2, (-1, *anna), (1, *anna), (-1, odd, 1.5, 2.0, None)),
            deltas(plan, "counts", 2, (-1, 7, 1, 2), (1, 7, 2, 1), (1, None, None, 3)),
        ],
    ]  # fmt: skip


def written(folder: Path, out: str, is_final: bool) -> Path:
    """By two runs: the first one is killed when all has been delivered, and nothing has its name."""
    asked = plan()
    targets = targets_of(str(folder / out), None, is_final)
    for is_last in (False, True):
        ours = Delivery(asked, targets, folder)
        ours.prepare()
        for number, batches in enumerate(told(asked)):
            ours.deliver(number, batches)
        if is_last:
            ours.finish()
        ours.close()
    assert sorted(p.name for p in folder.iterdir() if not p.name.startswith(("counts-", "delivered"))) == [
        out.rstrip("/")
    ]
    return folder / out


def test_changes_as_csv(tmp_path: Path) -> None:
    path = written(tmp_path, "x.csv", False)
    # A query has a column called `tick`, so ours is `_tick`; `id` is a STRING in one, in another a count.
    assert path.read_text().splitlines() == [
        "query,_tick,sign,n,seen,ID,x,north,tick",
        "counts,1970-01-01T00:00:01Z,1,7,1970-01-01T00:00:01Z,2,,,",
        "dropped,1970-01-01T00:00:01Z,1,,,anna,4.0,5.0,x",
        'places,1970-01-01T00:00:01Z,1,,,anna,4.0,,""',
        'places,1970-01-01T00:00:01Z,1,,,"say ""hi"", ben",1.5,2.0,',
        "counts,1970-01-01T00:00:02Z,-1,7,1970-01-01T00:00:01Z,2,,,",
        "counts,1970-01-01T00:00:02Z,1,7,1970-01-01T00:00:02Z,1,,,",
        "counts,1970-01-01T00:00:02Z,1,,,3,,,",
        'places,1970-01-01T00:00:02Z,-1,,,anna,4.0,,""',
        'places,1970-01-01T00:00:02Z,-1,,,"say ""hi"", ben",1.5,2.0,',
        'places,1970-01-01T00:00:02Z,1,,,anna,4.0,,""',
    ]
    assert list(csv.DictReader(path.read_text().splitlines()))[3]["ID"] == 'say "hi", ben'


def test_answers_as_csv_lines_and_a_folder(tmp_path: Path) -> None:
    for name in ("csv", "lines", "folder"):
        (tmp_path / name).mkdir()
    # What was taken back and came again is there once; who was dropped has no answer.
    assert written(tmp_path / "csv", "x.csv", True).read_text().splitlines() == [
        "query,n,seen,ID,x,north,tick",
        "counts,7,1970-01-01T00:00:02Z,1,,,",
        "counts,,,3,,,",
        'places,,,anna,4.0,,""',
    ]
    lines = written(tmp_path / "lines", "x.jsonl", True).read_text().splitlines()
    assert lines == [
        '{"query": "counts", "row": {"n": 7, "seen": "1970-01-01T00:00:02Z", "ID": 1}}',
        '{"query": "counts", "row": {"n": null, "seen": null, "ID": 3}}',
        '{"query": "places", "row": {"id": "anna", "x": 4.0, "north": null, "tick": ""}}',
    ]
    folder = written(tmp_path / "folder", "out/", True)
    found = {p.name: ds.dataset(p).to_table().to_pylist() for p in folder.iterdir()}
    assert found["query=places"] == [{"id": "anna", "x": 4.0, "north": None, "tick": ""}]
    assert [row["ID"] for row in found["query=counts"]] == [1, 3] and len(found) == 2


def test_parquet_in_one_file_is_typed(tmp_path: Path) -> None:
    table = pq.read_table(written(tmp_path, "x.parquet", False))
    assert {f.name: str(f.type) for f in table.schema} == {
        "query": "string", "_tick": "timestamp[us, tz=UTC]", "sign": "int8", "n": "int32",
        "seen": "timestamp[us, tz=UTC]", "ID": "string", "x": "double", "north": "double", "tick": "string",
    }  # fmt: skip
    assert table.num_rows == 10 and table.column("ID").to_pylist()[:2] == ["2", "anna"]


def test_geojson_has_a_point_for_rows_that_show_their_place(tmp_path: Path) -> None:
    whole = json.loads(written(tmp_path, "x.geojson", True).read_text())
    assert whole["type"] == "FeatureCollection"
    counts, none, anna = whole["features"]
    assert counts["geometry"] is None and none["properties"]["ID"] == 3
    assert anna["properties"] == {"query": "places", "id": "anna", "x": 4.0, "north": None, "tick": ""}
    assert anna["geometry"] is None  # she has no y
    (tmp_path / "2").mkdir()
    (first,) = (
        f for f in json.loads(written(tmp_path / "2", "x.geojson", False).read_text())["features"]
        if f["properties"]["query"] == "dropped"
    )  # fmt: skip
    assert first["geometry"] == {"type": "Point", "coordinates": [4.0, 5.0]}
    assert (first["properties"]["_tick"], first["properties"]["tick"]) == ("1970-01-01T00:00:01Z", "x")


@pytest.mark.parametrize("out", ["x.csv", "x.geojson", "x.parquet", "x.jsonl"])
def test_nothing_told_is_a_whole_file_too(tmp_path: Path, out: str) -> None:
    ours = Delivery(plan(), targets_of(str(tmp_path / out), None, True), tmp_path)
    ours.prepare()
    ours.finish()
    ours.close()
    text = (tmp_path / out).read_bytes()
    match out.split(".")[1]:
        case "csv":
            assert text == b"query,n,seen,ID,x,north,tick\n"
        case "geojson":
            assert json.loads(text)["features"] == []
        case "parquet":
            assert pq.read_table(tmp_path / out).num_rows == 0
        case "jsonl":
            assert text == b""


def test_an_ending_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown_output") as e:
        targets_of(str(tmp_path / "x.xlsx"), None)
    assert "x.csv" in e.value.hint
