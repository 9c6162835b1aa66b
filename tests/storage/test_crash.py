"""Killed at points of writing an archive, in run after run: it holds what an undisturbed one does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling.state.crash import ARCHIVE_POINTS
from sanderling.storage.archive import Archive
from tests.long import IS_LONG
from tests.storage.crash_program import CUTS
from tests.storage.test_archive import plain, told
from tests.storage.test_tend import now_of
from tests.storage.worlds import readings, rows

PASSINGS = (1, 2, 4) if IS_LONG else (2,)
SOME = ("archive-after-commit", "keyframe-before-commit", "retention-before-commit")
POINTS = ARCHIVE_POINTS if IS_LONG else SOME


def run(folder: Path, crash_at: str | None = None) -> int:
    environment = dict(os.environ) if crash_at is None else {**os.environ, "SANDERLING_CRASH": crash_at}
    program = [sys.executable, "-m", "tests.storage.crash_program", str(folder)]
    return subprocess.run(program, env=environment, timeout=120, check=False).returncode


@pytest.mark.parametrize("passing", PASSINGS)
def test_killed_at_each_point_it_is_whole_in_the_end(passing: int, tmp_path: Path) -> None:
    table, to = readings(3, 900), CUTS[-1]
    was_killed = [run(tmp_path, f"{point}:{passing}") == -signal.SIGKILL for point in POINTS]
    assert sum(was_killed) >= 2, "later ones find that there is nothing left to be done"
    assert run(tmp_path) == 0
    archive = Archive.open(tmp_path)
    begin = archive.kept_from or 0
    assert archive.archived_to == to and to - begin <= 2 * 3_600_000_000
    assert told(archive, 0, to) == plain(table, begin, to)
    assert rows(archive.last()) == now_of(table, to)
    for at in archive.keyframes:
        assert sorted(rows(archive.keyframe_before(at)[1]), key=lambda r: str(r[0])) == now_of(table, at)
