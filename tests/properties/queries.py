"""Random queries from a grammar over all of SQL that there is: as text, and as the oracle knows them.

`kinds` says which constructs may be made, so that a test can be limited to those that exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tests.oracle.oracle import Values
from tests.oracle.select import (
    TICK,
    Derived,
    Expression,
    Join,
    Looked,
    Near,
    Nn,
    Order,
    Persistent,
    Query,
    Readings,
    Registered,
    Select,
    SetOperation,
    Source,
    Sum,
    TableRows,
    Union,
    With,
    column,
)
from tests.oracle.windows import Extent, Now
from tests.properties.chance import Chance
from tests.properties.expressions import (
    COMPARISONS,
    FLAG,
    NUMBER,
    ROUGH,
    TEXT,
    WHOLE,
    both,
    condition,
    expression,
    made,
    of_kind,
    previous,
)
from tests.properties.scenes import SECOND, Scene
from tests.properties.sources import neighbours, own_window, readings
from tests.properties.spoken import spoken

Some = TypeVar("Some", Select, Union, SetOperation)

KINDS = (
    "lasting", "rows", "rows per key", "until next", "until", "region", "moving", "previous", "nearest",
    "fences", "table", "left join", "using", "streams", "distance", "derived", "from query", "union",
    "set operation", "with", "groups", "total", "having", "distinct", "first", "stddev", "at", "brackets",
    "refresh", "persistency", "nn", "synchronize", "nearby", "tessellate",
    "tick", "movement",
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
    """What may be made, and the scene that it is about; `bases` fills up with queries to read from."""

    scene: Scene
    kinds: frozenset[str]
    name: str
    bases: list[Registered]

    def without(self, kind: str) -> Grammar:
        return replace(self, kinds=self.kinds - {kind})

    def has(self, chance: Chance, kind: str, one_in: int = 2) -> bool:
        return kind in self.kinds and chance.integer(1, one_in) == one_in


def queries(chance: Chance, scene: Scene, number: int, kinds: tuple[str, ...] = KINDS) -> Asked:
    grammar = Grammar(scene, frozenset(kinds), f"q{number}", [])
    query = any_query(chance, grammar, chance.choice([1, 1, 1, 2]))
    begin = end = None
    if grammar.has(chance, "at", 4):
        begin, end = chance.choice([None, 2, 3, 5, 8]), chance.choice([None, 10, 12])
    times = [None if s is None else s * SECOND for s in (begin, end)]
    return Asked(Registered(grammar.name, query, *times), tuple(grammar.bases))


def any_query(chance: Chance, grammar: Grammar, depth: int) -> Query:
    query = without_stays(chance, grammar, depth)
    is_exact = all(item.kind != ROUGH for _, item in items_of(query))
    if is_exact and grammar.has(chance, "persistency", 5):
        return persistent(chance, query)
    return query


def persistent(chance: Chance, query: Query) -> Persistent:
    """By its own key, where that is plain to see, or by any columns; maybe with a WHILE and a grace."""
    stay, grace = chance.constant([2, 1, 0, 3, 4]), chance.constant([0, 0, 1, 2, 5])
    own = own_key(query)
    is_per = own is None or chance.flip()
    per = tuple(dict.fromkeys(chance.some(query.names, 1, 2))) if is_per else own
    named = [(name, item) for name, item in items_of(query) if item.kind in (NUMBER, WHOLE, TEXT)]
    goes_on = while_(*chance.choice(named), chance) if named and chance.integer(1, 3) == 3 else None
    assert per is not None
    return Persistent(query, stay * SECOND, per, grace * SECOND, goes_on, is_per)


def while_(name: str, item: Expression, chance: Chance) -> Expression:
    sign = chance.choice([">=", "<", "<>"])
    compare = COMPARISONS[sign]

    def value(row: Values) -> Any:
        now, before = row[name], row[f"previous {name}"]
        return None if now is None or before is None else compare(now, before)

    return Expression(f"{name} {sign} PREVIOUS({name})", value, kind=FLAG)


def own_key(query: Query) -> tuple[str, ...] | None:
    """What it is grouped by, the keys of what it reads, or all of it; None: that is for others to say."""
    match query:
        case Persistent():
            return query.per
        case Union() | SetOperation():
            return query.names
        case Select(groups=None, source=Readings(alias=a, fences=fences)):
            wanted = [f"{a}.id", *([] if fences is None else [f"{fences.alias}.name"])]
        case Select(groups=tuple() as groups):
            wanted = [group.sql for group in groups]
        case _:
            return None
    shown = {item.sql: name for name, item in reversed(query.items)}
    return tuple(shown[sql] for sql in wanted) if all(sql in shown for sql in wanted) else query.names


def without_stays(chance: Chance, grammar: Grammar, depth: int) -> Query:
    if grammar.has(chance, "union", 6):
        return union(chance, grammar)
    if grammar.has(chance, "set operation", 6):
        return set_operation(chance, grammar)
    if depth > 0 and grammar.has(chance, "with", 6):
        return with_names(chance, grammar, depth)
    return any_select(chance, grammar, sources(chance, grammar, depth))


def any_select(chance: Chance, grammar: Grammar, source: Source) -> Select:
    forms = [
        kind for kind in ("plain", "plain", "groups", "groups", "total") if kind in {*grammar.kinds, "plain"}
    ]
    form = chance.choice(forms)
    if form == "plain":
        query = plain(chance, grammar, source)
    else:
        query = grouped(chance, grammar, source, form == "total")
    is_exact = all(item.kind != ROUGH for _, item in query.items)
    if query.nearest is None and is_exact and grammar.has(chance, "distinct", 4):
        query = replace(query, is_distinct=True)
    return limited(chance, grammar, query, 5)


def union(chance: Chance, grammar: Grammar) -> Union:
    """The same items of two or three windows, maybe of two streams; each, or all, maybe with a LIMIT."""
    kinds = grammar.kinds - {"fences"}
    n = chance.choice([2, 2, 2, 3])
    one, *others = (readings(chance, grammar.scene, kinds, "a", ["objects", "others"]) for _ in range(n))
    first = plain(chance, grammar, one)
    selects = [first]
    for other in others:
        where = maybe_condition(chance, scope_of(grammar, other))
        selects.append(limited(chance, grammar, replace(first, source=other, where=where, nearest=None), 8))
    return limited(chance, grammar, Union(tuple(selects), grammar.has(chance, "distinct")), 5)


def set_operation(chance: Chance, grammar: Grammar) -> SetOperation:
    """The same items of two to four windows: INTERSECT and EXCEPT of them, and of unions, in any order.

    What is on both sides is what makes a difference, so it is of few columns and mostly of one stream.
    """
    kinds = grammar.kinds - {"fences"}
    streams = chance.choice([["objects"], ["objects", "others"]])
    parts: list[Query] = []
    first = None
    for _ in range(chance.choice([2, 2, 3, 4])):
        source = readings(chance, grammar.scene, kinds, "a", streams)
        if first is None:
            scope = [e for e in scope_of(grammar, source) if last_name(e) in ("id", "kind", "n", "speed")]
            first = Select(named(chance.some(scope, 1, 2)), source)
        where = maybe_condition(chance, scope_of(grammar, source))
        parts.append(limited(chance, grammar, replace(first, source=source, where=where), 8))
    while len(parts) > 1:
        at = chance.integer(0, len(parts) - 2)
        parts[at : at + 2] = [both_sides(chance, grammar, parts[at], parts[at + 1])]
    (found,) = parts
    if not isinstance(found, SetOperation):
        found = SetOperation("EXCEPT", found, first, is_all=True)
    return limited(chance, grammar, found, 5)


def both_sides(chance: Chance, grammar: Grammar, left: Query, right: Query) -> Query:
    word = chance.choice(["INTERSECT", "EXCEPT", "UNION"])
    if word == "UNION":
        return Union((left, right), grammar.has(chance, "distinct"))
    return SetOperation(word, left, right, chance.flip())


def with_names(chance: Chance, grammar: Grammar, depth: int) -> With:
    """A query that is read by its name, once or twice, or by another that is; it may hide a stream.

    It may be read as it was when it was last looked at.
    """
    grammar = grammar.without("stddev")
    name = chance.choice(["w", "objects"])
    given = [(name, any_query(chance, grammar, depth - 1))]
    if chance.integer(1, 3) == 3:
        given.append(("v", plain(chance, grammar, Derived(given[0][1], "a", name))))
    name, query = given[-1]
    looked = None
    if grammar.has(chance, "synchronize", 2):
        every = chance.choice([1, 2, 3, 5, None])
        looked = query = Looked(query, every and every * grammar.scene.tick_s * SECOND)
    one, other = Derived(query, "a", name), Derived(query, "b", name)
    form = chance.choice(["once", "joined", "joined", "both", "both"])
    on = equalities(chance, scope_of(grammar, one), scope_of(grammar, other), 1, 2)
    if form == "joined" and on:
        return With(tuple(given), any_select(chance, grammar, Join(one, other, on)), looked)
    first = plain(chance, grammar, one)
    if form == "both" and all(item.kind != ROUGH for _, item in first.items):
        again = replace(first, where=maybe_condition(chance, scope_of(grammar, one)))
        return With(tuple(given), both_sides(chance, grammar, first, again), looked)
    return With(tuple(given), any_select(chance, grammar, one), looked)


def limited(chance: Chance, grammar: Grammar, query: Some, one_in: int) -> Some:
    """Maybe with ORDER BY … LIMIT, which rough numbers have no say in."""
    if any(item.kind == ROUGH for _, item in items_of(query)) or not grammar.has(chance, "first", one_in):
        return query
    return replace(query, orders=orders(chance, query), first=chance.constant((1, 2, 3, 4)))


def items_of(query: Query) -> tuple[tuple[str, Expression], ...]:
    match query:
        case Union(selects):
            return items_of(selects[0])
        case SetOperation():
            return items_of(query.left)
        case With() | Persistent() | Looked():
            return items_of(query.query)
    return query.items


# -- FROM -----------------------------------------------------------------------


def sources(chance: Chance, grammar: Grammar, depth: int) -> Source:
    """One stream, or what is composed."""
    deep = ("derived", "from query", "streams") if depth > 0 else ()
    forms = [kind for kind in ("table", *deep) if kind in grammar.kinds]
    form = chance.choice(["stream", "stream", *forms])
    if form == "table":
        inner = chance.choice(["stream", *(kind for kind in forms if kind != "table")])
        left = one_source(chance, grammar.without("fences"), inner, depth)
        joined = with_table(chance, grammar, left, "s")
        return with_table(chance, grammar, joined, "t") if grammar.has(chance, "table", 5) else joined
    return one_source(chance, grammar, form, depth)


def one_source(chance: Chance, grammar: Grammar, form: str, depth: int) -> Source:
    scene, kinds = grammar.scene, grammar.kinds
    match form:
        case "derived":
            return Derived(any_query(chance, grammar.without("stddev"), depth - 1), "a")
        case "from query":
            return from_query(chance, grammar, depth, "a")
        case "streams":
            return two_streams(chance, grammar, depth)
    stream = chance.choice(["objects", "objects", "others"])
    return readings(chance, scene, kinds, "a", [stream])


def from_query(chance: Chance, grammar: Grammar, depth: int, alias: str) -> Derived:
    query = any_query(chance, grammar.without("stddev"), depth - 1)
    name = f"{grammar.name}_base{len(grammar.bases)}"
    grammar.bases.append(Registered(name, query))
    return Derived(query, alias, name)


def with_table(chance: Chance, grammar: Grammar, left: Source, alias: str) -> Source:
    """What stands right of a LEFT JOIN has no say in the next one."""
    right = TableRows("sites", alias)
    near = None
    places = [place for part in sure_of(left) for place in placed_in(part)]
    if places and grammar.has(chance, "distance", 4):
        near = nearness(chance, chance.choice(places), alias)
    least, most = (1, chance.choice([1, 1, 2])) if near is None else (0, 1)
    scope = [column for part in sure_of(left) for column in scope_of(grammar, part)]
    on = equalities(chance, scope, scope_of(grammar, right), least, most)
    if not on and near is None:
        return left
    is_left = grammar.has(chance, "left join")
    return Join(left, right, on, near, is_left, is_using(chance, grammar, left, on, near))


def sure_of(source: Source) -> list[Source]:
    """The parts that no LEFT JOIN has on its right."""
    if not isinstance(source, Join):
        return [source]
    return [*sure_of(source.left), *([] if source.is_left else sure_of(source.right))]


def two_streams(chance: Chance, grammar: Grammar, depth: int) -> Source:
    """Two windows, each of a query with its own clauses, or in brackets; or two streams as they are now."""
    if grammar.has(chance, "brackets", 3):
        left: Source = own_window(chance, grammar.scene, grammar.kinds, "a", "objects")
        other = chance.choice(["objects", "others"])
        right: Source = own_window(chance, grammar.scene, grammar.kinds, "b", other)
    elif chance.integer(1, 4) == 4:
        left = Readings("objects", "a")
        right = Readings(chance.choice(["objects", "others"]), "b")
    else:
        left, right = placed(chance, grammar, "a"), placed(chance, grammar, "b")
    near = nearness(chance, "a", "b") if grammar.has(chance, "distance") else None
    if grammar.has(chance, "nn", 3):
        return nearest_of(chance, grammar, left, right, near)
    least, most = (1, chance.choice([1, 2])) if near is None else (0, 1)
    on = equalities(chance, scope_of(grammar, left), scope_of(grammar, right), least, most)
    # A stream itself cannot stand there: what is not in its window would have to be known.
    is_left = isinstance(right, Derived) and grammar.has(chance, "left join", 3)
    return Join(left, right, on, near, is_left, is_using(chance, grammar, left, on, near))


def nearest_of(chance: Chance, grammar: Grammar, left: Source, right: Source, near: Near | None) -> Join:
    """Each of a with the nearest of b, and maybe further conditions on the two."""
    is_other = isinstance(left, Readings) and isinstance(right, Readings) and chance.flip()
    on = equalities(chance, scope_of(grammar, left), scope_of(grammar, right), 0, chance.choice([0, 0, 1]))
    return Join(left, right, on, near, nn=Nn("a", "b", chance.choice([1, 1, 2, 3, 100]), is_other))


def nearness(chance: Chance, a: str, b: str) -> Near:
    return Near(a, b, chance.constant([0.0, 0.5, 1.0, 2.5, 5.0]), chance.choice([False, False, True]))


def placed_in(source: Source) -> list[str]:
    """Those that can be asked for their distance."""
    match source:
        case Readings(alias=a) | TableRows(alias=a):
            return [a]
        case Derived(Select(groups=None) as query, a):
            shown = {name: item.sql for name, item in query.items}
            is_place = isinstance(query.source, Readings) and shown.get("x") == f"{query.source.alias}.x"
            return [a] if is_place and shown.get("y") == f"{query.source.alias}.y" else []
        case Join():
            return [*placed_in(source.left), *placed_in(source.right)]
    return []


def is_using(
    chance: Chance, grammar: Grammar, left: Source, on: tuple[tuple[Expression, Expression], ...],
    near: Near | None,
) -> bool:  # fmt: skip
    """Whether it is said by USING: where columns are called the same, and the left has one of the name."""
    names = [last_name(part) for part in scope_of(grammar, left) if "." in part.sql]
    is_said = all(last_name(a) == last_name(b) and names.count(last_name(a)) == 1 for a, b in on)
    are_plain = all("(" not in part.sql for pair in on for part in pair)
    may_be = bool(on) and near is None and is_said and are_plain
    return may_be and grammar.has(chance, "using")


def shared(part: Expression) -> Expression:
    """What USING made one: the name alone means the left one."""
    return replace(part, sql=last_name(part), duck=part.for_duck)


def placed(chance: Chance, grammar: Grammar, alias: str) -> Derived:
    """(SELECT id, x, y, … FROM stream WHERE … INSIDE … WINDOW …) alias: it can be asked for its distance."""
    stream = chance.choice(["objects", "objects", "others"])
    source = readings(chance, grammar.scene, grammar.kinds - {"fences"}, "c", [stream])
    names = ["id", "x", "y", *dict.fromkeys(chance.some(["kind", "speed", "n", "ts"], 0, 4))]
    scope = {part.sql: part for part in scope_of(grammar, source)}
    items = tuple((name, scope[f"c.{name}"]) for name in names)
    return Derived(Select(items, source, where=maybe_condition(chance, list(scope.values()))), alias)


def equalities(
    chance: Chance, left: list[Expression], right: list[Expression], least: int, most: int
) -> tuple[tuple[Expression, Expression], ...]:
    named = [part for part in left if "." in part.sql]  # a name alone may be that of the right side too
    pairs = [(a, b) for a in named for b in right if a.kind == b.kind and a.kind != ROUGH]
    alike = [(a, b) for a, b in pairs if last_name(a) == last_name(b)]
    if not pairs:
        return ()
    # What is called the same, or counts something, finds partners; a key or a kind even more so.
    known = [(a, b) for a, b in alike if last_name(a) in ("id", "kind")]
    offered = 4 * known + alike + [(a, b) for a, b in pairs if a.kind == WHOLE] + chance.choice([[], pairs])
    chosen = chance.some(offered or pairs, least, most)
    return tuple({(a.sql, b.sql): (a, b) for a, b in chosen}.values())


def last_name(part: Expression) -> str:
    return part.sql.rpartition(".")[2]


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
            kinds = {"name": TEXT, "kind": TEXT, "size": WHOLE, "price": NUMBER, "x": NUMBER, "y": NUMBER}
            return [column(f"{a}.{name}", kind) for name, kind in kinds.items()]
        case Derived(query, a):
            return [column(f"{a}.{name}", item.kind) for name, item in items_of(query)]
        case Join():
            right = scope_of(grammar, source.right)
            names = {last_name(part) for part in right}
            left = scope_of(grammar, source.left)
            known = [part for part in left if "." in part.sql or part.sql not in names]
            return [*known, *right, *(shared(a) for a, _ in source.on if source.is_using)]
    raise TypeError(source)


# -- SELECT ---------------------------------------------------------------------


def maybe_condition(chance: Chance, scope: list[Expression]) -> Expression | None:
    usable = of_kind(scope, NUMBER, WHOLE, TEXT)
    return condition(chance, scope) if usable and chance.integer(1, 4) == 4 else None


def plain(chance: Chance, grammar: Grammar, source: Source) -> Select:
    scope = scope_of(grammar, source)
    where = maybe_condition(chance, scope)
    chosen = [expression(chance, scope) for _ in range(chance.integer(1, 3))]
    places = placed_in(source)
    if len(places) > 1 and grammar.has(chance, "distance", 3):
        pair = chance.choice(places[:-1]), places[-1]
        if chance.flip():
            chosen.append(distance(*pair))
        else:
            where = apart(chance, *pair)
    if isinstance(source, Readings) and grammar.has(chance, "movement", 6):
        chosen.append(movement(source.alias, chance.flip()))
    nearest = None
    is_now = isinstance(source, Readings) and of_now(source) and source.fences is None
    if is_now and grammar.has(chance, "nearest", 3):
        nearest = neighbours(chance, grammar.scene)
    elif grammar.has(chance, "tick", 5):
        where = while_it_ticks(chance, where, scope)
    return Select(named(chosen), source, where, nearest)


def while_it_ticks(chance: Chance, where: Expression | None, scope: list[Expression]) -> Expression | None:
    """Beside AND, a condition that turns true, or false, as time passes."""
    numbers = of_kind(scope, NUMBER, WHOLE)
    if not numbers:
        return where
    # Times come most often: others are of 1970.
    times = [part for part in numbers if last_name(part) in ("ts", "PREVIOUS(a.ts)")] or numbers
    found = ticking(chance, chance.choice([*times, *times, chance.choice(numbers)]))
    if where is None:
        return found
    return made("({0}) AND {1}", both, where, found, kind=FLAG, is_strict=False)


def ticking(chance: Chance, of: Expression) -> Expression:
    """TICK() beside seconds since 1970, to the microsecond."""
    seconds = chance.constant([3, 0, 1, 2, 7, 0.5])
    sign = chance.choice([">", "<=", ">=", "<"])
    compare, us = COMPARISONS[sign], round(seconds * SECOND)
    pattern = chance.choice([f"TICK() - {{0}} {sign} {seconds}", f"NOT ({{0}} + {seconds} {sign} TICK())"])
    is_not = pattern.startswith("NOT")

    def holds(row: Values) -> bool | None:
        value: Any = of.value(row)
        if value is None:
            return None
        tick, moment = row[TICK], round(value * SECOND) + us
        return not compare(moment, tick) if is_not else bool(compare(tick, moment))

    moment = f"(CAST(round_even(({of.for_duck}) * {SECOND}, 0) AS BIGINT) + {us})"
    for_duck = f"NOT ({moment} {sign} $t)" if is_not else f"$t {sign} {moment}"
    return Expression(pattern.format(of.sql), holds, for_duck, FLAG)


def of_now(source: Readings) -> bool:
    """At every tick."""
    window = source.window.scope if isinstance(source.window, Extent) else source.window
    return isinstance(window, Now) and source.refresh is None


def distance(a: str, b: str) -> Expression:
    """As a number, which nothing else depends on."""
    return Expression(f"DISTANCE({a}, {b})", strictly(a, b, math.sqrt), f"sqrt({squares(a, b)})", ROUGH)


def apart(chance: Chance, a: str, b: str) -> Expression:
    """In WHERE, where it need not be what joins them: as squares."""
    r, sign = chance.constant([0.0, 0.5, 1.0, 2.5, 5.0]), chance.choice(["<=", "<", ">", ">="])
    compare = COMPARISONS[sign]
    return Expression(
        f"DISTANCE({a}, {b}) {sign} {r}", strictly(a, b, lambda square: compare(square, r * r)),
        f"{squares(a, b)} {sign} {r}::DOUBLE * {r}::DOUBLE", FLAG,
    )  # fmt: skip


def movement(a: str, is_speed: bool) -> Expression:
    """From the reading before: how fast, or where to; the angle is left to SQL's own functions."""

    def value(row: Values) -> float | None:
        before, now = ([row[f"{when}{a}.{name}"] for name in ("x", "y", "ts")] for when in ("previous ", ""))
        if None in before or None in now:
            return None
        x, y, seconds = (float(b) - float(a) for a, b in zip(before, now, strict=True))  # type: ignore[arg-type]
        if is_speed:
            return math.sqrt(x * x + y * y) / seconds
        if x == y == 0:
            return None
        clockwise = round((90 - math.degrees(math.atan2(y, x))) % 360, 6)
        return 0.0 if clockwise == 360 else clockwise

    step = [f"({a}.{axis} - {a}.previous_{axis})" for axis in "xy"]
    speed = f"sqrt({step[0]} * {step[0]} + {step[1]} * {step[1]}) / ({a}.ts - {a}.previous_ts)"
    moved = f"{step[0]} <> 0 OR {step[1]} <> 0"
    angle = f"round((450 - degrees(atan2({step[1]}, {step[0]}))) % 360, 6)"
    duck = speed if is_speed else f"CASE WHEN {moved} THEN {angle} END"
    return Expression(f"SPEED({a})" if is_speed else f"ROUND(HEADING({a}), 6)", value, duck, ROUGH)


