"""What a query is: a tree of logical nodes, read once, that rules rewrite (rules/).

Its nodes are those of plans/nodes.py, with scans where plans have branches, and conditions each by itself.

select: id                 A query over one stream is a tree like any other: when the rules are done,
  filter: speed > ?        all that is left of it is the scan.
    scan cars: id, speed
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sanderling.catalog import Column, Stream, Table
from sanderling.plan.build.asked import Asked
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.written import all_of, bare, plain, renamed
from sanderling.plan.names.sides import Derived
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, of_reading, of_table
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node, children_of
from sanderling.plans.plan import OutputColumn
from sanderling.plans.window import Window


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan(nodes.Branch):
    """What shards do for one stream. Where it is asked, and nearest to what, differs from query to query."""

    stream: Stream
    table: Table | None  # whose regions it is joined with
    outputs: tuple[OutputColumn, ...]
    where: tuple[Expression, ...] = ()
    is_nearest: bool = False
    window: Window | None = None
    is_sighted: bool = False  # of a trigger
    regions_used: tuple[str, ...] = ()
    within: float | None = None  # of the table's places; None: in its regions
    is_everywhere: bool = False  # no region is asked for

    @property
    def condition(self) -> Expression | None:
        """Of one that is final."""
        return self.where[0] if self.where else None

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same for all of one shape."""
        table = self.table.name if self.table else None
        looks_at = (self.is_nearest, self.window, self.is_sighted, self.is_waited)
        return (self.stream.name, table, self.where, self.outputs, *looks_at)

    @property
    def is_keyed(self) -> bool:
        shown = {o.expression.column for o in self.outputs if o.expression.is_plain}
        keys = {of_reading(self.stream.key)} | ({of_table(self.table.key)} if self.table else set())
        return keys <= shown

    @property
    def reads(self) -> frozenset[str]:
        """The columns that its condition and its outputs name."""
        expressions = (*self.where, *(o.expression for o in self.outputs))
        return frozenset(column for expression in expressions for column in expression.reads)

    def showing(self, outputs: Sequence[OutputColumn]) -> Scan:
        return replace(self, outputs=tuple(outputs), types=tuple(o.type for o in outputs))


@dataclass(frozen=True, slots=True)
class Filter(nodes.Select):
    """Rows that satisfy all conditions, as they are."""

    conditions: tuple[Expression, ...] = ()


def filtered(child: Node, conditions: Sequence[Expression]) -> Node:
    if not conditions:
        return child
    return Filter(child, None, plain(child.types), (), tuple(conditions))


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree that runs in one place, and what its branches are by number: scans, and trees behind them."""

    root: Node
    branches: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A query or a trigger, checked.

    `answer` is as it was read: so others read from it. `trees` are what the rules made of it: that of its
    answer, and then those that run in shards below an exchange; none, if all of it is a scan. `asked` says by
    scan what is its own, and `constants` whatever else differs among queries of one shape.
    """

    answer: Derived
    trees: tuple[Tree, ...]
    scans: tuple[Scan, ...]
    outputs: tuple[OutputColumn, ...]
    constants: tuple[Constant, ...]
    asked: tuple[Asked, ...]
    tables: tuple[str, ...] = ()  # whose rows the tree reads
    queries: tuple[str, ...] = ()  # that it reads
    unread: tuple[tuple[int, Asked], ...] = ()  # what scans ask that rules left out, by number in the answer

    @property
    def asked_by_answer(self) -> tuple[Asked, ...]:
        """By scan of the answer."""
        found = list(self.asked)
        for number, its in self.unread:
            found.insert(number, its)
        return tuple(found)

    @property
    def is_scan(self) -> bool:
        """Whether there is nothing to be done above it."""
        return not self.trees

    @property
    def is_trigger(self) -> bool:
        return not self.is_scan and nodes.solve_of(self.trees[0].root) is not None

    @property
    def kind(self) -> str:
        """What its author calls it."""
        if not self.is_scan and nodes.match_of(self.trees[0].root) is not None:
            return "pattern"
        return "trigger" if self.is_trigger else "query"

    @property
    def stream(self) -> Stream:
        return self.scans[0].stream

    @property
    def streams_used(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(scan.stream.name for scan in self.scans))

    @property
    def template_key(self) -> tuple[object, ...]:
        types = tuple((c.name, c.type.name) for c in self.constants)
        return (self.trees, self.outputs, types, *(scan.key for scan in self.scans))

    def used(self, kind: str) -> tuple[str, ...]:
        """The names of a kind that it would miss."""
        tables = (scan.table.name for scan in self.scans if scan.table)
        regions = (name for scan in self.scans for name in scan.regions_used)
        used = {
            "stream": self.streams_used,
            "table": (*self.tables, *tables),
            "query": self.queries,
            "pattern": self.queries,
        }
        return used.get(kind, tuple(regions) if kind == "region" else ())


def is_finished(root: Node) -> bool:
    """Whether a scan is all there is: what is told now and then needs somebody who waits."""
    return isinstance(root, Scan) and root.refresh is None


