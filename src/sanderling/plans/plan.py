"""What planning gives: picklable descriptions, the same for every shard.

stream plan ── templates   queries of one shape: condition and select list, written once
            ├─ regions     one row per query (or per row of its table): shape and constants
            └─ nearest     one row per kNN query: how many, and nearest to what
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.catalog import Archiving, Column, Stream
from sanderling.clock import ALWAYS as ALWAYS
from sanderling.clock import NEVER as NEVER
from sanderling.plans.columns import by_place, without_previous
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node, is_merged
from sanderling.plans.window import Window
from sanderling.space.geometry import Geometry
from sanderling.space.moving.motion import Places, placed
from sanderling.types import SqlType

if TYPE_CHECKING:
    from sanderling.space.moving.pose import Poses  # has something to compile


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One item of a select list over pair columns."""

    name: str
    expression: Expression

    @property
    def type(self) -> SqlType:
        return self.expression.type


class Over(Enum):
    """Which readings queries look at, and so who works for them in a shard."""

    NOW = "each object's last"
    WINDOW = "those in a window"
    EVENTS = "all, once, as they come: those of triggers"


@dataclass(frozen=True, slots=True)
class Template:
    """Queries of one shape: everything about them but their constants."""

    id: int
    stream: str
    where: Expression | None
    outputs: tuple[OutputColumn, ...]
    constants: pa.Schema
    is_keyed: bool
    is_nearest: bool = False
    window: Window | None = None
    is_branch: bool = False  # its consumers are trees; else subscribers
    is_sighted: bool = False  # a branch of triggers: a reading comes once, with the queries that take it
    is_waited: bool = False  # a branch of patterns: looked at for those only that a run waits for

    @property
    def over(self) -> Over:
        if self.is_sighted:
            return Over.EVENTS
        return Over.NOW if self.window is None else Over.WINDOW

    @property
    def is_of_last(self) -> bool:
        """Whether its window holds the last readings of all shards together."""
        return self.window is not None and self.window.is_of_all

    @property
    def is_merged(self) -> bool:
        """Whether no shard can finish what subscribers get: the nearest of all, equal rows that cancel."""
        return not self.is_branch and (self.is_merged_first or not self.is_keyed)

    @property
    def is_merged_first(self) -> bool:
        """Whether what shards tell are no rows yet: the nearest, and the last, are those of all shards."""
        return self.is_nearest or self.is_of_last

    @property
    def needs_consolidation(self) -> bool:
        """Whether rows can cancel: equal rows of several objects, of several readings of one, or
        expressions that give the same again. Events have their key and time."""
        if self.is_sighted:
            return False
        return (not self.is_keyed or self.window is not None) or any(
            not o.expression.is_plain and o.expression.of_reading for o in self.outputs
        )

    @property
    def of_reading(self) -> frozenset[str]:
        """What its condition and its select list read of a reading."""
        asked = frozenset[str]() if self.where is None else self.where.of_reading
        return asked.union(*(o.expression.of_reading for o in self.outputs))

    def schema(self) -> pa.Schema:
        """The columns of its signed rows."""
        sign = pa.int64() if self.is_branch else pa.int8()  # a tree takes weights
        fixed = [pa.field("query", pa.int32()), pa.field("tick", pa.int64()), pa.field("sign", sign)]
        return pa.schema([*fixed, *(pa.field(by_place(i), o.type.arrow) for i, o in enumerate(self.outputs))])