def squares(a: str, b: str) -> str:
    return f"(({a}.x - {b}.x) * ({a}.x - {b}.x) + ({a}.y - {b}.y) * ({a}.y - {b}.y))"


def strictly(a: str, b: str, function: Callable[[float], Any]) -> Callable[[Values], Any]:
    """Of the square of a distance; NULL where somebody has no place."""

    def value(row: Values) -> Any:
        given = [row[f"{alias}.{axis}"] for axis in "xy" for alias in (a, b)]
        if None in given:
            return None
        ax, bx, ay, by = (float(v) for v in given)  # type: ignore[arg-type]
        return function((ax - bx) * (ax - bx) + (ay - by) * (ay - by))

    return value


def named(chosen: list[Expression]) -> tuple[tuple[str, Expression], ...]:
    """A plain column keeps its name, if no other has it."""
    items: dict[str, Expression] = {}
    for number, item in enumerate(chosen):
        _, dot, last = item.sql.rpartition(".")
        name = last if dot and last.isidentifier() and item.sql.count(".") == 1 and last not in items else ""
        items[name or f"e{number}"] = item
    return tuple(items.items())


def grouped(chance: Chance, grammar: Grammar, source: Source, is_total: bool) -> Select:
    scope = scope_of(grammar, source)
    where = maybe_condition(chance, scope)
    groups = () if is_total else tuple(expression(chance, scope) for _ in range(chance.integer(1, 2)))
    groups = tuple({group.sql: group for group in groups}.values())
    sums: dict[str, Sum] = {}
    told = [summed(chance, grammar, scope, sums) for _ in range(chance.integer(1, 2))]
    having = None
    if grammar.has(chance, "having", 4):
        having = had(chance, summed(chance, grammar, scope, sums, is_rough=False))
    if grammar.has(chance, "tick", 6):
        where = while_it_ticks(chance, where, scope)
    if grammar.has(chance, "tick", 6):
        known = [sum_.as_expression(NUMBER) for sum_ in sums.values() if is_exact_number(sum_)]
        having = ticking(chance, chance.choice(known)) if known and having is None else having
    shown = [group.of_group() for group in groups if chance.integer(1, 5) > 1]
    return Select(named([*shown, *told]), source, where, None, groups, tuple(sums.values()), having)


