"""Two on one checkpoint: the second is refused, and told who has it; one that was killed has nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sanderling.command import app
from sanderling.deliver.lock import locked
from sanderling.errors import SanderlingError, StateError
from sanderling.session.connect import connect

# It waits where it has the checkpoint. That a run holds one as well is seen in test_crash.py.
SESSION = """
import sys, sanderling
session = sanderling.connect(checkpoint=sys.argv[1])
print("ready", flush=True)
input()
session.stop()
"""


@contextmanager
def holding(checkpoint: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the checkpoint."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", SESSION, str(checkpoint)], stdin=pipe, stdout=pipe, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def refused_run(checkpoint: Path) -> StateError:
    (checkpoint.parent / "script.sql").write_text("SHOW STREAMS;")
    with pytest.raises(SanderlingError) as e:
        app(
            ["run", str(checkpoint.parent / "script.sql"), "--checkpoint", str(checkpoint)],
            standalone_mode=False,
        )
    assert isinstance(e.value, StateError)
    return e.value


def refused_session(checkpoint: Path) -> StateError:
    with pytest.raises(StateError) as e:
        connect(checkpoint=checkpoint)
    return e.value


def test_the_second_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    with holding(checkpoint) as first:
        for e in (refused_run(checkpoint), refused_session(checkpoint)):
            assert e.code == "state.in_use" and e.hint
            assert sys.platform != "linux" or f"process {first.pid}" in e.message
        first.send_signal(signal.SIGTERM)  # on its way out, or gone
        first.communicate()
    connect(checkpoint=checkpoint).stop()


def test_who_was_killed_holds_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        with holding(tmp_path) as first:
            first.send_signal(signal.SIGKILL)
            first.wait()
            connect(checkpoint=tmp_path).stop()


def test_a_child_of_the_first_does_not_hold_on(tmp_path: Path) -> None:
    """As its Java does, which may live a moment longer."""
    with subprocess.Popen(["sleep", "60"]) as before, locked(tmp_path, "", ""):
        child = subprocess.Popen(["sleep", "60"])
        before.kill()
    try:
        with locked(tmp_path, "in use", ""):
            pass
    finally:
        child.kill()
        child.wait()
