"""What queries must tell, worked out from the definitions by brute force.

readings ──► late or accepted ──► NOW at T ──► Answer(q, T) ──► minus Answer(q, T - tick) ──► updates

`run` recomputes everything at every tick that matters. `run_fast` keeps each object's row, for real data.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import NamedTuple

from .globe import chord
from .held import Window, held_at, with_previous
from .shapes import Changing, Following, Shape, focal_of

Row = tuple[object, ...]
Values = dict[str, object]

NAN = float("nan")


@dataclass(frozen=True)
class Reading:
    """An object says where it is; `values` holds all columns by name, key and time included."""

    key: object
    ts: int  # microseconds
    x: float
    y: float
    values: Values
    gone: bool = False


def always(values: Values) -> bool:
    """The WHERE of a query that has none."""
    return True


@dataclass(frozen=True)
class Nearest:
    """kNN: only the k nearest of those that a query would hold; to a place, or to a focal object."""

    k: int
    x: float = 0.0
    y: float = 0.0
    focal: object = None  # its key; None: to the place
    is_globe: bool = False


@dataclass(frozen=True)
class Query:
    """A query, existing at the ticks T with begin <= T < end; it begins with its whole answer.

    It is over NOW, or over a window.

    One (shape, attributes) per row of a joined table of regions; a plain query has one, with {}.
    `where` and `select` get the reading's values and the shape's attributes in one dict (attributes win).
    """

    name: str
    shapes: Sequence[tuple[Shape, Values]]
    select: Callable[[Values], Row]
    where: Callable[[Values], bool | None] = always  # None is SQL's NULL: not satisfied
    begin: int | None = None
    end: int | None = None
    nearest: Nearest | None = None
    # By shape the ticks that its row is in the table: from the first on, up to the second; empty: all.
    lives: Sequence[tuple[int | None, int | None]] = ()
    window: Window | None = None

    def exists(self, tick: int) -> bool:
        return (self.begin is None or self.begin <= tick) and (self.end is None or tick < self.end)

    def has(self, shape: int, tick: int) -> bool:
        """Is the row of this shape in the table at `tick`?"""
        if not self.lives:
            return True
        begin, end = self.lives[shape]
        return (begin is None or begin <= tick) and (end is None or tick < end)


class Update(NamedTuple):
    """One signed row: +1 came in, -1 went out."""

    tick: int
    query: str
    sign: int
    row: Row


@dataclass(frozen=True)
class Result:
    """Updates by tick, query, sign, row; indices of late readings; the last closed tick, if any."""

    updates: list[Update] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    closed_to: int | None = None


def run(
    readings: Iterable[Reading],
    queries: Sequence[Query],
    tick_us: int,
    lateness_us: int = 0,
    stale_after_us: int | None = None,
    ended: bool = True,
) -> Result:
    """The plain version: every answer from all readings, at every tick that matters."""
    refuse_two_at_once(queries)
    accepted, late, closed_to = arrive(readings, tick_us, lateness_us, ended)
    accepted = with_previous(accepted, tick_us, stale_after_us)
    updates: list[Update] = []
    for tick in ticks_that_matter(accepted, queries, tick_us, stale_after_us, closed_to):
        for query in queries:
            if query.exists(tick):
                change = answer_at(query, tick, accepted, tick_us, stale_after_us)
                if query.exists(tick - tick_us):
                    change.subtract(answer_at(query, tick - tick_us, accepted, tick_us, stale_after_us))
                updates += signed(tick, query.name, change)
    return Result(sorted(updates, key=order), late, closed_to)


def run_fast(
    readings: Iterable[Reading],
    queries: Sequence[Query],
    tick_us: int,
    lateness_us: int = 0,
    stale_after_us: int | None = None,
    ended: bool = True,
) -> Result:
    """The same as `run`, looking again only at objects that changed, or at all if the shape moved.

    Promises (test_any_run.py): equals `run`.
    """
    refuse_two_at_once(queries)
    accepted, late, closed_to = arrive(readings, tick_us, lateness_us, ended)
    reported: dict[int, list[Reading]] = defaultdict(list)
    falling_silent: dict[int, list[object]] = defaultdict(list)
    for reading in sorted(accepted, key=lambda reading: reading.ts):  # stable: arrival breaks ties
        reported[tick_end(reading.ts, tick_us)].append(reading)
        if stale_after_us is not None:
            falling_silent[stale_tick(reading, tick_us, stale_after_us)].append(reading.key)

    last: dict[object, Reading] = {}
    now: dict[object, Reading] = {}
    held: dict[tuple[int, int], dict[object, Row]] = defaultdict(dict)  # (query, shape) -> key -> row
    answers: dict[int, Counter[Row]] = {}  # of kNN queries, which are looked at whole
    updates: list[Update] = []
    for tick in ticks_that_matter(accepted, queries, tick_us, stale_after_us, closed_to):
        last.update((reading.key, reading) for reading in reported[tick])
        changed = {reading.key for reading in reported[tick]} | set(falling_silent[tick])
        for key in changed:
            now.pop(key, None)
            if is_present(last[key], tick, stale_after_us):
                now[key] = last[key]
        for q, query in enumerate(queries):
            if query.exists(tick) and query.nearest is not None:
                before = answers.get(q, Counter()) if query.exists(tick - tick_us) else Counter()
                answers[q] = answer(query, now, tick)
                change = Counter(answers[q])
                change.subtract(before)
                updates += signed(tick, query.name, change)
            elif query.exists(tick):
                begins = not query.exists(tick - tick_us)
                change = Counter()
                for s, (shape, attributes) in enumerate(query.shapes):
                    rows = held[q, s]
                    if begins:
                        rows.clear()
                    if not query.has(s, tick):
                        change.subtract(rows.values())
                        rows.clear()
                        continue
                    appears = begins or not query.has(s, tick - tick_us)
                    moved = focal_of(shape) in changed or has_stepped(shape, tick, tick_us)
                    for key in last if appears or moved else changed:
                        if key in rows:
                            change[rows.pop(key)] -= 1
                        row = row_of(query, shape, attributes, now[key], now, tick) if key in now else None
                        if row is not None:
                            rows[key] = row
                            change[row] += 1
                updates += signed(tick, query.name, change)
    return Result(sorted(updates, key=order), late, closed_to)


# -- time ---------------------------------------------------------------------


def tick_end(ts: int, tick_us: int) -> int:
    """The end of the tick that `ts` belongs to: the next multiple of the tick, or `ts` itself."""
    return -(-ts // tick_us) * tick_us


def stale_tick(reading: Reading, tick_us: int, stale_after_us: int) -> int:
    """The first tick T with T - ts > stale_after."""
    return ((reading.ts + stale_after_us) // tick_us + 1) * tick_us


def arrive(
    readings: Iterable[Reading], tick_us: int, lateness_us: int, ended: bool
) -> tuple[list[Reading], list[int], int | None]:
    """Readings accepted, in order of arrival; indices of the late ones; the last tick that closed."""
    accepted: list[Reading] = []
    late: list[int] = []
    highest: int | None = None
    for index, reading in enumerate(readings):
        if highest is not None and highest - lateness_us > tick_end(reading.ts, tick_us):
            late.append(index)
            continue
        accepted.append(reading)
        highest = reading.ts if highest is None else max(highest, reading.ts)
    if highest is None:
        return accepted, late, None
    if ended:
        return accepted, late, tick_end(highest, tick_us)
    # A tick closes when the clock is past its end, so the tick that holds the clock is still open.
    return accepted, late, tick_end(highest - lateness_us, tick_us) - tick_us


def ticks_that_matter(
    accepted: Iterable[Reading],
    queries: Iterable[Query],
    tick_us: int,
    stale_after_us: int | None,
    closed_to: int | None,
) -> list[int]:
    """Closed ticks with a reading, an object falling silent, a query's begin or end; no other can change."""
    if closed_to is None:
        return []
    ticks: set[int] = set()
    for reading in accepted:
        ticks.add(tick_end(reading.ts, tick_us))
        if stale_after_us is not None:
            ticks.add(stale_tick(reading, tick_us, stale_after_us))
    for query in queries:
        times = [query.begin, query.end, *(at for life in query.lives for at in life)]
        ticks |= {tick_end(at, tick_us) for at in times if at is not None}
        if query.window is not None and query.window.last_us is not None:
            ticks |= {tick_end(reading.ts + query.window.last_us, tick_us) for reading in accepted}
        ticks |= {
            tick
            for shape, _ in query.shapes
            if isinstance(shape, Changing)
            for tick in range(min(ticks, default=0), closed_to + 1, tick_us)
            if has_stepped(shape, tick, tick_us)
        }
    return sorted(tick for tick in ticks if tick <= closed_to)


