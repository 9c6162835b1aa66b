"""`sanderling demo`: a simulated city, live, and a handful of queries over it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sanderling.clock import show_time
from sanderling.deliver.changes import gather
from sanderling.pipeline import for_source
from sanderling.plan.planner import Planner
from sanderling.plan.plans import Plan
from sanderling.route.parcels import Parcel
from sanderling.settings import Settings
from sanderling.simulate.stand_in import City

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

TICKS_SHOWN = 5


@dataclass
class Scene:
    """What the page shows: per query its answer's size and its last changes; at the foot, the pace."""

    plan: Plan
    objects: int
    held: Counter[str] = field(default_factory=Counter)
    recent: list[tuple[int, Counter[tuple[str, int]]]] = field(default_factory=list)  # changes by tick
    rows: int = 0
    ticks: int = 0
    latency: float = 0.0
    began: float = field(default_factory=time.time)
    lines: list[str] = field(default_factory=list)

    def take(self, number: int, parcels: list[Parcel]) -> None:
        """A batch: its changes, tick by tick."""
        if not self.rows:
            self.began = time.time()
        (stream,) = self.plan.streams
        change = gather(self.plan, parcels)[stream.stream.name]
        self.rows += change.rows_read
        self.ticks += change.ticks
        found: dict[int, Counter[tuple[str, int]]] = {}
        for table in change.rows.values():
            marks = np.stack([table.column(c).to_numpy().astype(np.int64) for c in ("tick", "query", "sign")])
            for (tick, query, sign), count in zip(*_counted(marks), strict=True):
                found.setdefault(tick, Counter())[self.plan.queries[query].name, sign] += count
        tick_us = stream.stream.tick_us
        for tick in range(change.closed_to - (change.ticks - 1) * tick_us, change.closed_to + 1, tick_us):
            self._tick(tick, found.get(tick, Counter()))
        self.latency = time.time() - change.closed_to / 1e6

    def _tick(self, tick: int, changes: Counter[tuple[str, int]]) -> None:
        for (name, sign), count in changes.items():
            self.held[name] += sign * count
        parts = [
            f"{q.name} +{changes[q.name, 1]} −{changes[q.name, -1]} ={self.held[q.name]}"
            for q in self.plan.queries
        ]
        self.lines.append(f"{show_time(tick)}  " + "  ".join(parts))
        self.recent = [*self.recent[1 - TICKS_SHOWN :], (tick, changes)]

    def is_over(self, seconds: float | None) -> bool:
        return seconds is not None and self.rows > 0 and time.time() >= self.began + seconds

    def page(self) -> Group:
        table = Table(expand=True, title="Sanderling: what changes in a city")
        for column in ("query", "SQL"):
            table.add_column(column)
        table.add_column("in it", justify="right")
        table.add_column(f"last {TICKS_SHOWN} ticks")
        for q in self.plan.queries:
            pieces = Text()
            for _, changes in self.recent:
                came, went = changes[q.name, 1], changes[q.name, -1]
                pieces.append(f"+{came}", "green" if came else "dim").append(
                    f" −{went}  ", "red" if went else "dim"
                )
            table.add_row(q.name, q.sql, f"{self.held[q.name]}", pieces)
        return Group(table, Text(self.foot()))

    def foot(self) -> str:
        pace = self.rows / max(time.time() - self.began, 1e-9)
        return (
            f"{pace:,.0f} readings a second   {self.ticks:,} ticks   {self.latency:.1f} s behind   "
            f"{self.objects:,} objects alive   Ctrl-C ends"
        )


def _counted(marks: npt.NDArray[np.int64]) -> tuple[list[list[int]], list[int]]:
    """Each distinct column of numbers, and how often it is there."""
    distinct, counts = np.unique(marks, axis=1, return_counts=True)
    return distinct.T.tolist(), counts.tolist()


def run_demo(seconds: float | None, objects: int, console: Console) -> None:
    """Starts the city and shows it until `seconds` are over, or for ever."""
    from sanderling.spark.live import FORMAT, LiveSource, LiveSpec
    from sanderling.spark.placement import shard_keys
    from sanderling.spark.session import start_session
    from sanderling.spark.stream import start_stream

    planner = Planner()
    planner.run_script(files("sanderling").joinpath("demo.sql").read_text())
    plan = planner.plan()
    scene = Scene(plan, objects)
    work = Path(tempfile.mkdtemp(prefix="sanderling-demo-"))
    shards = 2
    console.print("starting Spark …", style="dim")
    spark = start_session(f"local[{shards}]", shards, work / "spark.log")
    try:
        spark.dataSource.register(LiveSource)
        keys = shard_keys(shards)
        spec = LiveSpec(for_source(plan.streams[0]), City(objects), int(time.time()), tuple(keys))
        blobs = spark.readStream.format(FORMAT).option("spec", spec.encoded()).load()
        query = start_stream(blobs, plan, keys, work, Settings(), scene.take, is_bounded=False)
        try:
            _show(scene, query, seconds, console)
        finally:
            query.stop()
    finally:
        spark.stop()
        shutil.rmtree(work, ignore_errors=True)
    console.print(f"\n{scene.rows:,} readings, {scene.ticks:,} ticks")
    for q in plan.queries:
        console.print(f"  {q.name}: {scene.held[q.name]} in it at the end")


def _show(scene: Scene, query: StreamingQuery, seconds: float | None, console: Console) -> None:
    live = Live(scene.page(), console=console, refresh_per_second=4) if console.is_terminal else None
    if live is not None:
        live.start()
    try:
        # The time runs from the first batch on: until then Spark is still getting ready.
        while query.isActive and not scene.is_over(seconds):
            time.sleep(0.25)
            if live is not None:
                live.update(scene.page())
                continue
            while scene.lines:
                console.print(scene.lines.pop(0), soft_wrap=True)
    except KeyboardInterrupt:
        console.print("stopping …", style="dim")
    finally:
        if live is not None:
            live.stop()
    failure = query.exception()
    if failure is not None:
        raise failure
