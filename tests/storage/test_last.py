"""The last store: each present object's last reading after every flush, or the last of its every k-th."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sanderling.batches import TS
from sanderling.storage.archive import Archive
from sanderling.storage.last import LastStore
from sanderling.storage.writer import Writer
from tests.long import so_many
from tests.storage.test_archive import plain
from tests.storage.worlds import MINUTE, NOON, archiving, readings, rows


def last_of(table: pa.Table, at: int, k: int) -> list[tuple[object, ...]]:
    """By brute force, in order of key."""
    seen, last = dict[object, int](), dict[object, tuple[object, ...]]()
    for row in plain(table, 0, at):
        seen[row[0]] = seen.get(row[0], 0) + 1
        if seen[row[0]] % k == 0 or row[5]:
            last[row[0]] = row
    return [row for _, row in sorted(last.items(), key=lambda item: str(item[0])) if not row[5]]


@pytest.mark.parametrize("seed", range(so_many(2, 100)))
@pytest.mark.parametrize("k", [1, 3])
def test_after_every_flush_it_is_what_brute_force_finds(seed: int, k: int, tmp_path: Path) -> None:
    table = readings(seed, 300, objects=40, gone=0.05)
    writer = Writer(tmp_path, archiving(tmp_path, f"sample = {k}"))
    store, ts = LastStore(writer), table.column(TS).to_numpy()
    random = np.random.default_rng(seed)
    cuts = sorted(NOON + int(c) * MINUTE for c in {0, *random.integers(1, 180, 12)})
    for before, to in pairwise(cuts):
        store.add([writer.append([table.filter(pa.array((ts > before) & (ts <= to)))], to)], to)
        archive = Archive.open(tmp_path)
        assert rows(archive.last()) == last_of(table, to, k)
        if k == 1:
            assert rows(archive.last()) == rows(archive.now(to))
    box = (-5.0, 2.0, 6.0, 9.5)
    inside = [r for r in rows(archive.last()) if box[0] <= r[2] <= box[2] and box[1] <= r[3] <= box[3]]  # type: ignore[operator]
    assert rows(archive.last(box)) == inside


def test_a_run_that_was_killed_before_it_is_caught_up_with(tmp_path: Path) -> None:
    table, to = readings(3, 300), NOON + 180 * MINUTE
    writer = Writer(tmp_path, archiving(tmp_path))
    writer.append([table], to)
    LastStore(writer)
    assert rows(Archive.open(tmp_path).last()) == last_of(table, to, 1)


def test_it_writes_at_most_about_twice_what_has_changed(tmp_path: Path) -> None:
    """Some thousand objects, a tenth of whom report in each flush."""
    writer = Writer(tmp_path, archiving(tmp_path))
    store, random, changed = LastStore(writer), np.random.default_rng(1), 0
    for minute in range(1, 41):
        n = 300
        who = random.choice(3000, n, replace=False)
        ts = np.full(n, NOON + minute * MINUTE)
        delta = pa.table(
            {
                "id": [f"car {i}" for i in who], "at": pa.array(ts, pa.timestamp("us")),
                "x": random.random(n), "y": random.random(n),
                "speed": pa.array(random.integers(0, 9, n), pa.int32()),
                "is_off": np.zeros(n, bool), TS: ts,
            }
        )  # fmt: skip
        store.add([writer.append([delta], int(ts[0]))], int(ts[0]))
        changed += n
    written = sum(pq.read_metadata(path).num_rows for path in (tmp_path / "last").rglob("*.parquet"))
    assert changed < written <= 2.5 * changed
