"""Tables whose rows cannot all be as they are: mended, skipped or counted where asked for, and told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shapely

from sanderling.catalog import TableForm, Written
from sanderling.errors import QueryError
from sanderling.ingest.tables import Loaded, load_table
from sanderling.plan.planner import Planner

SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]
BOW = [[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]  # crosses itself in (1, 1)


def geojson(folder: Path, *rows: tuple[object, list[list[int]]]) -> Path:
    features = [
        {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }
        for name, ring in rows
    ]
    (folder / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return folder / "a.geojson"


def load(path: Path, **form: object) -> Loaded:
    return load_table("t", None, "name", str(path), None, path.parent / "un", TableForm(**form))  # type: ignore[arg-type]


def test_a_border_that_crosses_itself_is_mended(tmp_path: Path) -> None:
    path = geojson(tmp_path, ("bow", BOW), ("square", SQUARE))
    with pytest.raises(QueryError, match=r"invalid_geometry") as e:
        load(path)
    assert "repair = true" in e.value.hint
    _, rows, _, (note,) = load(path, repairs=True)
    bow = shapely.from_wkb(rows.column("region")[0].as_py())
    assert bow.is_valid and bow.area == pytest.approx(2.0) and bow.geom_type == "MultiPolygon"
    assert note.startswith('1 borders were mended: feature 1 of "') and "Self-intersection" in note


def test_keys_that_repeat(tmp_path: Path) -> None:
    path = geojson(tmp_path, ("a", SQUARE), ("a", SQUARE), (None, SQUARE), ("b", SQUARE))
    with pytest.raises(QueryError, match=r"missing_key_value|duplicate_key"):
        load(path)
    columns, rows, _, notes = load(path, row_key="row")
    assert [c.name for c in columns] == ["name", "row"] and rows.column("row").to_pylist() == [1, 2, 3, 4]
    assert notes == ("the key is `row`, the number of the row",)
    _, rows, _, notes = load(path, skips=True)
    assert rows.column("name").to_pylist() == ["a", "b"]
    assert notes == ('2 of 4 rows were skipped: "t" has no name in its row 3',)
    with pytest.raises(QueryError, match=r"duplicate_column"):
        load(path, row_key="NAME")


def test_what_cannot_be_a_row_is_skipped(tmp_path: Path) -> None:
    path = geojson(tmp_path, ("bow", BOW), ("a", SQUARE))
    _, rows, _, (note,) = load(path, skips=True)
    assert rows.column("name").to_pylist() == ["a"] and note.startswith("1 of 2 rows were skipped: feature 1")
    table = tmp_path / "t.csv"
    table.write_text("name;at;n\na;26/04/2026;1\nb;soon;2\nc;27/04/2026;-\nd;1\ne;28/04/2026;5\n")
    written = Written(";", ("-",), "dd/MM/yyyy")
    planner = Planner()
    script = (
        f"CREATE TABLE t (name STRING, at TIMESTAMP, n INT) KEY name WITH (path = '{table}', delimiter = ';',"
        " null_tokens = '-', time_format = 'dd/MM/yyyy', skip = true); DESCRIBE TABLE t"
    )
    (listing,) = planner.run_script(script)
    (held,) = planner.tables.values()
    assert held.form == TableForm(written, skips=True)
    assert [(r["name"], str(r["at"])[:10], r["n"]) for r in held.rows.to_pylist()] == [
        ("a", "2026-04-26", 1), ("c", "2026-04-27", None), ("e", "2026-04-28", 5),
    ]  # fmt: skip
    assert listing.rows[0] == ("name", "STRING", "key")
    assert (
        listing.rows[-1][2]
        == f'2 of 5 rows were skipped: row 3 of "{table}": at: "soon" does not fit TIMESTAMP'
    )
    with pytest.raises(QueryError, match=r"bad_table_row"):
        Planner().run_script(script.replace(", skip = true", ""))


def test_a_refresh_reads_as_the_table_was_read(tmp_path: Path) -> None:
    path = geojson(tmp_path, ("a", SQUARE), ("a", SQUARE))
    planner = Planner()
    planner.run_script(f"CREATE TABLE t KEY name WITH (path = '{path}', key = 'row', repair = true)")
    geojson(tmp_path, ("a", SQUARE), ("a", BOW), ("c", SQUARE))
    planner.run_script("REFRESH TABLE t")
    (table,) = planner.tables.values()
    assert table.rows.column("row").to_pylist() == [1, 2, 3] and len(table.notes) == 2
