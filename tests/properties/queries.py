"""Random queries from a grammar over all of SQL that there is: as text, and as the oracle knows them.

`kinds` says which constructs may be drawn, so that a test can be limited to those that exist.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.oracle.select import (
    Derived,
    Expression,
    Join,
    Near,
    Order,
    Query,
    Readings,
    Registered,
    Select,
    Source,
    Sum,
    TableRows,
    UnionAll,
    column,
)
from tests.oracle.windows import Now
from tests.properties.expressions import (
    NUMBER,
    ROUGH,
    TEXT,
    WHOLE,
    condition,
    expression,
    made,
    of_kind,
    previous,
)
from tests.properties.scenes import SECOND, Scene
from tests.properties.sources import neighbours, readings
from tests.properties.spoken import spoken

KINDS = (
    "lasting", "rows", "rows per key", "until next", "until", "region", "moving", "previous", "nearest",
    "fences", "table", "left join", "streams", "distance", "derived", "from query", "union", "groups",
    "total", "having", "distinct", "first", "stddev", "at",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A query, with those that it reads from: they are registered before it."""

    registered: Registered
    bases: tuple[Registered, ...] = ()

    def statements(self) -> list[str]:
        found = [f"REGISTER QUERY {base.name} AS {spoken(base.query)}" for base in self.bases]
        asked = self.registered
        at = "" if asked.begin is None else f"AT {asked.begin // SECOND} "
        found.append(f"{at}REGISTER QUERY {asked.name} AS {spoken(asked.query)}")
        if asked.end is not None:
            found.append(f"AT {asked.end // SECOND} DROP QUERY {asked.name}")
        return found

    def all(self) -> list[Registered]:
        return [*self.bases, self.registered]


@dataclass(frozen=True)
class Grammar:
    """What may be drawn, and the scene that it is about; `bases` fills up with queries to read from."""

    scene: Scene
    kinds: frozenset[str]
    name: str
    bases: list[Registered]

    def without(self, kind: str) -> Grammar:
        return replace(self, kinds=self.kinds - {kind})

    def has(self, draw: st.DrawFn, kind: str, one_in: int = 2) -> bool:
        return kind in self.kinds and draw(st.integers(1, one_in)) == one_in


@st.composite
def queries(draw: st.DrawFn, scene: Scene, number: int, kinds: tuple[str, ...] = KINDS) -> Asked:
    grammar = Grammar(scene, frozenset(kinds), f"q{number}", [])
    query = draw(any_query(grammar, 2))
    begin = end = None
    if grammar.has(draw, "at", 4):
        begin, end = draw(st.sampled_from([None, 2, 5, 9])), draw(st.sampled_from([None, 10, 12]))
    times = [None if s is None else s * SECOND for s in (begin, end)]
    return Asked(Registered(grammar.name, query, *times), tuple(grammar.bases))


@st.composite
def any_query(draw: st.DrawFn, grammar: Grammar, depth: int) -> Query:
    if grammar.has(draw, "union", 6):
        return draw(union(grammar))
    source = draw(sources(grammar, depth))
    forms = [
        kind for kind in ("plain", "plain", "groups", "groups", "total") if kind in {*grammar.kinds, "plain"}
    ]
    form = draw(st.sampled_from(forms))
    query = draw(plain(grammar, source) if form == "plain" else grouped(grammar, source, form == "total"))
    is_exact = all(item.kind != ROUGH for _, item in query.items)
    if query.nearest is None and is_exact and grammar.has(draw, "distinct", 4):
        query = replace(query, is_distinct=True)
    if is_exact and grammar.has(draw, "first", 5):
        query = replace(query, orders=draw(orders(query)), first=draw(st.integers(1, 4)))
    return query


@st.composite
def union(draw: st.DrawFn, grammar: Grammar) -> UnionAll:
    """The same items of two windows, maybe of two streams."""
    kinds = grammar.kinds - {"fences"}
    one, other = (draw(readings(grammar.scene, kinds, "a", ["objects", "others"])) for _ in range(2))
    first = draw(plain(grammar, one))
    where = draw(maybe_condition(scope_of(grammar, other)))
    return UnionAll((first, replace(first, source=other, where=where, nearest=None)))


# -- FROM -----------------------------------------------------------------------


