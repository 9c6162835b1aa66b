"""Separate executor processes give the same bytes as threads of one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.recovery.runs import command, output


def test_local_cluster_gives_the_same_output_as_local(
    world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    there = [v.replace("local[2]", "local-cluster[2,1,1024]") for v in command(world, tmp_path)]
    assert there != command(world, tmp_path)
    done = subprocess.run(there, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    assert output(tmp_path) == undisturbed
