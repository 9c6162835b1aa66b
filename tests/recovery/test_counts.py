"""Counts of updates survive restarts; what is written follows what changed, not the number of queries."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.deliver import counts
from sanderling.deliver.ledger import Ledger

Updates = list[tuple[int, int]]
UPDATES = st.lists(st.tuples(st.integers(0, 9), st.sampled_from((1, -1))), max_size=8)


def count(ledger: Ledger, updates: Updates, n_queries: int = 10) -> None:
    query = np.array([q for q, _ in updates], np.int32)
    ledger.count(query, np.array([s for _, s in updates], np.int8), n_queries)


@settings(deadline=None)
@given(st.lists(st.tuples(UPDATES, st.booleans()), max_size=12))
def test_counts_add_up_over_batches_that_were_killed(batches: list[tuple[Updates, bool]]) -> None:
    names = [f"q{i}" for i in range(10)]
    told = {name: [0, 0] for name in names}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "SMALL_BYTES", 0)  # so that sums take the place of rows again and again
        path = Path(folder) / "delivered.json"
        Ledger(path).save()
        for updates, is_killed in batches:
            ledger = Ledger.load(path)
            count(ledger, updates)
            if is_killed:
                ledger.counts.write()  # on disk, but not in the ledger
                continue
            ledger.save()
            for query, sign in updates:
                told[f"q{query}"][0 if sign == 1 else 1] += 1
        assert Ledger.load(path).totals(names).updates == told


def test_a_batch_writes_as_much_as_it_changes(tmp_path: Path) -> None:
    sizes = []
    for n_queries in (10, 100_000):
        ledger = Ledger(tmp_path / f"{n_queries}.json")
        count(ledger, [(3, 1), (3, -1), (4, 1)], n_queries)
        ledger.save()
        sizes.append(((tmp_path / f"{n_queries}.json").stat().st_size, ledger.counts.size))
    assert sizes[0] == sizes[1] == (sizes[0][0], 2 * counts.ROW.itemsize)
