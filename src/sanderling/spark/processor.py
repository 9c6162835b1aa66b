"""Shards as a stage of Spark: parcels of readings in; what they say goes to delivery, or to be merged."""

from __future__ import annotations

from typing import Any, cast

import pandas as pd
import pyarrow as pa

from sanderling.deliver.log import put_part
from sanderling.operate.shard import Shard
from sanderling.route.parcels import Parcel
from sanderling.settings import Settings
from sanderling.spark.plans import PlanFolder
from sanderling.spark.stored import State, StoredEngine
from sanderling.state import saved


class ShardProcessor(StoredEngine):
    """All streams of a shard."""

    def __init__(
        self, plans: PlanFolder, first: int, schemas: dict[str, pa.Schema], keys: list[int],
        settings: Settings, said: str,
    ):  # fmt: skip
        # Where plans are, not a plan: Spark would unpickle it again for every task. A broadcast
        # would do, but the worker that learns the state's schema has none.
        super().__init__(plans.mark, "shard", keys, settings)
        self.plans = plans
        self.first = first
        self.schemas = schemas
        self.said = said

    @property
    def state(self) -> State:
        return cast(State, saved)

    def new_engine(self, number: int) -> Any:
        return Shard(self.plans.plan(self.first), number, self.schemas, self.plans.plan)

    def rows(self, turn: str, parcels: list[Parcel]) -> pd.DataFrame:
        return pd.DataFrame({"blob": list(put_part(self.said, f"{turn}.arrow", parcels))})
