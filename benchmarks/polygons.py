"""Real cabs in a thousand real borders: by rasters first, against GEOS for all that is within bounds."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import shapely

from benchmarks.engine import Engine
from benchmarks.report import report
from benchmarks.squares import plan_of
from sanderling.batches import ROW, TS, Kind
from sanderling.operate.shard.now import Moved
from sanderling.operate.shard.stream import StreamShard
from sanderling.plans.plan import Plan
from sanderling.space.outlines.polygons import NO_POLYGONS

REASON = "cabs of San Francisco in its neighbourhoods, many times over: the operators of a shard"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CABS, HOODS = DATA / "sf-cabs" / "cabs_2h.csv.gz", DATA / "polygons" / "san-francisco.geojson"
SCRIPT = (
    "CREATE STREAM cabs (cab_id STRING, unix_time BIGINT, lon DOUBLE, lat DOUBLE)"
    " KEY cab_id TIME unix_time LOCATION (lon, lat) WITH (path = 'made.parquet');"
    "CREATE TABLE hoods KEY name WITH (path = '{path}');"
    "REGISTER QUERY in_hood AS SELECT c.cab_id, h.name FROM cabs c, hoods h WHERE c.location INSIDE h.region"
)
STEP = 0.01  # of a degree, about a kilometre: how far away copies of a border are
WITH, WITHOUT = "rasters, then GEOS", "bounds, then GEOS"


def run(polygons: int = 1_000, batches: int = 8, rounds: int = 5) -> dict[str, float]:
    """Two hours of readings in so many batches, again and again; the first round compiles, not counted."""
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_of(SCRIPT.format(path=write_hoods(Path(folder) / "hoods.geojson", polygons)))
    readings = cabs()
    tries: dict[str, list[Try]] = {WITH: [], WITHOUT: []}
    for _ in range(rounds + 1):
        for way, tried in tries.items():
            tried.append(Try.of(plan, way).over(readings, batches))
    told = tries[WITH][0].told
    assert told and all(t.told == told for tried in tries.values() for t in tried), "both tell the same"
    seconds = {way: float(np.median([t.seconds for t in tried[1:]])) for way, tried in tries.items()}
    rows = [
        {"way": way, "seconds": s, "readings a second": round(len(readings) / s)}
        for way, s in seconds.items()
    ]
    ratio = seconds[WITHOUT] / seconds[WITH]
    facts = {
        "polygons": polygons, "readings": len(readings), "updates": sum(told.values()),
        **made(plan), "times faster with rasters": ratio,
    }  # fmt: skip
    report("polygons", REASON, rows, facts)
    return {"ratio": ratio}


@dataclass
class Try:
    """A shard in this process, and how long its operators took."""

    engine: Engine
    seconds: float = 0.0
    told: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    @classmethod
    def of(cls, plan: Plan, way: str) -> Try:
        engine = Engine(plan, shards=1)
        stream = stream_of(engine)
        if way == WITHOUT:
            stream.polygons = stream.polygons.without_rasters()
            stream.rebuild()
        return cls(engine)

    def over(self, readings: pa.Table, batches: int) -> Try:
        working = stream_of(self.engine).working
        apply = working.apply

        def timed(moved: Moved) -> Any:
            started = time.process_time()
            changes = apply(moved)
            self.seconds += time.process_time() - started
            return changes

        working.apply = timed  # type: ignore[method-assign]
        for rows in np.array_split(np.arange(len(readings)), batches):
            self.engine.number += 1
            for batch in self.engine.shards_say(readings.slice(rows[0], len(rows))):
                if batch.kind == Kind.DELTAS:
                    self.told.update(zip(*(c.to_pylist() for c in batch.table.columns), strict=True))
        return self


def stream_of(engine: Engine) -> StreamShard:
    (stream,) = engine.shards[0].streams.values()
    return stream


def made(plan: Plan) -> dict[str, float]:
    """What it costs that a shard has rasters: once, when the plan comes."""
    (stream,) = plan.streams
    started = time.process_time()
    polygons = NO_POLYGONS.of(stream.regions.wkb)
    seconds = time.process_time() - started
    n = len(polygons)
    return {
        "corners a polygon": float(shapely.get_num_coordinates(polygons.shapes).mean()),
        "microseconds to make a polygon and its raster": 1e6 * seconds / n,
        "bytes of a raster": (polygons.rasters.cells.nbytes + polygons.rasters.grid.nbytes) / n,
    }


def write_hoods(path: Path, n: int) -> Path:
    """The neighbourhoods as they are, and then all of them again and again, each border somewhere near."""
    features = json.loads(HOODS.read_text())["features"]
    rng = np.random.default_rng(5)
    some = []
    for i in range(n):
        feature = features[i % len(features)]
        away = rng.normal(0, STEP, 2) if i >= len(features) else np.zeros(2)
        shape = shapely.transform(shapely.from_geojson(json.dumps(feature["geometry"])), away.__add__)
        name = f"{feature['properties']['name']} {i // len(features)}"
        geometry = json.loads(shapely.to_geojson(shape))
        some.append({"type": "Feature", "properties": {"name": name}, "geometry": geometry})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": some}))
    return path


def cabs() -> pa.Table:
    table = csv.read_csv(CABS).select(["cab_id", "unix_time", "lon", "lat"])
    ts = table.column("unix_time").to_numpy()
    row = np.arange(1, len(ts) + 1)
    return table.append_column(TS, pa.array(ts * 1_000_000)).append_column(ROW, pa.array(row))
