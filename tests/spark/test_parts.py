"""What shards and merge partitions say goes to parts of the log; Spark carries their names."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.deliver.log import PARTS
from sanderling.route.parcels import batch_in
from sanderling.settings import Settings
from sanderling.spark.engines.processor import MergeProcessor
from sanderling.spark.engines.stage import Stage
from sanderling.spark.plans import PlanFolder


def test_the_name_of_a_shards_part_is_not_hidden_in_a_part_of_the_merge_stage(tmp_path: Path) -> None:
    (tmp_path / "said" / PARTS).mkdir(parents=True)
    plans = PlanFolder.in_(tmp_path / "plans")
    merges = MergeProcessor(Stage("merge", plans, 0, [0], Settings(), tmp_path, is_merged=True))
    much = pa.table({"c0": np.random.default_rng(1).random(20_000)})
    rows, name = (
        Batch(Kind.DELTAS, much, "s", 0),
        Batch(Kind.PART, file="a"),
    )
    told = merges.blobs(SimpleNamespace(number=0), "merge-0-1", [rows, name])
    found = [batch_in(blob) for _, blob in told]
    assert [(b.kind, b.file) for b in found] == [(Kind.PART, "merge-0-1.arrow"), (Kind.PART, "a")]
