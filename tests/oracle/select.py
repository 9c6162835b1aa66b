"""Queries as the oracle knows them: a tree in the order of SQL's own clauses, with expressions as functions.

A row inside a query is a dict: `a.speed` is the column speed of what is called a, `previous a.speed` the
same of its object's previous reading; after grouping, each expression and aggregate stands under its text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .brackets import Refresh
from .oracle import Nearest, Row, Values
from .persistency import Persistency
from .shapes import Everywhere, Shape
from .windows import Focal, Nearby, Now, Window

NOW, EVERYWHERE = Now(), Everywhere()
TICK = "TICK()"  # in a row, and in a group: the tick at which it is looked at, in microseconds


@dataclass(frozen=True)
class Expression:
    """A text and what it means; `duck` is the text for DuckDB, where it differs.

    `kind` is what kind of value it has, for who composes queries.
    """

    sql: str
    value: Callable[[Values], Any] = field(repr=False)
    duck: str = ""
    kind: str = ""

    def of_group(self) -> Expression:
        """What the group has in common, once the groups are made."""
        return replace(self, value=lambda row: row[self.sql])

    @property
    def for_duck(self) -> str:
        return self.duck or self.sql


def column(name: str, kind: str = "") -> Expression:
    """`a.speed`."""
    return Expression(name, lambda row: row[name], kind=kind)


@dataclass(frozen=True)
class Sum:
    """An aggregate: COUNT, SUM, AVG, MIN, MAX or STDDEV; COUNT(*) has no argument."""

    kind: str
    argument: Expression | None = None
    is_distinct: bool = False

    @property
    def sql(self) -> str:
        return self._text("*" if self.argument is None else self.argument.sql)

    @property
    def for_duck(self) -> str:
        return self._text("*" if self.argument is None else self.argument.for_duck)

    def _text(self, argument: str) -> str:
        return f"{self.kind}({'DISTINCT ' if self.is_distinct else ''}{argument})"

    def as_expression(self, kind: str = "") -> Expression:
        """Its value, once the groups are made."""
        return Expression(self.sql, lambda row: row[self.sql], self.for_duck, kind)


# -- FROM ---------------------------------------------------------------------


@dataclass(frozen=True)
class Fences:
    """A table of regions that the stream is joined with: WHERE o.location INSIDE f.region."""

    table: str
    alias: str
    areas: tuple[tuple[str, Shape], ...]  # by their column `name`


@dataclass(frozen=True)
class Readings:
    """FROM stream alias, with the WINDOW and INSIDE that concern it; `is_bracketed`: FROM stream [window].

    `refresh`: the window is looked at now and then, and stays as it was in between.
    """

    stream: str
    alias: str
    window: Window = NOW
    inside: Shape = EVERYWHERE
    fences: Fences | None = None
    inside_sql: str = ""
    is_bracketed: bool = False
    refresh: Refresh | None = None


@dataclass(frozen=True)
class TableRows:
    table: str
    alias: str


@dataclass(frozen=True)
class Derived:
    """FROM (SELECT …) alias; with a name: FROM name alias, which means the same."""

    query: Query
    alias: str
    name: str | None = None


@dataclass(frozen=True)
class Near:
    """DISTANCE(a, b) <= r, or < r; a and b are aliases that have columns x and y."""

    a: str
    b: str
    r: float
    is_open: bool = False


@dataclass(frozen=True)
class Nn:
    """NN(a, b, 'k=2'): b, which is the right side, is among the k of it that are nearest to a.

    `is_other`: rows with a's own key are none of them.
    """

    a: str
    b: str
    k: int
    is_other: bool = False


@dataclass(frozen=True)
class Join:
    """Pairs that are equal in all of `on`, and near; `is_left`: who has no partner stands with NULLs.

    `is_using`: the columns of `on` are called the same, and are one from then on.
    """

    left: Source
    right: Source
    on: tuple[tuple[Expression, Expression], ...] = ()
    near: Near | None = None
    is_left: bool = False
    is_using: bool = False
    nn: Nn | None = None


Source = Readings | TableRows | Derived | Join


# -- SELECT -------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """By an item of the select list, by its name."""

    name: str
    is_descending: bool = False
    is_null_first: bool = False


@dataclass(frozen=True)
class Select:
    """`groups` None: no aggregates; (): one group of all. `first`: so many rows in the order of `orders`."""

    items: tuple[tuple[str, Expression], ...]
    source: Source
    where: Expression | None = None
    nearest: Nearest | None = None
    groups: tuple[Expression, ...] | None = None
    sums: tuple[Sum, ...] = ()
    having: Expression | None = None
    is_distinct: bool = False
    orders: tuple[Order, ...] = ()
    first: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.items)


@dataclass(frozen=True)
class Union:
    """UNION ALL; `is_distinct`: UNION. `orders` and `first` are about the whole."""

    selects: tuple[Query, ...]
    is_distinct: bool = False
    orders: tuple[Order, ...] = ()
    first: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.selects[0].names


@dataclass(frozen=True)
class SetOperation:
    """`word` is INTERSECT or EXCEPT; `is_all`: by how often a row is on either side, else once."""

    word: str
    left: Query
    right: Query
    is_all: bool = False
    orders: tuple[Order, ...] = ()
    first: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.left.names


@dataclass(frozen=True)
class With:
    """WITH name AS (…), … query: the query itself has what it reads, so it means what it means alone.

    `synchronized`: behind WITH stands SYNCHRONIZE, of the last name; the query reads that as `Looked`.
    """

    given: tuple[tuple[str, Query], ...]
    query: Query
    synchronized: Looked | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return self.query.names


@dataclass(frozen=True)
class Persistent:
    """query PERSISTENCY …; `is_per`: the key is said, else it is what it is by itself.

    WHILE is of a row by the names of its columns, and of the one before as `previous name`.
    """

    query: Query
    stay_us: int
    per: tuple[str, ...]
    grace_us: int = 0
    goes_on: Expression | None = None
    is_per: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return self.query.names

    @property
    def asked(self) -> Persistency:
        """By place."""
        return Persistency(
            self.stay_us, tuple(map(self.names.index, self.per)), self.grace_us,
            None if self.goes_on is None else self._may_go_on,
        )  # fmt: skip

    def _may_go_on(self, before: Row, row: Row) -> Any:
        assert self.goes_on is not None
        was = {f"previous {name}": value for name, value in zip(self.names, before, strict=True)}
        return self.goes_on.value(was | dict(zip(self.names, row, strict=True)))


@dataclass(frozen=True)
class Looked:
    """What SYNCHRONIZE reads: a query as at the last multiple of `every_us`; None: as it is."""

    query: Query
    every_us: int | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.query.names


Query = Select | Union | SetOperation | With | Persistent | Looked


@dataclass(frozen=True)
class Registered:
    """A query that exists at the ticks T with begin <= T < end."""

    name: str
    query: Query
    begin: int | None = None
    end: int | None = None

    def exists(self, tick: int) -> bool:
        return (self.begin is None or self.begin <= tick) and (self.end is None or tick < self.end)


def streams_of(part: Query | Source) -> set[str]:
    """The streams that it reads, however deep."""
    match part:
        case Union(selects):
            return set().union(*(streams_of(select) for select in selects))
        case With(query=query) | Persistent(query) | Looked(query):
            return streams_of(query)
        case SetOperation():
            return streams_of(part.left) | streams_of(part.right)
        case Select():
            return streams_of(part.source)
        case Readings(window=Nearby(focal=Focal(stream=name))) if name:
            return {part.stream, name}
        case Readings():
            return {part.stream}
        case Derived():
            return streams_of(part.query)
        case Join():
            return streams_of(part.left) | streams_of(part.right)
    return set()