Rule = Callable[[Node], Node]


def finished(
    answer: Derived, rules: Sequence[Rule], constants: Sequence[Constant], asked: Sequence[Asked],
    tables: Sequence[str] = (), queries: Sequence[str] = (),
) -> Query:  # fmt: skip
    """The query that was read as this, by the rules in their order."""
    root = answer.node
    for rule in rules:
        root = rule(root)
    root, read = _numbered_anew(root)
    scans = [_final(scan) for scan in nodes_of(root) if isinstance(scan, Scan)]
    outputs = outputs_of(answer.columns)
    if isinstance(root.child if isinstance(root, nodes.Exchange) else root, Scan):
        shown = zip(scans[0].outputs, answer.columns, strict=True)
        scans = [scans[0].showing([replace(output, name=c.name) for output, c in shown])]
    if is_finished(root):
        outputs = scans[0].outputs
    return Query(
        answer, _trees(root, len(scans)), tuple(sorted(scans, key=lambda scan: scan.number)), outputs,
        tuple(constants), tuple(asked[number] for number in read), tuple(dict.fromkeys(tables)),
        tuple(dict.fromkeys(queries)), tuple((i, its) for i, its in enumerate(asked) if i not in read),
    )  # fmt: skip


def _numbered_anew(root: Node) -> tuple[Node, tuple[int, ...]]:
    """Rules may have left out scans: those that are there as 0, 1, 2 …, and the numbers that they had."""
    read = tuple(sorted({node.number for node in nodes_of(root) if isinstance(node, Scan)}))
    new = {number: i for i, number in enumerate(read)}

    def count(node: Node) -> Node:
        if not isinstance(node, Scan) or new[node.number] == node.number:
            return node
        return replace(node, number=new[node.number])

    return rebuilt(root, count), read


def _trees(root: Node, scans: int) -> tuple[Tree, ...]:
    """Cut at its exchanges."""
    if is_finished(root):
        return ()
    root, below = gathered(root), list[Node]()

    def cut(node: Node) -> Node:
        if not isinstance(node, nodes.Exchange) or isinstance(node.child, Scan):
            return node
        below.append(node.child)
        return nodes.Exchange(nodes.Branch(scans + len(below) - 1, node.types))

    if isinstance(root, nodes.Exchange) and root.is_keyed:
        return (_tree(root.child),)
    root = rebuilt(root, cut)
    return tuple(map(_tree, (root, *below)))


def _tree(root: Node) -> Tree:
    """Its branches counted from 0."""
    found = sorted({node.number for node in nodes_of(root) if isinstance(node, nodes.Branch)})
    place = {number: i for i, number in enumerate(found)}

    def count(node: Node) -> Node:
        return replace(node, number=place[node.number]) if isinstance(node, nodes.Branch) else node

    return Tree(rebuilt(lowered(root), count), tuple(found))


def gathered(root: Node) -> Node:
    """Rows of scans that no rule has placed go to merge partitions as they are."""
    known: dict[int, Node] = {}

    def look(node: Node) -> Node:
        if isinstance(node, nodes.Exchange):
            return node
        if id(node) not in known:
            above = with_children(node, [look(child) for child in children_of(node)])
            known[id(node)] = nodes.Exchange(node) if isinstance(node, Scan) else above
        return known[id(node)]

    return look(root)


def _final(scan: Scan) -> Scan:
    """With one condition, as plans have it."""
    condition = all_of(scan.where)
    found = with_expressions(replace(scan, where=() if condition is None else (condition,)), bare)
    assert isinstance(found, Scan)
    return found


def outputs_of(columns: Sequence[Column]) -> tuple[OutputColumn, ...]:
    """What comes out of a tree's root."""
    return tuple(
        OutputColumn(c.name, Expression.of_column(by_place(i), c.type, c.name)) for i, c in enumerate(columns)
    )


# ----- going through trees: what stands in one twice is one node, and stays one


def nodes_of(root: Node) -> list[Node]:
    """Each once, from the root down."""
    found, left = {id(root): root}, [root]
    while left:
        new = {id(child): child for child in children_of(left.pop()) if id(child) not in found}
        found |= new
        left += new.values()
    return list(found.values())


def shared_in(root: Node) -> set[int]:
    """By id the nodes that several others, or one of them twice, take rows of."""
    taken = Counter(id(child) for node in nodes_of(root) for child in children_of(node))
    return {node for node, times in taken.items() if times > 1}


def extent_of(root: Node) -> tuple[int, int]:
    """How many nodes a tree has, written out, and how deep it is; what is shared is looked at once."""
    known: dict[int, tuple[int, int]] = {}

    def look(node: Node) -> tuple[int, int]:
        if id(node) not in known:
            below, own = [look(child) for child in children_of(node)], 0 if _is_idle(node) else 1
            known[id(node)] = own + sum(n for n, _ in below), own + max((d for _, d in below), default=0)
        return known[id(node)]

    return look(root)


