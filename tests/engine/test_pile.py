"""A table that grows row by row is in few pieces, and so is what shards and merge partitions keep in one."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from sanderling.arrays import Pile
from sanderling.merge.nearest import MergeNearest
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun

FEW = 12


def test_a_pile_is_in_few_pieces() -> None:
    pile = Pile(pa.table({"n": pa.array([], pa.int64())}))
    for n in range(1000):
        pile.append(pa.table({"n": [n]}))
        assert pile.table.num_rows == n + 1
    assert pile.table.column("n").to_pylist() == list(range(1000))
    assert pile.table.column("n").num_chunks <= FEW


def test_a_batch_for_every_reading_leaves_few_pieces(tmp_path: Path) -> None:
    planner = Planner()
    planner.run_script(
        "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"
        "REGISTER QUERY near AS SELECT id, x FROM cars kNN (2, 5, 5);"
        "REGISTER QUERY lately AS SELECT id FROM cars WINDOW 60 SECONDS"
    )
    run = DirectRun(planner.plan(), slice_bytes=1)
    path = tmp_path / "cars.csv"
    path.write_text("id,ts,x,y\n" + "".join(f"{n % 5},{n},{n % 7},5\n" for n in range(150)))
    run.feed_file("cars", path)
    stream = run.engines[0].streams["cars"]
    stores = [
        stream.objects.store,
        *(t.lists.store for m in run.merges for t in m.engine.takers if isinstance(t, MergeNearest)),
    ]
    assert stream.past.history is not None
    for store in (*stores, stream.past.history.store):
        assert store.column(0).num_chunks <= FEW
    assert max(store.num_rows for store in stores) > 100
