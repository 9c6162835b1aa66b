"""Starts the city, Spark and the queries, and shows what changes until it is told to stop."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from rich.console import Console
from rich.live import Live

from sanderling.deliver.log import Log
from sanderling.demo.page import page
from sanderling.demo.scene import Scene
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.settings import Settings
from sanderling.simulate.feed import Feed
from sanderling.simulate.network import Network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sanderling.spark.lasting import LastingQuery
    from sanderling.spark.stream import Take

SHARDS = 2
# Of so many objects one arrives in a second; as many appear, so that the city stays as full as it is.
OBJECTS_PER_ARRIVAL = 450
SECONDS_BETWEEN_LOOKS = 0.25


def demo_plan(*more: str) -> Plan:
    """The queries of demo.sql, and of other scripts, over the districts beside them."""
    folder = files("sanderling.demo")
    districts = str(folder / "districts.geojson").replace("'", "''")
    planner = Planner()
    for script in ("demo.sql", *more):
        planner.run_script((folder / script).read_text().replace("districts.geojson", districts))
    return planner.plan()


def demo_settings(objects: int, seed: int) -> TrafficSettings:
    return TrafficSettings(objects, max(1, objects // OBJECTS_PER_ARRIVAL), seed=seed)


def run_demo(network: Network, settings: TrafficSettings, seconds: float | None, console: Console) -> None:
    """Shows the city until `seconds` are over, or for ever; a signal ends it as the time would."""
    from sanderling.spark.session import start_session
    from sanderling.spark.signals import held_signals

    scene = Scene(demo_plan())
    work = Path(tempfile.mkdtemp(prefix="sanderling-demo-"))
    try:
        console.print("starting Spark …", style="dim")
        spark = start_session(f"local[{SHARDS}]", SHARDS, work / "spark.log")
        with held_signals(is_delivered=False) as is_stopping:
            try:
                feed = _feed(network, settings, work)
                _stream(spark, feed, scene, work, console, lambda: is_stopping() or scene.is_over(seconds))
            finally:
                spark.stop()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if not console.is_terminal:
        _say_ticks(scene, console)
    console.print(f"{scene.rows:,} readings, {scene.ticks:,} ticks, {feed.alive:,} objects alive")
    for q in scene.plan.queries:
        said = "alerts" if q.name in scene.triggers else "in it at the end"
        console.print(f"  {q.name}: {scene.held[q.name]:,} {said}")


def _feed(network: Network, settings: TrafficSettings, work: Path) -> Feed:
    """The city, from now on."""
    return Feed(Traffic(network, replace(settings, start_us=int(time.time()) * 1_000_000)), work / "steps")


def _stream(
    spark: SparkSession, feed: Feed, scene: Scene, work: Path, console: Console, is_over: Callable[[], bool]
) -> None:
    from sanderling.spark.plans import PlanFolder
    from sanderling.spark.sources.simulator import Simulator
    from sanderling.spark.sources.source import Layout
    from sanderling.spark.stream import start_stream

    plans = PlanFolder.in_(work / "plans")
    plans.keep(scene.plan)
    layout = Layout.of(scene.plan, plans, SHARDS, work, Settings(), is_living=False)
    feed.start()
    try:
        query = start_stream(spark, layout, [Simulator("city", feed.folder)], shown(scene, work), "1 second")
        try:
            _show(scene, feed, query, console, is_over)
        finally:
            query.stop()
            scene.end()
    finally:
        feed.stop()


def shown(scene: Scene, work: Path) -> Take:
    """Batches go to the scene, and are kept nowhere."""
    log = Log(work / "said")

    def take(_: int, blobs: pa.Table) -> None:
        scene.take(log.parcels_of(blobs))
        log.remove_parts(blobs)

    return take


def _say_ticks(scene: Scene, console: Console) -> None:
    while scene.lines:
        console.print(scene.lines.popleft(), soft_wrap=True)


def _show(
    scene: Scene, feed: Feed, query: LastingQuery, console: Console, is_over: Callable[[], bool]
) -> None:
    """The page on a terminal, elsewhere a line a tick."""
    with Live(console=console, auto_refresh=False) if console.is_terminal else nullcontext() as live:
        while query.isActive and feed.failure is None and not is_over():
            time.sleep(SECONDS_BETWEEN_LOOKS)
            if live is None:
                _say_ticks(scene, console)
            else:
                live.update(page(scene, feed.alive, console.width, console.height), refresh=True)
    # Ctrl-C on a terminal reaches Spark's processes too: what they then say is no failure.
    failure = feed.failure or (None if is_over() else query.exception())
    if failure is not None:
        raise failure
