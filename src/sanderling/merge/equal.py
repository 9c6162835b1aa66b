"""Rows without their key: one that a shard takes away may be equal to one that another brings."""

from __future__ import annotations

import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.figures.figures import Figures
from sanderling.operate.sql.consolidate import consolidate
from sanderling.operate.takers import Taker
from sanderling.plans import operator_ids
from sanderling.plans.plan import Template


class MergeEqual(Taker):
    """Lets equal rows of a template cancel. Remembers nothing: all shards close the same ticks in a turn."""

    def __init__(self, template: Template, figures: Figures):
        self.template, self.figures = template, figures
        self.operator = operator_ids.merge(template.id)
        self.takes = [(Kind.DELTAS, template.id)]

    def advance(self, came: list[Batch]) -> list[Batch]:
        with self.figures.timed(self.operator):
            both = pa.concat_tables([batch.table for batch in came])
            rows = consolidate(both)
        self.figures.add(self.operator, both.num_rows, rows.num_rows)
        return self.told(self.template, rows)
