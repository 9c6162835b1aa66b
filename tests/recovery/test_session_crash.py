"""A session whose driver is killed again and again while queries and triggers come and go.

Nothing is lost or repeated.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.long import so_many
from tests.recovery.session_story import OBJECTS, PATTERNS, TRIGGERS, Told, expected, last_life

KILLS = so_many(2, 10)
SEED = 41
# A run that never comes to its stream would be no test; one that takes longer hangs.
SECONDS_TO_START, SECONDS_TO_END = 180, 600


def test_a_session_killed_at_random_moments_loses_and_repeats_nothing(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    kills = 0
    for _ in range(KILLS):
        kills += _killed(tmp_path, chance.uniform(0.1, 40 / KILLS))
    process = _started(tmp_path)
    try:
        assert process.wait(SECONDS_TO_END) == 0, (tmp_path / "stderr").read_text()[-3000:]
    finally:
        _kill(process)
    assert kills == KILLS, "it had ended before it could be killed"
    result = json.loads((tmp_path / "result.json").read_text())
    told: Told = Counter(
        (u["query"], u["tick"], u["sign"], json.loads(u["row"])["id"]) for u in result["told"]
    )
    assert sum(told.values()) > 20 * OBJECTS
    wanted = expected(SEED, told)
    assert told - wanted == Counter() and wanted - told == Counter()
    for name, answer in result["answers"].items():
        # A trigger holds nothing.
        assert Counter(answer) == (Counter() if name in {*TRIGGERS, *PATTERNS} else +_summed(told, name))
    assert min(sum(n for one, n in told.items() if one[0] == name) for name in TRIGGERS) > 20
    assert min(sum(n for one, n in told.items() if one[0] == name) for name in PATTERNS) > 5


def _summed(told: Told, name: str) -> Counter[str]:
    """What the updates add up to, in the last life of a name: a dropped query's rows are not taken back."""
    since = last_life(SEED, name)
    total: Counter[str] = Counter()
    for (query, tick, sign, row), n in told.items():
        if query == name and tick > since:
            total[row] += sign * n
    return total


def _started(place: Path) -> subprocess.Popen[bytes]:
    """In a process group of its own, with its JVM and workers."""
    words = [sys.executable, "-m", "tests.recovery.session_program", str(place), str(SEED)]
    with open(place / "stderr", "ab") as said:
        return subprocess.Popen(words, stdout=said, stderr=said, start_new_session=True)


def _killed(place: Path, seconds: float) -> bool:
    """Whether it still ran when its moment came: some time after the stream had started."""
    runs = _runs(place)
    process = _started(place)
    try:
        until = time.monotonic() + SECONDS_TO_START
        while _runs(place) == runs and process.poll() is None:
            assert time.monotonic() < until, "it does not start"
            time.sleep(0.05)
        time.sleep(seconds)
        return process.poll() is None
    finally:
        _kill(process)


def _runs(place: Path) -> int:
    path = place / "runs"
    return path.read_text().count("\n") if path.exists() else 0


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
