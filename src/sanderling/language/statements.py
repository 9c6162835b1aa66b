"""What a script can say, one dataclass per statement, with where each name stands in the text."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from sanderling.errors import Place
from sanderling.plans.window import Refresh, Window


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
    """Which literal a constant was read from: the one that ends here, and what it is multiplied by: the sign
    before it, and the unit behind it."""

    end: int
    sign: float


@dataclass(frozen=True, slots=True)
class Value:
    """A constant as written: a string or a number."""

    value: str | int | float
    span: Span
    spot: Spot | None = field(default=None, compare=False)
    unit: Span | None = field(default=None, compare=False)  # METERS and the like, if one was written


@dataclass(frozen=True, slots=True)
class Focal(Value):
    """The key of a focal object; `of`: the stream whose object it is, where that is written."""

    of: Name | None = None


# Where the numbers of a shape stand, in the order of its fields.
Spots = tuple[Spot | None, ...]


# Coverages: the shape of an area. Numbers are finite; ranges are checked where they are read. `span` is where
# the whole of it is written.


@dataclass(frozen=True, slots=True)
class RectShape:
    x1: float
    y1: float
    x2: float
    y2: float
    spots: Spots = field(default=(), compare=False)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CircleShape:
    x: float
    y: float
    radius: float
    spots: Spots = field(default=(), compare=False)
    unit: Span | None = field(default=None, compare=False)  # of its size, if one was written
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class OutlineShape:
    """What numbers alone cannot say: polygons, lines, bands, spots and exteriors (space/outlines)."""

    outline: bytes
    unit: Span | None = field(default=None, compare=False)
    span: Span | None = field(default=None, compare=False)


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
    unit: Span | None = field(default=None, compare=False)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MovingCircleShape:
    focal: Value
    radius: float
    spots: Spots = field(default=(), compare=False)
    unit: Span | None = field(default=None, compare=False)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FollowingShape:
    """An outline around a focal object, which is its 0, 0."""

    focal: Value
    outline: bytes
    unit: Span | None = field(default=None, compare=False)
    span: Span | None = field(default=None, compare=False)


Following = MovingRectShape | MovingCircleShape | FollowingShape
Coverage = RectShape | CircleShape | OutlineShape | Following | ExteriorShape
InsideTarget = Coverage | Name


def focal_of(coverage: Coverage | None) -> Value | None:
    """The key of the object that a coverage moves with."""
    return coverage.focal if isinstance(coverage, Following) else None


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
    refresh: Refresh | None = None  # when it is looked at; None: always
    is_of_ticks: bool = False  # it begins and ends with ticks: TUMBLE and HOP leave nothing out
    since_us: int | None = None  # of SINCE


@dataclass(frozen=True, slots=True)
class FocalPoints:
    """What NEARBY looks around: places as written, or those that a SELECT shows."""

    places: tuple[tuple[float, float], ...]
    select: exp.Select | None
    span: Span


@dataclass(frozen=True, slots=True)
class NearbyWindow:
    """NEARBY: so many of those nearest to each focal point, or all within a distance of some."""

    points: FocalPoints
    k: Value | None
    distance: Value | None


@dataclass(frozen=True, slots=True)
class TessellateWindow:
    """TESSELLATE: the last rows of each region that a SELECT shows, or of each value of a column."""

    select: exp.Select | None
    column: Name | None
    n: int
    span: Span


@dataclass(frozen=True, slots=True)
class Bracket:
    """A window in brackets behind a stream's name: which readings (None: NOW), where, and how often."""

    window: WindowClause | None
    extent: InsideTarget | None
    refresh: Refresh | None
    span: Span
    nearby: NearbyWindow | None = None
    tiles: TessellateWindow | None = None
    shift: tuple[float, float] | None = None  # how far its extent goes on with each look


@dataclass(frozen=True, slots=True)
class PersistencyClause:
    """PERSISTENCY: how long a key has to stay, by which columns (None: its own key), and what breaks it."""

    stay_us: int
    per: tuple[Name, ...] | None
    condition: exp.Expr | None  # of WHILE
    grace_us: int
    span: Span
    is_unbroken: bool = False  # nobody can ask for a grace
    is_lingering: bool = False  # nobody can ask for a stay


