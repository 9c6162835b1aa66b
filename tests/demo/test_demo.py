"""`sanderling demo` without a terminal: a line a tick, and an end that is clean however it is told to end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from sanderling.demo.run import AT
from tests.long import so_many

COMMAND = [sys.executable, "-c", "from sanderling.command import main; main()", "demo"]
STOPS = so_many([(signal.SIGTERM, 20)], [(signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGTERM, 20)])
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  around_bus_0 \+\d+ −\d+ =\d+  .*who_is_where")


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    with (folder / "said").open("w") as said:
        (folder / "tmp").mkdir(exist_ok=True)
        return subprocess.Popen(
            [*COMMAND, "--objects", "300", *words], stdout=subprocess.PIPE, stderr=said, text=True,
            encoding="utf-8", env={**os.environ, "TMPDIR": str(folder / "tmp")}, start_new_session=True,
            preexec_fn=hear_ctrl_c,
        )  # fmt: skip


def hear_ctrl_c() -> None:
    """Tests that run in the background inherit that it is ignored, and we would respect it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ended(process: subprocess.Popen[str], folder: Path) -> tuple[int, str, str]:
    """The exit code, and the rest of what it says."""
    assert process.stdout is not None
    with process.stdout as out_of_it:  # not communicate: it would not see what readline has read ahead
        out = out_of_it.read()
    process.wait(60)
    assert list((folder / "tmp").iterdir()) == [], "nothing stays behind"
    return process.returncode, out, (folder / "said").read_text()


def assert_told_to_the_end(out: str) -> None:
    lines = out.splitlines()
    ticks = [line for line in lines if LINE.match(line)]
    (summary,) = (line for line in lines if "readings, " in line)
    counted = re.fullmatch(r"([\d,]+) readings, (\d+) ticks, (\d+) objects alive", summary)
    assert counted and len(ticks) == int(counted[2]) > 0 and 250 < int(counted[3]) < 350
    assert int(counted[1].replace(",", "")) > 250 * len(ticks)
    assert sum("in it at the end" in line for line in lines) == 9
    assert sum(line.endswith(" alerts") for line in lines) == 1


def test_it_ends_by_itself(tmp_path: Path) -> None:
    code, out, said = ended(started(tmp_path, "--seconds", "2", "--no-web"), tmp_path)
    assert (code, said) == (0, "")
    assert_told_to_the_end(out)


@pytest.mark.parametrize(("number", "times"), STOPS)
def test_it_ends_when_told(number: int, times: int, tmp_path: Path) -> None:
    process = started(tmp_path)
    assert process.stdout is not None
    before = ""
    while not LINE.match(line := process.stdout.readline()):
        assert line, "it ended before its first tick"
        before += line
    (link,) = re.findall(r"^the map is at (http://127\.0\.0\.1:\d+/)\?token=", before, re.MULTILINE)
    assert httpx.get(f"{link}readyz").text == "ready\n"
    roads = httpx.get(f"{link}map/roads.geojson").json()["features"]
    assert len(roads) == 7
    # It lies on the globe, where its queries ask.
    ends = np.concatenate([np.reshape(road["geometry"]["coordinates"], (-1, 2)) for road in roads])
    assert np.abs(ends - AT).max() < 0.2
    # As a terminal does it: everybody hears it, Spark's processes too.
    for _ in range(times):
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        time.sleep(0.1)
    code, out, said = ended(process, tmp_path)
    assert (code, said) == (0, "")
    assert_told_to_the_end(before + line + out)


def test_what_is_wrong_is_said_before_spark_starts(tmp_path: Path) -> None:
    for words, expected in (
        (("--seed", "-1"), "config.bad_option"),
        (("--network", "a", "b"), "config.missing_file"),
    ):
        code, out, said = ended(started(tmp_path, *words), tmp_path)
        assert code == 1 and said.startswith(expected) and "Spark" not in out