def is_exact_number(sum_: Sum) -> bool:
    is_number = sum_.argument is None or sum_.argument.kind in (NUMBER, WHOLE) or sum_.kind == "COUNT"
    return is_number and sum_.kind != "STDDEV"


def summed(
    chance: Chance, grammar: Grammar, scope: list[Expression], sums: dict[str, Sum], is_rough: bool = True
) -> Expression:
    """An aggregate, or an expression of two; those that it needs are added to `sums`."""

    def known(sum_: Sum, kind: str) -> Expression:
        sums[sum_.sql] = sum_
        return sum_.as_expression(kind)

    forms = ["rows", "rows", "count", "distinct", "least", "most"]
    if of_kind(scope, NUMBER, WHOLE):
        forms += ["sum", "average", "range", *(["stddev"] if is_rough and "stddev" in grammar.kinds else [])]
    form = chance.choice(forms)
    if form == "rows" or not of_kind(scope, NUMBER, WHOLE, TEXT):
        return known(Sum("COUNT"), WHOLE)
    if form in ("count", "distinct"):
        return known(Sum("COUNT", expression(chance, scope), form == "distinct"), WHOLE)
    if form in ("least", "most"):
        of = expression(chance, scope)
        return known(Sum("MIN" if form == "least" else "MAX", of), of.kind)
    of = expression(chance, scope, NUMBER, WHOLE)
    if form == "range":
        return made(
            "{0} - {1}", lambda a, b: a - b, known(Sum("MAX", of), of.kind), known(Sum("MIN", of), of.kind),
            kind=of.kind,
        )  # fmt: skip
    if form == "sum":
        return known(Sum("SUM", of), of.kind)
    return known(Sum("AVG", of), NUMBER) if form == "average" else known(Sum("STDDEV", of), ROUGH)


def had(chance: Chance, sum_: Expression) -> Expression:
    if sum_.kind == TEXT:
        return made("{0} > 'b'", lambda value: value > "b", sum_, kind=FLAG)
    limit = chance.constant([0, 1, 2])
    if chance.flip():
        return made(f"{{0}} > {limit}", lambda value: value > limit, sum_, kind=FLAG)
    return made(f"{{0}} <> {limit}", lambda value: value != limit, sum_, kind=FLAG)


def orders(chance: Chance, query: Query) -> tuple[Order, ...]:
    names = dict.fromkeys(chance.some(query.names, 1, 2))
    return tuple(Order(name, chance.flip(), chance.flip()) for name in names)