@dataclass(frozen=True, slots=True)
class Regions:
    """All regions of a stream's queries as columns; `a, b, c, d` as the kind's file in space/ explains them.

    A query's `end` is silent. A region of a table's row ends with that row, at the tick `gone`, and what it
    held goes with −. While a plan lives: the version a region `came` with, and the one that let it go.
    """

    query: npt.NDArray[np.int32]
    template: npt.NDArray[np.int32]
    row_in_template: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int8]
    a: npt.NDArray[np.float64]
    b: npt.NDArray[np.float64]
    c: npt.NDArray[np.float64]
    d: npt.NDArray[np.float64]
    focal: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]  # of the table, -1 without one
    gone: npt.NDArray[np.int64]
    came: npt.NDArray[np.int32]
    left: npt.NDArray[np.int32]
    wkb: tuple[bytes | None, ...]

    def __len__(self) -> int:
        return len(self.query)

    def written(self, ids: npt.NDArray[np.int64]) -> Geometry:
        """Some regions as they stand here: those that follow are around nothing yet."""
        return Geometry(self.kind[ids], self.a[ids], self.b[ids], self.c[ids], self.d[ids])

    def at(self, ids: npt.NDArray[np.int64], places: Places) -> Geometry:
        """Some regions as they are while focal objects are at these places, which is by tick; none posed."""
        return placed(self.written(ids), self.focal[ids], places)

    def posed(self, ids: npt.NDArray[np.int64], poses: Poses, places: Places, tick: int) -> Geometry:
        """The same of regions some of which have poses."""
        return poses.at(self.written(ids), ids, self.focal[ids], places, tick)

    def is_gone(self, tick: int, ready: int) -> npt.NDArray[np.bool_]:
        """Whose row is not there any more at a tick; versions from `ready` on count for nothing yet."""
        return (self.gone <= tick) & (self.left < ready)

    def lives(self, tick: int, ready: int) -> npt.NDArray[np.bool_]:
        """Which have begun and not ended at a tick."""
        is_there = (self.begin <= tick) & (tick < self.end) & (self.came < ready)
        return is_there & ~self.is_gone(tick, ready)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The kNN queries of a stream, each by its row among the regions, where it has one: among whom it looks.

    Nearest to a place, or to the focal object with this number; -1 is none.
    """

    region: npt.NDArray[np.int64]
    k: npt.NDArray[np.int64]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    focal: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.region)


NO_NEAREST = Nearest(
    np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.float64),
    np.empty(0, np.int64),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """Everything a shard does for one stream."""

    stream: Stream
    kept: tuple[str, ...]
    templates: tuple[Template, ...]
    constants: tuple[pa.Table, ...]
    regions: Regions
    focals: pa.Array
    nearest: Nearest = NO_NEAREST
    version: int = 0  # while a plan lives: the one that changed this part last
    archive: Archiving | None = None  # where its readings are kept

    @property
    def watched(self) -> tuple[str, ...]:
        """Reading columns, other than key and place, whose change can change an answer."""
        reads = {name for t in self.templates if t.over is Over.NOW for name in t.of_reading}
        return tuple(sorted(reads - {self.stream.key}))

    @property
    def previous(self) -> tuple[str, ...]:
        """Columns of which some query reads the value that the same object's reading before had."""
        reads = {name for t in self.templates for name in t.of_reading}
        found = [without_previous(name) for name in reads if self.stream.column(name) is None]
        return tuple(sorted(name for name in found if name is not None))

    @property
    def windows(self) -> tuple[Window, ...]:
        """All windows of queries, each once."""
        return tuple(dict.fromkeys(t.window for t in self.templates if t.window is not None))

    @property
    def is_waited(self) -> npt.NDArray[np.bool_]:
        """By region whether it is looked at for those only that a pattern's runs wait for."""
        return np.isin(self.regions.template, [t.id for t in self.templates if t.is_waited])

    def is_over(self, over: Over) -> npt.NDArray[np.bool_]:
        """By region whether its query looks at these readings."""
        return np.isin(self.regions.template, [t.id for t in self.templates if t.over is over])


@dataclass(frozen=True, slots=True)
class Replaced:
    """A query of a tree has other constants, a row of them, from a tick on; ALWAYS: once it is heard of."""

    query: int
    tick: int
    constants: pa.Table


