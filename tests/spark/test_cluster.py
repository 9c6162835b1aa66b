"""Separate executor processes give the same bytes as threads of one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.long import IS_LONG
from tests.recovery.runs import command, output


@pytest.mark.skipif(not IS_LONG, reason="in make test the test below has it, and workers that die")
def test_local_cluster_gives_the_same_output_as_local(
    world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    done = run_on_cluster(world, tmp_path)
    assert done.returncode == 0, done.stderr
    assert output(tmp_path) == undisturbed


def test_workers_that_are_killed_leave_their_turns_to_others(
    world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """Each worker dies in its second turn: the keeper has advanced, the store has not. Spark tries again."""
    killed = tmp_path / "killed"
    done = run_on_cluster(world, tmp_path, f"after-advance:2:{killed}")
    assert done.returncode == 0, done.stderr
    assert killed.read_text().splitlines()
    assert output(tmp_path) == undisturbed


def run_on_cluster(world: Path, place: Path, crash_at: str | None = None) -> subprocess.CompletedProcess[str]:
    there = [v.replace("local[2]", "local-cluster[2,1,1024]") for v in command(world, place)]
    assert there != command(world, place)
    environment = {**os.environ} | ({"SANDERLING_CRASH": crash_at} if crash_at else {})
    return subprocess.run(there, env=environment, capture_output=True, text=True, timeout=400, check=False)
