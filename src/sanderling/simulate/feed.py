"""Traffic at the pace of the clock on the wall: each step becomes a file when its time has come."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from sanderling.errors import ConfigError
from sanderling.simulate.steps import write_step
from sanderling.simulate.traffic import Traffic


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
        write_step(self.folder, step, self.traffic.step())
        self.alive = self.traffic.alive
