"""Registered queries as columns. A cohort came together and differs in constants only.

A query that came by itself is a cohort of one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import float64_of
from sanderling.catalog import Names, Table
from sanderling.clock import ticks_from
from sanderling.plan.build.areas import Areas, circles, polygons
from sanderling.plan.build.asked import Asked
from sanderling.plan.logical import Query, Scan
from sanderling.plans.columns import of_table
from sanderling.plans.plan import ALWAYS, NEVER


class TableRows(NamedTuple):
    """By region the row of the joined table that it is of, and from when to when that is there."""

    number: npt.NDArray[np.int64]
    came_us: npt.NDArray[np.int64]
    gone_us: npt.NDArray[np.int64]


NO_ROWS = TableRows(*(np.empty(0, np.int64) for _ in range(3)))


@dataclass(frozen=True, slots=True)
class Part:
    """What shards do for the queries of a cohort: one of their scans.

    `asked` and `constants` have a row for each region: one a query. A query that joins a table is by itself,
    and gets its regions where it is put `over` the table as it is then.
    """

    scan: Scan
    asked: Asked
    constants: pa.Table
    rows: TableRows = NO_ROWS
    is_anew: bool = False  # in a plan that lives: another than the version before has

    def __len__(self) -> int:
        return len(self.asked.areas)

    def regions_of(self, query: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """A column by query as a column by region."""
        is_one_each = self.scan.table is None and not len(self.rows.number)
        return query if is_one_each else np.repeat(query, len(self))

    def over(self, table: Table, begin: int, end: int, among: npt.NDArray[np.int64] | None = None) -> Part:
        """With a region for each row that its table has had from tick to tick, or some of them."""
        history, tick_us = table.history, self.scan.stream.tick_us
        came, gone = ticks_from(history.came, tick_us), ticks_from(history.gone, tick_us)
        is_met = np.maximum(came, begin) < np.minimum(gone, end)
        rows = np.flatnonzero(is_met) if among is None else among[is_met[among]]
        rows, areas = _areas(self.scan, table, rows)
        found = history.rows.take(pa.array(rows))
        own = [] if "none" in self.constants.column_names else self.constants.schema
        fields = [*own, *(pa.field(of_table(c.name), c.type.arrow) for c in table.columns)]
        columns = [pa.repeat(self.constants.column(f.name)[0], len(rows)) for f in own]
        columns += [found.column(c.name).combine_chunks() for c in table.columns]
        return replace(
            self, asked=Asked(areas, None, None),
            constants=pa.Table.from_arrays(columns, schema=pa.schema(fields)),
            rows=TableRows(rows, history.came[rows], history.gone[rows]),
        )  # fmt: skip

    def standing(self) -> Part:
        """And a region that never lives: a branch tells when its query begins, though its table be empty."""
        nothing = pa.table([pa.nulls(1, f.type) for f in self.constants.schema], self.constants.schema)
        number, came, gone = (
            np.append(column, value) for column, value in zip(self.rows, (-1, ALWAYS, ALWAYS), strict=True)
        )
        return replace(
            self, asked=replace(self.asked, areas=self.asked.areas.and_nowhere()),
            constants=pa.concat_tables([self.constants, nothing]).combine_chunks(),
            rows=TableRows(number, came, gone),
        )  # fmt: skip


def _areas(scan: Scan, table: Table, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Areas]:
    """The regions of these rows of a table, or circles around those that are somewhere."""
    found = table.history.rows.take(pa.array(rows))
    if scan.within is None:
        assert table.region is not None
        return rows, polygons(found.column(table.region).to_pylist())
    assert table.place is not None
    x, y = (float64_of(found, name) for name in table.place)
    is_somewhere = ~(np.isnan(x) | np.isnan(y))
    return rows[is_somewhere], circles(x[is_somewhere], y[is_somewhere], scan.within, table.is_globe)


class Former(NamedTuple):
    """What a scan, by its place, asked before it was replaced."""

    place: int
    part: Part


class Later(NamedTuple):
    """What the constants of a tree are from a tick on."""

    tick: int
    constants: pa.Table


@dataclass(slots=True)
class Cohort:
    """Queries with the ticks they live in: `begin` included, `end` not; `constants` has a row for each."""

    query: Query  # one of them: all that they share
    names: pa.Array
    sql: pa.Array
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    is_there: npt.NDArray[np.bool_]
    constants: pa.Table
    parts: tuple[Part, ...]  # by scan
    numbers: npt.NDArray[np.int64] | None = None  # of its queries, once they are in a plan that lives
    # Of one that replaces another: what that was, and the tick from which on it is this one.
    former: tuple[Former, ...] = ()
    first: pa.Table | None = None  # the constants of the tree before all
    later: tuple[Later, ...] = ()
    since: int = ALWAYS

    @classmethod
    def new(
        cls, query: Query, names: Sequence[str], sql: Sequence[str], begin: npt.NDArray[np.int64],
        constants: Sequence[pa.Array], asked: Sequence[Asked],
    ) -> Cohort:  # fmt: skip
        n = len(names)
        table = _table([c.name for c in query.constants], constants, n)
        parts = (
            Part(scan, its, _chosen(table, scan.reads))
            for scan, its in zip(query.scans, asked, strict=True)
        )  # fmt: skip
        return cls(
            query, pa.array(names, pa.string()), pa.array(sql, pa.string()), begin,
            np.full(n, NEVER, np.int64), np.ones(n, np.bool_), table, tuple(parts),
        )  # fmt: skip

    @classmethod
    def of_one(cls, name: str, query: Query, sql: str, begin: int) -> Cohort:
        constants = [pa.array([c.value], c.type.arrow) for c in query.constants]
        return cls.new(query, [name], [sql], np.array([begin], np.int64), constants, query.asked)

    def __len__(self) -> int:
        return len(self.begin)

    def of_tree_at_first(self) -> pa.Table:
        return self.of_tree() if self.first is None else self.first

    def of_tree(self) -> pa.Table:
        """The constants that no scan reads."""
        read = frozenset[str]().union(*(part.scan.reads for part in self.parts))
        return _chosen(self.constants, set(self.constants.column_names) - read)

    def over_all(self, tables: Names[Table]) -> Cohort:
        """With the regions of the tables that its scans join."""
        return replace(self, parts=tuple(self._over(part, tables) for part in self.parts))

    def _over(self, part: Part, tables: Names[Table]) -> Part:
        table = part.scan.table and tables.get(part.scan.table.name)
        if table is None:
            return part
        found = part.over(table, int(self.begin[0]), int(self.end[0]))
        return found if self.query.is_scan else found.standing()


def _table(names: Sequence[str], columns: Sequence[pa.Array], n: int) -> pa.Table:
    # A table without columns has no rows either: a place-holder keeps the count.
    return pa.table(dict(zip(names, columns, strict=True)) or {"none": pa.nulls(n)})


def _chosen(constants: pa.Table, names: Collection[str]) -> pa.Table:
    found = [name for name in constants.column_names if name in names]
    return _table(found, [constants.column(name) for name in found], len(constants))


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
    def query(self) -> Query:
        """As all of its cohort are."""
        return self.cohort.query

    @property
    def own(self) -> Query:
        """As it is by itself."""
        query, table = self.query, self.cohort.constants
        values = (table.column(c.name)[self.row].as_py() for c in query.constants)
        constants = (replace(c, value=v, spot=None) for c, v in zip(query.constants, values, strict=True))
        asked = (part.asked.of(self.row) for part in self.cohort.parts)
        return replace(query, constants=tuple(constants), asked=tuple(asked))

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
    replaced: int


class Queries:
    """The queries of a catalog by name, in order of registration; and those that have ended."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._cohorts: list[Cohort] = []
        self.ended: list[Member] = []  # at a tick
        self.dropped: list[Member] = []  # at once
        self.triggers = 0  # of the queries
        self._settled = 0
        self.replaced: list[Member] = []  # what is in a plan, and goes on as these

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
        self.triggers += sum(len(cohort) for _, cohort in found if cohort.query.is_trigger)

    def has_any(self, folded: set[str]) -> bool:
        return not self._members.keys().isdisjoint(folded)

    def end(self, name: str, tick: int | None) -> None:
        """The query lives up to this tick; without one, or before its beginning, it never lived."""
        member = self._members.pop(name.casefold())
        self.triggers -= member.query.is_trigger
        if tick is not None and tick > member.begin:
            member.cohort.end[member.row] = tick
            self.ended.append(member)
        else:
            member.cohort.is_there[member.row] = False
            self.dropped.append(member)

    def replace(self, name: str, cohort: Cohort) -> None:
        """It goes on as this; of what is in a plan the number stays."""
        before, member = self._members[name.casefold()], Member(cohort, 0)
        if before.number is not None:
            cohort.numbers = np.array([before.number])
            self.replaced.append(member)
        else:
            before.cohort.is_there[before.row] = False
            self.dropped.append(before)
            self._cohorts.append(cohort)
        self._members[name.casefold()] = member

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
            dict(self._members), list(self._cohorts), len(self.ended), len(self.dropped), self.triggers,
            len(self.replaced),
        )  # fmt: skip

    def back_to(self, mark: Mark) -> None:
        for member in self.ended[mark.ended :]:
            member.cohort.end[member.row] = NEVER
        for member in self.dropped[mark.dropped :]:
            member.cohort.is_there[member.row] = True
        del self.ended[mark.ended :], self.dropped[mark.dropped :], self.replaced[mark.replaced :]
        self._members, self._cohorts, self.triggers = mark.members, mark.cohorts, mark.triggers

    def settle(self) -> None:
        """Everything that came or went is in a plan now."""
        self._cohorts, self.dropped, self._settled = [], [], len(self.ended)
        self.replaced = []

    def newly_ended(self) -> list[Member]:
        return self.ended[self._settled :]
