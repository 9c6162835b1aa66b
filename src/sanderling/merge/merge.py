"""One merge partition: what needs several shards, put together per query.

The engine is pure: parcels in, parcels out. Queries are spread over merge partitions by their
numbers; queries that a shard can finish never come here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sanderling.merge.consolidate import consolidate
from sanderling.merge.nearest import MergeNearest
from sanderling.plan.plans import Plan, Template
from sanderling.route.parcels import CANDIDATES, DELTAS, Parcel


def needs_merge(templates: dict[int, Template], parcel: Parcel) -> bool:
    """Whether a shard's parcel goes to the merge partitions, rather than straight to delivery."""
    return parcel.kind == CANDIDATES or (
        parcel.kind == DELTAS and templates[parcel.header["template"]].is_merged
    )


def merge_of(parcel: Parcel, partitions: int) -> Iterator[tuple[int, Parcel]]:
    """The parts of a parcel that needs merging, with the merge partition each goes to: by query."""
    if partitions == 1:
        yield 0, parcel
        return
    home = parcel.table.column("query").to_numpy() % partitions
    for number in np.unique(home).tolist():
        yield number, Parcel(parcel.kind, parcel.table.filter(pa.array(home == number)), parcel.header)


class Merge:
    """All streams of one merge partition.

    Promises (tests/properties/test_knn.py):
      exact     signed rows are the difference of two answers, whichever shard they come from
      complete  a batch's parcels of all shards come together: all shards close the same ticks in it
    """

    def __init__(self, plan: Plan, number: int):
        self.number = number
        self.nearest = {
            template.id: MergeNearest(stream, template)
            for stream in plan.streams
            for template in stream.templates
            if template.is_nearest
        }

    def advance(self, parcels: list[Parcel]) -> list[Parcel]:
        """One batch: signed rows come back; what is not to be merged passes through."""
        out = []
        together: dict[tuple[str, str, int], list[Parcel]] = {}
        for parcel in parcels:
            if parcel.kind in (CANDIDATES, DELTAS):
                key = (parcel.kind, parcel.header["stream"], parcel.header["template"])
                together.setdefault(key, []).append(parcel)
            else:
                out.append(parcel)
        for (kind, stream, template), mine in together.items():
            if kind == CANDIDATES:
                lists = [(p.header["shard"], p.table) for p in mine if p.table.num_rows]
                rows = self.nearest[template].advance(lists) if lists else pa.table({})
            else:
                rows = consolidate(pa.concat_tables([p.table for p in mine]))
            if rows.num_rows:
                out.append(Parcel(DELTAS, rows, {"template": template, "stream": stream}))
        return out
