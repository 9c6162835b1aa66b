"""Keepers on Spark: one that is killed is not missed, and none stays when the driver is gone."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from sanderling.state import crash
from tests.long import IS_LONG
from tests.recovery.runs import command, output, run

# On a busy machine Spark takes its time.
SECONDS_TO_COME, SECONDS_TO_GO = 300, 60


@pytest.mark.parametrize("point", crash.SURVIVED)
def test_a_keeper_that_dies_in_a_turn_is_not_missed(
    point: str, world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """Each keeper takes two turns and dies in the third, after it has advanced."""
    died = tmp_path / "died"
    done = run(world, tmp_path, f"{point}:3:{died}")
    assert done.returncode == 0, done.stderr
    assert died.read_text().splitlines(), "none did"
    assert output(tmp_path) == undisturbed


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_keepers_that_are_killed_at_any_moment_are_not_missed(
    world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """SIGKILL from outside, again and again, whatever they are doing."""
    mark = f"SANDERLING_TEST={uuid.uuid4().hex}"
    name, value = mark.split("=")
    process = subprocess.Popen(
        command(world, tmp_path), env={**os.environ, name: value},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    killed: set[int] = set()
    until = time.monotonic() + SECONDS_TO_COME
    try:
        while process.poll() is None and time.monotonic() < until:
            for keeper in _keepers(mark):
                with suppress(ProcessLookupError):
                    os.kill(keeper, signal.SIGKILL)
                    killed.add(keeper)
            time.sleep(random.uniform(0, 0.7))
    finally:
        process.kill()
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert len(killed) > 5 and output(tmp_path) == undisturbed


@pytest.mark.skipif(not IS_LONG, reason="make test has some of it in one story (test_stories.py)")
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_killed_driver_leaves_no_process_behind(world: Path, tmp_path: Path) -> None:
    mark = f"SANDERLING_TEST={uuid.uuid4().hex}"
    name, value = mark.split("=")
    process = subprocess.Popen(
        command(world, tmp_path), env={**os.environ, name: value},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + SECONDS_TO_COME
        while not _keepers(mark):
            assert process.poll() is None and time.monotonic() < until, "no keeper came"
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    until = time.monotonic() + SECONDS_TO_GO
    while _marked(mark) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _marked(mark)


def _marked(mark: str) -> list[int]:
    """Processes of a run, by what is in their environment; one that has ended has none."""
    found = []
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            if path.name.isdigit() and mark.encode() in (path / "environ").read_bytes():
                found.append(int(path.name))
    return found


def _keepers(mark: str) -> list[int]:
    """Forked from a worker, which was forked from a daemon, which was forked from the nursery."""
    found = []
    for process in _marked(mark):
        with suppress(OSError):
            line = [process]
            for _ in range(3):
                line.append(_parent(line[-1]))
            if all(b"start.nursery" in Path(f"/proc/{p}/cmdline").read_bytes() for p in line):
                found.append(process)
    return found


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
