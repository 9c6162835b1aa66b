"""What is done with the signed rows of a query: a tree of operators, read from the root.

A branch is what a scan gives: one stream, its condition, region and window. Its signed rows come up
into the tree, for all queries of one shape together. A tree runs in merge partitions if there is an exchange
between its root and its branches, else in each shard for itself. Columns have no names here but
c0, c1, … by place; constants of a query have numbers (columns.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sanderling.catalog import Column
from sanderling.plans.constraint_graph import Compare
from sanderling.plans.expression import Expression
from sanderling.plans.window import Refresh
from sanderling.types import SqlType

COUNT, SUM, AVG, MIN, MAX, STDDEV = "count", "sum", "avg", "min", "max", "stddev"
# Of the order of values: at a part of the way through them, and what goes with the least or the greatest.
PERCENTILE, FIRST_BY, LAST_BY = "percentile", "min_by", "max_by"
INTERSECT, EXCEPT = "intersect", "except"


@dataclass(frozen=True, slots=True)
class Branch:
    """The signed rows of a template: the branch with this number among those of the tree."""

    number: int
    types: tuple[SqlType, ...]
    alias: str = field(default="", compare=False)  # as its author calls the stream
    refresh: Refresh | None = None  # its rows are told then only
    is_waited: bool = False  # of a pattern: told of those only that a run waits for


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of a table; they change where the table does. `columns` are its own names, in order."""

    table: str
    columns: tuple[str, ...]
    types: tuple[SqlType, ...]
    alias: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The rows of all shards together: what is below it runs in shards, what is above in merge partitions.

    `is_keyed`: no two shards have equal rows, so that they need not be put together.
    """

    child: Node
    is_keyed: bool = False

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Select:
    """Rows that satisfy a condition (None: all), and what is computed of them."""

    child: Node
    where: Expression | None
    columns: tuple[Expression, ...]
    names: tuple[str, ...] = field(default=(), compare=False)  # of the first, where a select list names them

    @property
    def types(self) -> tuple[SqlType, ...]:
        return tuple(c.type for c in self.columns)


@dataclass(frozen=True, slots=True)
class Near:
    """That two places are no further apart than a radius (or nearer, if `is_open`).

    Compared as squares in doubles: dx·dx + dy·dy <= r·r; on the globe those of chords. Places are columns
    (x, y) of either side.
    """

    left: tuple[int, int]
    right: tuple[int, int]
    radius: Expression  # of constants alone
    is_open: bool = False
    words: str = field(default="", compare=False)
    is_globe: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows of one query that are equal in their keys, and near if asked; the left columns first.

    NULL equals nothing. `is_left`: a row without a partner stands with NULLs.
    A side that is a table has no query: its rows meet those of all.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    near: Near | None = None
    is_left: bool = False
    words: str = field(default="", compare=False)

    @property
    def types(self) -> tuple[SqlType, ...]:
        return (*self.left.types, *self.right.types)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """NN: each left row with the first k rows of the right side of its query, by how far they are away.

    Squares are compared, in doubles. Where they are equal, the columns `ties` of the right side say who comes
    first, the smaller and NULL before. `other`: rows that have the left row's own key, columns of both sides,
    are none of its neighbours.
    """

    left: Node
    right: Node
    left_place: tuple[int, int]
    right_place: tuple[int, int]
    k: int
    ties: tuple[int, ...]
    other: tuple[int, int] | None = None
    words: str = field(default="", compare=False)
    is_globe: bool = False

    @property
    def types(self) -> tuple[SqlType, ...]:
        return (*self.left.types, *self.right.types)


@dataclass(frozen=True, slots=True)
class FocalPoints:
    """The places that NEARBY looks around, for each query: rows of a table, or, without one, some that are
    written.
    """

    table: Node | None
    written: tuple[tuple[float, float], ...]
    types: tuple[SqlType, ...]


@dataclass(frozen=True, slots=True)
class Company:
    """STAY_WITHIN: pairs of keys whose places have been no further apart than a radius for `stay`.

    Persisting over a Join that is Near, of sides that have one row a key. Of either side it has the key; by
    side `keys` and `places` are columns. Where both sides are one node, a pair is there either way round.
    """

    left: Node
    right: Node
    keys: tuple[int, int]
    places: tuple[tuple[int, int], tuple[int, int]]
    radius: Expression  # of constants alone, as is the stay, in microseconds
    stay: Expression
    tick_us: int
    is_globe: bool = False
    words: str = field(default="", compare=False)

    @property
    def types(self) -> tuple[SqlType, ...]:
        return (self.left.types[self.keys[0]], self.right.types[self.keys[1]])


@dataclass(frozen=True, slots=True)
class Passing:
    """PASS_WITHIN: pairs of keys, of which one is, or was not longer than `stay` ago, near a place where the
    other is, or was.

    Distinct keys of a Join that is Near, of sides whose places linger. Else as `Company`.
    """

    left: Node
    right: Node
    keys: tuple[int, int]
    places: tuple[tuple[int, int], tuple[int, int]]
    radius: Expression
    stay: Expression
    tick_us: int
    is_globe: bool = False
    words: str = field(default="", compare=False)

    @property
    def types(self) -> tuple[SqlType, ...]:
        return (self.left.types[self.keys[0]], self.right.types[self.keys[1]])


@dataclass(frozen=True, slots=True)
class Latest:
    """Of each tile, a column, the last n rows that have come, by time and key; rows only come.

    `table` has the tiles that there are, by their key: one that goes takes its rows along. Without a table
    they are there for ever.
    """

    child: Node
    table: Node | None
    tile: int
    key: int
    time: int
    n: int

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Sum:
    """An aggregate of a column; COUNT without one counts rows.

    `by`: another column, of MIN_BY and MAX_BY what this goes with. `part`: how far through a percentile is.
    """

    kind: str
    column: int | None
    type: SqlType
    is_distinct: bool = False
    by: int | None = None
    part: float = 0.0


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A row for each group that is not empty: the columns it is grouped by, then its aggregates.

    Without columns to group by there is one group, which is there even when it is empty (`is_total`).
    """

    child: Node
    groups: tuple[int, ...]
    sums: tuple[Sum, ...]
    is_growing: bool = False  # nothing that came ever leaves, nor is it kept: SINCE

    @property
    def is_total(self) -> bool:
        return not self.groups

    @property
    def types(self) -> tuple[SqlType, ...]:
        return (*(self.child.types[g] for g in self.groups), *(s.type for s in self.sums))


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each row once."""

    child: Node
    is_growing: bool = False

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Order:
    column: int
    is_descending: bool
    is_null_first: bool


@dataclass(frozen=True, slots=True)
class First:
    """The first rows in an order; what is equal in it is ordered by all columns, NULL and the smaller first.

    `count` is of constants alone; with columns in `by` it is that many of each of their values.
    """

    child: Node
    orders: tuple[Order, ...]
    count: Expression
    is_growing: bool = False
    by: tuple[int, ...] = ()

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Union:
    """The rows of all children, put together; their columns have the same types."""

    children: tuple[Node, ...]

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.children[0].types


@dataclass(frozen=True, slots=True)
class SetOperation:
    """Rows of the left side by whether they are on the right side too; their columns have the same types.

    INTERSECT has those that are on both, EXCEPT those that are not on the right. NULL is NULL here. With
    `is_all` each as often as min(left, right), or as left - right where that is more than 0; else once.
    """

    kind: str
    is_all: bool
    left: Node
    right: Node

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.left.types


@dataclass(frozen=True, slots=True)
class Persisting:
    """Of each key that has been there for `stay`, without a break longer than `grace`, the row it shows.

    That is the smallest of its rows, and in a break the last one. Where it becomes another, `goes_on` has to
    hold, or the key is there anew: it reads the row, and behind it the one before. Durations are
    microseconds, of constants alone.
    """

    child: Node
    keys: tuple[int, ...]
    stay: Expression
    grace: Expression
    goes_on: Expression | None
    tick_us: int
    is_unbroken: bool = False  # whatever the query, there is no grace
    is_lingering: bool = False  # whatever the query, there is no stay

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class TickBound:
    """A tick is after a moment of a row, or before it; not at it, if `is_open`.

    The moment is a time, or seconds since 1970, that is computed of the row (None: 1970), and then shifted by
    microseconds, of constants alone. A row whose moment is NULL is not there.
    """

    base: Expression | None
    shift: Expression
    is_upper: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class Ticking:
    """Rows at the ticks that are within all of their bounds."""

    child: Node
    bounds: tuple[TickBound, ...]
    tick_us: int
    words: str = field(default="", compare=False)

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Recent:
    """Rows that only come, each for so long: a window of what a pattern tells."""

    child: Node
    size_us: int
    tick_us: int

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows as they were when they were last looked at; before the first look none."""

    child: Node
    refresh: Refresh
    tick_us: int

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Swelling:
    """Rows whose distance, or its square, is within one that changes step by step.

    After n steps it is radius · (1 + n · growth); where that is nothing, nobody is within it.
    """

    child: Node
    distance: int
    is_square: bool
    radius: float
    growth: float
    every_us: int
    begin_us: int
    until_us: int
    tick_us: int

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


