"""What is done with the signed rows of a query: a tree of operators, read from the root.

A branch is what a scan gives: one stream, its condition, region and window. Its signed rows come up
into the tree, for all queries of one shape together. A tree runs in merge partitions if there is an exchange
between its root and its branches, else in each shard for itself. Columns have no names here but
c0, c1, … by place; constants of a query have numbers (columns.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sanderling.plans.constraint_graph import Compare
from sanderling.plans.expression import Expression
from sanderling.types import SqlType

COUNT, SUM, AVG, MIN, MAX, STDDEV = "count", "sum", "avg", "min", "max", "stddev"
INTERSECT, EXCEPT = "intersect", "except"


@dataclass(frozen=True, slots=True)
class Branch:
    """The signed rows of a template: the branch with this number among those of the tree."""

    number: int
    types: tuple[SqlType, ...]
    alias: str = field(default="", compare=False)  # as its author calls the stream


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

    Compared as squares in doubles: dx·dx + dy·dy <= r·r. Places are columns (x, y) of either side.
    """

    left: tuple[int, int]
    right: tuple[int, int]
    radius: Expression  # of constants alone
    is_open: bool = False
    words: str = field(default="", compare=False)


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
class Sum:
    """An aggregate of a column; COUNT without one counts rows."""

    kind: str
    column: int | None
    type: SqlType
    is_distinct: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A row for each group that is not empty: the columns it is grouped by, then its aggregates.

    Without columns to group by there is one group, which is there even when it is empty (`is_total`).
    """

    child: Node
    groups: tuple[int, ...]
    sums: tuple[Sum, ...]

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

    `count` is of constants alone.
    """

    child: Node
    orders: tuple[Order, ...]
    count: Expression

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

    @property
    def types(self) -> tuple[SqlType, ...]:
        return tuple(self.branches[v.branch].types[c] for v in self.variables for c in v.shown)


Node = (
    Branch
    | TableRows
    | Exchange
    | Select
    | Join
    | Aggregate
    | Distinct
    | First
    | Union
    | SetOperation
    | Solve
)


def is_table(node: Node) -> bool:
    """Whether rows of a node belong to no query, but are for all: nothing of a query may be asked of them."""
    match node:
        case TableRows():
            return True
        case Branch() | Solve():
            return False
        case Join(left=left, right=right) | SetOperation(left=left, right=right):
            return is_table(left) and is_table(right)
        case Union(children):
            return all(is_table(child) for child in children)
        case _:
            return is_table(node.child)


def children_of(node: Node) -> tuple[Node, ...]:
    """The nodes whose rows this one takes."""
    match node:
        case Branch() | TableRows():
            return ()
        case Join(left=left, right=right) | SetOperation(left=left, right=right):
            return (left, right)
        case Union(children):
            return children
        case Solve(branches):
            return branches
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
