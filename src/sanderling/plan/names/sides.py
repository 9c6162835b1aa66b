"""What stands in FROM, side by side, and what names mean in a row that all of them make up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Column, Stream, Table
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.statements import Bracket, Span, WindowClause
from sanderling.plan.expressions.check import Scope, hint_of_no_column
from sanderling.plans.columns import by_place, previous_of, within_of
from sanderling.plans.nodes import Node, is_table
from sanderling.plans.window import Lasting
from sanderling.types import SqlType

if TYPE_CHECKING:
    from sanderling.plan.query.tessellate import Tiles


@dataclass(frozen=True, slots=True)
class Derived:
    """The answer of a query as something to read from: a node of the tree, and its columns' names."""

    node: Node
    columns: tuple[Column, ...]
    place: tuple[str, str] | None = None  # those that show a location
    is_globe: bool = False  # of that location

    def column(self, name: str) -> Column | None:
        folded = name.casefold()
        return next((c for c in self.columns if c.name.casefold() == folded), None)


@dataclass(slots=True, eq=False)
class Side:
    """One of those in FROM."""

    alias: str
    relation: Stream | Table | Derived
    span: Span
    is_outer: bool = False  # the right side of a LEFT JOIN
    on: list[exp.Expr] = field(default_factory=list)  # of a LEFT JOIN
    regions: Side | None = None  # of a stream: the table whose regions it is joined with
    is_regions: bool = False  # of a table: a stream is joined with its regions
    bracket: Bracket | None = None  # of a stream: its own window
    window: WindowClause | None = None  # of a stream: what it is looked at through, whoever says so
    tiles: Tiles | None = None  # of a stream: what its window shows of them
    merged: list[str] = field(default_factory=list)  # columns that USING made one with those of another side

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.relation.columns, *(self.tiles.columns if self.tiles else ()))

    def column(self, name: str) -> Column | None:
        folded = name.casefold()
        more = self.tiles.columns if self.tiles else ()
        return self.relation.column(name) or next((c for c in more if c.name.casefold() == folded), None)

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Its columns, and those of a stream as they were in the reading before."""
        if not isinstance(self.relation, Stream):
            return self.columns
        own = self.relation.columns
        before = (Column(called(c.name), c.type) for called in (previous_of, within_of) for c in own)
        return (*self.columns, *before)

    @property
    def lasts_us(self) -> int | None:
        """For how long a reading is in its window, where nothing else says who is in it."""
        is_of_more = self.bracket is not None and (
            self.bracket.extent or self.bracket.nearby or self.bracket.tiles
        )
        window = None if self.window is None or is_of_more else self.window.window
        return window.size_us if isinstance(window, Lasting) else None

    @property
    def is_of_tables(self) -> bool:
        """Whether its rows are for all queries: constants of one are not known there."""
        return isinstance(self.relation, Table) or (
            isinstance(self.relation, Derived) and is_table(self.relation.node)
        )

    @property
    def place(self) -> tuple[str, str] | None:
        """The columns of its location."""
        if isinstance(self.relation, Stream):
            return self.relation.x, self.relation.y
        return self.relation.place

    @property
    def is_globe(self) -> bool | None:
        """Whether its places, or its regions, are on the globe; None where it has none."""
        relation = self.relation
        has_space = isinstance(relation, Stream) or relation.place is not None
        if isinstance(relation, Table):
            has_space = has_space or relation.region is not None
        return relation.is_globe if has_space else None


def in_another_space(sides: Iterable[Side]) -> Side | None:
    """The first that is not on a plane, or on the globe, as those before it are."""
    first: bool | None = None
    for side in sides:
        if side.is_globe is not None:
            if first is not None and side.is_globe != first:
                return side
            first = side.is_globe
    return None


def different_spaces(side: Side) -> tuple[str, str, str]:
    """What is wrong with such a side."""
    here, there = ("on the globe", "on a plane") if side.is_globe else ("on a plane", "on the globe")
    hint = (
        "declare both with LOCATION (lon, lat) ON GLOBE, or neither; regions of GeoJSON WITH (globe = true)"
    )
    return "query.different_spaces", f'"{side.alias}" is {here}, and what stands before it {there}', hint


Uses = set[tuple[int, str]]  # columns, by side and name


class RowScope(Scope):
    """Names in a row of several sides, or of what was computed of one: c0, c1, … by place."""

    def __init__(self, text: str, span: Span, sides: Sequence[Side]):
        self.text = text
        self.span = span
        self.all = list(sides)
        self.aliases = [side.alias for side in sides]
        self.places: dict[tuple[int, str], int] = {}

    def find(self, column: exp.Column) -> tuple[Side, Column]:
        """The side and the column that a name means."""
        if column.args.get("db"):
            hint = f"write {column.table}.{column.name}, or {column.name} alone"
            raise self.refuse(column, "query.unknown_column", "a column has at most one qualifier", hint)
        found = [(side, c) for side in self._named(column) if (c := side.column(column.name))]
        if not column.table:
            found = [(side, c) for side, c in found if c.name.casefold() not in side.merged]
        if len(found) == 1:
            return found[0]
        if found:
            hint = "write " + " or ".join(f"{side.alias}.{column.name}" for side, _ in found)
            where = "both" if any(side.is_regions for side in self.all) else "several"
            raise self.refuse(column, "query.ambiguous_column", f'"{column.name}" is in {where}', hint)
        raise self._unknown(column)

    def _named(self, column: exp.Column) -> Iterable[Side]:
        if not column.table:
            return self.all
        sides = [side for side in self.all if side.alias.casefold() == column.table.casefold()]
        if not sides:
            hint = did_you_mean(column.table, self.aliases)
            node = column.args["table"]
            raise self.refuse(node, "query.unknown_name", f'nothing in FROM is named "{column.table}"', hint)
        return sides

    def _unknown(self, column: exp.Column) -> QueryError:
        name, first = column.name, self.all[0].relation
        if isinstance(first, Stream) and len(self.all) == 1:
            return Scope(self.text, self.span, first, self.aliases[0], None, "")._unknown(column)
        if name.casefold() in ("location", "region"):
            hint = "it is used with INSIDE, or in DISTANCE: o.location INSIDE …, DISTANCE(a, b)"
        else:
            known = [c.name for side in self.all for c in side.columns]
            hint = hint_of_no_column(name) or did_you_mean(name, known) or "no column in FROM has this name"
        return self.refuse(column, "query.unknown_column", f'no column is named "{name}"', hint)

    def resolve(self, column: exp.Column) -> tuple[str, SqlType]:
        side, found = self.find(column)
        return by_place(self.places[self.all.index(side), found.name]), found.type

    def name_of(self, column: exp.Column) -> str:
        return self.find(column)[1].name

    def previous(self, column: exp.Column, is_within: bool = False) -> str:
        return by_place(self.places[self.find_previous(column, is_within)])

    def find_previous(self, column: exp.Column, is_within: bool = False) -> tuple[int, str]:
        """The side, and the column there that PREVIOUS of a column means."""
        side, found = self.find(column)
        if not isinstance(side.relation, Stream) or side.relation.column(found.name) is None:
            raise self._no_previous(column)
        previous = self._previous_in(side.relation, found.name, column)
        if is_within and side.lasts_us is None:
            raise self._no_window(column)
        return self.all.index(side), within_of(found.name) if is_within else previous

    def types(self) -> dict[str, SqlType]:
        known = {(i, c.name): c.type for i, side in enumerate(self.all) for c in side.all_columns}
        return {by_place(place): known[use] for use, place in self.places.items()}

    def meaning(self) -> tuple[object, ...]:
        columns = tuple((self.aliases[s], n, p) for (s, n), p in self.places.items())
        return (*columns, *((n, t.name) for n, t in self.types().items()))

    def columns_of(self, alias: str) -> tuple[Column, ...]:
        return next(s for s in self.all if s.alias.casefold() == alias.casefold()).columns

    def starred(self) -> list[tuple[str, Column]]:
        """What USING made one comes first, and once."""
        merged = [name for side in self.all for name in side.merged]
        found = [(s, c) for s in self.all for c in s.columns if c.name.casefold() not in s.merged]
        found.sort(key=lambda of: [*merged, of[1].name.casefold()].index(of[1].name.casefold()))
        return [(side.alias, column) for side, column in found]


class GroupScope(Scope):
    """Names above GROUP BY: what was grouped by, and aggregates, by their words."""

    def __init__(self, text: str, span: Span, words: Sequence[str], types: Sequence[SqlType]):
        self.text = text
        self.span = span
        self.words = list(words)
        self.kinds = list(types)
        self.aliases: list[str] = []

    def resolve(self, column: exp.Column) -> tuple[str, SqlType]:
        if column.meta.get("group") is None:
            hint = "add it to GROUP BY, or aggregate it: MAX(…)"
            message = f'"{column.name}" is neither grouped by nor aggregated'
            raise self.refuse(column, "query.not_grouped", message, hint)
        place = column.meta["group"]
        return by_place(place), self.kinds[place]

    def previous(self, column: exp.Column, is_within: bool = False) -> str:
        hint = "aggregate it: MAX(PREVIOUS(…)), or add it to GROUP BY"
        message = f'PREVIOUS of "{column.name}" is neither grouped by nor aggregated'
        raise self.refuse(column, "query.not_grouped", message, hint)

    def name_of(self, column: exp.Column) -> str:
        return column.name

    def types(self) -> dict[str, SqlType]:
        return {by_place(i): t for i, t in enumerate(self.kinds)}

    def meaning(self) -> tuple[object, ...]:
        return (*self.words, *(t.name for t in self.kinds))

    def columns_of(self, alias: str) -> tuple[Column, ...]:
        return ()
