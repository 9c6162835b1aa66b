"""Killed at every point of writing an archive, started again: each reading is in it once, whole ticks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sanderling.state import crash
from sanderling.storage.archive import Archive
from tests.long import IS_LONG
from tests.recovery.runs import output, run

ARCHIVE = """
CREATE ARCHIVE past OF cars WITH (path = '{folder}', flush = '10 seconds', snapshot = '30 seconds',
  keep = '2 minutes');
"""
# Killed in the middle, not at the first chance; there are two keyframes that are followed by retention.
PASSING = {"retention": 1, "keyframe": 2, "compaction": 2, "archive": 4, "last": 3}
STORY = ("archive-before-forget",)  # all points, without Spark: tests/storage/test_crash.py
STORIES = [(point,) for point in crash.ARCHIVE_POINTS] if IS_LONG else [STORY]


def archived(world: Path, place: Path, crash_at: str | None = None) -> tuple[int, str]:
    """A run whose script has an archive."""
    mine = place / "world"
    if not mine.exists():
        shutil.copytree(world, mine)
        script = mine / "script.sql"
        first, rest = script.read_text().split("CREATE STREAM ships", 1)
        script.write_text(f"{first}{ARCHIVE.format(folder=place / 'past')}CREATE STREAM ships{rest}")
    done = run(mine, place, crash_at)
    return done.returncode, done.stderr


def content(place: Path) -> tuple[list[object], list[object]]:
    archive = Archive.open(place / "past")
    to, begin = archive.archived_to, archive.kept_from
    assert to is not None and begin is not None
    kept = [row for batch in archive.readings(begin, to) for row in batch.to_pylist()]
    return kept, [(at, archive.keyframe_before(at)[1].to_pylist()) for at in sorted(archive.keyframes)]


@pytest.fixture(scope="module")
def whole(world: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[object], list[object]]:
    place = tmp_path_factory.mktemp("whole")
    code, said = archived(world, place)
    assert code == 0, said
    return content(place)


@pytest.mark.parametrize("points", STORIES, ids=" and ".join)
def test_crashes_while_it_is_archived_leave_no_trace(
    points: tuple[str, ...], world: Path, undisturbed: tuple[bytes, bytes],
    whole: tuple[list[object], list[object]], tmp_path: Path,
) -> None:  # fmt: skip
    for point in points:
        code, _ = archived(world, tmp_path, f"{point}:{PASSING[point.split('-')[0]]}")
        assert code != 0, "it was to crash"
    code, said = archived(world, tmp_path)
    assert code == 0, said
    assert content(tmp_path) == whole
    assert output(tmp_path) == undisturbed
