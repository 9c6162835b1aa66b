"""Killed at every named point, started again: the output is byte for byte that of an undisturbed run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sanderling.state import crash
from tests.command.said import without_progress
from tests.command.test_interrupt import wait_for
from tests.long import IS_LONG
from tests.recovery.runs import command, java_of, output, run
from tests.session.test_signals import wait_for_nobody

ALL = tuple(f"{point}:{1 if 'publish' in point else 2}" for point in crash.POINTS)


@pytest.mark.skipif(not IS_LONG, reason="make test has some of it in one story (test_stories.py)")
@pytest.mark.parametrize("point", ALL)
def test_a_crash_at_a_named_point_leaves_no_trace(
    point: str, world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    first = run(world, tmp_path, point)
    assert first.returncode != 0, "it was to crash"
    second = run(world, tmp_path)
    assert second.returncode == 0, second.stderr
    assert output(tmp_path) == undisturbed


@pytest.mark.skipif(not IS_LONG, reason="make test has some of it in one story (test_stories.py)")
@pytest.mark.parametrize("victim", ["python", "java"])
def test_a_driver_killed_at_any_moment_goes_on(
    victim: str, world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """SIGKILL from outside, at a moment nobody chose, after some output is there; then to the end.

    Either half of the driver alone: the other half ends, and so do workers and keepers.
    """
    process = subprocess.Popen(
        command(world, tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    checkpoint = tmp_path / "checkpoint"
    if victim == "python":
        wait_for((checkpoint / "run.json").exists, process)
        second = run(world, tmp_path)  # while the first one's Spark starts
        assert second.returncode != 0 and second.stderr.startswith("state.in_use: "), second.stderr
        assert sys.platform != "linux" or f"process {process.pid}" in second.stderr
    wait_for((checkpoint / "delivered.json").exists, process)
    time.sleep(random.uniform(0, 1.5))
    if victim == "python":
        process.send_signal(signal.SIGKILL)
    else:
        os.kill(java_of(process.pid), signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    if victim == "java":
        assert process.returncode == 1, said
        assert without_progress(said).startswith("internal.spark: the Java process of Spark has ended"), said
    wait_for_nobody(process.pid)
    done = run(world, tmp_path)
    assert done.returncode == 0, done.stderr
    assert output(tmp_path) == undisturbed
    if victim == "python":
        again = run(world, tmp_path)
        assert again.returncode == 0, again.stderr
        assert output(tmp_path) == undisturbed


# That what is added is not read is shown by tests/ingest/test_slices.py, too.
@pytest.mark.skipif(not IS_LONG, reason="make test has some of it in one story (test_stories.py)")
@pytest.mark.parametrize("how", ["gone", "longer"])
def test_an_input_that_changes_while_it_is_read(
    how: str, world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """One that is gone stops the run; of one that grows, what was there is read."""
    folder = tmp_path / "world"
    shutil.copytree(world, folder)
    script = (folder / "script.sql").read_text().replace(str(world), str(folder))
    (folder / "script.sql").write_text(script)
    process = subprocess.Popen(
        command(folder, tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    wait_for((tmp_path / "checkpoint" / "delivered.json").exists, process)
    last = folder / "cars" / "2.csv"
    if how == "gone":
        last.unlink()
    else:
        with open(last, "a") as file:
            file.write("car1,179,5,5,9\n")
    _, said = process.communicate(timeout=200)
    if how == "gone":
        assert process.returncode == 1 and without_progress(said).startswith('state.source_changed: "'), said
        assert not (tmp_path / "updates.jsonl").exists()
    else:
        assert process.returncode == 0, said
        updates, letters = output(tmp_path)
        assert (updates, letters.replace(str(folder).encode(), str(world).encode())) == undisturbed
