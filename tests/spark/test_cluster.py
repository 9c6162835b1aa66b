"""Separate executor processes give the same bytes as threads of one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.recovery.test_crash import world

__all__ = ["world"]


def test_local_cluster_gives_the_same_output_as_local(world: Path, tmp_path: Path) -> None:
    outputs = []
    for number, master in enumerate(("local[2]", "local-cluster[2,1,1024]")):
        out = tmp_path / f"{number}.jsonl"
        done = subprocess.run(
            [sys.executable, "-m", "tests.recovery.small_batches", "run", str(world / "script.sql"),
             "--out", str(out), "--master", master],
            capture_output=True, text=True, timeout=400, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") > 300
