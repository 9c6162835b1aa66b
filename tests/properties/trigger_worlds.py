"""Triggers of one shape with different constants, and events that collide: small times, places and values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from sanderling.arrays import F64
from sanderling.kernels.trigger.solve import Events
from sanderling.operate.trigger.triggers import Solutions
from sanderling.plans.constraint_graph import (
    FLOAT,
    INT,
    Apart,
    Compare,
    Contradiction,
    Graph,
    between,
    complete,
    free,
    further,
    nearer,
)
from sanderling.space.metric import spread
from tests.oracle.triggers import Constraint, Distance, Event, Time, Trigger, Values
from tests.properties.chance import Chance
from tests.properties.globe_worlds import SCENES

NAN = float("nan")


@dataclass(frozen=True)
class World:
    """Triggers, and by trigger its own events out of all: (order, event)."""

    triggers: tuple[Trigger, ...]
    events: tuple[tuple[tuple[int, Event], ...], ...]

    def graph(self) -> Graph:
        return graph_of(self.triggers)


def graph_of(triggers: tuple[Trigger, ...]) -> Graph:
    """All triggers as one graph, completed."""
    first, n = triggers[0], len(triggers)
    set_of = [next((s for s, v in enumerate(first.sets) if u in v), -1) for u in range(first.size)]
    is_globe = any(isinstance(c, Distance) and c.is_globe for c in first.constraints)
    graph = free([f"V{v + 1}" for v in range(first.size)], n, set_of, is_globe)
    compares, constants = [], []
    for some in zip(*(t.constraints for t in triggers), strict=True):
        c = some[0]
        if isinstance(c, Time):
            between(graph, c.i, c.j, np.array([t.least for t in some]), np.array([t.most for t in some]))
        elif isinstance(c, Distance):
            radius, is_strict = np.array([d.radius for d in some]), len(c.op) == 1
            (nearer if c.op[0] == "<" else further)(graph, c.i, c.j, radius, is_strict)
        else:
            kind = FLOAT if c.left == 1 else INT
            compares.append(Compare(c.i, c.left, c.op, c.j, c.right, kind, c.constant is not None))
            constants.append([v.constant or 0.0 for v in some])
    numbers = np.array(constants, np.float64).reshape(len(compares), n).T
    whole = Graph(
        graph.names, graph.after, graph.until, graph.near, graph.near_strict, graph.far, graph.far_strict,
        graph.stated_near, graph.stated_far, tuple(compares), numbers, graph.set_of, is_globe,
    )  # fmt: skip
    return complete(whole)


# ----- made by chance


def world(chance: Chance) -> World:
    units = _units(chance)
    size = units[-1][-1] + 1
    n = chance.integer(1, 3)
    stated: list[list[Constraint]] = [[] for _ in range(n)]
    sets = tuple(unit for unit in units if len(unit) > 1)
    for group in _groups(chance, units):
        wider = [[*some, *group(chance)] for some in stated]
        if _is_possible(size, sets, wider):
            stated = wider
    triggers = tuple(Trigger(size, tuple(some), sets) for some in stated)
    return World(triggers, _events(chance, units, n))


def globe_world(chance: Chance) -> World:
    """The same where longitudes meet, at a pole, or all over; a unit has a little more than its 1,112 m."""
    plain, scene = world(chance), chance.choice(SCENES)
    triggers = tuple(
        replace(t, constraints=tuple(_in_metres(c) for c in t.constraints)) for t in plain.triggers
    )
    events = tuple(
        tuple((order, replace(e, **dict(zip("xy", scene(e.x, e.y), strict=True)))) for order, e in some)
        for some in plain.events
    )
    return World(triggers, events)


def _in_metres(constraint: Constraint) -> Constraint:
    if not isinstance(constraint, Distance):
        return constraint
    return replace(constraint, radius=constraint.radius * 1_200, is_globe=True)


def _units(chance: Chance) -> list[tuple[int, ...]]:
    """Variables by themselves, and sets of them: two to five in all."""
    units: list[tuple[int, ...]] = []
    size = 0
    while size < 2 or (size < 5 and chance.choice((False, True, True))):
        some = min(chance.choice((1, 1, 1, 1, 1, 2, 3)), 5 - size)
        units.append(tuple(range(size, size + some)))
        size += some
    return units


def _groups(chance: Chance, units: list[tuple[int, ...]]) -> list:
    """Constraints that come together, each made anew for each trigger, with other constants."""
    groups = []

    def pairs(a: int, b: int) -> list[tuple[int, int]]:
        return list(itertools.product(units[a], units[b])) if a != b else list(_ordered(units[a]))

    def times(a: int, b: int):
        def make(c: Chance) -> list[Constraint]:
            long = c.choice((2, 0, 4, 3, 1, 5))
            least = c.choice((0, 1, -1, 0, 2, -2, -4)) if a != b else -long
            return [Time(i, j, least, long if a == b else least + long) for i, j in pairs(a, b)]

        return make

    def distances(a: int, b: int, op: str):
        def make(c: Chance) -> list[Constraint]:
            radius = c.choice((1.0, 0.0, 2.0, 1.5, 3.0))
            return [Distance(i, j, op, radius) for i, j in pairs(a, b)]

        return make

    def values(a: int, b: int, op: str, column: int, has_constant: bool):
        def make(c: Chance) -> list[Constraint]:
            constant = c.choice((0.0, 1.0, -1.0, 0.5)) if has_constant else None
            return [Values(i, column, op, j, column, constant) for i, j in pairs(a, b)]

        return make

    for k, unit in enumerate(units):
        if k:
            groups.append(times(chance.integer(0, k - 1), k))
        if len(unit) > 1:
            groups.append(times(k, k))
    for _ in range(chance.integer(0, 2 * len(units))):
        a, b = chance.integer(0, len(units) - 1), chance.integer(0, len(units) - 1)
        if a == b and len(units[a]) == 1:
            continue
        kind = chance.integer(0, 5)
        if kind == 0:
            groups.append(times(a, b))
        elif kind < 4:
            groups.append(distances(a, b, chance.choice(("<=", "<", ">=", ">"))))
        elif a != b:
            op = chance.choice(("<>", "=", "<", "<=", ">", ">="))
            groups.append(values(a, b, op, chance.integer(0, 1), chance.flip()))
    return groups


def _ordered(unit: tuple[int, ...]) -> itertools.combinations:
    return itertools.combinations(unit, 2)


def _is_possible(size: int, sets: tuple[tuple[int, ...], ...], stated: list[list[Constraint]]) -> bool:
    """Whether nothing contradicts, once all variables hang together."""
    everything = tuple(Time(0, v, -99, 99) for v in range(1, size))
    try:
        graph_of(tuple(Trigger(size, (*some, *everything), sets) for some in stated))
    except (Contradiction, Apart):
        return False
    return True


def _events(
    chance: Chance, units: list[tuple[int, ...]], n: int
) -> tuple[tuple[tuple[int, Event], ...], ...]:
    found: list[list[tuple[int, Event]]] = [[] for _ in range(n)]
    ts, some = 0, 14 if units[-1][-1] < 3 else 9
    for order in range(chance.integer(1, some)):
        ts += chance.choice((0, 1, 0, 2, 1))
        x, y = float(chance.integer(0, 3)), float(chance.integer(0, 1))
        values = (chance.choice((0, 1, 2, None)), chance.choice((0.0, 1.0, 0.5, NAN, None)))
        for trigger in range(n):
            bits = chance.integer(0, 31) | chance.integer(0, 31)
            variables = frozenset(v for k, unit in enumerate(units) if bits >> k & 1 for v in unit)
            if variables:
                found[trigger].append((order, Event(ts, x, y, variables, values)))
    return tuple(tuple(some) for some in found)


# ----- as columns


def columns(world: World) -> Events:
    """The events of all triggers, in event order."""
    every = {order: e for some in world.events for order, e in some}
    events = {order: every[order] for order in sorted(every)}
    orders = np.array(list(events), np.int64)
    values = [e.values or (None, None) for e in events.values()]
    whole, double = [v or 0 for v, _ in values], [v or 0.0 for _, v in values]
    value = np.stack([np.array(whole, np.int64), np.array(double, np.float64).view(np.int64)], axis=1)
    taken = [(order, e) for some in world.events for order, e in some]
    return Events(
        orders, np.array([e.ts for e in events.values()], np.int64),
        _places(world, list(events.values())), value,
        np.array([sum(1 << k for k, v in enumerate(some) if v is None) for some in values], np.int64),
        np.cumsum([0, *map(len, world.events)]),
        np.searchsorted(orders, np.array([order for order, _ in taken], np.int64)),
        np.array([sum(1 << v for v in e.variables) for _, e in taken], np.uint64),
    )  # fmt: skip


def _places(world: World, events: list[Event]) -> F64:
    x, y = np.array([(e.x, e.y) for e in events], np.float64).reshape(-1, 2).T
    return spread(x, y, world.graph().is_globe)


def part(events: Events, begin: int, end: int) -> Events:
    """Some of the events, one behind the other."""
    is_in, own = (begin <= events.event) & (events.event < end), slice(begin, end)
    start = np.append(0, np.cumsum(is_in))[events.start]
    return Events(
        events.order[own], events.ts[own], events.place[own], events.value[own], events.nulls[own], start,
        events.event[is_in] - begin, events.is_of[is_in],
    )  # fmt: skip


def cut(events: Events, at: list[int]) -> list[Events]:
    edges = [0, *sorted(a % (len(events.ts) + 1) for a in at), len(events.ts)]
    return [part(events, a, b) for a, b in itertools.pairwise(edges)]


def told(some: list[Solutions]) -> list[tuple[int, ...]]:
    """Trigger, then the events of the variables."""
    return [
        (int(t) - 10, *map(int, order)) for s in some for t, order in zip(s.trigger, s.order, strict=True)
    ]
