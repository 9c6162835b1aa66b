"""A batch that is read again after a crash is judged by the clock on the wall as it was the first time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.recovery.ahead_program import come

SECONDS_TO_END = 240


def test_what_was_ahead_is_ahead_when_it_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    come(tmp_path, 1, "early", 1000)
    come(tmp_path, 2, "early", 1001)
    first = run(tmp_path, "crash")
    assert first.returncode == -signal.SIGKILL, first.stderr
    due = json.loads((tmp_path / "in" / "3.json").read_text())["ts"]
    time.sleep(max(0.0, due + 1 - time.time()))
    come(tmp_path, 4, "not ahead", due)
    come(tmp_path, 5, "not ahead", due + 1)
    second = run(tmp_path)
    assert second.returncode == 0, second.stderr
    assert sorted(second.stdout.splitlines()) == ["ahead ahead", "early", "not ahead"]


def run(place: Path, *how: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tests.recovery.ahead_program", str(place), *how]
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_TO_END)