# -- answers ------------------------------------------------------------------


def is_present(reading: Reading, tick: int, stale_after_us: int | None) -> bool:
    """Does an object whose last reading this is still exist at `tick`?"""
    return not reading.gone and (stale_after_us is None or tick - reading.ts <= stale_after_us)


def now_at(tick: int, accepted: Iterable[Reading], stale_after_us: int | None) -> dict[object, Reading]:
    """Each present object's last reading as at `tick`; of two with the same time the later arrival."""
    last: dict[object, Reading] = {}
    for reading in accepted:
        if reading.ts <= tick and (reading.key not in last or reading.ts >= last[reading.key].ts):
            last[reading.key] = reading
    return {key: reading for key, reading in last.items() if is_present(reading, tick, stale_after_us)}


def answer_at(
    query: Query, tick: int, accepted: list[Reading], tick_us: int, stale_after_us: int | None
) -> Counter[Row]:
    """The multiset of rows of a query as at `tick`, given all readings."""
    if query.window is None:
        return answer(query, now_at(tick, accepted, stale_after_us), tick)
    found: Counter[Row] = Counter()
    moves = any(focal_of(shape) is not None for shape, _ in query.shapes)
    for reading in held_at(query.window, tick, accepted, tick_us, stale_after_us):
        # A reading is judged by the region as it was in the reading's own tick.
        its_tick = tick_end(reading.ts, tick_us)
        then = now_at(its_tick, accepted, stale_after_us) if moves else {}
        for s, (shape, attributes) in enumerate(query.shapes):
            if not query.has(s, tick):
                continue
            row = row_of(query, shape, attributes, reading, then, its_tick)
            if row is not None:
                found[row] += 1
    return found


