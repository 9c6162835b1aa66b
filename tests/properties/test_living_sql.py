"""Whole queries that come and go while streams run, against the oracle: each from the tick it begins at.

A query is as if it had always been there, from the next tick on that none of its streams had closed. A window
begins with what is kept then: so where windows are asked for, either others keep everything from the start,
or it is only compared how it begins under several cuts.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from sanderling.clock import show_time
from sanderling.plan.grow.living import LivingPlan
from tests.engine.direct import DirectRun
from tests.long import drawn
from tests.oracle import Reading
from tests.oracle.oracle import arrive, comparable, tick_end
from tests.oracle.past import Past, Table
from tests.oracle.select import Registered, streams_of
from tests.oracle.sql import run
from tests.properties.chance import Chance, made_of
from tests.properties.queries import KINDS, Asked, queries
from tests.properties.runs import Cut, fences, pairing
from tests.properties.scenes import COLUMNS, SECOND, SITES, Scene, literal, scenes
from tests.properties.test_sql import declarations, pieces, write
from tests.properties.worlds import KEYS

__all__ = ["fences"]

MANY = settings(
    max_examples=drawn(5, 3000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# When a query comes or goes is up to the test. One with tiles begins with what comes, whatever was before.
LIVING = tuple(kind for kind in KINDS if kind not in ("at", "tessellate"))
OF_THE_PAST = ("lasting", "rows", "rows per key", "until next", "until", "previous")
OF_NOW = tuple(kind for kind in LIVING if kind not in OF_THE_PAST)
MOST = 6  # queries of a tale


@dataclass(frozen=True)
class Pause:
    """Between two pieces of the streams, in one call: queries that go and come, and how far the table is."""

    goes: list[Asked]
    comes: list[Asked]
    changes: int


@dataclass(frozen=True)
class Tale:
    scene: Scene
    pieces: list[tuple[str, int, int]]
    pauses: list[Pause]  # one before each piece, and one behind the last
    cut: Cut


def tales(chance: Chance, kinds: tuple[str, ...]) -> Tale:
    scene = scenes(chance)
    parts = pieces(chance, scene)
    pauses: list[Pause] = []
    living: list[Asked] = []
    number, changes, at = 0, 0, chance.at
    for _ in range(len(parts) + 1):
        goes = [asked for asked in living if chance.integer(1, 5) == 5]
        comes = []
        for _ in range(min(chance.choice([1, 0, 2]), MOST - number)):
            again = chance.again(at) if number and chance.integer(1, 3) == 3 else chance
            at = chance.at if again is chance else at
            comes.append(queries(again, scene, number, kinds))
            number += 1
        changes = min(changes + chance.choice([0, 0, 1]), len(scene.changes) - 1)
        living = [asked for asked in (*living, *comes) if asked not in goes]
        pauses.append(Pause(goes, comes, changes))
    cut = Cut(
        chance.choice([1 << 20, 300, 120, 1]), chance.choice([1, 2, 7]),
        chance.choice(["never", "never", "delta", "snapshot", "mixed"]), chance.flip(), chance.flip(),
    )  # fmt: skip
    return Tale(scene, parts, pauses, cut)


# -- what the oracle has to be asked ------------------------------------------------


@dataclass
class Known:
    """A query that came: what it reads, from when to when, and what the table was for it."""

    name: str
    asked: Registered
    begin: int | None
    end: int | None
    table: list[tuple[int | None, list[dict[str, object]]]]
    is_gone: bool = False

    def registered(self) -> Registered:
        return Registered(self.name, self.asked.query, self.begin, self.end)


@dataclass
class Chronicle:
    """Which query was there from which tick to which."""

    scene: Scene
    seen: dict[str, list[Reading]] = field(default_factory=lambda: {"objects": [], "others": []})
    known: list[Known] = field(default_factory=list)

    def closed_to(self, name: str) -> int | None:
        stream = self.scene.streams[name]
        return arrive(self.seen[name], stream.tick_us, stream.lateness_us, ended=False)[2]

    def has_past(self, name: str) -> bool:
        stream, closed = self.scene.streams[name], self.closed_to(name)
        accepted = arrive(self.seen[name], stream.tick_us, stream.lateness_us, ended=False)[0]
        return closed is not None and any(tick_end(r.ts, stream.tick_us) <= closed for r in accepted)

    def next_of_all(self, query: Registered) -> int | None:
        """The first tick that none of its streams has closed; None: it is as if there from the start."""
        begun = [name for name in streams_of(query.query) if self.has_past(name)]
        ends = [end for name in begun if (end := self.closed_to(name)) is not None]
        return max(ends) + self.scene.tick_s * SECOND if ends else None

    def next_of_any(self, query: Registered) -> int | None:
        """The first tick that some of its streams has not closed: what was told came before it."""
        ends = [self.closed_to(name) for name in streams_of(query.query)]
        return (
            None if None in ends else min(end for end in ends if end is not None) + self.scene.tick_s * SECOND
        )

    def comes(self, asked: Asked, changes: int) -> None:
        for query in asked.all():
            table = [(None, self.scene.changes[changes].rows)]
            self.known.append(Known(query.name, query, self.next_of_all(query), None, [*table]))

    def goes(self, asked: Asked) -> None:
        for known in [k for k in self.known if k.asked in asked.all()]:
            known.end, known.is_gone = self.next_of_any(known.asked), True
            # It waits until all its streams have begun with it.
            if not all(self.has_past(name) for name in streams_of(known.asked.query)):
                self.known.remove(known)

    def changes(self, number: int) -> None:
        for known in (k for k in self.known if not k.is_gone):
            rows = self.scene.changes[number].rows
            since = self.next_of_any(known.asked)
            known.table = [(None, rows)] if since is None else [*known.table, (since, rows)]

    def names(self) -> list[str]:
        return [known.name for known in self.known if not known.is_gone]

    def wanted(self, end: int) -> Counter[tuple[object, ...]]:
        found: Counter[tuple[object, ...]] = Counter()
        for known in self.known:
            past = Past(self.scene.past.streams, {"sites": Table(SITES, known.table)})
            updates = run(past, [known.registered()], end).updates
            found.update((show_time(t), q, s, row) for t, q, s, row in updates)
        return found


# -- the engine ---------------------------------------------------------------------


def keepers(scene: Scene) -> list[str]:
    """Queries that keep all readings, what was before them, and where focal objects were."""
    found = []
    for stream in scene.streams:
        before = ", ".join(f"PREVIOUS({name}) AS {name}" for name in ("ts", "speed", "kind", "n"))
        found.append(f"REGISTER QUERY keep_{stream} AS SELECT id, {before} FROM {stream} WINDOW 1 HOUR")
        for number, key in enumerate(KEYS):
            focal = literal(scene.key_of(key))
            found.append(
                f"REGISTER QUERY keep_{stream}{number} AS SELECT id FROM {stream} INSIDE ('M', {focal}, 1) "
                "WINDOW 1 HOUR"
            )
    return found


def play(tale: Tale, cut: Cut, is_kept: bool, fences: Path, folder: Path) -> tuple[DirectRun, Chronicle]:
    living = LivingPlan()
    kept = keepers(tale.scene) if is_kept else []
    living.execute(";\n".join([*declarations(folder, fences, tale.scene), *kept]))
    direct = DirectRun(living.start().plan, cut.shards, cut.bytes, cut.has_empty, cut.takes_turns, living)
    chronicle, changes = Chronicle(tale.scene), 0
    for number, (here, piece) in enumerate(zip(tale.pauses, [*tale.pieces, None], strict=True)):
        said = [f"DROP QUERY {query.name}" for asked in here.goes for query in reversed(asked.all())]
        said += [statement for asked in here.comes for statement in asked.statements()]
        said += [change.sql for change in tale.scene.changes[changes + 1 : here.changes + 1]]
        for asked in here.goes:
            chronicle.goes(asked)
        if here.changes > changes:
            chronicle.changes(here.changes)
        for asked in here.comes:
            chronicle.comes(asked, here.changes)
        changes = here.changes
        if said:
            direct.execute(";\n".join(said))
        if cut.restarts != "never":
            direct.restart(cut.restarts == "snapshot" or (cut.restarts == "mixed" and number % 2 == 0))
        if piece is not None:
            name, a, b = piece
            readings = tale.scene.streams[name].readings[a:b]
            direct.feed_file(name, write(folder / "part.csv", COLUMNS, [r.values for r in readings]))
            chronicle.seen[name] += readings
        check_answers(direct, chronicle.names()[-1:])  # each ask takes a batch
    end = tale.scene.last_tick()
    assert end is not None
    for name in tale.scene.streams:
        direct.close_to(name, end)
    check_answers(direct, chronicle.names())
    return direct, chronicle


def check_answers(direct: DirectRun, names: list[str]) -> None:
    """Asked for, an answer is what its updates add up to."""
    for name in names:
        held: Counter[str] = Counter()
        for update in map(json.loads, direct.updates[direct.since[name] :]):
            if update["query"] == name:
                held[json.dumps(update["row"])] += update["sign"]
        assert min(held.values(), default=0) >= 0
        assert +held == Counter(json.dumps(json.loads(line)["row"]) for line in direct.ask(name)), name


def told(direct: DirectRun) -> list[tuple[object, ...]]:
    return [
        (u["tick"], u["query"], u["sign"], tuple(comparable(v) for v in u["row"].values()))
        for u in map(json.loads, direct.updates)
        if not u["query"].startswith("keep_")
    ]


def said_in(tale: Tale) -> list[str]:
    return [text for here in tale.pauses for asked in here.comes for text in asked.statements()]


# -- properties -----------------------------------------------------------------------


@pytest.mark.parametrize("is_kept", [False, True])
@MANY
@given(chance=made_of(lambda chance: chance))
def test_queries_come_and_go(is_kept: bool, chance: Chance, fences: Path, tmp_path: Path) -> None:
    tale = tales(chance, LIVING if is_kept else OF_NOW)
    direct, chronicle = play(tale, tale.cut, is_kept, fences, tmp_path)
    end = tale.scene.last_tick()
    assert end is not None
    got = told(direct)
    assert Counter(got) == chronicle.wanted(end), said_in(tale)
    pairing(got)


@MANY
@given(chance=made_of(lambda chance: chance))
def test_what_comes_later_begins_alike_however_the_input_is_cut(
    chance: Chance, fences: Path, tmp_path: Path
) -> None:
    """What is kept when a query comes depends on plan and clocks alone."""
    tale = tales(chance, LIVING)
    plain = Cut(1 << 20, 1, "never", False, False)
    wanted, got = (Counter(told(play(tale, cut, False, fences, tmp_path)[0])) for cut in (plain, tale.cut))
    assert got == wanted, said_in(tale)
