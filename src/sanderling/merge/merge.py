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
from sanderling.plan.plans import Plan, Plans, Template
from sanderling.route.parcels import ANSWER, ASK, CANDIDATES, DELTAS, PLAN, Parcel


def needs_merge(templates: dict[int, Template], parcel: Parcel) -> bool:
    """Whether a shard's parcel goes to the merge partitions, rather than straight to delivery."""
    return parcel.kind in (CANDIDATES, PLAN, ASK) or (
        parcel.kind == DELTAS and templates[parcel.header["template"]].is_merged
    )


def merge_of(parcel: Parcel, partitions: int) -> Iterator[tuple[int, Parcel]]:
    """The parts of a parcel that needs merging, with the merge partition each goes to: by query.

    A plan is for all of them.
    """
    if parcel.kind == PLAN or partitions == 1:
        yield from ((number, parcel) for number in range(partitions))
        return
    if parcel.kind == ASK:
        queries = parcel.header["queries"]
        for number in sorted({query % partitions for query in queries}):
            mine = [query for query in queries if query % partitions == number]
            yield number, Parcel(ASK, parcel.table, {**parcel.header, "queries": mine})
        return
    home = parcel.table.column("query").to_numpy() % partitions
    for number in np.unique(home).tolist():
        yield number, Parcel(parcel.kind, parcel.table.filter(pa.array(home == number)), parcel.header)


class Merge:
    """All streams of one merge partition. While the plan lives, `plans` gives each version of it.

    Promises (tests/properties/test_knn.py):
      exact     signed rows are the difference of two answers, whichever shard they come from
      complete  a batch's parcels of all shards come together: all shards close the same ticks in it
    """

    def __init__(self, plan: Plan, number: int, plans: Plans | None = None):
        self.number = number
        self.plans = plans
        self.nearest: dict[int, MergeNearest] = {}
        self._follow(plan)

    def _follow(self, plan: Plan) -> None:
        """Lists of queries that the plan does not have are forgotten."""
        before, self.nearest, self.version = self.nearest, {}, plan.version
        for stream in plan.streams:
            for template in (t for t in stream.templates if t.is_nearest):
                part = before.get(template.id)
                if part is None:
                    part = MergeNearest(stream, template)
                else:
                    part.turn_to(stream)
                self.nearest[template.id] = part

    def turn_to(self, version: int) -> None:
        """Goes on under this version; those between need no look, since no number is given twice."""
        if version > self.version:
            self._follow(self.plan_of(version))

    def begin_at(self, version: int) -> None:
        """A new merge partition begins with this version; its lists come from what was saved."""
        self._follow(self.plan_of(version))

    def plan_of(self, version: int) -> Plan:
        assert self.plans is not None, "a merge partition that turns needs to know where plans are"
        return self.plans(version)

    def advance(self, parcels: list[Parcel]) -> list[Parcel]:
        """One batch: signed rows and answers come back; what is not to be merged passes through."""
        out = []
        # All shards have turned before they closed a tick of this batch.
        self.turn_to(max((p.header["version"] for p in parcels if p.kind == PLAN), default=self.version))
        together: dict[tuple[str, str, int], list[Parcel]] = {}
        for parcel in parcels:
            if parcel.kind in (CANDIDATES, DELTAS):
                key = (parcel.kind, parcel.header["stream"], parcel.header["template"])
                together.setdefault(key, []).append(parcel)
            elif parcel.kind not in (PLAN, ASK):
                out.append(parcel)
        for (kind, stream, template), mine in together.items():
            if kind == CANDIDATES:
                lists = [(p.header["shard"], p.table) for p in mine if p.table.num_rows]
                rows = self.nearest[template].advance(lists) if lists else pa.table({})
            else:
                rows = consolidate(pa.concat_tables([p.table for p in mine]))
            if rows.num_rows:
                out.append(Parcel(DELTAS, rows, {"template": template, "stream": stream}))
        return out + [answer for p in parcels if p.kind == ASK for answer in self._answers(p)]

    def _answers(self, ask: Parcel) -> Iterator[Parcel]:
        """After the lists of a batch are in."""
        for template, part in self.nearest.items():
            rows = part.answer(ask.header["queries"], ask.header["tick"])
            if rows.num_rows:
                header = {"ask": ask.header["ask"], "template": template, "stream": ask.header["stream"]}
                yield Parcel(ANSWER, rows, header)
