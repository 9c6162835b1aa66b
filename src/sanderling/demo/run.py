"""Starts the city, Spark and the queries, and shows what changes until it is told to stop."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from sanderling.demo.page import page
from sanderling.demo.scene import Scene
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.simulate.feed import Feed
from sanderling.simulate.network import Network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

if TYPE_CHECKING:
    from sanderling.session.session import Session

SHARDS = 2
# Of so many objects one arrives in a second; as many appear, so that the city stays as full as it is.
OBJECTS_PER_ARRIVAL = 450
SECONDS_BETWEEN_LOOKS = 0.25


def demo_script(*more: str) -> str:
    """demo.sql, and other scripts, over the districts beside them."""
    folder = files("sanderling.demo")
    districts = str(folder / "districts.geojson").replace("'", "''")
    text = "\n".join((folder / script).read_text() for script in ("demo.sql", *more))
    return text.replace("districts.geojson", districts)


def demo_plan(*more: str) -> Plan:
    planner = Planner()
    planner.run_script(demo_script(*more))
    return planner.plan()


def demo_settings(objects: int, seed: int) -> TrafficSettings:
    return TrafficSettings(objects, max(1, objects // OBJECTS_PER_ARRIVAL), seed=seed)


def run_demo(network: Network, settings: TrafficSettings, seconds: float | None, console: Console) -> None:
    """Shows the city until `seconds` are over, or for ever; a signal ends it as the time would."""
    from sanderling.session.connect import connect
    from sanderling.spark.signals import held_signals

    scene = Scene(demo_plan())
    with (
        tempfile.TemporaryDirectory(prefix="sanderling-demo-", ignore_cleanup_errors=True) as folder,
        connect(shards=SHARDS, master=f"local[{SHARDS}]", keep="0 seconds") as session,
    ):
        session.execute(demo_script())
        console.print("starting Spark …", style="dim")
        _ = session.spark  # here a signal still interrupts
        with held_signals(is_delivered=False) as is_stopping:
            feed = _feed(network, settings, Path(folder) / "steps")
            try:
                _stream(session, feed, scene, console, lambda: is_stopping() or scene.is_over(seconds))
            finally:
                session.stop()
    if not console.is_terminal:
        _say_ticks(scene, console)
    console.print(f"{scene.rows:,} readings, {scene.ticks:,} ticks, {feed.alive:,} objects alive")
    for q in scene.plan.queries:
        said = "alerts" if q.name in scene.triggers else "in it at the end"
        console.print(f"  {q.name}: {scene.held[q.name]:,} {said}")


def _feed(network: Network, settings: TrafficSettings, folder: Path) -> Feed:
    """The city, from now on."""
    return Feed(Traffic(network, replace(settings, start_us=int(time.time()) * 1_000_000)), folder)


def _stream(
    session: Session, feed: Feed, scene: Scene, console: Console, is_over: Callable[[], bool]
) -> None:
    from sanderling.spark.sources.simulator import Simulator

    session.add_source("city", Simulator("city", feed.folder))
    session.add_sink(scene)
    feed.start()
    try:
        session.start()
        _show(scene, feed, session, console, is_over)
    finally:
        feed.stop()


def _say_ticks(scene: Scene, console: Console) -> None:
    while scene.lines:
        console.print(scene.lines.popleft(), soft_wrap=True)


def _show(scene: Scene, feed: Feed, session: Session, console: Console, is_over: Callable[[], bool]) -> None:
    """The page on a terminal, elsewhere a line a tick."""
    with Live(console=console, auto_refresh=False) if console.is_terminal else nullcontext() as live:
        while session.is_running and feed.failure is None and not is_over():
            time.sleep(SECONDS_BETWEEN_LOOKS)
            if live is None:
                _say_ticks(scene, console)
            else:
                live.update(page(scene, feed.alive, console.width, console.height), refresh=True)
    if feed.failure is not None:
        raise feed.failure
    # Ctrl-C on a terminal reaches Spark's processes too: what they then say is no failure.
    if not is_over():
        session.await_termination(0)
