"""The live source: steps in, answers out, the same as computed from scratch; a batch can be read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.datasource import InputPartition

from sanderling.demo.run import AT, demo_plan, demo_script
from sanderling.demo.scene import Scene
from sanderling.plans.parts import for_source
from sanderling.session.connect import connect
from sanderling.simulate.city import make_city
from sanderling.simulate.feed import Feed
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.steps import read_step
from sanderling.simulate.traffic import Traffic
from sanderling.spark.sources.simulator import Simulator, StepReader, Steps
from sanderling.spark.sources.source import Packing

STEPS, EARTH_M = 12, 6_371_008.8


def fed(folder: Path) -> Feed:
    """A city whose steps are all there."""
    feed = Feed(Traffic(make_city(7), TrafficSettings(objects=1_000, new=20, at=AT)), folder)
    folder.mkdir()
    for step in range(STEPS):
        feed._write(step)
    return feed


def test_answers_are_what_the_last_step_says(spark: SparkSession, tmp_path: Path) -> None:
    feed, scene = fed(tmp_path / "steps"), Scene(demo_plan())
    steps = [read_step(feed.folder, n).to_pandas() for n in range(STEPS)]
    with connect(spark, shards=2) as session:
        session.execute(demo_script())
        session.add_source("city", Simulator("city", feed.folder))
        session.add_sink(scene)
        session.start().process_all()
    # The last tick is open: no later reading has closed it.
    assert (scene.rows, scene.ticks) == (sum(map(len, steps)), STEPS - 1)
    now = steps[STEPS - 2]
    now = now[~now.gone]
    market = now.lon.between(8.2101, 8.2191) & now.lat.between(53.1408, 53.1462)
    assert scene.held["market"] == market.sum() > 0
    assert scene.held["station"] == (_metres(now.lon, now.lat, 8.237, 53.151) <= 400).sum() > 0
    assert scene.held["racing"] == (now.speed * 3.6 > 118).sum() > 0
    assert scene.held["around_bus_0"] == _others_around(now, 0, 450, 300).sum() > 0
    assert scene.held["who_is_where"] > 500
    assert [scene.held[q] for q in ("trucks_by_station", "nearest_to_bus_40", "old_town_buses")] == [5, 10, 3]


def _others_around(now: pd.DataFrame, bus: int, east_m: float, north_m: float) -> pd.Series[bool]:
    (focal,) = now[now.id == bus].itertuples()
    east = _metres(now.lon, focal.lat, focal.lon, focal.lat)
    north = _metres(focal.lon, now.lat, focal.lon, focal.lat)
    return (east <= east_m) & (north <= north_m) & (now.id != bus)


def _metres(lon: Any, lat: Any, to_lon: float, to_lat: float) -> Any:
    """The haversine formula."""
    lon, lat, to_lon, to_lat = map(np.radians, (lon, lat, to_lon, to_lat))
    part = np.sin((to_lat - lat) / 2) ** 2 + np.cos(lat) * np.cos(to_lat) * np.sin((to_lon - lon) / 2) ** 2
    return 2 * EARTH_M * np.arcsin(np.sqrt(part))


def test_a_batch_replays_until_it_is_committed(tmp_path: Path) -> None:
    feed = fed(tmp_path / "steps")
    reader = StepReader(Steps(Packing(for_source(demo_plan().streams[0]), (0, 1), None), str(feed.folder)))
    assert reader.initialOffset() == {"step": 0}
    end = reader.latestOffset({"step": 0}, None)
    assert end == {"step": STEPS} == reader.latestOffset(end, None)
    first, again = ([list(reader.read(InputPartition(p.value))) for p in reader.partitions({"step": 3}, end)]
                    for _ in range(2))  # fmt: skip
    assert first == again and len(first) == 2, "one part for each shard"
    assert [p.value for p in reader.partitions({"step": 3}, end)] == [range(3, 8), range(8, 12)]
    assert len(reader.partitions(end, end)) == 0 and len(reader.partitions({"step": 11}, end)) == 1
    reader.commit({"step": 5})
    assert sorted(int(p.stem) for p in feed.folder.iterdir()) == list(range(5, STEPS))
    assert reader.latestOffset({"step": 5}, None) == end
