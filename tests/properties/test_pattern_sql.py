"""Whole patterns through the engine, against the oracle: any queries as steps, however cut and placed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from sanderling.clock import show_time
from sanderling.errors import QueryError
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plan.rules.feedback import feedback
from sanderling.plan.rules.place import place
from tests.engine.direct import DirectRun
from tests.long import drawn
from tests.oracle.oracle import comparable
from tests.properties.asked_patterns import AskedPattern, Other, patterns
from tests.properties.chance import Chance, made_of
from tests.properties.queries import KINDS
from tests.properties.runs import Cut, fences
from tests.properties.scenes import COLUMNS, SECOND, Scene, scenes
from tests.properties.spoken import spoken
from tests.properties.test_living_sql import OF_NOW
from tests.properties.test_living_sql import Chronicle as Seen
from tests.properties.test_sql import Case, declarations, pieces, run_of, write

__all__ = ["fences"]

MANY = settings(
    max_examples=drawn(20, 10_000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# What may be wrong with patterns that are made like this.
REFUSED = (
    "query.bad_pattern", "query.pattern_unsatisfiable", "query.unsupported", "query.missing_join",
    "query.wrong_type", "query.not_replaceable",
)  # fmt: skip
# What follows from what is there, whenever it was asked for.
STATELESS = (
    "region",
    "lasting",
    "previous",
    "fences",
    "groups",
    "total",
    "distinct",
    "union",
    "set operation",
)

# While streams run, a window begins with what is kept then.
NOW_AND_STATELESS = tuple(kind for kind in STATELESS if kind in OF_NOW)
# Tiles begin with what comes, whatever was before.
ANY = tuple(kind for kind in KINDS if kind != "tessellate")


@MANY
@given(chance=made_of(lambda chance: chance))
def test_what_is_told_is_what_the_definition_says(chance: Chance, fences: Path, tmp_path: Path) -> None:
    check(chance, fences, tmp_path)


@MANY
@given(chance=made_of(lambda chance: chance))
def test_what_is_replaced_goes_on_with_other_eyes(chance: Chance, fences: Path, tmp_path: Path) -> None:
    check(chance, fences, tmp_path, is_replaced=True)


def check(chance: Chance, fences: Path, folder: Path, is_replaced: bool = False) -> str:
    """Compares what is told; the code of what is refused, or how much there was to compare."""
    scene = scenes(chance, may_be_rough=False)
    at = chance.at
    asked = patterns(chance, scene, STATELESS if is_replaced else ANY, "p")
    other = None
    if is_replaced:
        again = patterns(chance.again(at), scene, STATELESS, "p").with_graces_of(asked)
        other = Other(again, chance.choice([6, 3, 8]) * SECOND)
    rules = [rule for rule in RULES if rule is not chance.choice([None, None, place, feedback])]
    cut = Cut(
        chance.choice([1 << 20, 300, 120, 1]), chance.choice([1, 2, 7]),
        chance.choice(["never", "never", "delta", "snapshot", "mixed"]), chance.flip(), chance.flip(),
    )  # fmt: skip
    case = Case(scene, [], cut, pieces(chance, scene), chance.flip())
    planner = Planner(rules=rules)
    planner.run_script(";\n".join(declarations(folder, fences, scene)))
    for base in asked.bases:
        planner.run_script(f"REGISTER QUERY {base.name} AS {spoken(base.query)}")
    begin = "" if asked.begin is None else f"AT {asked.begin // SECOND} "
    try:
        planner.run_script(f"{begin}REGISTER PATTERN p AS {asked.text()}")
        if other is not None:
            planner.run_script(f"AT {other.at_us // SECOND} REPLACE PATTERN p AS {other.pattern.text()}")
    except QueryError as e:
        assert e.code in REFUSED, (asked.text(), e)
        return e.code
    if asked.end is not None:
        planner.run_script(f"AT {asked.end // SECOND} DROP PATTERN p")
    planner.run_script(";\n".join(f"AT {change.at_s} {change.sql}" for change in scene.changes[1:]))
    end = None if case.has_ends else scene.last_tick()
    return compare(run_of(case, planner.plan(), folder), asked, scene, end, other)


@MANY
@given(chance=made_of(lambda chance: chance))
def test_what_comes_while_streams_run_begins_with_the_next_tick(
    chance: Chance, fences: Path, tmp_path: Path
) -> None:
    check_living(chance, fences, tmp_path)


def check_living(chance: Chance, fences: Path, folder: Path) -> str:
    """A pattern that comes, goes on as another, and goes, with no time said; the same as `check` gives."""
    scene = scenes(chance, may_be_rough=False, has_changes=False)
    kinds = chance.choice([NOW_AND_STATELESS, OF_NOW])
    at = chance.at
    asked = patterns(chance, scene, kinds, "p")
    again = patterns(chance.again(at), scene, kinds, "p").with_graces_of(asked)
    parts, living, chronicle = pieces(chance, scene), LivingPlan(), Chronicle(scene)
    comes, turns, goes = (chance.integer(0, len(parts)) for _ in range(3))
    can_turn = kinds is NOW_AND_STATELESS and len(asked.streams) == 1
    is_snapshot = chance.choice([None, None, False, True])
    living.execute(";\n".join(declarations(folder, fences, scene)))
    direct = DirectRun(
        living.start().plan, chance.choice([1, 2, 7]), chance.choice([1 << 20, 120, 1]), chance.flip(),
        chance.flip(), living,
    )  # fmt: skip
    other, begin, end = None, None, None
    for number, piece in enumerate([*parts, None]):
        next_tick = chronicle.next_tick(asked.streams)
        try:
            if number == comes:
                bases = [f"REGISTER QUERY {b.name} AS {spoken(b.query)}" for b in asked.bases]
                direct.execute(";\n".join([*bases, f"REGISTER PATTERN p AS {asked.text()}"]))
                begin = next_tick
            elif number == turns > comes and can_turn:
                direct.execute(f"REPLACE PATTERN p AS {again.text()}")
                other = Other(again, next_tick or 0)
            elif number == goes > max(comes, turns) and can_turn and next_tick is not None:
                direct.execute("DROP PATTERN p")
                end = next_tick
        except QueryError as e:
            assert e.code in REFUSED, (asked.text(), e)
            if number == comes:
                return e.code
        if is_snapshot is not None:
            direct.restart(is_snapshot)
        if piece is not None:
            name, a, b = piece
            readings = scene.streams[name].readings[a:b]
            direct.feed_file(name, write(folder / "part.csv", COLUMNS, [r.values for r in readings]))
            chronicle.seen[name] += readings
    last = scene.last_tick()
    for name in scene.streams if last is not None else ():
        direct.close_to(name, last)
    return compare(direct, replace(asked, begin=begin, end=end), scene, last, other)


class Chronicle(Seen):
    """How far streams have come."""

    def next_tick(self, names: set[str]) -> int | None:
        """The first that none of them has closed; None: as if there from the start."""
        ends = [end for name in names if self.has_past(name) and (end := self.closed_to(name)) is not None]
        return max(ends) + self.scene.tick_s * SECOND if ends else None


def compare(
    direct: DirectRun, asked: AskedPattern, scene: Scene, end: int | None, other: Other | None
) -> str:
    lines = [json.loads(line) for line in direct.updates]
    got = Counter(
        (u["tick"], u["sign"], tuple(comparable(v) for v in u["row"].values()))
        for u in lines
        if u["query"] == "p"
    )
    wanted = Counter(
        (show_time(tick), 1, tuple(shown(v, n in asked.times) for n, v in enumerate(row)))
        for tick, row in asked.expected(scene.past, end, other)
    )
    assert got == wanted, (asked.text(), other and other.pattern.text(), got - wanted, wanted - got)
    return f"{min(len(wanted), 3)} told{' replaced' if other else ''}"


def shown(value: object, is_time: bool) -> object:
    return show_time(value) if is_time and isinstance(value, int) else comparable(value)
