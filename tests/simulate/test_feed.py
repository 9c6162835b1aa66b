"""Traffic at the pace of the clock: whole files in order, kept until they are not needed."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from sanderling.errors import ConfigError
from sanderling.simulate.feed import Feed
from sanderling.simulate.network import Network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.steps import forget_before, next_step, read_step
from sanderling.simulate.traffic import Traffic

SETTINGS = TrafficSettings(objects=30, new=1, step_us=50_000)


def wait_for_step(folder: Path, step: int) -> None:
    deadline = time.monotonic() + 20
    while next_step(folder, 0) <= step:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_steps_come_when_their_time_has_come(town: Network, tmp_path: Path) -> None:
    settings = replace(SETTINGS, start_us=int(time.time() * 1e6))
    feed = Feed(Traffic(town, settings), tmp_path / "steps")
    feed.start()
    wait_for_step(feed.folder, 5)
    now_us = time.time() * 1e6
    reached = next_step(feed.folder, 0)
    feed.stop()
    assert feed.failure is None and reached <= (now_us - settings.start_us) / 50_000 + 1
    again = Traffic(town, settings)
    for step in range(reached):
        assert read_step(feed.folder, step).equals(again.step()), step
    assert feed.alive == feed.traffic.alive > 30


def test_what_was_committed_is_forgotten(town: Network, tmp_path: Path) -> None:
    feed = Feed(Traffic(town, replace(SETTINGS, start_us=0)), tmp_path / "steps")  # long overdue: no waiting
    feed.start()
    wait_for_step(feed.folder, 8)
    feed.stop()
    forget_before(feed.folder, 4)
    assert next_step(feed.folder, 0) == 0 and next_step(feed.folder, 4) == feed.traffic.steps
    assert not [p for p in feed.folder.iterdir() if p.suffix == ".partial"]


def test_a_feed_that_cannot_write_says_so(town: Network, tmp_path: Path) -> None:
    feed = Feed(Traffic(town, replace(SETTINGS, start_us=0)), tmp_path / "steps")
    feed._write = lambda step: (_ for _ in ()).throw(OSError("no room"))  # type: ignore[method-assign]
    feed.start()
    feed.stop()
    assert isinstance(feed.failure, ConfigError) and feed.failure.code == "config.not_writable"
