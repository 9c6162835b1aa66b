"""Registered queries as columns. A cohort came together and differs in constants only.

A query that came by itself is a cohort of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.catalog import Names, Table
from sanderling.clock import ticks_from
from sanderling.plan.build.areas import Areas, area_of, areas_like, polygons
from sanderling.plan.build.nearest import Neighbours, neighbours_of
from sanderling.plan.query.compositions import Composition
from sanderling.plan.query.relations import focal_of
from sanderling.plan.query.selects import Draft
from sanderling.plans.columns import of_table
from sanderling.plans.plan import ALWAYS, NEVER


class TableRows(NamedTuple):
    """By region the row of the joined table that it is of, and from when to when that is there."""

    number: npt.NDArray[np.int64]
    came_us: npt.NDArray[np.int64]
    gone_us: npt.NDArray[np.int64]


NO_ROWS = TableRows(*(np.empty(0, np.int64) for _ in range(3)))


@dataclass(slots=True)
class Cohort:
    """Queries with the ticks they live in: `begin` included, `end` not.

    `areas`, `constants` and `focals` have a row for each region: one a query. A query that joins a table
    is by itself, and gets its regions where it is put `over` the table as it is then.
    `nearest` is there for kNN queries, which join no table.
    Composed queries have no regions themselves, but their branches: cohorts with the same queries.
    """

    draft: Draft | Composition  # of one of them: all that they share
    names: pa.Array
    sql: pa.Array
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    is_there: npt.NDArray[np.bool_]
    areas: Areas
    constants: pa.Table
    focals: pa.Array | None
    nearest: Neighbours | None
    numbers: npt.NDArray[np.int64] | None = None  # of its queries, once they are in a plan that lives
    rows: TableRows = NO_ROWS
    branches: tuple[Cohort, ...] = ()

    @classmethod
    def composed(
        cls, draft: Composition, names: Sequence[str], sql: Sequence[str], begin: npt.NDArray[np.int64],
        constants: Sequence[pa.Array], branches: Sequence[Cohort],
    ) -> Cohort:  # fmt: skip
        """Composed queries; from here on their branches come and go with them."""
        n = len(names)
        fields = [pa.field(c.name, c.type.arrow) for c in draft.constants]
        table = (
            pa.Table.from_arrays(list(constants), schema=pa.schema(fields))
            if fields
            else pa.table({"none": pa.nulls(n)})
        )
        head = cls(
            draft, pa.array(names, pa.string()), pa.array(sql, pa.string()), begin,
            np.full(n, NEVER, np.int64), np.ones(n, np.bool_), areas_like(None, [], n), table, None, None,
            branches=tuple(branches),
        )  # fmt: skip
        for branch in head.branches:
            branch.begin, branch.end, branch.is_there = head.begin, head.end, head.is_there
        return head

    @classmethod
    def new(
        cls, draft: Draft, names: Sequence[str], sql: Sequence[str], begin: npt.NDArray[np.int64],
        areas: Areas, constants: Sequence[pa.Array], focals: pa.Array | None, nearest: Neighbours | None,
    ) -> Cohort:  # fmt: skip
        n = len(names)
        fields = [pa.field(c.name, c.type.arrow) for c in draft.constants]
        table = (
            pa.Table.from_arrays(list(constants), schema=pa.schema(fields))
            if fields
            # A table without columns has no rows either: a place-holder keeps the count.
            else pa.table({"none": pa.nulls(len(areas))})
        )
        return cls(
            draft, pa.array(names, pa.string()), pa.array(sql, pa.string()), begin,
            np.full(n, NEVER, np.int64), np.ones(n, np.bool_), areas, table, focals, nearest,
        )  # fmt: skip

    @classmethod
    def of_one(cls, name: str, draft: Draft | Composition, sql: str, begin: int) -> Cohort:
        if isinstance(draft, Composition):
            constants = [pa.array([c.value], c.type.arrow) for c in draft.constants]
            branches = [cls.of_one(name, branch, sql, begin) for branch in draft.branches]
            return cls.composed(draft, [name], [sql], np.array([begin], np.int64), constants, branches)
        areas = area_of(draft.shape)
        constants = [pa.array([c.value] * len(areas), c.type.arrow) for c in draft.constants]
        focal = focal_of(draft.shape)
        key = draft.stream.key_type.arrow
        focals = None if focal is None else pa.array([focal.value], key)
        nearest = None if draft.nearest is None else neighbours_of(draft.nearest, key)
        return cls.new(draft, [name], [sql], np.array([begin], np.int64), areas, constants, focals, nearest)

    def over(self, table: Table, among: npt.NDArray[np.int64] | None = None) -> Cohort:
        """With a region for each row that its table has had while it lives, or some of them."""
        assert isinstance(self.draft, Draft) and table.region is not None and len(self) == 1
        history, tick_us = table.history, self.draft.stream.tick_us
        came, gone = ticks_from(history.came, tick_us), ticks_from(history.gone, tick_us)
        is_met = np.maximum(came, self.begin[0]) < np.minimum(gone, self.end[0])
        rows = np.flatnonzero(is_met) if among is None else among[is_met[among]]
        found = history.rows.take(pa.array(rows))
        own = [pa.repeat(pa.scalar(c.value, c.type.arrow), len(rows)) for c in self.draft.constants]
        fields = [pa.field(c.name, c.type.arrow) for c in self.draft.constants]
        fields += [pa.field(of_table(c.name), c.type.arrow) for c in table.columns]
        columns = [*own, *(found.column(c.name).combine_chunks() for c in table.columns)]
        return replace(
            self, areas=polygons(found.column(table.region).to_pylist()),
            constants=pa.Table.from_arrays(columns, schema=pa.schema(fields)),
            rows=TableRows(rows, history.came[rows], history.gone[rows]),
        )  # fmt: skip

    def _standing(self) -> Cohort:
        """And a region that never lives: a branch tells when its query begins, though its table be empty."""
        if not isinstance(self.draft, Draft) or self.draft.table is None:
            return self
        nothing = pa.table([pa.nulls(1, f.type) for f in self.constants.schema], self.constants.schema)
        number, came, gone = (
            np.append(column, value) for column, value in zip(self.rows, (-1, ALWAYS, ALWAYS), strict=True)
        )
        return replace(
            self, areas=polygons([*self.areas.wkb, None]),
            constants=pa.concat_tables([self.constants, nothing]).combine_chunks(),
            rows=TableRows(number, came, gone),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.begin)

    def regions_of(self, query: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """A column by query as a column by region."""
        assert isinstance(self.draft, Draft)
        return query if self.draft.table is None else np.repeat(query, len(self.areas))

    @property
    def parts(self) -> tuple[Cohort, ...]:
        """What shards work for: its branches, or itself."""
        return self.branches or (self,)

    def over_all(self, tables: Names[Table]) -> Cohort:
        """With the regions of the tables that it, or its branches, join."""
        if self.branches:
            return replace(self, branches=tuple(b.over_all(tables)._standing() for b in self.branches))
        assert isinstance(self.draft, Draft)
        table = self.draft.table and tables.get(self.draft.table.name)
        return self if table is None else self.over(table)


class Member(NamedTuple):
    """A query of a cohort."""

    cohort: Cohort
    row: int

    @property
    def name(self) -> str:
        return str(self.cohort.names[self.row])

    @property
    def sql(self) -> str:
        return str(self.cohort.sql[self.row])

    @property
    def begin(self) -> int:
        return int(self.cohort.begin[self.row])

    @property
    def end(self) -> int:
        return int(self.cohort.end[self.row])

    @property
    def draft(self) -> Draft | Composition:
        return self.cohort.draft

    @property
    def number(self) -> int | None:
        return None if self.cohort.numbers is None else int(self.cohort.numbers[self.row])


class Mark(NamedTuple):
    """What a catalog's queries were."""

    members: dict[str, Member]
    cohorts: list[Cohort]
    ended: int
    dropped: int
    triggers: int


