"""What passes from shards to merge partitions: which parcels, and to whom.

a shard's parcels ──┬─► finished: straight to delivery
                    └─► to be merged ──► rows by query, sightings of triggers by space; plans and time to all
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from sanderling.plans.plan import Plan
from sanderling.route.by_space import by_query, tracts_of
from sanderling.route.parcels import Kind, Parcel, To


class Exchange:
    """From shards to so many merge partitions, under one version of a plan."""

    def __init__(self, plan: Plan, partitions: int):
        self.templates = plan.templates()
        self.tracts = tracts_of(plan)  # by template
        self.partitions = partitions

    def split(self, parcels: Iterable[Parcel]) -> tuple[list[Parcel], list[tuple[int, Parcel]]]:
        """What is finished, and what is to be merged, with the merge partition that each part goes to."""
        finished: list[Parcel] = []
        sent: list[tuple[int, Parcel]] = []
        for parcel in parcels:
            if self.is_merged(parcel):
                sent += self._parts(parcel)
            else:
                finished.append(parcel)
        return finished, sent

    def is_merged(self, parcel: Parcel) -> bool:
        """Whether it goes to merge partitions, rather than straight to delivery."""
        match parcel.kind:
            case Kind.ANSWER:
                return self.templates[parcel.header["template"]].into is not None
            case Kind.DELTAS:
                return self.templates[parcel.header["template"]].is_merged
            case kind:
                return To.MERGE in kind.to

    def _parts(self, parcel: Parcel) -> Iterator[tuple[int, Parcel]]:
        if parcel.kind in (Kind.PLAN, Kind.LISTING) or self.partitions == 1:
            yield from ((number, parcel) for number in range(self.partitions))
        elif parcel.kind == Kind.ASK:
            yield from self._asked(parcel)
        elif parcel.kind == Kind.SIGHTINGS:
            yield from self._sighted(parcel)
        else:
            yield from self._by_query(parcel)

    def _asked(self, parcel: Parcel) -> Iterator[tuple[int, Parcel]]:
        queries = parcel.header["queries"]
        for number in sorted({query % self.partitions for query in queries}):
            mine = [query for query in queries if query % self.partitions == number]
            yield number, Parcel(Kind.ASK, parcel.table, {**parcel.header, "queries": mine})

    def _sighted(self, parcel: Parcel) -> Iterator[tuple[int, Parcel]]:
        branch, own = self.tracts.get(parcel.header["template"], (0, None))
        shares = (
            by_query(parcel.table, self.partitions)
            if own is None
            else own.shared_out(branch, parcel.table, self.partitions)
        )
        for number, rows in shares:
            yield number, Parcel(Kind.SIGHTINGS, rows, parcel.header)

    def _by_query(self, parcel: Parcel) -> Iterator[tuple[int, Parcel]]:
        """Time goes to all, also where nothing begins or ends."""
        query = parcel.table.column("query").to_numpy()
        home, is_everywhere = query % self.partitions, np.zeros(len(query), np.bool_)
        if parcel.kind == Kind.CLOCK:
            for _, own in self.tracts.values():
                is_everywhere |= np.isin(query, own.queries)
        numbers = range(self.partitions) if parcel.kind == Kind.CLOCK else np.unique(home).tolist()
        for number in numbers:
            mine = pa.array((home == number) | is_everywhere)
            yield number, Parcel(parcel.kind, parcel.table.filter(mine), parcel.header)