def _is_idle(node: Node) -> bool:
    """Whether it is no step of its own: a select list that changes nothing, or is of a condition's rows."""
    if not isinstance(node, nodes.Select) or isinstance(node, Filter) or node.where is not None:
        return False
    return isinstance(node.child, Filter) or node.columns == plain(node.child.types)


def with_children(node: Node, children: Sequence[Node]) -> Node:
    """The same over other nodes."""
    if all(one is other for one, other in zip(children, children_of(node), strict=True)):
        return node
    match node:
        case nodes.Join() | nodes.SetOperation() | nodes.Neighbours() | nodes.Company() | nodes.Passing():
            return replace(node, left=children[0], right=children[1])
        case nodes.FocalPoints():
            return replace(node, table=children[0] if children else None)
        case nodes.Latest():
            return replace(node, child=children[0], table=children[1] if len(children) > 1 else None)
        case nodes.Union():
            return nodes.Union(tuple(children))
        case nodes.Solve():
            return replace(node, branches=tuple(children))
        case nodes.Match(presences):
            over = zip(presences, children, strict=True)
            return replace(node, presences=tuple(replace(p, child=child) for p, child in over))
        case Filter():
            return filtered(children[0], node.conditions)
        case (
            nodes.Exchange()
            | nodes.Select()
            | nodes.Aggregate()
            | nodes.Distinct()
            | nodes.First()
            | nodes.Persisting()
            | nodes.Ticking()
            | nodes.Once()
            | nodes.Recent()
            | nodes.Sample()
            | nodes.Swelling()
            | nodes.Swept()
        ):
            return replace(node, child=children[0])
        case _:
            return node


def rebuilt(root: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with each node changed, those below it first."""
    known: dict[int, Node] = {}

    def look(node: Node) -> Node:
        if id(node) not in known:
            known[id(node)] = change(with_children(node, [look(child) for child in children_of(node)]))
        return known[id(node)]

    return look(root)


def lowered(root: Node) -> Node:
    """As plans have it."""

    def lower(node: Node) -> Node:
        match node:
            case Scan(number, types, alias, refresh, is_waited):
                return nodes.Branch(number, types, alias, refresh, is_waited)
            case Filter(child=child, conditions=conditions):
                condition = all_of(conditions)
                return nodes.Select(child, condition and bare(condition), plain(child.types))
            case _:
                return with_expressions(node, bare)

    return rebuilt(root, lower)


def moved(root: Node, constants: Mapping[str, str], scans: int) -> Node:
    """The same beside another query: its constants have these names, its scans begin at this number."""

    def move(node: Node) -> Node:
        node = with_expressions(node, lambda expression: renamed(expression, constants))
        return replace(node, number=node.number + scans) if isinstance(node, Scan) else node

    return rebuilt(root, move)


def with_expressions(node: Node, change: Callable[[Expression], Expression]) -> Node:
    """The same node with other expressions."""
    match node:
        case Scan(where=where, outputs=outputs):
            shown = (replace(o, expression=change(o.expression)) for o in outputs)
            return replace(node, where=tuple(map(change, where)), outputs=tuple(shown))
        case Filter(child=child, conditions=conditions):
            return filtered(child, tuple(map(change, conditions)))
        case nodes.Select(where=where, columns=columns):
            return replace(node, where=where and change(where), columns=tuple(map(change, columns)))
        case nodes.Join(near=nodes.Near() as near):
            return replace(node, near=replace(near, radius=change(near.radius)))
        case nodes.Company(radius=radius, stay=stay) | nodes.Passing(radius=radius, stay=stay):
            return replace(node, radius=change(radius), stay=change(stay))
        case nodes.First(count=count):
            return replace(node, count=change(count))
        case nodes.Persisting(stay=stay, grace=grace, goes_on=goes_on):
            return replace(node, stay=change(stay), grace=change(grace), goes_on=goes_on and change(goes_on))
        case nodes.Ticking(bounds=bounds):
            found = (replace(b, base=b.base and change(b.base), shift=change(b.shift)) for b in bounds)
            return replace(node, bounds=tuple(found))
        case nodes.Once(every=Expression() as every):
            return replace(node, every=change(every))
        case nodes.Solve(rest=Expression() as rest):
            return replace(node, rest=change(rest))
        case nodes.Match():
            return _with_expressions_of_match(node, change)
        case _:
            return node


def _with_expressions_of_match(node: nodes.Match, change: Callable[[Expression], Expression]) -> nodes.Match:
    def position(one: nodes.Position) -> nodes.Position:
        return replace(one, bounds=tuple(replace(b, within=change(b.within)) for b in one.bounds))

    presences = []
    for presence in node.presences:
        found = with_expressions(presence, change)
        assert isinstance(found, nodes.Persisting)
        presences.append(found)
    return replace(
        node, presences=tuple(presences), positions=tuple(map(position, node.positions)),
        steps=tuple(replace(step, stay=change(step.stay)) for step in node.steps),
        where=node.where and change(node.where),
    )  # fmt: skip
