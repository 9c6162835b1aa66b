"""`sanderling demo` without a terminal: a line a tick, and an end that is clean however it is told to end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from sanderling.command import main; main()", "demo"]
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  around_bus_0 \+\d+ −\d+ =\d+  .*who_is_where")


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--objects", "300", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        encoding="utf-8", env={**os.environ, "TMPDIR": str(folder)}, start_new_session=True,
    )  # fmt: skip


def assert_told_to_the_end(out: str, folder: Path) -> None:
    lines = out.splitlines()
    ticks = [line for line in lines if LINE.match(line)]
    (summary,) = (line for line in lines if "readings, " in line)
    counted = re.fullmatch(r"([\d,]+) readings, (\d+) ticks, (\d+) objects alive", summary)
    assert counted and len(ticks) <= int(counted[2]) and 250 < int(counted[3]) < 350
    assert int(counted[1].replace(",", "")) > 250 * len(ticks)
    assert sum("in it at the end" in line for line in lines) == 8
    assert list(folder.iterdir()) == []


def test_it_ends_by_itself(tmp_path: Path) -> None:
    process = started(tmp_path, "--seconds", "2")
    out, said = process.communicate(timeout=180)
    assert (process.returncode, said) == (0, "")
    assert_told_to_the_end(out, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_told(number: int, tmp_path: Path) -> None:
    process = started(tmp_path)
    assert process.stdout is not None
    before = ""
    while not LINE.match(line := process.stdout.readline()):
        assert line, "it ended before its first tick"
        before += line
    # As a terminal does it: everybody hears it, Spark's processes too.
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")
    assert_told_to_the_end(before + line + out, tmp_path)


def test_what_is_wrong_is_said_before_spark_starts(tmp_path: Path) -> None:
    for words, code in (
        (("--seed", "-1"), "config.bad_option"),
        (("--network", "a", "b"), "config.missing_file"),
    ):
        process = started(tmp_path, *words)
        out, said = process.communicate(timeout=60)
        assert process.returncode == 1 and said.startswith(code) and "Spark" not in out
    assert list(tmp_path.iterdir()) == []