@dataclass(frozen=True, slots=True)
class PlannedTree:
    """What is done above branches for the composed queries of one shape, in shards or in merge partitions.

    `branches` are templates by number: of scans, or of trees that run in shards. `constants` has a row for
    each of `queries`, which are in order.
    """

    template: Template
    root: Node
    branches: tuple[int, ...]
    streams: tuple[str, ...]
    tick_us: int  # of all of them
    tables: tuple[str, ...]
    queries: npt.NDArray[np.int64]
    constants: pa.Table
    replaced: tuple[Replaced, ...] = ()

    @property
    def is_merged(self) -> bool:
        return is_merged(self.root)

    @property
    def outlet(self) -> str:
        """Whose updates come in order of time: those of a stream, or of streams that wait for each other."""
        return " + ".join(sorted(self.streams))


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query as users know it: one row of `PlannedQueries`."""

    id: int
    name: str
    stream: str
    template: int
    begin: int
    end: int
    sql: str


@dataclass(frozen=True, slots=True)
class PlannedQueries:
    """All queries, in order of their numbers, as columns; one of them by its number.

    In a plan that lives a dropped query keeps its number, and its end is ALWAYS.
    """

    names: pa.Array
    streams: tuple[str, ...]
    stream: npt.NDArray[np.int32]
    template: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    sql: pa.Array

    def __len__(self) -> int:
        return len(self.begin)

    def __getitem__(self, number: int) -> PlannedQuery:
        at = range(len(self))[number]
        return PlannedQuery(
            at, str(self.names[at]), self.streams[self.stream[at]], int(self.template[at]),
            int(self.begin[at]), int(self.end[at]), str(self.sql[at]),
        )  # fmt: skip

    def __iter__(self) -> Iterator[PlannedQuery]:
        return (self[number] for number in range(len(self)))


NO_QUERIES = PlannedQueries(
    pa.nulls(0, pa.string()), (), np.empty(0, np.int32), np.empty(0, np.int32),
    np.empty(0, np.int64), np.empty(0, np.int64), pa.nulls(0, pa.string()),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A table that the merge stage reads, as signed rows; at any tick they add up to what is in it.

    A change holds from the tick on that its time (in microseconds, ALWAYS for none) belongs to, but not
    before its version has begun.
    """

    name: str
    columns: tuple[Column, ...]
    time: npt.NDArray[np.int64]
    version: npt.NDArray[np.int32]
    sign: npt.NDArray[np.int8]
    rows: pa.Table  # its columns by their names, without regions

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, slots=True)
class Plan:
    streams: tuple[StreamPlan, ...]
    queries: PlannedQueries
    version: int = 0
    tables: tuple[PlannedTable, ...] = ()  # that trees read
    trees: tuple[PlannedTree, ...] = ()

    def stream(self, name: str) -> StreamPlan:
        return next(s for s in self.streams if s.stream.name == name)

    def templates(self) -> dict[int, Template]:
        branches = {t.id: t for s in self.streams for t in s.templates}
        return branches | {t.template.id: t.template for t in self.trees}

    def consumers(self) -> dict[int, list[PlannedTree]]:
        """By template of a branch the trees that take its rows."""
        found: dict[int, list[PlannedTree]] = {}
        for tree in self.trees:
            for branch in tree.branches:
                found.setdefault(branch, []).append(tree)
        return found

    def gathered(self) -> frozenset[int]:
        """Branches that merge partitions take."""
        return frozenset(branch for tree in self.trees if tree.is_merged for branch in tree.branches)

    @property
    def is_merged(self) -> bool:
        """Whether there is anything for merge partitions."""
        is_any_merged = any(template.is_merged for template in self.templates().values())
        return is_any_merged or any(tree.is_merged for tree in self.trees)

    def templates_below(self, templates: Iterable[int]) -> frozenset[int]:
        """These, and those that their trees read."""
        branches = {tree.template.id: tree.branches for tree in self.trees}
        found, left = set[int](), list(templates)
        while left:
            number = left.pop()
            found.add(number)
            left += branches.get(number, ())
        return frozenset(found)

    def outlets(self) -> list[str]:
        """All that updates come from, streams first."""
        return list(dict.fromkeys([*(s.stream.name for s in self.streams), *(t.outlet for t in self.trees)]))


# Each version of a plan that lives, by its number.
Plans = Callable[[int], Plan]

__all__ = [
    "ALWAYS", "NEVER", "NO_NEAREST", "NO_QUERIES", "Nearest", "OutputColumn", "Over", "Plan",
    "PlannedQueries", "PlannedQuery", "PlannedTable", "PlannedTree", "Plans", "Regions", "Replaced",
    "StreamPlan",
    "Template",
]  # fmt: skip


def row_in(template: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """How many rows of the same template stand before."""
    by_template = np.argsort(template, kind="stable")
    grouped = template[by_template]
    rows = np.empty(len(template), np.int64)
    rows[by_template] = np.arange(len(template)) - np.searchsorted(grouped, grouped)
    return rows
