"""The files of a feed, one a step.

Steps cannot be made again, since who is in the way of whom depends on all steps before. So each is kept
until whoever reads it needs it no more. The readers import this and nothing of the traffic.
"""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa


def step_path(folder: Path, step: int) -> Path:
    return folder / f"{step}.arrow"


def write_step(folder: Path, step: int, readings: pa.Table) -> None:
    """Under its name it is whole: the reader looks at any moment."""
    path = step_path(folder, step)
    partial = path.with_suffix(".partial")
    with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, readings.schema) as writer:
        writer.write_table(readings)
    os.replace(partial, path)


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