@st.composite
def sources(draw: st.DrawFn, grammar: Grammar, depth: int) -> Source:
    """One stream, or what is composed."""
    deep = ("derived", "from query", "streams") if depth > 0 else ()
    forms = [kind for kind in ("table", *deep) if kind in grammar.kinds]
    form = draw(st.sampled_from(["stream", "stream", *forms]))
    if form == "table":
        inner = draw(st.sampled_from(["stream", *(kind for kind in forms if kind != "table")]))
        left = draw(one_source(grammar.without("fences"), inner, depth))
        joined = draw(with_table(grammar, left, "s"))
        return draw(with_table(grammar, joined, "t")) if grammar.has(draw, "table", 5) else joined
    return draw(one_source(grammar, form, depth))


@st.composite
def one_source(draw: st.DrawFn, grammar: Grammar, form: str, depth: int) -> Source:
    scene, kinds = grammar.scene, grammar.kinds
    match form:
        case "derived":
            return Derived(draw(any_query(grammar.without("stddev"), depth - 1)), "a")
        case "from query":
            return draw(from_query(grammar, depth, "a"))
        case "streams":
            return draw(two_streams(grammar, depth))
    stream = draw(st.sampled_from(["objects", "objects", "others"]))
    return draw(readings(scene, kinds, "a", [stream]))


@st.composite
def from_query(draw: st.DrawFn, grammar: Grammar, depth: int, alias: str) -> Derived:
    query = draw(any_query(grammar.without("stddev"), depth - 1))
    name = f"{grammar.name}_base{len(grammar.bases)}"
    grammar.bases.append(Registered(name, query))
    return Derived(query, alias, name)


@st.composite
def with_table(draw: st.DrawFn, grammar: Grammar, left: Source, alias: str) -> Source:
    right = TableRows("sites", alias)
    on = draw(equalities(scope_of(grammar, left), scope_of(grammar, right), most=2))
    if not on:
        return left
    return Join(left, right, on, is_left=grammar.has(draw, "left join"))


@st.composite
def two_streams(draw: st.DrawFn, grammar: Grammar, depth: int) -> Source:
    """Two windows, each in brackets with its own clauses; or two streams as they are now."""
    if draw(st.integers(1, 4)) == 4:
        left: Source = Readings("objects", "a")
        right: Source = Readings(draw(st.sampled_from(["objects", "others"])), "b")
    else:
        left, right = draw(placed(grammar, "a")), draw(placed(grammar, "b"))
    near = None
    if grammar.has(draw, "distance"):
        r = draw(st.sampled_from([0.0, 0.5, 1.0, 2.5, 5.0]))
        near = Near("a", "b", r, draw(st.sampled_from([False, False, True])))
    least = 1 if near is None else 0
    on = draw(equalities(scope_of(grammar, left), scope_of(grammar, right), least=least, most=2))
    return Join(left, right, on, near)


@st.composite
def placed(draw: st.DrawFn, grammar: Grammar, alias: str) -> Derived:
    """(SELECT id, x, y, … FROM stream WHERE … INSIDE … WINDOW …) alias: it can be asked for its distance."""
    stream = draw(st.sampled_from(["objects", "objects", "others"]))
    source = draw(readings(grammar.scene, grammar.kinds - {"fences"}, "c", [stream]))
    names = ["id", "x", "y", *draw(st.lists(st.sampled_from(["kind", "speed", "n", "ts"]), unique=True))]
    scope = {part.sql: part for part in scope_of(grammar, source)}
    items = tuple((name, scope[f"c.{name}"]) for name in names)
    return Derived(Select(items, source, where=draw(maybe_condition(list(scope.values())))), alias)


@st.composite
def equalities(
    draw: st.DrawFn, left: list[Expression], right: list[Expression], least: int = 1, most: int = 1
) -> tuple[tuple[Expression, Expression], ...]:
    pairs = [(a, b) for a in left for b in right if a.kind == b.kind and a.kind != ROUGH]
    if not pairs:
        return ()
    return tuple(
        draw(
            st.lists(
                st.sampled_from(pairs), min_size=least, max_size=most, unique_by=lambda p: p[0].sql + p[1].sql
            )
        )
    )


def scope_of(grammar: Grammar, source: Source) -> list[Expression]:
    """The columns that a source has."""
    match source:
        case Readings(alias=a):
            key = WHOLE if grammar.scene.is_integer_key else TEXT
            kinds = {
                "id": key,
                "ts": NUMBER,
                "x": NUMBER,
                "y": NUMBER,
                "speed": NUMBER,
                "kind": TEXT,
                "n": WHOLE,
            }
            fence = [] if source.fences is None else [column(f"{source.fences.alias}.name", TEXT)]
            before = [previous(a, name, kinds[name]) for name in ("ts", "speed", "kind", "n")]
            plain = [column(f"{a}.{name}", kind) for name, kind in kinds.items()]
            return [*plain, *fence, *(before if "previous" in grammar.kinds else [])]
        case TableRows(alias=a):
            kinds = {"name": TEXT, "kind": TEXT, "size": WHOLE, "price": NUMBER}
            return [column(f"{a}.{name}", kind) for name, kind in kinds.items()]
        case Derived(query, a):
            select = query.selects[0] if isinstance(query, UnionAll) else query
            return [column(f"{a}.{name}", item.kind) for name, item in select.items]
        case Join():
            return [*scope_of(grammar, source.left), *scope_of(grammar, source.right)]
    raise TypeError(source)