class Queries:
    """The queries of a catalog by name, in order of registration; and those that have ended."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._cohorts: list[Cohort] = []
        self.ended: list[Member] = []  # at a tick
        self.dropped: list[Member] = []  # at once
        self.triggers = 0  # of the queries
        self._settled = 0

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._members

    def __iter__(self) -> Iterator[str]:
        return (member.name for member in self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def get(self, name: str) -> Member | None:
        return self._members.get(name.casefold())

    def values(self) -> list[Member]:
        return list(self._members.values())

    def add(self, found: Sequence[tuple[npt.NDArray[np.int64], Cohort]]) -> None:
        """Cohorts; the numbers say in which order their queries were registered."""
        order = np.argsort(np.concatenate([np.empty(0, np.int64), *(numbers for numbers, _ in found)]))
        members = [Member(cohort, row) for _, cohort in found for row in range(len(cohort))]
        folded = [name.casefold() for _, cohort in found for name in cohort.names.to_pylist()]
        self._members.update((folded[i], members[i]) for i in order.tolist())
        self._cohorts += [cohort for _, cohort in found]
        self.triggers += sum(len(cohort) for _, cohort in found if cohort.draft.is_trigger)

    def has_any(self, folded: set[str]) -> bool:
        return not self._members.keys().isdisjoint(folded)

    def end(self, name: str, tick: int | None) -> None:
        """The query lives up to this tick; without one, or before its beginning, it never lived."""
        member = self._members.pop(name.casefold())
        self.triggers -= member.draft.is_trigger
        if tick is not None and tick > member.begin:
            member.cohort.end[member.row] = tick
            self.ended.append(member)
        else:
            member.cohort.is_there[member.row] = False
            self.dropped.append(member)

    def over(self, tables: Names[Table]) -> list[Cohort]:
        """The cohorts, with the regions of the tables that they join."""
        return [cohort.over_all(tables) for cohort in self.cohorts()]

    def cohorts(self) -> list[Cohort]:
        self._cohorts = [c for c in self._cohorts if c.is_there.any()]
        return self._cohorts

    # ----- a plan that lives

    def mark(self) -> Mark:
        """To come back to, if something is refused."""
        return Mark(
            dict(self._members), list(self._cohorts), len(self.ended), len(self.dropped), self.triggers
        )

    def back_to(self, mark: Mark) -> None:
        for member in self.ended[mark.ended :]:
            member.cohort.end[member.row] = NEVER
        for member in self.dropped[mark.dropped :]:
            member.cohort.is_there[member.row] = True
        del self.ended[mark.ended :], self.dropped[mark.dropped :]
        self._members, self._cohorts, self.triggers = mark.members, mark.cohorts, mark.triggers

    def settle(self) -> None:
        """Everything that came or went is in a plan now."""
        self._cohorts, self.dropped, self._settled = [], [], len(self.ended)

    def newly_ended(self) -> list[Member]:
        return self.ended[self._settled :]
