"""Tables: read whole, and any bad row is an error that says where."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from sanderling.errors import ConfigError, QueryError, SanderlingError
from sanderling.ingest.tables import load_table

from .streams import columns_of, real

SITES = "name STRING, x DOUBLE, y DOUBLE"
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}


def load(tmp_path, path, columns: str | None = None, key: str | None = "name", format=None):
    return load_table(
        "Sites", columns_of(columns) if columns else None, key, str(path), format, tmp_path / "copies"
    )[:3]


def load_text(tmp_path, text: str | bytes, columns=SITES, key="name", name="sites.csv"):
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return load(tmp_path, tmp_path / name, columns, key)


def features(*pairs) -> dict:
    return {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": p, "geometry": g} for p, g in pairs],
    }


def load_features(tmp_path, *pairs, columns=None, key="name"):
    return load_text(tmp_path, json.dumps(features(*pairs)), columns, key, "sites.geojson")


def error_of(act, *args, **kwargs) -> SanderlingError:
    with pytest.raises(SanderlingError) as caught:
        act(*args, **kwargs)
    assert caught.value.place is None
    return caught.value


def test_every_format_gives_the_same_rows(tmp_path):
    rows = [{"name": "a", "x": 1.0, "y": 2.0}, {"name": "b", "x": None, "y": -3.5}]
    (tmp_path / "s.csv").write_text("y,name,x\n2,a,1\n\n-3.5,b,\n")
    (tmp_path / "s.json").write_text("\n".join(json.dumps(row) for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "s.parquet")
    (tmp_path / "s.csv.gz").write_bytes(gzip.compress((tmp_path / "s.csv").read_bytes()))
    for name in ("s.csv", "s.json", "s.parquet", "s.csv.gz"):
        columns, table, region = load(tmp_path, tmp_path / name, SITES)
        assert columns == columns_of(SITES)
        assert table.to_pylist() == rows
        assert region is None


def test_an_empty_table_keeps_its_types(tmp_path):
    _, table, _ = load_text(tmp_path, "name,x,y\n")
    assert table.schema == pa.schema([("name", pa.string()), ("x", pa.float64()), ("y", pa.float64())])


def test_a_file_that_lacks_a_column_is_refused(tmp_path):
    assert error_of(load_text, tmp_path, "name,x\n").code == "config.missing_column"


@pytest.mark.parametrize("line", ["b,1", "b,1,2,3", '"b,1,2', "b,one,2", "\udcff,1,2"])
def test_a_bad_row_is_an_error_that_says_where(tmp_path, line):
    text = f"name,x,y\na,1,2\n\n{line}\n".encode("utf-8", "surrogateescape")
    error = error_of(load_text, tmp_path, text)
    assert isinstance(error, QueryError)
    assert error.code == "query.bad_table_row"
    assert "row 4 " in error.message
    assert "sites.csv" in error.message


def test_of_several_bad_rows_the_first_is_named(tmp_path):
    assert "row 2 " in error_of(load_text, tmp_path, "name,x,y\na,one,2\nb,1,two\nc\n").message
    assert "row 2 " in error_of(load_text, tmp_path, "name,x,y\na\nb,1,two\n").message


def test_a_key_is_given_once(tmp_path):
    error = error_of(load_text, tmp_path, "name,x,y\na,1,2\nb,1,2\na,3,4\n")
    assert error.code == "query.duplicate_key"
    assert '"a"' in error.message


def test_a_key_is_never_missing(tmp_path):
    assert error_of(load_text, tmp_path, "name,x,y\na,1,2\n,1,2\n").code == "query.missing_key_value"
    assert error_of(load_text, tmp_path, 'name,x,y\n"",1,2\n').code == "query.missing_key_value"


def test_a_key_is_a_column_in_any_case(tmp_path):
    assert load_text(tmp_path, "name,x,y\na,1,2\n", key="NAME")
    assert error_of(load_text, tmp_path, "name,x,y\na,1,2\n", key="nam").code == "query.unknown_column"


def test_without_a_key_rows_may_repeat(tmp_path):
    assert load_text(tmp_path, "name,x,y\na,1,2\na,1,2\n", key=None)[1].num_rows == 2


def test_columns_are_told_by_the_file_unless_they_are_declared(tmp_path):
    columns, table, _ = load_text(tmp_path, "name,x,y\n7,1,2.5\n8,,3\n", None)
    assert columns == columns_of("name BIGINT, x BIGINT, y DOUBLE")
    assert table.to_pylist()[1] == {"name": 8, "x": None, "y": 3.0}
    assert error_of(load_text, tmp_path, "name,x,y\n", None).code == "config.empty_file"


def test_properties_tell_their_types(tmp_path):
    pairs = [
        (
            {"name": "a", "n": 1, "f": 1, "b": True, "m": 1, "o": {"k": [1]}, "z": None, "big": 1 << 70},
            SQUARE,
        ),
        ({"name": "b", "n": None, "f": 2.5, "b": False, "m": "x", "new": "é"}, SQUARE),
    ]
    columns, table, region = load_features(tmp_path, *pairs)
    assert {c.name: c.type.name for c in columns} == {
        "name": "STRING",
        "n": "BIGINT",
        "f": "DOUBLE",
        "b": "BOOLEAN",
        "m": "STRING",
        "o": "STRING",
        "z": "STRING",
        "big": "DOUBLE",
        "new": "STRING",
    }
    assert table.drop_columns("region").to_pylist() == [
        {
            "name": "a",
            "n": 1,
            "f": 1.0,
            "b": True,
            "m": "1",
            "o": '{"k": [1]}',
            "z": None,
            "big": 2.0**70,
            "new": None,
        },
        {
            "name": "b",
            "n": None,
            "f": 2.5,
            "b": False,
            "m": "x",
            "o": None,
            "z": None,
            "big": None,
            "new": "é",
        },
    ]
    assert region == "region"
    assert table.schema.field("region").type == pa.binary()
    assert shapely.from_wkb(table["region"][0].as_py()).equals(shapely.box(0, 0, 1, 1))


def test_properties_may_be_declared(tmp_path):
    pairs = [({"Name": "a", "n": 5, "unused": 1}, SQUARE)]
    columns, table, _ = load_features(tmp_path, *pairs, columns="n STRING, name STRING")
    assert [c.name for c in columns] == ["n", "name"]
    assert table.drop_columns("region").to_pylist() == [{"n": "5", "name": "a"}]
    assert error_of(load_features, tmp_path, *pairs, columns="nam STRING").code == "config.missing_column"
    assert error_of(load_features, tmp_path, *pairs, columns="name INT").code == "query.bad_table_row"
    assert error_of(load_features, tmp_path, *pairs, columns="Region STRING").code == "query.duplicate_column"


def test_a_property_whose_name_is_taken_gets_a_number(tmp_path):
    columns, table, region = load_features(tmp_path, ({"name": "a", "Region": "north", "NAME": "b"}, SQUARE))
    assert [c.name for c in columns] == ["name", "Region_2", "NAME_2"]
    assert region == "region"
    assert table.column_names == ["name", "Region_2", "NAME_2", "region"]


def test_a_single_feature_and_one_without_properties_are_tables(tmp_path):
    single = {"type": "Feature", "properties": {"name": "a"}, "geometry": SQUARE}
    assert load_text(tmp_path, json.dumps(single), None, name="a.geojson")[1].num_rows == 1
    assert load_features(tmp_path, (None, SQUARE), key=None)[0] == ()
    assert load_text(tmp_path, "\ufeff" + json.dumps(single), None, name="b.geojson")[1].num_rows == 1


def polygon(*points) -> dict:
    return {"type": "Polygon", "coordinates": [[*points, points[0]]]}


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "Polygon", "coordinates": []},
        {"type": "MultiPolygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "Polygon", "coordinates": "abc"},
        {"type": "Polygon", "coordinates": [[["a", "b"]]]},
        {"type": "Polygon"},
        {"type": ["Polygon"]},
        {"type": "GeometryCollection", "geometries": [SQUARE]},
        "POLYGON((0 0, 1 0, 1 1, 0 0))",
        {},
        5,
    ],
    ids=lambda geometry: json.dumps(geometry)[:50],
)
def test_what_is_no_area_is_refused(tmp_path, geometry):
    error = error_of(load_features, tmp_path, ({"name": "a"}, SQUARE), ({"name": "b"}, geometry))
    assert error.code == "query.bad_geometry"
    assert "feature 2 " in error.message


@pytest.mark.parametrize(
    "geometry",
    [
        polygon([0, 0], [2, 2], [2, 0], [0, 2]),
        polygon([0, 0], [4, 0], [4, 4], [2, 4], [2, 6], [2, 4], [0, 4]),
        polygon([0, 0], [4, 0], [4, 4], [0, 4], [0, 0], [2, 1], [2, 2], [1, 2]),
        polygon([0, 0], [1, 0], [2, 0]),
        {"type": "MultiPolygon", "coordinates": [SQUARE["coordinates"], SQUARE["coordinates"]]},
        polygon([0, 0], [float("nan"), 0], [2, 2]),
        polygon([0, 0], [float("inf"), 0], [2, 2]),
    ],
    ids=["bow-tie", "spike", "twice around", "flat", "overlap", "nan", "inf"],
)
def test_a_border_that_leaves_doubt_is_refused(tmp_path, geometry):
    error = error_of(load_features, tmp_path, ({"name": "a"}, geometry))
    assert error.code in ("query.invalid_geometry", "query.bad_geometry")


def test_a_border_that_touches_itself_is_the_area_it_draws(tmp_path):
    loop = polygon([0, 0], [4, 0], [4, 4], [0, 4], [0, 0], [1, 2], [2, 2], [2, 1])
    _, table, _ = load_features(tmp_path, ({"name": "a"}, loop))
    area = shapely.from_wkb(table["region"][0].as_py())
    assert area.is_valid
    assert area.area == 14
    assert not area.covers(shapely.Point(1.5, 1.5))


def test_height_is_left_out(tmp_path):
    _, table, _ = load_features(tmp_path, ({"name": "a"}, polygon([0, 0, 9], [1, 0, 9], [1, 1, 9])))
    assert not shapely.from_wkb(table["region"][0].as_py()).has_z


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        "null",
        "{}",
        '{"type":"FeatureCollection"}',
        '{"type":"FeatureCollection","features":[5]}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:50],
)
def test_what_is_not_geojson_is_refused(tmp_path, text):
    error = error_of(load_text, tmp_path, text, None, name="a.geojson")
    assert isinstance(error, ConfigError)
    assert error.code == "config.broken_geojson"


def test_bytes_that_are_not_utf8_are_not_geojson(tmp_path):
    assert error_of(load_text, tmp_path, b"\xff", None, name="a.geojson").code == "config.broken_geojson"


@pytest.mark.parametrize(
    ("name", "count"),
    [("san-francisco", 37), ("brussels_communes", 19), ("ne_50m_geography_marine_polys", 118)],
)
def test_real_regions_load(tmp_path, name, count):
    _, table, region = load(tmp_path, real("polygons", f"{name}.geojson"), key=None)
    assert table.num_rows == count
    assert all(shapely.is_valid(shapely.from_wkb(table[region].to_pylist())))


def test_real_neighbourhoods_have_keys(tmp_path):
    assert load(tmp_path, real("polygons", "san-francisco.geojson"))[1].num_rows == 37


def test_real_borders_that_cross_themselves_are_refused(tmp_path):
    error = error_of(load, tmp_path, real("polygons", "ne_110m_admin_0_countries.geojson"), key=None)
    assert error.code == "query.invalid_geometry"


def test_a_real_table_of_sites_loads(tmp_path):
    _, table, _ = load(
        tmp_path, real("oldenburg", "nodes.csv"), "node_id BIGINT, x DOUBLE, y DOUBLE", "node_id"
    )
    assert table.num_rows == 6105


@pytest.mark.parametrize(
    "properties", [{"name": "\ud800"}, {"name": {"a": "\udfff"}}, {"name\ud800": 1}, {"na\0me": 1}]
)
def test_half_a_character_in_a_property_is_an_error_that_can_be_written(tmp_path, properties):
    error = error_of(load_features, tmp_path, ({"name": "a"}, SQUARE), (properties, SQUARE))
    assert error.code == "query.bad_table_row" and "feature 2" in str(error) and str(error).encode()


def test_half_a_character_in_a_property_that_nobody_wants_is_none(tmp_path):
    odd = {"name": "a", "other": "\ud800", "third\ud800": 1}
    _, table, _ = load_features(tmp_path, (odd, SQUARE), columns="name STRING")
    assert table.column("name").to_pylist() == ["a"]


def test_half_a_character_in_a_row_of_json(tmp_path):
    error = error_of(load_text, tmp_path, '{"name": "\\ud800", "x": 1, "y": 1}', name="sites.jsonl")
    assert error.code == "query.bad_table_row" and str(error).encode()


def test_coordinates_go_as_far_as_those_in_a_statement(tmp_path):
    def corner(x: str) -> str:
        ring = f"[[[0, 0], [{x}, 0], [{x}, 1], [0, 1], [0, 0]]]"
        area = f'{{"type": "Polygon", "coordinates": {ring}}}'
        return f'{{"type": "Feature", "properties": {{"name": "a"}}, "geometry": {area}}}'

    for x in ("8e307", "-8e307"):
        assert load_text(tmp_path, corner(x), None, name="s.geojson")[1].num_rows == 1
    for x, code in (("8.1e307", "not_finite"), ("-1e308", "not_finite"), ("1e309", "bad_geometry")):
        error = error_of(load_text, tmp_path, corner(x), None, name="s.geojson")
        assert error.code == f"query.{code}" and "8e+307" in error.hint