@dataclass(frozen=True, slots=True)
class Swept:
    """Rows whose place is in a coverage as it is now, which changes by itself: an outline that says how."""

    child: Node
    place: tuple[int, int]
    outlines: tuple[bytes]
    tick_us: int

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


# What every branch of a trigger begins with: time in microseconds, key, x, y.
EVENT_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a trigger: events of a branch, and which of its columns a solution shows."""

    name: str
    branch: int  # among the children
    shown: tuple[int, ...]
    set_of: int = -1  # members of a set are interchangeable


@dataclass(frozen=True, slots=True)
class TimeBound:
    """t_j - t_i is at least, at most: microseconds, of constants alone."""

    i: int
    j: int
    least: Expression | None
    most: Expression | None


@dataclass(frozen=True, slots=True)
class DistanceBound:
    """distance(i, j) `op` radius, which is of constants alone; op is < <= > or >=."""

    i: int
    j: int
    op: str
    radius: Expression


@dataclass(frozen=True, slots=True)
class Value:
    """A column of a branch that compares read; a text counts as a number that equal texts share."""

    branch: int
    column: int
    kind: str


@dataclass(frozen=True, slots=True)
class Solve:
    """Combinations of events, one for each variable, that satisfy all constraints; each is a row for ever.

    A row has what is shown of each variable, one after the other. Compares name columns by their place in
    `values`, and `differences` has a constant for each of them (None: it has none). The rest is a condition
    on the row. Where it is routed by space, `halos` says by branch how far away its events have to be known.
    """

    branches: tuple[Node, ...]
    stream_of: tuple[int, ...]  # by branch the place of its stream, in order of name
    variables: tuple[Variable, ...]
    times: tuple[TimeBound, ...]
    distances: tuple[DistanceBound, ...]
    values: tuple[Value, ...]
    compares: tuple[Compare, ...]
    differences: tuple[Expression | None, ...]
    rest: Expression | None
    is_first: bool
    expiry: str
    index: str
    tick_us: int
    halos: tuple[Expression, ...] = ()
    is_globe: bool = False  # places are longitude and latitude, distances metres; halos those of the flat map

    @property
    def types(self) -> tuple[SqlType, ...]:
        return tuple(self.branches[v.branch].types[c] for v in self.variables for c in v.shown)


@dataclass(frozen=True, slots=True)
class Once:
    """Of alerts that are equal in their keys one, and none for `every` microseconds after it; None: for ever.

    Of those of one tick the smallest, column by column, NULL before all.
    """

    child: Node
    keys: tuple[int, ...]
    every: Expression | None

    @property
    def types(self) -> tuple[SqlType, ...]:
        return self.child.types


# What a run shows of a step besides its columns, and of itself.
COLUMN, REACHED, ENTERED, OUTCOME = "column", "reached", "entered", "outcome"


@dataclass(frozen=True, slots=True)
class OwnState:
    """A state that a program brings (session/state.py), by its name: its code is known where it runs.

    It takes rows of a step as columns `right`, all of that step's key; of runs that wait for it `left`, each
    column by its name, a step before it, and its place among what is kept there. It tells `output` of which
    `keys` are a run's key if it begins runs, and remembers the tables of `kept`. One of them works for all
    patterns if it `shares`.
    """

    name: str
    constants: tuple[str | int | float | bool | None, ...]
    right: tuple[str, ...]
    left: tuple[tuple[str, int, int], ...]
    output: tuple[Column, ...]
    keys: tuple[int, ...]
    kept: tuple[tuple[str, tuple[Column, ...]], ...]
    shares: bool


@dataclass(frozen=True, slots=True)
class PatternStep:
    """A step where it stands in a pattern: the rows of one of its presences, waited for by a key.

    `of` says by which values: of steps before it, each by its number and its place among what is kept there.
    With a state of its own it is reached when that says so.
    """

    presence: int
    stay: Expression  # microseconds, of constants alone
    of: tuple[tuple[int, int], ...] = ()
    is_entering: bool = False
    is_leaving: bool = False
    times: int = 1
    name: str = field(default="", compare=False)
    own: OwnState | None = None


@dataclass(frozen=True, slots=True)
class PatternBound:
    """At most so long, of constants alone, after a position was reached; the first step is number 0."""

    within: Expression
    of: int


@dataclass(frozen=True, slots=True)
class Position:
    """Of these steps one, or all, are to be reached within all bounds, and none of `nots` before or with it.

    Without steps it is reached when its bounds are.
    """

    steps: tuple[int, ...]
    is_all: bool
    nots: tuple[int, ...]
    bounds: tuple[PatternBound, ...]


@dataclass(frozen=True, slots=True)
class ShownOfRun:
    """A column of a match: what of which step; a column by its place among what is kept there."""

    step: int
    what: str
    place: int
    type: SqlType


@dataclass(frozen=True, slots=True)
class Match:
    """A run for each stay in the first step that is long enough; each is told for ever, as it ends.

    Presences are who is in a step, by key, since when; the first is that of the first step, and says how long
    a stay there has to be. `kept` has by presence the columns that a run remembers once it has reached it.
    `may_wait`: which of them need only be known of the keys that a run waits for, from then on.
    """

    presences: tuple[Persisting, ...]
    kept: tuple[tuple[int, ...], ...]
    steps: tuple[PatternStep, ...]
    positions: tuple[Position, ...]
    shown: tuple[ShownOfRun, ...]
    where: Expression | None
    is_first: bool
    has_timeouts: bool
    is_skipping: bool
    tick_us: int
    may_wait: tuple[bool, ...] = ()

    @property
    def types(self) -> tuple[SqlType, ...]:
        return tuple(shown.type for shown in self.shown)

    @property
    def own(self) -> list[int]:
        """Steps that have a state of a program's own, in the order of their positions."""
        return [number for number, step in enumerate(self.steps) if step.own is not None]

    def kept_types(self, number: int) -> list[SqlType]:
        """Of what is remembered of a step that is reached."""
        step = self.steps[number]
        if step.own is not None:
            return [column.type for column in step.own.output]
        return [self.presences[step.presence].types[place] for place in self.kept[step.presence]]


