"""A stage as Spark's driver has it: the state's schema, and what its engine is made from.

Spark starts a Python process for each stateful stage only to learn its schema. It need not import all
that an engine does: that would take ten times as long as the rest of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from sanderling.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from sanderling.spark.engines.stored import StoredEngine
    from sanderling.spark.plans import PlanFolder


class Stage(StatefulProcessor):
    """Shards, or merge partitions; the engine is there from the first rows on."""

    def __init__(
        self, name: str, plans: PlanFolder, first: int, keys: list[int], settings: Settings, said: str,
        is_merged: bool,
    ):  # fmt: skip
        """`name` is "shard" or "merge"; `is_merged`: there are merge partitions."""
        self.name, self.folder, self.first, self.keys = name, astuple(plans), first, keys
        self.settings, self.said, self.is_merged = settings, said, is_merged

    @cached_property
    def engine(self) -> StoredEngine:
        from sanderling.spark.engines.processor import MergeProcessor, ShardProcessor
        from sanderling.spark.plans import PlanFolder

        plans = PlanFolder(*self.folder)
        engine: StoredEngine
        if self.name == "shard":
            engine = ShardProcessor(plans, self.first, self.keys, self.settings, self.said, self.is_merged)
        else:
            engine = MergeProcessor(plans, self.first, self.keys, self.settings, self.said)
        engine.parts = self.parts
        return engine

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.parts = handle.getMapState("parts", "name string", "data binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        yield from self.engine.handle(key, rows)

    def close(self) -> None:
        pass
