"""Traffic at the pace of the clock on the wall: each step becomes a file when its time has come.

Steps cannot be made again, since who is in the way of whom depends on all steps before. So each is kept
as a file until whoever reads it needs it no more.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pyarrow as pa

from sanderling.errors import ConfigError
from sanderling.simulate.traffic import Traffic


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


class Feed:
    """A thread that steps the traffic and writes the files; `failure` says why it ended, if it did."""

    def __init__(self, traffic: Traffic, folder: Path):
        self.traffic, self.folder = traffic, folder
        self.alive = traffic.alive
        self.failure: Exception | None = None
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        self.folder.mkdir(parents=True)
        self._thread.start()

    def stop(self) -> None:
        self._is_stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._is_stopped.wait(self._due_in_s()):
                self._write(self.traffic.steps)
        except OSError as e:
            self.failure = ConfigError(
                "config.not_writable", f"{self.folder}: {e.strerror or e}", "make room"
            )
        except Exception as e:
            self.failure = e

    def _due_in_s(self) -> float:
        settings = self.traffic.settings
        due_us = settings.start_us + self.traffic.steps * settings.step_us
        return max(0.0, due_us / 1e6 - time.time())

    def _write(self, step: int) -> None:
        readings = self.traffic.step()
        path = step_path(self.folder, step)
        # Under its name it is whole: the reader looks at any moment.
        partial = path.with_suffix(".partial")
        with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, readings.schema) as writer:
            writer.write_table(readings)
        os.replace(partial, path)
        self.alive = self.traffic.alive
