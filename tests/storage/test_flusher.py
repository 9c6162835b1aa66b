"""What shards told is in the archive once, in whole ticks, whatever batches were, whenever it was killed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sanderling.batches import TS, Batch, Kind
from sanderling.storage import flusher
from sanderling.storage.archive import Archive
from sanderling.storage.flusher import Flusher
from sanderling.storage.writer import Writer
from tests.long import so_many
from tests.storage.test_archive import plain, told
from tests.storage.worlds import HOUR, MINUTE, NOON, archiving, readings

TICK = 10_000_000


def batches_of(table: pa.Table, cuts: list[int]) -> list[list[Batch]]:
    """As shards tell them, which close ticks up to these times, two shards each."""
    found, before, ts = [], 0, table.column(TS).to_numpy()
    for to in cuts:
        mine = table.filter(pa.array((ts > before) & (ts <= to)))
        half, mine = mine.num_rows // 2, mine.select(mine.column_names[::-1])  # in the order of shards
        shipped = [Batch(Kind.ARCHIVED, t, "cars") for t in (mine.slice(0, half), mine.slice(half)) if len(t)]
        other = Batch(Kind.COUNTS, stream="buses", closed_to=to + HOUR)
        found.append([*shipped, other, Batch(Kind.COUNTS, stream="cars", closed_to=to)])
        before = to
    return found


def flusher_of(folder: Path, options: str = "") -> Flusher:
    return Flusher(Writer(folder, archiving(folder, options)), "run 1")


@pytest.mark.parametrize("seed", range(so_many(4, 200)))
@pytest.mark.parametrize("most_bytes", [64 << 20, 2000])
def test_whatever_batches_are_and_however_often_it_begins_anew(
    seed: int, most_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that ends anywhere is followed by one that gets again what was not done."""
    monkeypatch.setattr(flusher, "MOST_BYTES", most_bytes)
    random = np.random.default_rng(seed)
    table = readings(seed, 400, length_us=3 * HOUR)
    cuts = sorted({NOON + int(n) * TICK for n in random.integers(1, 1079, 25)} | {NOON + 3 * HOUR})
    batches, at = batches_of(table, cuts), 0
    while at < len(batches):
        mine = flusher_of(tmp_path, "keep = '10 days'")
        first, at = mine.delivered + 1, min(len(batches), at + int(random.integers(1, 12)))
        for number in range(first, at):
            mine.deliver(number, batches[number])
            if number % 5 == 0:  # flushed, being written, or not
                assert told(mine.archive(), 0, NOON + 4 * HOUR) == plain(table, 0, cuts[number])
        if at == len(batches):
            mine.finish()
            assert mine.done_to == len(batches) - 1
        mine.close()
        archive = Archive.open(tmp_path)
        to = archive.archived_to
        assert told(archive, 0, NOON + 4 * HOUR) == plain(table, 0, to or 0)
    assert archive.archived_to == cuts[-1]


def test_a_flush_waits_until_it_is_full(tmp_path: Path) -> None:
    table = readings(1, 200)
    mine = flusher_of(tmp_path)
    for number, batch in enumerate(batches_of(table, [NOON + 50_000_000, NOON + 130_000_000])):
        mine.deliver(number, batch)
    mine._queue.join()
    assert Archive.open(tmp_path).archived_to == NOON + 2 * MINUTE
    assert mine.done_to == (1 if not mine._waiting.tables else 0)
    mine.close()


def test_what_cannot_be_written_is_told_to_the_next_batch(tmp_path: Path) -> None:
    mine = flusher_of(tmp_path)
    cuts = [NOON + n * MINUTE for n in range(1, 9)]
    (tmp_path / "readings" / "period=2024-05-01T12").write_text("a file stands where the folder was to be")
    with pytest.raises(OSError, match="exists"):
        for number, batch in enumerate(batches_of(readings(1, 300), cuts)):
            mine.deliver(number, batch)
        mine.finish()
    mine.close()
