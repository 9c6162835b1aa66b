"""Random patterns whose steps are any queries that there are: as text, and as the oracle knows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tests.oracle.oracle import Row, tick_end
from tests.oracle.past import Past
from tests.oracle.patterns import MATCHED, Answers, Pattern, Position, Run, Step, told
from tests.oracle.persistency import Persistency
from tests.oracle.replaced import Eyes
from tests.oracle.replaced import told as told_by
from tests.oracle.select import Persistent, Query, Registered, streams_of
from tests.oracle.sql import rows
from tests.properties.chance import Chance
from tests.properties.expressions import NUMBER, ROUGH, TEXT, WHOLE
from tests.properties.queries import Grammar, any_query, items_of, own_key, persistent
from tests.properties.scenes import SECOND, Scene
from tests.properties.spoken import spoken

# By alias a step that stands before, and its column.
Links = tuple[tuple[int, str, int], ...]


@dataclass(frozen=True)
class Asked:
    """A step where it stands. `links`: its own column, and which column of which step before it equals."""

    alias: str
    number: int
    links: Links = ()
    is_by_name: bool = False
    how: str = ""
    stay_us: int | None = None
    times: int = 1


@dataclass(frozen=True)
class Place:
    steps: tuple[Asked, ...]
    word: str = ""
    nots: tuple[Asked, ...] = ()
    within_us: int | None = None
    of: str = ""


@dataclass(frozen=True)
class Other:
    """What a pattern goes on as, from a time on."""

    pattern: AskedPattern
    at_us: int


@dataclass(frozen=True)
class AskedPattern:
    """`queries` are its steps; `first` is the key of the first."""

    queries: tuple[Query, ...]
    bases: tuple[Registered, ...]
    first: Asked
    places: tuple[Place, ...]
    is_first: bool
    has_timeouts: bool
    is_skipping: bool
    only: str  # a condition
    begin: int | None
    end: int | None

    # ----- as text

    @property
    def shown(self) -> list[Asked]:
        """The steps that a match shows, in order."""
        return [self.first, *(step for place in self.places for step in place.steps)]

    def text(self) -> str:
        """Without its REGISTER."""
        used = {step.number for step in self.steps}
        given = ", ".join(f"s{n} AS ({spoken(self.queries[n])})" for n in sorted(used))
        items = []
        for step in self.shown:
            names = self.queries[step.number].names
            items += [f"{step.alias}.{name} AS {step.alias}_{n}" for n, name in enumerate(names)]
            items += [
                f"REACHED({step.alias}) AS {step.alias}_at",
                f"ENTERED({step.alias}) AS {step.alias}_in",
            ]
        where = f" WHERE {ONLY[self.only][0]}" if self.only else ""
        report = (
            f" REPORT {'FIRST' if self.is_first else 'ALL'}{' WITH TIMEOUTS' if self.has_timeouts else ''}"
        )
        skip = " AFTER MATCH SKIP PAST LAST STEP" if self.is_skipping else ""
        positions = [
            self._spoken(self.first),
            *(text for place in self.places for text in self._place(place)),
        ]
        return (
            f"WITH {given} SELECT OUTCOME() AS how, {', '.join(items)} "
            f"FROM {' THEN '.join(positions)}{where}{report}{skip}"
        )

    @property
    def steps(self) -> list[Asked]:
        return [self.first, *(step for place in self.places for step in (*place.nots, *place.steps))]

    def _place(self, place: Place) -> list[str]:
        found = [f"NOT {self._spoken(step)}" for step in place.nots]
        within = ""
        if place.within_us is not None:
            within = f" WITHIN {place.within_us // SECOND} SECONDS{f' OF {place.of}' if place.of else ''}"
        if not place.steps:
            return [*found[:-1], found[-1] + within]
        steps = f" {place.word} ".join(self._spoken(step) for step in place.steps)
        return [*found, f"({steps}){within}" if place.word else steps + within]

    def _spoken(self, step: Asked) -> str:
        words = [step.how, f"s{step.number} AS {step.alias}"]
        words += [] if step.stay_us is None else [f"FOR {step.stay_us // SECOND} SECONDS"]
        if step.links and not step.is_by_name:
            names = self.queries[step.number].names
            pairs = [
                f"{step.alias}.{names[own]} = {alias}.{self.queries[self._number(alias)].names[place]}"
                for own, alias, place in step.links
            ]
            words.append(f"ON {' AND '.join(pairs)}")
        words += [] if step.times == 1 else [f"{step.times} TIMES"]
        return " ".join(word for word in words if word)

    def _number(self, alias: str) -> int:
        return next(step.number for step in self.steps if step.alias == alias)

    @property
    def streams(self) -> set[str]:
        return set().union(*(streams_of(self.queries[step.number]) for step in self.steps))

    # ----- what it means

    def expected(self, past: Past, end: int | None, other: Other | None = None) -> list[tuple[int, Row]]:
        """What is told, and when. `end`: how far time went on."""
        streams = [past.streams[name] for name in self.streams]
        begun = [tick for stream in streams if (tick := stream.first_tick) is not None]
        closed = [tick for stream in streams if (tick := stream.closed_to) is not None]
        if not begun:
            return []
        last, tick_us = max(closed) if end is None else max(*closed, end), streams[0].tick_us
        exists = Registered("", self.queries[0], self.begin, self.end).exists
        ticks = [tick for tick in range(min(begun), last + 1, tick_us) if exists(tick)]
        if not ticks:
            return []
        known = replace(past, begin=ticks[0])
        numbers = {step.number for step in self.steps}
        before = {n: {tick: rows(bare(self.queries[n]), known, tick) for tick in ticks} for n in numbers}
        if other is None:
            return [(run.tick, self._row(run)) for run in told(self._meant(before, tick_us))]
        # From its tick on with other eyes, whatever was seen with the old ones.
        at = tick_end(other.at_us, tick_us)
        for number in numbers:
            query = bare(other.pattern.queries[number])
            before[number] |= {tick: rows(query, known, tick) for tick in ticks if tick >= at}
        eyes = Eyes(self._meant(before, tick_us), other.pattern._meant(before, tick_us), at)
        return [(run.tick, self._row(run)) for run in told_by(eyes)]

    def with_graces_of(self, other: AskedPattern) -> AskedPattern:
        """What a break is cannot be said of one that is over."""
        graces = [q.grace_us if isinstance(q, Persistent) else 0 for q in other.queries]
        queries = (
            replace(q, grace_us=grace) if isinstance(q, Persistent) else q
            for q, grace in zip(self.queries, graces, strict=True)
        )
        return replace(self, queries=tuple(queries))

    def _meant(self, answers: dict[int, Answers], tick_us: int) -> Pattern:
        def step(asked: Asked) -> Step:
            query = self.queries[asked.number]
            clause = query.asked if isinstance(query, Persistent) else Persistency(0, ())
            per = tuple(own for own, *_ in asked.links)
            if asked is self.first:
                per = tuple(query.names.index(name) for name in key_of(query))
            is_leaving = asked.how == "LEAVING"
            stay = asked.stay_us if asked.stay_us is not None else 0 if is_leaving else clause.stay_us
            return Step(
                asked.alias, answers[asked.number], replace(clause, stay_us=stay, per=per),
                tuple((alias, place) for _, alias, place in asked.links), asked.how == "ENTERING", is_leaving,
                asked.times,
            )  # fmt: skip

        places = tuple(
            Position(
                tuple(map(step, place.steps)), place.word == "AND", tuple(map(step, place.nots)),
                place.within_us, place.of,
            )
            for place in self.places
        )  # fmt: skip
        where = ONLY[self.only][1] if self.only else lambda run: True
        return Pattern(
            step(self.first), places, tick_us, self.is_first, self.has_timeouts, self.is_skipping, where
        )

    @property
    def times(self) -> set[int]:
        """The places of times in what is told."""
        found, at = set(), 1
        for step in self.shown:
            at += len(self.queries[step.number].names) + 2
            found |= {at - 2, at - 1}
        return found

    def _row(self, run: Run) -> Row:
        row: list[object] = [run.outcome]
        for step in self.shown:
            reached, width = run.reached.get(step.alias), len(self.queries[step.number].names)
            nothing: Row = (None,) * width
            row += nothing if reached is None or reached.row is None else reached.row
            row += [None, None] if reached is None else [reached.tick, reached.since]
        return tuple(row)


ONLY: dict[str, tuple[str, Callable[[Run], object]]] = {
    "ends well": ("OUTCOME() = 'matched'", lambda run: run.outcome == MATCHED),
    "stays": ("REACHED(p0) > ENTERED(p0)", lambda run: run.reached["p0"].tick > run.reached["p0"].since),
    "at once": ("REACHED(p0) = ENTERED(p0)", lambda run: run.reached["p0"].tick == run.reached["p0"].since),
}  # fmt: skip


def bare(query: Query) -> Query:
    """Without its own clause, which is counted from where its turn comes."""
    return query.query if isinstance(query, Persistent) else query


def key_of(query: Query) -> tuple[str, ...]:
    if isinstance(query, Persistent):
        return query.per
    found = own_key(query)
    assert found is not None
    return found


# ----- made at random


def patterns(chance: Chance, scene: Scene, kinds: Sequence[str], name: str) -> AskedPattern:
    grammar = Grammar(scene, frozenset(kinds) - {"at"}, name, [])
    queries = tuple(_step(chance, grammar) for _ in range(chance.choice([2, 1, 3])))
    first = Asked("p0", chance.integer(0, len(queries) - 1), how=chance.choice(["", "", "", "ENTERING"]))
    if own_key(queries[first.number]) is None:
        per = tuple(dict.fromkeys(chance.some(queries[first.number].names, 1, 2)))
        wrapped = Persistent(queries[first.number], chance.choice([0, 2]) * SECOND, per)
        queries = tuple(wrapped if n == first.number else q for n, q in enumerate(queries))
    if chance.integer(1, 5) == 5:
        first = replace(first, stay_us=chance.constant([1, 2, 0]) * SECOND)
    making = _Making(chance, queries, [first])
    count = chance.choice([1, 2, 1, 3, 0])
    places = tuple(making.place(i == count - 1) for i in range(count))
    begin = end = None
    if chance.integer(1, 4) == 4:
        begin, end = chance.choice([None, 2, 3, 5]), chance.choice([None, 10, 12])
    times = [None if s is None else s * SECOND for s in (begin, end)]
    return AskedPattern(
        queries, tuple(grammar.bases), first, places, chance.integer(1, 4) == 4, chance.flip(),
        chance.integer(1, 4) == 4, chance.choice(["", "", "", *ONLY]), *times,
    )  # fmt: skip


def _step(chance: Chance, grammar: Grammar) -> Query:
    query = any_query(chance, grammar.without("stddev"), chance.choice([0, 0, 1]))
    is_exact = all(item.kind != ROUGH for _, item in items_of(query))
    if not isinstance(query, Persistent) and is_exact and chance.integer(1, 4) == 4:
        query = persistent(chance, query)
    return query


class _Making:
    """Positions, one after the other; `before` are steps that later ones may be linked with."""

    def __init__(self, chance: Chance, queries: tuple[Query, ...], before: list[Asked]):
        self.chance, self.queries, self.before = chance, queries, before
        self.certain, self.count = [before[0].alias], 1

    def place(self, is_last: bool) -> Place:
        chance = self.chance
        nots = tuple(self._step(is_not=True) for _ in range(chance.choice([0, 0, 0, 1, 2])))
        word = chance.choice(["", "", "", "OR", "AND"])
        steps = tuple(self._step() for _ in range(2 if word else 1))
        if is_last and nots and chance.flip():
            steps, word = (), ""
        within, of = chance.constant([4, 1, 2, 0, 7, 12]) * SECOND, chance.choice(["", "", *self.certain])
        self.before += steps
        self.certain += [steps[0].alias] if len(steps) == 1 else []
        return Place(steps, word, nots, within, of)

    def _step(self, is_not: bool = False) -> Asked:
        chance, number = self.chance, self.chance.integer(0, len(self.queries) - 1)
        alias, self.count = f"p{self.count}", self.count + 1
        links = self._by_name(number) if chance.flip() else ()
        is_by_name = bool(links)
        links = links or self._by_on(number)
        how = chance.choice(["", "", "ENTERING", "LEAVING"])
        stay = chance.constant([2, 1, 0, 3]) * SECOND if chance.integer(1, 4) == 4 else None
        times = 1 if is_not else chance.choice([1, 1, 1, 2, 3])
        return Asked(alias, number, links, is_by_name, how, stay, times)

    def _by_name(self, number: int) -> Links:
        first = self.before[0]
        names, mine = self.queries[first.number].names, self.queries[number].names
        kinds, own = self._kinds(first.number), self._kinds(number)
        found = []
        for name in key_of(self.queries[first.number]):
            if name not in mine or not _are_alike(kinds[names.index(name)], own[mine.index(name)]):
                return ()
            found.append((mine.index(name), first.alias, names.index(name)))
        return tuple(found)

    def _by_on(self, number: int) -> Links:
        own = self._kinds(number)
        pairs = [
            (place, step.alias, other)
            for step in self.before
            for other, kind in enumerate(self._kinds(step.number))
            for place, mine in enumerate(own)
            if _are_alike(mine, kind)
        ]
        chosen = self.chance.some(pairs, 1, 2) if pairs else []
        return tuple({place: (place, alias, other) for place, alias, other in chosen}.values())

    def _kinds(self, number: int) -> list[str]:
        return [item.kind for _, item in items_of(self.queries[number])]


def _are_alike(one: str, other: str) -> bool:
    numbers = (NUMBER, WHOLE)
    return (one in numbers and other in numbers) or one == other == TEXT
