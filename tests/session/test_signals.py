"""A program with a session that is told to stop several times in a row: it ends, and nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sanderling.spark.signals import held_signals
from tests.command.test_interrupt import send, still_running, wait_for
from tests.long import so_many

PROGRAM = """
import signal
import sanderling
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background are deaf to it
session = sanderling.connect(checkpoint="checkpoint", master="local[2]")
frame = session.spark.readStream.format("rate").option("rowsPerSecond", 50).load()
frame = frame.selectExpr("value % 9 AS id", "timestamp", "value % 7 AS x", "value % 5 AS y")
session.stream(frame, name="cars", key="id", time="timestamp", location=("x", "y"))
session.register("near", "SELECT id FROM cars kNN (3, 0, 0)")
session.start()
print("running", flush=True)
"""
ENDS = {
    "stopped": "with session:\n    session.await_termination()",
    "left open": "session.await_termination()",
}


@pytest.mark.parametrize(
    ("end", "number"),
    so_many(
        [("left open", signal.SIGTERM)],
        [("stopped", signal.SIGINT), ("left open", signal.SIGINT), ("left open", signal.SIGTERM)],
    ),
)
def test_several_signals_end_a_program(tmp_path: Path, end: str, number: int) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "out").touch()
    with open(tmp_path / "out", "w") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM + ENDS[end]], stdout=out, stderr=subprocess.PIPE, text=True,
            cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")}, start_new_session=True,
        )  # fmt: skip
    wait_for(lambda: (tmp_path / "out").read_text() == "running\n", process)
    send(process, number, 10)
    _, said = process.communicate(timeout=60)
    assert process.returncode == -number
    # Python's own word for Ctrl-C that nobody catches; none of ours, and no fatal error.
    lines = [line for line in said.splitlines() if line[:1] not in ("", " ")]
    usual = ("Traceback (", "KeyboardInterrupt", "During handling of the above exception")
    assert all(line.startswith(usual) for line in lines), said
    wait_for_nobody(process.pid)


def test_who_has_turned_deaf_stays_deaf() -> None:
    """A signal that may not wait ends the block; the next one must not disturb what is cleared away then."""
    heard: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        signal.signal(number, lambda number, frame: heard.append(number))
        raise InterruptedError

    kept = signal.signal(signal.SIGHUP, interrupt)
    try:
        with pytest.raises(InterruptedError), held_signals(may_wait=lambda: False):
            signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        assert heard == [signal.SIGHUP]
    finally:
        signal.signal(signal.SIGHUP, kept)


def wait_for_nobody(session: int) -> None:
    for _ in range(200):
        if not still_running(session):
            return
        time.sleep(0.1)
    raise AssertionError(still_running(session))