def answer(query: Query, now: Mapping[object, Reading], tick: int = 0) -> Counter[Row]:
    """The multiset of rows of a query, given everybody's last reading; of those in its table at `tick`."""
    held = [
        (reading, row)
        for s, (shape, attributes) in enumerate(query.shapes)
        if query.has(s, tick)
        for reading in now.values()
        if (row := row_of(query, shape, attributes, reading, now, tick)) is not None
    ]
    return Counter(row for _, row in (held if query.nearest is None else nearest(query.nearest, held, now)))


def nearest(
    ask: Nearest, held: list[tuple[Reading, Row]], now: Mapping[object, Reading]
) -> list[tuple[Reading, Row]]:
    """The k nearest, ties by the smaller key; nobody while the focal object is absent, and never itself."""
    x, y = float(ask.x), float(ask.y)
    if ask.focal is not None:
        if ask.focal not in now:
            return []
        x, y = float(now[ask.focal].x), float(now[ask.focal].y)

    def by_distance(one: tuple[Reading, Row]) -> tuple[object, ...]:
        if ask.is_globe:
            return (chord(float(one[0].x), float(one[0].y), x, y), one[0].key)
        dx, dy = float(one[0].x) - x, float(one[0].y) - y
        return (dx * dx + dy * dy, one[0].key)

    others = [one for one in held if ask.focal is None or one[0].key != ask.focal]
    return sorted(others, key=by_distance)[: ask.k]


def row_of(
    query: Query, shape: Shape, attributes: Values, reading: Reading, now: Mapping[object, Reading],
    tick: int,
) -> Row | None:  # fmt: skip
    """The row that one object and one shape give at a tick, or None."""
    if not is_inside(shape, reading, now, tick):
        return None
    values = {**reading.values, **attributes}
    return tuple(comparable(value) for value in query.select(values)) if query.where(values) else None


def is_inside(shape: Shape, reading: Reading, now: Mapping[object, Reading], tick: int) -> bool:
    """A moving shape holds nobody while its focal object is absent, and never the focal object itself."""
    if isinstance(shape, Changing):
        shape = shape.at(tick)
    if isinstance(shape, Following):
        if shape.focal not in now or reading.key == shape.focal:
            return False
        focal = now[shape.focal]
        return shape.holds(reading.x, reading.y, focal.x, focal.y)
    return shape.holds(reading.x, reading.y)


def has_stepped(shape: Shape, tick: int, tick_us: int) -> bool:
    """Has it changed by itself since the tick before?"""
    return isinstance(shape, Changing) and shape.steps(tick) != shape.steps(tick - tick_us)


def refuse_two_at_once(queries: Sequence[Query]) -> None:
    """A name may be used again, but only after its first bearer has ended."""
    bearers: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        for other in bearers[query.name]:
            begins = [at for at in (query.begin, other.begin) if at is not None]
            ends = [at for at in (query.end, other.end) if at is not None]
            if not begins or not ends or max(begins) < min(ends):
                raise ValueError(f"two queries are named {query.name!r} at the same time")
        bearers[query.name].append(query)


# -- rows ---------------------------------------------------------------------


def comparable(value: object) -> object:
    """The value itself, but one and the same NaN for all: containers find it by identity."""
    return NAN if value != value else value


def signed(tick: int, query: str, change: Mapping[Row, int]) -> list[Update]:
    """A row that came or went n times is told n times."""
    return [
        Update(tick, query, 1 if count > 0 else -1, row)
        for row, count in change.items()
        for _ in range(abs(count))
    ]


def order(update: Update) -> tuple[object, ...]:
    """Sort key: tick, query, - before +, row with None last and NaN after the numbers."""
    return (update.tick, update.query, update.sign, [value_order(value) for value in update.row])


def value_order(value: object) -> tuple[object, ...]:
    if value is None:
        return (1,)
    kind = "number" if isinstance(value, Number) else type(value).__name__
    is_nan = value != value
    return (0, kind, is_nan, 0 if is_nan else value)
