"""The page with very many objects, drawn in software: frames a second, and how long it hears nobody."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from playwright.sync_api import Page, sync_playwright

from benchmarks.clients import SQUARES, START_S, STEP, parquet_of, served
from benchmarks.report import report
from sanderling.server.serve import Server
from sanderling.session.session import Session

REASON = "all objects move each tick: what a browser without a GPU draws, and how long it hears nobody"
RENDERERS = {
    "SwiftShader": ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    "llvmpipe": ["--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist"],
}
SIZE = {"width": 1200, "height": 720}
ALL = "everybody"
SECONDS_A_TICK = 2.0

# Each frame that is drawn, and each task that held up the page for more than 50 ms.
LOOK = """() => {
    const {ground} = sanderling.map, redraw = ground.redraw.bind(ground);
    window.frames_drawn = []; window.tasks = [];
    ground.redraw = () => { redraw(); frames_drawn.push(performance.now()); };
    window.observer = new PerformanceObserver(list => list.getEntries().forEach(e => tasks.push(e.duration)));
    observer.observe({type: 'longtask'});
}"""
THERE = """() => {
    const {objects} = sanderling.map;
    let there = 0;
    for (let slot = 0; slot < objects.count; slot++) there += objects.isThere(slot);
    return there;
}"""


def run(objects: int = 100_000, ticks: int = 6, renderers: tuple[str, ...] = tuple(RENDERERS)) -> None:
    """The operator's view, thinned, and a client whose only query holds everybody."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), SQUARES, None) as (session, server):
        town = Town(session, objects)
        town.tell()
        for name in renderers:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox", *RENDERERS[name]]
                )
                page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
                for view in ("operator", "client"):
                    rows.append({"renderer": name, "view": view, **_watched(page, server, town, view, ticks)})
                browser.close()
    facts = {
        "objects": objects, "ticks": ticks, "seconds a tick": SECONDS_A_TICK,
        "load of the machine": os.getloadavg()[0], "cores": os.cpu_count(),
    }  # fmt: skip
    report("page", REASON, rows, facts)


class Town:
    def __init__(self, session: Session, objects: int):
        self._session, self._objects, self.tick = session, objects, 0
        self._random = np.random.default_rng(7)
        self._places = self._random.uniform(0, SQUARES, (2, objects))

    def tell(self) -> None:
        """A reading of everybody."""
        self.tick += 1
        moved = self._places + self._random.normal(0, STEP, self._places.shape)
        self._places = np.clip(moved, 0, SQUARES)
        ids, seconds = np.arange(self._objects), np.full(self._objects, START_S + self.tick)
        table = pa.table({"id": ids, "ts": seconds, "x": self._places[0], "y": self._places[1]})
        self._session.postings["objects"].post(".parquet", parquet_of(table))
        self._session.process_all()


def _watched(page: Page, server: Server, town: Town, view: str, ticks: int) -> dict[str, float]:
    if view == "client":  # by the page's own way, so it is the operator's own
        body = {"select": "SELECT id, x, y FROM objects"}
        page.request.put(f"{server.address}api/v1/queries/{ALL}", data=body)
    page.goto(f"{server.link}#{view}" if view == "operator" else f"{server.address}#client")
    if view == "client":
        page.reload()
    wanted = town_shown(view)
    _until(page, wanted, town)
    page.evaluate("box => sanderling.map.fit(box)", [0, 0, SQUARES, SQUARES])
    town.tell()
    time.sleep(SECONDS_A_TICK)
    page.evaluate(LOOK)
    for _ in range(ticks):
        begun = time.monotonic()
        town.tell()
        time.sleep(max(0.0, SECONDS_A_TICK - (time.monotonic() - begun)))
    found: dict[str, Any] = page.evaluate("() => ({frames: frames_drawn, tasks})")
    shown = page.evaluate(THERE)
    if view == "client":
        assert shown == town._objects, f"{shown} of {town._objects} are on the map"
        page.request.delete(f"{server.address}api/v1/queries/{ALL}")
    at = np.array(found["frames"]) / 1000
    gaps = np.diff(at)
    return {
        "objects drawn": shown, "frames a second": round(len(gaps) / (at[-1] - at[0]), 2),
        "longest without a frame, seconds": round(float(gaps.max()), 2),
        "held up by its own work, seconds a tick": round(sum(found["tasks"]) / 1000 / ticks, 2),
    }  # fmt: skip


def town_shown(view: str) -> int:
    return 1000 if view == "operator" else 50_000


def _until(page: Page, least: int, town: Town) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        town.tell()
        time.sleep(1)
        if page.evaluate("() => window.sanderling !== undefined") and page.evaluate(THERE) >= least:
            return
    raise AssertionError("nothing is shown")


if __name__ == "__main__":
    run()