@dataclass(frozen=True, slots=True)
class SynchronizeClause:
    """SYNCHRONIZE a, b before a SELECT: it reads them as they were at the last look; None: as they are."""

    names: tuple[Name, ...]
    refresh: Refresh | None
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
    is_globe: bool = False  # LOCATION (…) ON GLOBE


@dataclass(frozen=True, slots=True)
class CreateTable:
    name: Name
    columns: tuple[ColumnDef, ...]
    key: Name
    location: tuple[Name, Name] | None
    options: dict[str, tuple[Name, Value]]
    span: Span
    is_globe: bool = False


@dataclass(frozen=True, slots=True)
class CreateArchive:
    name: Name
    stream: Name
    options: dict[str, tuple[Name, Value]]
    span: Span


@dataclass(frozen=True, slots=True)
class DeleteFromArchive:
    """All readings of these objects, for ever."""

    name: Name
    column: Name
    keys: tuple[Value, ...]
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
    kind: str  # STREAM, TABLE, REGION, ARCHIVE, QUERY, TRIGGER or PATTERN
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Show:
    kind: str  # STREAMS, TABLES, REGIONS, ARCHIVES, QUERIES, TRIGGERS or PATTERNS
    span: Span


@dataclass(frozen=True, slots=True)
class DescribeQuery:
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class DescribeRegion:
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class DescribeDeclared:
    """Of a stream or a table, which columns it has."""

    kind: str
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class DescribeArchive:
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
class Times:
    """Which time a relation of FROM is of: AS OF one, BETWEEN two (`last` None: NOW), or LAST."""

    first: Value | None
    last: Value | None
    span: Span
    is_between: bool = False
    is_last: bool = False
    is_snapshot: bool = False  # AS OF SNAPSHOT: the last one before


@dataclass(frozen=True, slots=True)
class Ask:
    """A SELECT by itself: told once, as a table. Its relations have their times with them, as `our_time`."""

    query: RegisterQuery
    span: Span


@dataclass(frozen=True, slots=True)
class TriggerVariable:
    """One of FOR: events of a stream; with a count, a set of so many."""

    stream: Name
    name: Name
    count: Value | None


@dataclass(frozen=True, slots=True)
class OnceClause:
    """REPORT ONCE PER (columns) EVERY duration: by columns of the alert; None: once for ever."""

    per: tuple[Name, ...]
    every_us: int | None
    span: Span


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
    once: OnceClause | None = None


@dataclass(frozen=True, slots=True)
class PatternBound:
    """WITHIN: how long after the step before was reached, or after another."""

    us: int
    of: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Using:
    """USING name (constant, …): a state of a program's own."""

    name: Name
    constants: tuple[str | int | float | bool | None, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PatternStep:
    """A step where it stands in a pattern."""

    step: Name
    name: Name
    is_entering: bool
    is_leaving: bool
    stay_us: int | None  # FOR
    on: tuple[exp.Expr, ...]  # equalities of two columns
    times: Value | None
    within: PatternBound | None
    using: Using | None = None


@dataclass(frozen=True, slots=True)
class PatternGroup:
    """A position: one step, or several of which one or all are to be reached."""

    steps: tuple[PatternStep, ...]
    is_all: bool
    is_not: bool
    within: PatternBound | None
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterPattern:
    name: Name
    steps: exp.With
    items: tuple[exp.Expr, ...]
    positions: tuple[PatternGroup, ...]
    where: exp.Expr | None
    is_first: bool  # REPORT FIRST
    has_timeouts: bool
    is_skipping: bool
    options: dict[str, tuple[Name, Value]]
    sql: str
    span: Span


Registration = RegisterQuery | CreateTrigger | RegisterPattern


@dataclass(frozen=True, slots=True)
class Replace:
    """A query or a pattern that goes on as another of its shape."""

    statement: RegisterQuery | RegisterPattern
    span: Span

    @property
    def name(self) -> Name:
        return self.statement.name


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
    | CreateArchive
    | DeleteFromArchive
    | TableChange
    | Drop
    | Show
    | DescribeQuery
    | DescribeRegion
    | DescribeDeclared
    | DescribeArchive
    | Explain
    | Ask
    | RegisterQueries
    | Registration
    | Replace
    | At
)