# -- SELECT ---------------------------------------------------------------------


@st.composite
def maybe_condition(draw: st.DrawFn, scope: list[Expression]) -> Expression | None:
    usable = of_kind(scope, NUMBER, WHOLE, TEXT)
    return draw(condition(scope)) if usable and draw(st.booleans()) else None


@st.composite
def plain(draw: st.DrawFn, grammar: Grammar, source: Source) -> Select:
    scope = scope_of(grammar, source)
    where = draw(maybe_condition(scope))
    chosen = [draw(expression(scope)) for _ in range(draw(st.integers(1, 3)))]
    nearest = None
    is_now = isinstance(source, Readings) and isinstance(source.window, Now) and source.fences is None
    if is_now and grammar.has(draw, "nearest", 3):
        nearest = draw(neighbours(grammar.scene))
    return Select(named(chosen), source, where, nearest)


def named(chosen: list[Expression]) -> tuple[tuple[str, Expression], ...]:
    """A plain column keeps its name, if no other has it."""
    items: dict[str, Expression] = {}
    for number, item in enumerate(chosen):
        _, dot, last = item.sql.rpartition(".")
        name = last if dot and last.isidentifier() and item.sql.count(".") == 1 and last not in items else ""
        items[name or f"e{number}"] = item
    return tuple(items.items())


@st.composite
def grouped(draw: st.DrawFn, grammar: Grammar, source: Source, is_total: bool) -> Select:
    scope = scope_of(grammar, source)
    where = draw(maybe_condition(scope))
    groups = () if is_total else tuple(draw(expression(scope)) for _ in range(draw(st.integers(1, 2))))
    groups = tuple({group.sql: group for group in groups}.values())
    sums: dict[str, Sum] = {}
    told = [draw(summed(grammar, scope, sums)) for _ in range(draw(st.integers(1, 2)))]
    having = None
    if grammar.has(draw, "having", 3):
        having = draw(condition([draw(summed(grammar, scope, sums, is_rough=False))]))
    shown = [group.of_group() for group in groups if draw(st.integers(1, 5)) > 1]
    return Select(named([*shown, *told]), source, where, None, groups, tuple(sums.values()), having)


@st.composite
def summed(
    draw: st.DrawFn, grammar: Grammar, scope: list[Expression], sums: dict[str, Sum], is_rough: bool = True
) -> Expression:
    """An aggregate, or an expression of two; those that it needs are added to `sums`."""

    def known(sum_: Sum, kind: str) -> Expression:
        sums[sum_.sql] = sum_
        return sum_.as_expression(kind)

    forms = ["rows", "rows", "count", "distinct", "least", "most"]
    if of_kind(scope, NUMBER, WHOLE):
        forms += ["sum", "average", "range", *(["stddev"] if is_rough and "stddev" in grammar.kinds else [])]
    form = draw(st.sampled_from(forms))
    if form == "rows" or not of_kind(scope, NUMBER, WHOLE, TEXT):
        return known(Sum("COUNT"), WHOLE)
    if form in ("count", "distinct"):
        return known(Sum("COUNT", draw(expression(scope)), form == "distinct"), WHOLE)
    if form in ("least", "most"):
        of = draw(expression(scope))
        return known(Sum("MIN" if form == "least" else "MAX", of), of.kind)
    of = draw(expression(scope, NUMBER, WHOLE))
    if form == "range":
        return made(
            "{0} - {1}", lambda a, b: a - b, known(Sum("MAX", of), of.kind), known(Sum("MIN", of), of.kind),
            kind=of.kind,
        )  # fmt: skip
    if form == "sum":
        return known(Sum("SUM", of), of.kind)
    return known(Sum("AVG", of), NUMBER) if form == "average" else known(Sum("STDDEV", of), ROUGH)


@st.composite
def orders(draw: st.DrawFn, query: Select) -> tuple[Order, ...]:
    names = draw(st.lists(st.sampled_from(query.names), min_size=1, max_size=2, unique=True))
    return tuple(Order(name, draw(st.booleans()), draw(st.booleans())) for name in names)
