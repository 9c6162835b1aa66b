"""Key, time and place of real cabs take few bytes, and come back to the last bit."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sanderling.batches import TS
from sanderling.storage.archive import Archive
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer
from tests.ingest.streams import real
from tests.storage.worlds import archiving

STREAM = """CREATE STREAM cars (cab_id STRING, at TIMESTAMP, lon DOUBLE, lat DOUBLE)
  KEY cab_id TIME at LOCATION (lon, lat) ON GLOBE WITH (tick = '10 seconds');"""
MOST_BYTES = 16


def test_a_reading_of_a_cab_takes_few_bytes(tmp_path: Path) -> None:
    with gzip.open(real("sf-cabs", "cabs_2h.csv.gz")) as file:
        raw = pa.csv.read_csv(file)
    ts = np.asarray(raw.column("unix_time").to_numpy(), np.int64) * 1_000_000
    cabs = pa.table(
        {
            "cab_id": raw.column("cab_id").cast(pa.string()), "at": pa.array(ts, pa.timestamp("us")),
            "lon": raw.column("lon"), "lat": raw.column("lat"), TS: ts,
        }
    )  # fmt: skip
    writer = Writer(tmp_path, archiving(tmp_path, stream=STREAM))
    minute = 60_000_000
    cuts = np.arange(ts.min() // minute - 1, ts.max() // minute + 2) * minute
    tending = Tending(writer)
    for before, to in pairwise(cuts.tolist()):
        writer.append([cabs.filter(pa.array((ts > before) & (ts <= to)))], to)
        tending.tend()
    archive = Archive.open(tmp_path)
    closed = archive.files[:-1]
    found = sum(f.bytes for f in closed) / sum(f.rows for f in closed)
    assert found <= MOST_BYTES
    told = pa.Table.from_batches(archive.readings(0, int(cuts[-1])))
    order = [(TS, "ascending"), ("cab_id", "ascending")]
    assert told == cabs.select(told.column_names).sort_by(order).combine_chunks()
