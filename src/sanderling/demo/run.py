"""Starts the city, Spark, the queries and the server, and shows what changes until it is told to stop."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from sanderling.demo.page import page
from sanderling.demo.roads import write_roads
from sanderling.demo.scene import Scene
from sanderling.errors import ConfigError
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.simulate.feed import Feed
from sanderling.simulate.globe import At
from sanderling.simulate.network import Network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

if TYPE_CHECKING:
    from sanderling.session.session import Session

SHARDS = 2
# Of so many objects one arrives in a second; as many appear, so that the city stays as full as it is.
OBJECTS_PER_ARRIVAL = 450
SECONDS_BETWEEN_LOOKS = 0.25
# A page that was away for so long goes on where it was.
KEPT = "1 minute"
USUAL_PORT, ANY_PORT = 8080, 0
# The middle of the city; demo.sql and districts.geojson are around it.
AT: At = (8.2146, 53.1435)


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
    return TrafficSettings(objects, max(1, objects // OBJECTS_PER_ARRIVAL), seed=seed, at=AT)


@dataclass(frozen=True, slots=True)
class Web:
    """Whether the city is served, and where: without a port at the usual one, if that is free."""

    is_wanted: bool = True
    port: int | None = None


def run_demo(
    network: Network, settings: TrafficSettings, seconds: float | None, console: Console, web: Web
) -> None:
    """Shows the city until `seconds` are over, or for ever; a signal ends it as the time would."""
    from sanderling.session.connect import connect
    from sanderling.spark.signals import held_signals

    scene = Scene(demo_plan())
    with (
        tempfile.TemporaryDirectory(prefix="sanderling-demo-", ignore_cleanup_errors=True) as folder,
        connect(
            shards=SHARDS, master=f"local[{SHARDS}]", keep=KEPT if web.is_wanted else "0 seconds"
        ) as session,
    ):
        session.execute(demo_script())
        console.print("starting Spark …", style="dim")
        _ = session.spark  # here a signal still interrupts
        with held_signals(is_delivered=False) as is_stopping:
            feed = _feed(network, settings, Path(folder) / "steps")
            roads = write_roads(network, AT, Path(folder) / "roads.geojson") if web.is_wanted else None
            try:
                _stream(
                    session, feed, scene, console, lambda: is_stopping() or scene.is_over(seconds),
                    lambda: _serve(session, web, roads, console),
                )  # fmt: skip
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


def _serve(session: Session, web: Web, roads: Path | None, console: Console) -> None:
    """Says where the map is; opens it, where there is somebody before a screen."""
    if not web.is_wanted:
        return
    try:
        server = session.serve(USUAL_PORT if web.port is None else web.port, roads=roads)
    except ConfigError:
        if web.port is not None:
            raise
        server = session.serve(ANY_PORT, roads=roads)
    # All that moves is seen at once; asking is a click away.
    link = f"{server.link}#operator"
    console.print(f"the map is at {link}", soft_wrap=True)
    if not server.has_page:
        console.print("its page is not built: `make web` builds it; the API is there", style="dim")
    elif console.is_terminal and _is_desktop():
        webbrowser.open(link)


def _is_desktop() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(v) for v in ("DISPLAY", "WAYLAND_DISPLAY"))


def _stream(
    session: Session, feed: Feed, scene: Scene, console: Console, is_over: Callable[[], bool],
    serve: Callable[[], None],
) -> None:  # fmt: skip
    from sanderling.spark.sources.simulator import Simulator

    session.add_source("city", Simulator("city", feed.folder))
    session.add_sink(scene)
    feed.start()
    try:
        session.start()
        serve()
        _show(scene, feed, session, console, is_over)
    finally:
        feed.stop()


def _say_ticks(scene: Scene, console: Console) -> None:
    while scene.lines:
        console.print(scene.lines.popleft(), soft_wrap=True)


def _show(scene: Scene, feed: Feed, session: Session, console: Console, is_over: Callable[[], bool]) -> None:
    """The page on a terminal, elsewhere a line a tick."""
    if not console.is_terminal:
        console.print("waiting for the first tick")
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
