"""The plain twin of a tree: each node's answer at a tick, as a Counter of rows, computed from scratch.

Rows are tuples (query, values…). Slow, obvious, and sharing nothing with the operators.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cmp_to_key, partial
from typing import Any

from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node
from tests.oracle.globe import chord
from tests.oracle.persistency import Persistency, persistent

Row = tuple[Any, ...]
Bag = Counter[Row]

ZERO = Fraction(0)


@dataclass
class World:
    """All that happened: (tick, sign, row) by branch and table; when queries begin; their constants."""

    branches: dict[int, list[tuple[int, int, Row]]]
    tables: dict[str, list[tuple[int, int, Row]]]
    begun: dict[int, int]
    constants: dict[int, dict[str, Any]]
    # What an expression does to a row, by its SQL: (columns, constants) -> value
    functions: dict[str, Callable[[Row, dict[str, Any]], Any]]
    # What an outline that changes by itself means.
    coverages: dict[bytes, Any] = field(default_factory=dict)

    def computed(self, what: Expression, query: int, values: Row) -> Any:
        return self.functions[what.sql](values, self.constants.get(query, {}))


class NaN:
    """Equal to itself, unlike the float."""

    def __repr__(self) -> str:
        return "NaN"


NAN = NaN()


def plain(value: Any) -> Any:
    """One NaN, one zero."""
    if isinstance(value, float):
        return NAN if math.isnan(value) else value + 0.0
    return value


def answer(node: Node, world: World, tick: int) -> Bag:
    """What a node holds as at a tick."""
    match node:
        case nodes.Branch():
            return _sum(world.branches.get(node.number, []), tick)
        case nodes.TableRows():
            return _sum(world.tables.get(node.table, []), tick)
        case nodes.Select():
            return _select(node, answer(node.child, world, tick), world)
        case nodes.Union():
            together: Bag = Counter()
            for child in node.children:
                together.update(answer(child, world, tick))
            return together
        case nodes.SetOperation():
            return _set_operation(node, answer(node.left, world, tick), answer(node.right, world, tick))
        case nodes.Distinct():
            return Counter(dict.fromkeys(answer(node.child, world, tick), 1))
        case nodes.Join():
            return _join(node, answer(node.left, world, tick), answer(node.right, world, tick), world)
        case nodes.Neighbours():
            return _neighbours(node, answer(node.left, world, tick), answer(node.right, world, tick))
        case nodes.FocalPoints():
            return _focal_points(node, world, tick)
        case nodes.Latest():
            return _latest(node, world, tick)
        case nodes.Aggregate():
            return _aggregate(node, answer(node.child, world, tick), world, tick)
        case nodes.Sample(child, refresh):
            return answer(child, world, tick // refresh.every_us * refresh.every_us)
        case nodes.Swelling():
            return _swelling(node, answer(node.child, world, tick), tick)
        case nodes.Swept():
            return _swept(node, answer(node.child, world, tick), world.coverages[node.outlines[0]].at(tick))
        case nodes.Persisting():
            return _persisting(node, [answer(node.child, world, t) for t in range(tick + 1)], world)
        case nodes.Ticking():
            rows = answer(node.child, world, tick)
            return Counter({row: n for row, n in rows.items() if _is_ticking(node, row, tick, world)})
        case nodes.Once():
            return _once(node, world, tick)
        case nodes.First():
            return _first(node, answer(node.child, world, tick), world)


def _swelling(node: nodes.Swelling, bag: Bag, tick: int) -> Bag:
    """Whoever is within the distance as it is now; each row once."""
    step = (max(min(tick, node.until_us), node.begin_us) - node.begin_us) // node.every_us
    times = 1 + step * node.growth
    radius = node.radius * times
    limit = radius * radius if node.is_square else radius
    apart = {row: row[1 + node.distance] for row in bag}
    near = [row for row, d in apart.items() if d is not None and times > 0 and d <= limit]
    return Counter(dict.fromkeys(near, 1))


def _swept(node: nodes.Swept, bag: Bag, coverage: Any) -> Bag:
    """Whoever is in the coverage as it is now; each row once."""
    at = {row: (row[1 + node.place[0]], row[1 + node.place[1]]) for row in bag}
    there = [row for row, (x, y) in at.items() if type(x) is float is type(y) and coverage.holds(x, y)]
    return Counter(dict.fromkeys(there, 1))


def _sum(changes: list[tuple[int, int, Row]], tick: int) -> Bag:
    bag: Bag = Counter()
    for when, sign, row in changes:
        if when <= tick:
            bag[tuple(plain(v) for v in row)] += sign
    assert all(n >= 0 for n in bag.values()), "not a history of multisets"
    return Counter({row: n for row, n in bag.items() if n})


def _select(node: nodes.Select, rows: Bag, world: World) -> Bag:
    bag: Bag = Counter()
    for (query, *values), n in rows.items():
        if node.where is None or world.computed(node.where, query, tuple(values)) is True:
            bag[(query, *(plain(world.computed(c, query, tuple(values))) for c in node.columns))] += n
    return bag


def _set_operation(node: nodes.SetOperation, left: Bag, right: Bag) -> Bag:
    if not node.is_all:
        kept = {row for row in left if (row in right) == (node.kind == nodes.INTERSECT)}
        return Counter(dict.fromkeys(kept, 1))
    # As Python's Counter has it: what would be less than not at all is not there.
    return left & right if node.kind == nodes.INTERSECT else left - right


def _join(node: nodes.Join, left: Bag, right: Bag, world: World) -> Bag:
    bag: Bag = Counter()
    width = len(node.right.types)
    for a, n in left.items():
        has_partner = False
        for b, m in right.items():
            if _fits(node, a, b, world):
                has_partner = True
                bag[(max(a[0], b[0]), *a[1:], *b[1:])] += n * m
        if node.is_left and not has_partner:
            bag[(*a, *[None] * width)] += n
    return bag


def _focal_points(node: nodes.FocalPoints, world: World, tick: int) -> Bag:
    """The places as they are, for each query that has begun."""
    places: Bag = Counter((-1, *map(plain, place)) for place in node.written)
    if node.table is not None:
        places = answer(node.table, world, tick)
    live = [query for query, begin in world.begun.items() if begin <= tick]
    return Counter({(query, *row[1:]): n for query in live for row, n in places.items()})


def _latest(node: nodes.Latest, world: World, tick: int) -> Bag:
    """Of each tile the last n that came since it has been there, without a break, and chose it."""
    assert isinstance(node.child, nodes.Branch)
    came = [(when, row) for when, _, row in world.branches[node.child.number] if when <= tick]
    tile, key, time = (1 + place for place in (node.tile, node.key, node.time))
    if node.table is not None:
        since = [answer(node.table, world, t) for t in range(tick + 1)]
        chosen = {
            (row[0], row[key], row[time]): min(
                r[tile] for _, r in came if (r[0], r[key], r[time]) == (row[0], row[key], row[time])
            )
            for _, row in came
        }
        came = [
            (when, row) for when, row in came
            if row[tile] == chosen[row[0], row[key], row[time]]
            and all((-1, row[tile]) in there for there in since[when:])
        ]  # fmt: skip
    tiles = {(row[0], row[tile]) for _, row in came}
    bag: Bag = Counter()
    for one in tiles:
        mine = sorted((row for _, row in came if (row[0], row[tile]) == one), key=lambda r: (r[time], r[key]))
        bag.update(tuple(map(plain, row)) for row in mine[-node.n :])
    return bag


def _neighbours(node: nodes.Neighbours, left: Bag, right: Bag) -> Bag:
    """Each left row with the first k of the right rows, which count as often as they are there."""
    bag: Bag = Counter()
    for a, n in left.items():
        near = [(b, square) for b in right.elements() if (square := _square(node, a, b)) is not None]
        near.sort(key=lambda found: (found[1], *(_tie(found[0][1 + column]) for column in node.ties)))
        for b, _ in near[: node.k]:
            bag[(*a, *b[1:])] += n
    return bag


def _square(node: nodes.Neighbours, a: Row, b: Row) -> float | None:
    """How far apart; None where they cannot be neighbours."""
    (ax, ay), (bx, by) = ([r[1 + i] for i in at] for r, at in ((a, node.left_place), (b, node.right_place)))
    keys = () if node.other is None else (a[1 + node.other[0]], b[1 + node.other[1]])
    is_own = None not in keys and len(set(keys)) == 1
    if a[0] != b[0] or is_own or None in (ax, ay, bx, by) or NAN in (ax, ay, bx, by):
        return None
    if node.is_globe:
        return chord(ax, ay, bx, by)
    square = (ax - bx) * (ax - bx) + (ay - by) * (ay - by)
    return None if math.isnan(square) else square


def _tie(value: Any) -> Any:
    return (value is not None, cmp_to_key(compare)(value))


def _fits(node: nodes.Join, a: Row, b: Row, world: World) -> bool:
    if a[0] != b[0] and -1 not in (a[0], b[0]):
        return False
    for i, j in zip(node.left_keys, node.right_keys, strict=True):
        if a[1 + i] is None or b[1 + j] is None or a[1 + i] != b[1 + j]:
            return False
    if node.near is None:
        return True
    (ax, ay), (bx, by) = ([r[1 + i] for i in at] for r, at in ((a, node.near.left), (b, node.near.right)))
    radius = world.computed(node.near.radius, max(a[0], b[0]), ())
    if None in (ax, ay, bx, by, radius) or NAN in (ax, ay, bx, by, radius) or radius < 0:
        return False
    square = (ax - bx) * (ax - bx) + (ay - by) * (ay - by)
    return square < radius * radius if node.near.is_open else square <= radius * radius


def _aggregate(node: nodes.Aggregate, rows: Bag, world: World, tick: int) -> Bag:
    groups: dict[Row, Bag] = {}
    if node.is_total:
        groups.update({(query,): Counter() for query, since in world.begun.items() if since <= tick})
    for row, n in rows.items():
        group = (row[0], *(row[1 + g] for g in node.groups))
        groups.setdefault(group, Counter())[row[1:]] += n
    return Counter(dict.fromkeys(((*g, *(aggregate(s, r) for s in node.sums)) for g, r in groups.items()), 1))


def aggregate(what: nodes.Sum, rows: Bag) -> Any:
    """COUNT, SUM, … of the rows of a group."""
    if what.column is None:
        return sum(rows.values())
    if what.by is not None:
        return _that_goes_with(what.kind, what.column, what.by, rows)
    values: Counter[Any] = Counter()
    for row, n in rows.items():
        if row[what.column] is not None:
            values[row[what.column]] += n
    if what.is_distinct:
        values = Counter(dict.fromkeys(values, 1))
    count = sum(values.values())
    if what.kind == nodes.COUNT:
        return count
    if not values:
        return None
    if what.kind in (nodes.MIN, nodes.MAX):
        return (min if what.kind == nodes.MIN else max)(values, key=cmp_to_key(compare))
    if what.kind == nodes.PERCENTILE:
        return _percentile(sorted(values.elements(), key=cmp_to_key(compare)), what.part)
    if any(v is NAN or (isinstance(v, float) and math.isinf(v)) for v in values):
        return None
    total = sum((Fraction(v) * n for v, n in values.items()), ZERO)
    if what.kind == nodes.STDDEV:
        squares = sum((Fraction(v) ** 2 * n for v, n in values.items()), ZERO)
        return None if count < 2 else _root(squares * count - total * total, count)
    if what.kind == nodes.SUM and what.type.is_integer:
        return int(total) if -(2**63) <= total < 2**63 else None
    rounded = _rounded(total)
    if rounded is None or what.kind == nodes.SUM:
        return rounded
    return rounded / count + 0.0


def _that_goes_with(kind: str, column: int, by: int, rows: Bag) -> Any:
    """Of those that go with the least, or the greatest, that one; NULL only where there is no other."""
    sign = 1 if kind == nodes.FIRST_BY else -1
    known = [row for row in rows if row[by] is not None]
    if not known:
        return None

    def order(a: Row, b: Row) -> int:
        is_known = (a[column] is None) - (b[column] is None)
        return sign * compare(a[by], b[by]) or is_known or sign * compare(a[column], b[column])

    return min(known, key=cmp_to_key(order))[column]


def _percentile(values: list[Any], part: float) -> Any:
    way = part * (len(values) - 1)
    rank = math.floor(way)
    low, high = (math.nan if value is NAN else value for value in (values[rank], values[math.ceil(way)]))
    found = low if way == rank else (1 - (way - rank)) * low + (way - rank) * high
    return plain(found) if math.isfinite(found) else None


def _rounded(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _root(spread: Fraction, n: int) -> float | None:
    """The root of a fraction, rounded to a double, over n·(n − 1); powers of two are kept out of it."""
    if spread == 0:
        return 0.0
    power = 0
    while spread >= 4**40:
        spread, power = spread / 4**20, power + 20
    while spread < Fraction(1, 4**40):
        spread, power = spread * 4**20, power - 20
    try:
        return math.ldexp(math.sqrt(float(spread) / (float(n) * float(n - 1))), power)
    except OverflowError:
        return None


def _persisting(node: nodes.Persisting, answers: list[Bag], world: World) -> Bag:
    bag: Bag = Counter()
    for query in {row[0] for rows in answers for row in rows}:
        stay, grace = (world.computed(what, query, ()) for what in (node.stay, node.grace))
        goes_on = partial(_goes_on, node.goes_on, query, world) if node.goes_on is not None else None
        asked = Persistency(stay, tuple(1 + key for key in node.keys), grace, goes_on)
        mine = {node.tick_us * t: [r for r in rows if r[0] == query] for t, rows in enumerate(answers)}
        bag.update(persistent(asked, mine, node.tick_us))
    return bag


def _is_ticking(node: nodes.Ticking, row: Row, tick: int, world: World) -> bool:
    """Whether a tick is within all bounds; times are microseconds, or seconds."""
    for bound in node.bounds:
        at = 0 if bound.base is None else world.computed(bound.base, row[0], row[1:])
        if at is None or at is NAN or (isinstance(at, float) and math.isinf(at)):
            return False
        if not isinstance(at, datetime):
            at = round(at * 1e6)
        else:
            at = (at - datetime(1970, 1, 1)) // timedelta(microseconds=1)
        at += world.computed(bound.shift, row[0], ())
        signs = (operator.lt, operator.le) if bound.is_upper else (operator.gt, operator.ge)
        if not signs[0 if bound.is_open else 1](tick, at):
            return False
    return True


def _once(node: nodes.Once, world: World, tick: int) -> Bag:
    """All alerts that have been told: of each key one at a time, the smallest of its tick."""
    assert isinstance(node.child, nodes.Branch)
    bag: Bag = Counter()
    last: dict[Row, int] = {}
    for t in range(tick + 1):
        rows = [tuple(map(plain, row)) for when, _, row in world.branches[node.child.number] if when == t]
        for key in {(row[0], *(row[1 + k] for k in node.keys)) for row in rows}:
            every = None if node.every is None else world.computed(node.every, key[0], ())
            if key in last and (every is None or t - last[key] < every):
                continue
            mine = [row for row in rows if (row[0], *(row[1 + k] for k in node.keys)) == key]
            bag[
                min(mine, key=lambda row: [(v is not None, v is NAN, 0 if v is NAN else v) for v in row])
            ] += 1
            last[key] = t
    return bag


def _goes_on(condition: Expression, query: int, world: World, before: Row, row: Row) -> Any:
    return world.computed(condition, query, (*row[1:], *before[1:]))


def compare(a: Any, b: Any) -> int:
    """Ascending, NULL last, NaN before it; texts by their bytes."""
    a, b = ((1, 0) if v is NAN else (2, 0) if v is None else (0, v) for v in (a, b))
    a, b = (((v[0], v[1].encode()) if isinstance(v[1], str) else v) for v in (a, b))
    return int(a > b) - int(a < b)


def _first(node: nodes.First, rows: Bag, world: World) -> Bag:
    def order(a: Row, b: Row) -> int:
        for o in node.orders:
            x, y = a[1 + o.column], b[1 + o.column]
            if (x is None) != (y is None):
                return -1 if (x is None) == o.is_null_first else 1
            if found := compare(x, y):
                return -found if o.is_descending else found
        pairs = [((x is not None, x), (y is not None, y)) for x, y in zip(a[1:], b[1:], strict=True)]
        return next((c for (p, x), (q, y) in pairs if (c := compare(p, q) or compare(x, y))), 0)

    bag: Bag = Counter()
    groups = {(row[0], *(row[1 + column] for column in node.by)) for row in rows}
    for query, *group in groups:
        mine = [r for r in rows.elements() if [r[0], *(r[1 + c] for c in node.by)] == [query, *group]]
        count = world.computed(node.count, query, ())
        bag.update(sorted(mine, key=cmp_to_key(order))[: max(0, count or 0)])
    return bag
