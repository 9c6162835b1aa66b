"""Killed at every named point, started again: the output is byte for byte that of an undisturbed run."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sanderling import crash
from tests.long import so_many
from tests.recovery.runs import command, output, run

# In the driver, and in a worker; the others are in `make long`.
QUICK = ("after-log:2", "after-write:2", "after-state:3")
ALL = tuple(f"{point}:{1 if 'publish' in point else 2}" for point in crash.POINTS)


@pytest.mark.parametrize("point", so_many(QUICK, ALL))
def test_a_crash_at_a_named_point_leaves_no_trace(
    point: str, world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    first = run(world, tmp_path, point)
    assert first.returncode != 0, "it was to crash"
    second = run(world, tmp_path)
    assert second.returncode == 0, second.stderr
    assert output(tmp_path) == undisturbed


def test_a_driver_killed_at_any_moment_goes_on(
    world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """SIGKILL from outside, at a moment nobody chose, after some output is there; then to the end."""
    process = subprocess.Popen(command(world, tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ledger = tmp_path / "checkpoint" / "delivered.json"
    deadline = time.monotonic() + 120
    while not ledger.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(random.uniform(0, 1.5))
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = run(world, tmp_path)
    assert done.returncode == 0, done.stderr
    assert output(tmp_path) == undisturbed
    again = run(world, tmp_path)
    assert again.returncode == 0, again.stderr
    assert output(tmp_path) == undisturbed