Node = (
    Branch
    | TableRows
    | Exchange
    | Select
    | Join
    | Neighbours
    | FocalPoints
    | Company
    | Passing
    | Latest
    | Swelling
    | Swept
    | Aggregate
    | Distinct
    | First
    | Union
    | SetOperation
    | Persisting
    | Ticking
    | Recent
    | Sample
    | Solve
    | Once
    | Match
)


def is_table(node: Node) -> bool:
    """Whether rows of a node belong to no query, but are for all: nothing of a query may be asked of them."""
    match node:
        case TableRows():
            return True
        case Branch() | Solve() | Match() | FocalPoints():
            return False
        case Join(left=left, right=right) | SetOperation(left=left, right=right):
            return is_table(left) and is_table(right)
        case Neighbours(left=left) | Company(left=left) | Passing(left=left):
            return is_table(left)
        case Union(children):
            return all(is_table(child) for child in children)
        case _:
            return is_table(node.child)


def children_of(node: Node) -> tuple[Node, ...]:
    """The nodes whose rows this one takes."""
    match node:
        case Branch() | TableRows():
            return ()
        case Join() | SetOperation() | Neighbours() | Company() | Passing():
            return (node.left, node.right)
        case FocalPoints(table):
            return () if table is None else (table,)
        case Latest(child, table):
            return (child,) if table is None else (child, table)
        case Union(children):
            return children
        case Solve(branches):
            return branches
        case Match(presences):
            return tuple(presence.child for presence in presences)
        case _:
            return (node.child,)


def is_merged(root: Node) -> bool:
    """Whether it needs the rows of all shards; what stands in it twice is looked at once."""
    seen: set[int] = set()
    left = [root]
    while left:
        node = left.pop()
        if isinstance(node, Exchange):
            return True
        left += () if id(node) in seen else children_of(node)
        seen.add(id(node))
    return False


def solve_of(node: Node) -> Solve | None:
    """What finds the alerts, where the tree is a trigger's."""
    while not isinstance(node, Solve):
        children = children_of(node)
        if len(children) != 1:
            return None
        node = children[0]
    return node


def match_of(node: Node) -> Match | None:
    """What finds the matches, where the tree is a pattern's."""
    under = node.child if isinstance(node, Select) else node
    return under if isinstance(under, Match) else None


def is_told_only(root: Node) -> bool:
    """Whether there is no answer: what a trigger or a pattern tells is never taken back."""
    return solve_of(root) is not None or match_of(root) is not None


def numbered(root: Node) -> dict[Node, int]:
    """All nodes, each behind those it takes rows of; what stands twice has one number."""
    known: dict[Node, int] = {}

    def add(node: Node) -> None:
        if node not in known:
            for child in children_of(node):
                add(child)
            known[node] = len(known)

    add(root)
    return known
