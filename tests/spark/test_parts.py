"""What shards and merge partitions say goes to parts of the log; Spark carries their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.deliver.log import PARTS
from sanderling.route.parcels import batch_in
from sanderling.settings import Settings
from sanderling.spark.engines.inbox import Inbox, batch_of
from sanderling.spark.engines.processor import MergeProcessor
from sanderling.spark.engines.stage import Stage
from sanderling.spark.engines.turns import Turn
from sanderling.spark.plans import PlanFolder


def test_the_name_of_a_shards_part_is_not_hidden_in_a_part_of_the_merge_stage(tmp_path: Path) -> None:
    (tmp_path / "said" / PARTS).mkdir(parents=True)
    plans = PlanFolder.in_(tmp_path / "plans")
    stage = Stage("merge", plans, 0, [0], Settings(), tmp_path, Inbox())
    merges = MergeProcessor(stage)
    much = pa.table({"c0": np.random.default_rng(1).random(20_000)})
    rows, name = (
        Batch(Kind.DELTAS, much, "s", 0),
        Batch(Kind.PART, file="a"),
    )
    turn = Turn("merge-0-1", 1, "tag", 0, [])
    told = merges.blobs(SimpleNamespace(number=0), turn, [rows, name])
    found = [batch_in(blob) for _, blob in told]
    assert [(b.kind, b.file) for b in found] == [(Kind.PART, "merge-0-1.arrow"), (Kind.PART, "a")]


def test_a_long_parcel_is_a_file_until_its_batch_is_done(tmp_path: Path) -> None:
    batch = Batch(Kind.CANDIDATES, pa.table({"d2": np.arange(20_000.0)}), "s", 0, 1)
    inbox = Inbox(str(tmp_path))
    name = inbox.put(batch, 17)
    assert len(name) < 1_000 and batch_of(name).table == batch.table
    assert inbox.put(replace(batch, table=batch.table[:10]), 17) == Inbox().put(
        replace(batch, table=batch.table[:10]), 17
    )
    inbox.clear(17)
    assert not list(tmp_path.iterdir())
