"""What a script can say, one dataclass per statement, with where each name stands in the text."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from sanderling.errors import Place
from sanderling.plans.window import Window


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (not included) of the script."""

    start: int
    end: int

    def place_in(self, text: str) -> Place:
        return Place.in_text(text, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Spot:
    """Which literal a constant was read from: the one that ends here, and the sign before it."""

    end: int
    sign: int


@dataclass(frozen=True, slots=True)
class Value:
    """A constant as written: a string or a number."""

    value: str | int | float
    span: Span
    spot: Spot | None = field(default=None, compare=False)


# Where the numbers of a shape stand, in the order of its fields.
Spots = tuple[Spot | None, ...]


# Coverages: the shape of an area. Numbers are finite; ranges are checked where they are read.


@dataclass(frozen=True, slots=True)
class RectShape:
    x1: float
    y1: float
    x2: float
    y2: float
    spots: Spots = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class CircleShape:
    x: float
    y: float
    radius: float
    spots: Spots = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class OutlineShape:
    """What numbers alone cannot say: polygons, lines, bands, spots and exteriors (space/outline.py)."""

    outline: bytes


@dataclass(frozen=True, slots=True)
class ExteriorShape:
    """EXTERIOR OF a region by its name; of twice an exterior the inside is left."""

    name: Name
    is_inner: bool = False


@dataclass(frozen=True, slots=True)
class MovingRectShape:
    focal: Value
    xdist: float
    ydist: float
    spots: Spots = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class MovingCircleShape:
    focal: Value
    radius: float
    spots: Spots = field(default=(), compare=False)


Coverage = RectShape | CircleShape | OutlineShape | MovingRectShape | MovingCircleShape | ExteriorShape
InsideTarget = Coverage | Name


@dataclass(frozen=True, slots=True)
class NearestTarget:
    """kNN: how many, and nearest to what: a place, or a focal object."""

    k: Value
    place: tuple[Value, Value] | None
    focal: Value | None


@dataclass(frozen=True, slots=True)
class WindowClause:
    """WINDOW; or what stands behind UNTIL, which is yet to be checked."""

    window: Window | None
    condition: exp.Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class ColumnDef:
    name: Name
    type: Name


@dataclass(frozen=True, slots=True)
class CreateStream:
    name: Name
    columns: tuple[ColumnDef, ...]
    key: Name
    time: Name
    location: tuple[Name, Name]
    gone: Name | None
    options: dict[str, tuple[Name, Value]]
    span: Span


@dataclass(frozen=True, slots=True)
class CreateTable:
    name: Name
    columns: tuple[ColumnDef, ...]
    key: Name
    location: tuple[Name, Name] | None
    options: dict[str, tuple[Name, Value]]
    span: Span


@dataclass(frozen=True, slots=True)
class CreateRegion:
    name: Name
    coverage: Coverage
    span: Span


@dataclass(frozen=True, slots=True)
class Cell:
    """A constant of a row to insert: a text, a number, true, false, NULL, or a coverage."""

    value: str | int | float | bool | Coverage | None
    span: Span


@dataclass(frozen=True, slots=True)
class InsertInto:
    name: Name
    columns: tuple[Name, ...]  # empty: all of them, in their order
    rows: tuple[tuple[Cell, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class DeleteFrom:
    name: Name
    where: exp.Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class RefreshTable:
    name: Name
    span: Span


TableChange = InsertInto | DeleteFrom | RefreshTable


@dataclass(frozen=True, slots=True)
class Drop:
    kind: str  # STREAM, TABLE, REGION, QUERY or TRIGGER
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Show:
    kind: str  # STREAMS, TABLES, REGIONS, QUERIES or TRIGGERS
    span: Span


@dataclass(frozen=True, slots=True)
class DescribeQuery:
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Explain:
    name: Name
    span: Span
    is_analyze: bool = False


@dataclass(frozen=True, slots=True)
class RegisterQuery:
    name: Name
    select: exp.Select | exp.SetOperation | exp.Subquery
    inside: InsideTarget | None
    sql: str
    span: Span
    nearest: NearestTarget | None = None
    window: WindowClause | None = None


@dataclass(frozen=True, slots=True)
class TriggerVariable:
    """One of FOR: events of a stream; with a count, a set of so many."""

    stream: Name
    name: Name
    count: Value | None


@dataclass(frozen=True, slots=True)
class CreateTrigger:
    name: Name
    variables: tuple[TriggerVariable, ...]
    when: exp.Expr
    items: tuple[exp.Expr, ...]  # its select list, empty without one
    is_first: bool  # REPORT FIRST
    options: dict[str, tuple[Name, Value]]
    sql: str
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterQueries:
    """A query for each row of a file: its name, a template, and what the template's parameters are."""

    path: Value
    options: dict[str, tuple[Name, Value]]
    span: Span


@dataclass(frozen=True, slots=True)
class At:
    """A statement that takes effect from the tick that contains `time` on."""

    time: Value
    statement: Statement
    span: Span


Statement = (
    CreateStream
    | CreateTable
    | CreateRegion
    | TableChange
    | Drop
    | Show
    | DescribeQuery
    | Explain
    | RegisterQuery
    | RegisterQueries
    | CreateTrigger
    | At
)
