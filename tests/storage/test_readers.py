"""Other people's readers open an archive: the rows are there, once, and points where they should be."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import geopandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from sanderling.storage.archive import Archive
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer
from tests.storage.test_archive import plain
from tests.storage.worlds import HOUR, NOON, STREAM, archiving, readings

GLOBE = STREAM.replace("LOCATION (x, y)", "LOCATION (x, y) ON GLOBE")


@pytest.fixture(scope="module", params=[STREAM, GLOBE], ids=["plane", "globe"])
def past(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Table]:
    folder, table = tmp_path_factory.mktemp("past"), readings(1, 500)
    writer = Writer(folder, archiving(folder, stream=request.param))
    for hour in (1, 2, 3):
        writer.append([table], NOON + hour * HOUR)
        Tending(writer).tend()
    return folder, table


def test_duckdb_reads_the_files(past: tuple[Path, pa.Table]) -> None:
    folder, table = past
    files = [str(folder / "readings" / file.path) for file in Archive.open(folder).files]
    asked = """SELECT count(*), sum(geometry.x), max(speed), min(period)
      FROM read_parquet(?, hive_partitioning = true)"""
    found = duckdb.execute(asked, [files]).fetchone()
    first = "2024-05-01T12"
    assert found == (table.num_rows, sum(table["x"].to_pylist()), 8, first)


def test_delta_readers_see_each_reading_once(past: tuple[Path, pa.Table]) -> None:
    folder, table = past
    read = DeltaTable(str(folder / "readings")).to_pyarrow_table()
    assert {"id", "at", "speed", "is_off", "geometry", "period"} == {*read.column_names}
    told = sorted((r["at"].replace(tzinfo=None), r["id"], r["geometry"]["x"]) for r in read.to_pylist())
    assert told == [(r[1], r[0], r[2]) for r in plain(table, 0, NOON + 3 * HOUR)]


def test_geopandas_has_points_where_they_should_be(past: tuple[Path, pa.Table]) -> None:
    folder, table = past
    frames = [geopandas.read_parquet(folder / "readings" / f.path) for f in Archive.open(folder).files]
    told = sorted(
        (r.at.tz_localize(None), r.id, r.geometry.x, r.geometry.y) for f in frames for r in f.itertuples()
    )
    assert told == [(r[1], r[0], r[2], r[3]) for r in plain(table, 0, NOON + 3 * HOUR)]
    is_globe = Archive.open(folder).stream.is_globe
    assert {None if f.crs is None else f.crs.to_string() for f in frames} == {
        "OGC:CRS84" if is_globe else None
    }


def test_the_metadata_are_those_of_geoparquet(past: tuple[Path, pa.Table]) -> None:
    folder, _ = past
    for file in Archive.open(folder).files:
        said = json.loads(pq.read_metadata(folder / "readings" / file.path).metadata[b"geo"])
        column = said["columns"][said["primary_column"]]
        assert (said["version"], column["encoding"], column["geometry_types"]) == (
            "1.1.0",
            "point",
            ["Point"],
        )
        assert tuple(column["bbox"]) == file.bounds
