"""The files of a feed, one a step.

Steps cannot be made again, since who is in the way of whom depends on all steps before. So each is kept
until whoever reads it needs it no more. The readers import this and nothing of the traffic.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa


def step_path(folder: Path, step: int) -> Path:
    return folder / f"{step}.arrow"


def read_step(folder: Path, step: int) -> pa.Table:
    with pa.ipc.open_file(step_path(folder, step)) as file:
        return file.read_all()


def next_step(folder: Path, step: int) -> int:
    """The first step from `step` on that is not there yet."""
    while step_path(folder, step).exists():
        step += 1
    return step


def forget_before(folder: Path, step: int) -> None:
    for path in folder.glob("*.arrow"):
        if int(path.stem) < step:
            path.unlink(missing_ok=True)
