"""Real files from other people: all of their rows are accounted for."""

from __future__ import annotations

import gzip
from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from .streams import ingest, make_stream, real, rows

CABS = "cab_id STRING, unix_time BIGINT, lon DOUBLE, lat DOUBLE, occupied BOOLEAN"


def count(found) -> dict[str, int]:
    return dict(Counter(found.letters["reason"].to_pylist()))


def test_cabs_of_san_francisco(tmp_path):
    stream = make_stream(CABS, key="cab_id", time="unix_time", x="lon", y="lat")
    path = real("sf-cabs", "cabs_2h.csv.gz")
    found = ingest(stream, path, tmp_path)
    assert (found.rows, count(found)) == (45_631, {})
    assert pc.count_distinct(found.readings["cab_id"]).as_py() == 469
    assert rows(found, "cab_id", "unix_time", "occupied", "__ts", "__row")[0] == (
        "eitpem",
        1211569200,
        True,
        1_211_569_200_000_000,
        2,
    )
    assert found.readings["__row"].to_pylist() == list(range(2, 45_633))
    assert ingest(stream, path, tmp_path, size=99_991).readings.equals(found.readings)


def test_buses_of_riga(tmp_path):
    columns = "id STRING, timestamp BIGINT, longitude DOUBLE, latitude DOUBLE, stop_id STRING, speed FLOAT"
    stream = make_stream(columns, time="timestamp", x="longitude", y="latitude")
    path = real("riga", "vehicle_positions.csv.gz")
    found = ingest(stream, path, tmp_path)
    assert (found.rows, count(found)) == (136_501, {})
    assert found.readings["stop_id"][0].as_py() == "0300"
    # Plain Python's idea of the same file.
    with gzip.open(path, "rt") as text:
        assert sum(1 for _ in text) == found.rows + 1


def test_taxis_of_beijing(tmp_path):
    columns = "taxi_id BIGINT, time TIMESTAMP, lon DOUBLE, lat DOUBLE"
    stream = make_stream(columns, key="taxi_id", time="time", x="lon", y="lat")
    found = ingest(stream, real("tdrive", "taxis_1h.csv.gz"), tmp_path)
    assert found.rows == 151_007
    assert found.readings.num_rows == 151_007
    assert pc.count_distinct(found.readings["taxi_id"]).as_py() == 8_643


def test_hurricanes_without_a_key_are_letters(tmp_path):
    columns = "Key STRING, DateTime TIMESTAMP, Lon DOUBLE, Lat DOUBLE, Wind SMALLINT"
    stream = make_stream(columns, key="Key", time="DateTime", x="Lon", y="Lat")
    found = ingest(stream, real("hurdat2", "atlantic.csv.gz"), tmp_path)
    assert found.rows == 51_840
    assert count(found) == {"missing_key": 14, "missing_place": 34}
    assert pc.min(found.readings["__ts"]).as_py() < 0
    assert pc.count_distinct(found.readings["Key"]).as_py() == 1_892


def test_ships_across_the_date_line(tmp_path):
    columns = "MMSI BIGINT, BaseDateTime TIMESTAMP, LON DOUBLE, LAT DOUBLE, VesselName STRING, Status STRING"
    stream = make_stream(columns, key="MMSI", time="BaseDateTime", x="LON", y="LAT")
    found = ingest(stream, real("ais", "marinecadastre_zone01_2017-01.csv"), tmp_path)
    assert (found.rows, count(found)) == (10_224, {})


def test_ships_whose_latitude_is_unknown_have_a_fine_number(tmp_path):
    # The file writes 26/04/2026, which is no ISO 8601; its ships' numbers stand in as times.
    columns = "MMSI BIGINT, A DOUBLE, Longitude DOUBLE, Latitude DOUBLE"
    stream = make_stream(columns, key="MMSI", time="MMSI", x="Longitude", y="Latitude")
    found = ingest(stream, real("ais", "danish_raw_97s.csv.gz"), tmp_path)
    assert found.rows == 19_999
    assert pc.max(found.readings["Latitude"]).as_py() == 91.0
    assert count(found) == {}


def test_danish_times_are_unreadable_and_say_so(tmp_path):
    columns = "MMSI BIGINT, # Timestamp TIMESTAMP, Longitude DOUBLE, Latitude DOUBLE"
    stream = make_stream(columns, key="MMSI", time="# Timestamp", x="Longitude", y="Latitude")
    found = ingest(stream, real("ais", "danish_raw_97s.csv.gz"), tmp_path)
    assert count(found) == {"unreadable_time": 19_999}
    assert "26/04/2026" in found.letters["detail"][0].as_py()


@pytest.mark.parametrize(
    ("path", "columns", "key", "time", "count_of_rows"),
    [
        (
            ("flights", "switzerland.csv.gz"),
            "icao24 STRING, timestamp TIMESTAMP, longitude DOUBLE, latitude DOUBLE",
            "icao24",
            "timestamp",
            139_098,
        ),
        (
            ("berlinmod", "brussels_trips.csv.gz"),
            "veh_id INT, time TIMESTAMP, lon DOUBLE, lat DOUBLE",
            "veh_id",
            "time",
            85_499,
        ),
        (
            ("tao", "tao_elnino.csv.gz"),
            "mooring_segment INT, date DATE, lon DOUBLE, lat DOUBLE, humidity DOUBLE",
            "mooring_segment",
            "date",
            178_080,
        ),
    ],
    ids=["flights", "brussels", "buoys"],
)
def test_every_row_of_other_real_files_is_a_reading(tmp_path, path, columns, key, time, count_of_rows):
    names = [column.rsplit(" ", 1)[0] for column in columns.split(", ")]
    stream = make_stream(columns, key=key, time=time, x=names[2], y=names[3])
    found = ingest(stream, real(*path), tmp_path)
    assert (found.rows, count(found)) == (count_of_rows, {})
    assert found.readings["__ts"].type == pa.int64()
