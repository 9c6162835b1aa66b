"""What an archive gives is what was put into it: in order, once, whole ticks, whatever the flushes were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sanderling.batches import TS
from sanderling.errors import StateError
from sanderling.storage.archive import Archive
from sanderling.storage.writer import Writer
from tests.long import so_many
from tests.storage.worlds import HOUR, MINUTE, NOON, archiving, readings, rows


def written(folder: Path, table: pa.Table, cuts: list[int], options: str = "") -> Archive:
    """Flushed at these times."""
    writer, before = Writer(folder, archiving(folder, options)), 0
    for to in cuts:
        ts = table.column(TS).to_numpy()
        writer.append([table.filter(pa.array((ts > before) & (ts <= to)))], to)
        before = to
    return Archive.open(folder)


def plain(table: pa.Table, after: int, up_to: int) -> list[tuple[object, ...]]:
    """The rows of that time, in order of time and key."""
    found = [r for r in table.to_pylist() if after < r[TS] <= up_to]
    return [tuple(r.values()) for r in sorted(found, key=lambda r: (r[TS], r["id"]))]


def told(archive: Archive, after: int, up_to: int, **which: object) -> list[tuple[object, ...]]:
    return [row for batch in archive.readings(after, up_to, **which) for row in rows(batch)]  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(so_many(3, 100)))
def test_readings_come_back_as_they_went_in_in_order(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    table = readings(seed, 600)
    cuts = sorted(NOON + int(c) * MINUTE for c in {180, *random.integers(1, 180, 6)})
    archive = written(tmp_path, table, cuts)
    assert told(archive, 0, NOON + 3 * HOUR) == plain(table, 0, NOON + 3 * HOUR)
    for _ in range(5):
        after, to = (NOON + int(t) * 1_000_000 for t in sorted(random.integers(0, 10_800, 2)))
        assert told(archive, after, to) == plain(table, after, to)
    assert archive.archived_to == cuts[-1]


def test_a_box_and_keys_leave_out_what_is_elsewhere(tmp_path: Path) -> None:
    table = readings(7, 900)
    archive, to = written(tmp_path, table, [NOON + HOUR, NOON + 3 * HOUR]), NOON + 3 * HOUR
    everything = plain(table, 0, to)
    keys = pa.array(["car 1", "car 4"])
    boxed = [r for r in everything if -2 <= r[2] <= 3.25 and 1 <= r[3] <= 5]  # type: ignore[operator]
    assert told(archive, 0, to, bounds=(-2, 1, 3.25, 5)) == boxed
    assert told(archive, 0, to, keys=keys) == [r for r in everything if r[0] in keys.to_pylist()]


def test_what_was_flushed_before_is_passed_over(tmp_path: Path) -> None:
    table, to = readings(2, 300), NOON + 3 * HOUR
    writer = Writer(tmp_path, archiving(tmp_path))
    assert len(writer.append([table], to)) == table.num_rows
    assert len(writer.append([table], to)) == 0 == len(writer.append([table], to + MINUTE))
    assert told(Archive.open(tmp_path), 0, to) == plain(table, 0, to)


def test_now_is_the_last_reading_of_whoever_is_there(tmp_path: Path) -> None:
    table = readings(5, 400)
    archive = written(tmp_path, table, [NOON + 3 * HOUR])
    for at in (NOON + 40 * MINUTE, NOON + 2 * HOUR):
        last = {row[0]: row for row in plain(table, 0, at)}
        assert rows(archive.now(at)) == sorted(
            (r for r in last.values() if not r[5]), key=lambda r: str(r[0])
        )


def test_before_the_first_reading_nothing_is_kept(tmp_path: Path) -> None:
    archive = written(tmp_path, readings(1, 50), [NOON + 3 * HOUR])
    assert archive.kept_from == NOON
    assert archive.keyframe_before(NOON)[0] == NOON
    with pytest.raises(StateError) as refused:
        archive.keyframe_before(NOON - 1)
    assert refused.value.code == "history.not_kept"


def test_a_time_and_a_place_of_other_types_come_back_too(tmp_path: Path) -> None:
    stream = "CREATE STREAM cars (id BIGINT, at DOUBLE, x FLOAT, y INT) KEY id TIME at LOCATION (x, y);"
    table = pa.table(
        {
            "id": [3, 2], "at": [1.5, 0.25], "x": pa.array([0.5, 2], pa.float32()),
            "y": pa.array([7, -7], pa.int32()), TS: [1_500_000, 250_000],
        }
    )  # fmt: skip
    Writer(tmp_path, archiving(tmp_path, stream=stream)).append([table], MINUTE)
    assert told(Archive.open(tmp_path), 0, MINUTE) == rows(table)[::-1]
