"""What came too late is kept apart, once, however often a run begins anew."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.storage.archive import Archive
from tests.storage.test_flusher import TICK, batches_of, flusher_of
from tests.storage.worlds import HOUR, NOON, readings, rows


def test_late_readings_are_kept_once_and_count_nowhere(tmp_path: Path) -> None:
    random, table, late = np.random.default_rng(2), readings(1, 200), readings(9, 150)
    cuts = sorted({NOON + int(n) * TICK for n in random.integers(1, 1079, 25)} | {NOON + 3 * HOUR})
    batches = batches_of(table, cuts)
    whose = random.integers(0, len(batches), late.num_rows)
    for number, batch in enumerate(batches):
        mine = late.filter(pa.array(whose == number))
        batch += [Batch(Kind.LATE_READINGS, mine, "cars")] if mine.num_rows else []
    at = 0
    while at < len(batches):
        mine_ = flusher_of(tmp_path, "late = 'keep'")
        first, at = mine_.delivered + 1, min(len(batches), at + int(random.integers(1, 9)))
        for number in range(first, at):
            mine_.deliver(number, batches[number])
        if at == len(batches):
            mine_.finish()
        mine_.close()
    archive = Archive.open(tmp_path)
    assert Counter(rows(archive.late())) == Counter(rows(late))
    assert sum(batch.num_rows for batch in archive.readings(0, cuts[-1])) == table.num_rows
