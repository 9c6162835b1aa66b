"""Compaction, keyframes and retention: nothing changes for whoever reads, but what is too old is gone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sanderling.batches import TS
from sanderling.errors import StateError
from sanderling.storage.archive import Archive
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer
from tests.long import so_many
from tests.storage.test_archive import plain, told
from tests.storage.worlds import HOUR, MINUTE, NOON, archiving, readings, rows


def flushed(folder: Path, table: pa.Table, to: int, options: str = "", is_tended: bool = True) -> Writer:
    """Minute by minute, looked after as it goes."""
    writer = Writer(folder, archiving(folder, options))
    tending, ts = Tending(writer), table.column(TS).to_numpy()
    for before, until in pairwise(range(writer.archived_to or NOON, to + 1, 7 * MINUTE)):
        writer.append([table.filter(pa.array((ts > before) & (ts <= until)))], until)
        if is_tended:
            tending.tend()
    return writer


def now_of(table: pa.Table, at: int) -> list[tuple[object, ...]]:
    """Each object's last reading, of those that are not gone, by brute force."""
    last = {row[0]: row for row in plain(table, 0, at)}
    return sorted((r for r in last.values() if not r[5]), key=lambda r: str(r[0]))


@pytest.mark.parametrize("seed", range(so_many(2, 50)))
def test_a_tended_archive_gives_what_it_gave(seed: int, tmp_path: Path) -> None:
    table = readings(seed, 900, length_us=5 * HOUR)
    flushed(tmp_path, table, NOON + 5 * HOUR)
    archive = Archive.open(tmp_path)
    to = archive.archived_to or 0
    assert told(archive, 0, to) == plain(table, 0, to)
    assert sorted(archive.keyframes) == [NOON + n * HOUR for n in range(1, 5)]
    assert len([f for f in archive.files if f.part < "2024-05-01T16"]) == 4, "a file a closed period"
    for at in np.random.default_rng(seed).integers(NOON, to, 8).tolist():
        assert rows(archive.now(at)) == now_of(table, at)
        box = (-5.0, 2.0, 6.0, 9.5)
        inside = [r for r in now_of(table, at) if box[0] <= r[2] <= box[2] and box[1] <= r[3] <= box[3]]  # type: ignore[operator]
        assert sorted(rows(archive.now(at, box)), key=lambda r: str(r[0])) == inside
    for at in archive.keyframes:
        assert archive.keyframe_before(at + 1)[0] == at
        assert sorted(rows(archive.keyframe_before(at)[1]), key=lambda r: str(r[0])) == now_of(table, at)


def test_who_reads_meanwhile_sees_one_version(tmp_path: Path) -> None:
    table, to = readings(3, 600), NOON + 161 * MINUTE
    writer = flushed(tmp_path, table, to, "keep = '1 hour'", is_tended=False)
    before = Archive.open(tmp_path)
    reading = before.readings(0, to)
    found = [next(reading)]
    Tending(writer).tend()
    found += reading
    assert [row for batch in found for row in rows(batch)] == plain(table, 0, to)
    assert Archive.open(tmp_path).kept_from == NOON + HOUR


def test_what_is_too_old_goes_and_what_is_kept_can_be_asked_for(tmp_path: Path) -> None:
    table = readings(4, 900, length_us=6 * HOUR)
    writer = flushed(tmp_path, table, NOON + 6 * HOUR, "keep = '90 minutes'")
    archive = Archive.open(tmp_path)
    to, begin = archive.archived_to or 0, NOON + 4 * HOUR
    assert archive.kept_from == begin >= to - 150 * MINUTE
    assert told(archive, 0, to) == plain(table, begin, to)
    for at in (begin, begin + 40 * MINUTE, to):
        assert rows(archive.now(at)) == now_of(table, at)
    with pytest.raises(StateError) as refused:
        archive.now(begin - 1)
    assert refused.value.code == "history.not_kept"
    left = {path.name for path in (tmp_path / "readings").rglob("*.parquet")}
    writer.tables.readings.vacuum(0)
    named = {Path(file.path).name for file in archive.files}
    assert {path.name for path in (tmp_path / "readings").rglob("*.parquet")} == named < left


def test_an_archive_of_snapshots_has_keyframes_alone(tmp_path: Path) -> None:
    table = readings(6, 500)
    flushed(tmp_path, table, NOON + 161 * MINUTE, "detail = 'snapshots'")
    archive = Archive.open(tmp_path)
    assert sorted(archive.keyframes) == [NOON + HOUR, NOON + 2 * HOUR]
    assert {file.part for file in archive.files} == {"2024-05-01T14"}
    assert sorted(rows(archive.keyframe_before(NOON + 2 * HOUR)[1])) == now_of(table, NOON + 2 * HOUR)
