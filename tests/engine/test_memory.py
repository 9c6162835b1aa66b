"""What is held and what is saved of an endless stream is bounded by what is there, not by what has been."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from sanderling import arrays
from sanderling.batches import TURNS
from sanderling.operate.tree.turns import Turns
from sanderling.plan.planner import Planner
from sanderling.state import saved
from tests.engine import fleet
from tests.engine.direct import DirectRun
from tests.long import so_many

BATCHES, TICKS = so_many((18, 40), (1_000, 60))  # so many ticks a batch


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not needed is forgotten soon, so that what is never forgotten shows."""
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 50)


def test_memory_and_saved_state_stay_flat(forgetful: None, tmp_path: Path) -> None:
    planner = Planner()
    planner.run_script(fleet.script())
    run, chance, told = DirectRun(planner.plan(), partitions=1), Random(1), 0
    held = []
    for number in range(BATCHES):
        if number == BATCHES // 6:
            tracemalloc.start()  # what is compiled and read once has been by now
        for stream in ("cars", "vans"):
            path = tmp_path / "part.csv"
            path.write_text(fleet.readings(chance, number * TICKS, TICKS))
            run.feed_file(stream, path)
        told += len(run.updates)
        run.updates.clear()
        held.append((sum(saved_bytes(run)), *held_bytes()))
    tracemalloc.stop()
    assert told > 20 * BATCHES * TICKS, "there is something to remember"
    # Between two compactions it goes up and down: the most of a while counts.
    third = BATCHES // 3
    then, now = most(held[third:-third]), most(held[-third:])
    for what, before, after in zip(("saved", "Python", "Arrow"), then, now, strict=True):
        assert after < 1.15 * before, what


def test_batches_in_which_nothing_begins_leave_nothing() -> None:
    turns = Turns()
    for ready in range(100):
        turns.take(TURNS.empty_table(), ready, ["cars"])
    assert turns.told.column("tick").num_chunks <= 1


def saved_bytes(run: DirectRun) -> Iterator[int]:
    """Of a snapshot, after a delta that lets go what waits to be saved."""
    for copies in (*run.shard_copies, *run.merges):
        saved.delta(copies.engine)
        yield len(saved.snapshot(copies.engine))


def held_bytes() -> tuple[int, int]:
    """Of Python and NumPy, and of Arrow."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0], pa.total_allocated_bytes()


def most(held: list[tuple[int, ...]]) -> list[int]:
    return [max(column) for column in zip(*held, strict=True)]
