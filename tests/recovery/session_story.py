"""What happens in a session that is going to be killed: readings step by step; what comes and goes."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.oracle.oracle import Nearest, Query, Reading, Update, answer_at, arrive, run, signed, tick_end
from tests.oracle.patterns import Answers, Pattern, Position
from tests.oracle.patterns import Step as PatternStep
from tests.oracle.patterns import told as told_by_pattern
from tests.oracle.persistency import Persistency, persistent
from tests.oracle.shapes import Box, Disc, Everywhere, MovingBox, MovingDisc, Shape
from tests.oracle.triggers import Distance, Event, Time, Trigger, Values, solutions_early

STEPS = 12
SECONDS_PER_STEP = 3
SECOND = 1_000_000
OBJECTS = 9

Told = Counter[tuple[str, int, int, str]]  # query, tick, sign, id


@dataclass(frozen=True)
class Act:
    """A query comes or goes before a step's readings; `is_exact`: everything before it has been processed."""

    step: int
    name: str
    select: str = ""  # nothing: it goes; of a trigger what follows its name
    is_exact: bool = True

    @property
    def sql(self) -> str:
        kind = "TRIGGER" if self.name in TRIGGERS else "PATTERN" if self.name in PATTERNS else "QUERY"
        if not self.select:
            return f"DROP {kind} `{self.name}`"
        if kind == "TRIGGER":
            return f"CREATE TRIGGER `{self.name}` {self.select}"
        return f"REGISTER {kind} `{self.name}` AS {self.select}"


# By space and by query; steps are shorter than what is waited for.
MEET = """FOR cars AS a, cars AS b WHEN a.id < b.id AND DISTANCE(a, b) < 2 AND WITHIN 4 SECONDS
SELECT concat_ws(' ', a.id, a.ts, b.id, b.ts) AS id"""
THREE_MEET = """FOR 3 OF cars AS v WHEN v.speed > 1 AND DISTANCE(v) <= 3 AND WITHIN 5 SECONDS
SELECT concat_ws(' ', v1.id, v1.ts, v2.id, v2.ts, v3.id, v3.ts) AS id WITH (route = 'query')"""

# In shards, and in merge partitions; most rows come because time passes.
DWELL = "SELECT id FROM cars INSIDE (1, 1, 9, 9) PERSISTENCY 2 SECONDS GRACE 1 SECOND"
AMONG_FIVE = "SELECT id FROM cars kNN (5, 5, 5) PERSISTENCY 2 SECONDS"

# In shards, looking only at those whose run waits; and in merge partitions.
VISITS = """WITH a AS (SELECT id FROM cars INSIDE (0, 0, 5, 10) PERSISTENCY 1 SECOND),
b AS (SELECT id FROM cars WHERE speed > 1 INSIDE (4, 0, 10, 10)),
c AS (SELECT id FROM cars INSIDE (0, 8, 10, 10))
SELECT concat_ws(' ', id, OUTCOME()) AS id FROM a THEN NOT c THEN b WITHIN 5 SECONDS
THEN LEAVING b AS out FOR 2 SECONDS WITHIN 6 SECONDS REPORT ALL WITH TIMEOUTS"""
CROSSES = """WITH a AS (SELECT id FROM cars kNN (3, 2, 2)), b AS (SELECT id FROM cars kNN (3, 8, 8))
SELECT concat_ws(' ', id, OUTCOME()) AS id FROM a THEN b WITHIN 7 SECONDS REPORT ALL WITH TIMEOUTS"""

# By a state that the program brings, which has a table of its own.
AGAIN_S = 2
AGAIN = f"""WITH a AS (SELECT id FROM cars WHERE speed > 1 INSIDE (4, 0, 10, 10))
SELECT concat_ws(' ', id, OUTCOME()) AS id FROM a USING Speeding({AGAIN_S})"""

ACTS = (
    Act(0, "depot", "SELECT id FROM cars INSIDE (2, 2, 7, 7)"),
    Act(1, "three", "SELECT id FROM cars kNN (3, 5, 5)"),  # from here on there are merge partitions
    Act(1, "near o1", "SELECT id FROM cars kNN ('M', 2, 'o1')"),
    Act(2, "round o2", "SELECT id FROM cars INSIDE ('M', 'o2', 4)", is_exact=False),
    Act(3, "depot"),
    Act(4, "box o3", "SELECT id FROM cars WHERE speed > 1 INSIDE ('M', 'o3', 6, 8)"),
    Act(5, "depot", "SELECT id FROM cars INSIDE (5, 5, 3)"),
    Act(6, "three", is_exact=False),
    Act(6, "fast near o2", "SELECT id FROM cars WHERE speed > 1 kNN ('M', 3, 'o2')"),
    Act(7, "near o1", is_exact=False),
    Act(8, "near o1 again", "SELECT id FROM cars kNN ('M', 1, 'o1')", is_exact=False),
    Act(9, "round o2"),
    Act(10, "everybody", "SELECT id FROM cars"),
    Act(0, "dwell", DWELL),
    Act(2, "among five", AMONG_FIVE),
    Act(6, "dwell"),
    Act(7, "dwell again", DWELL, is_exact=False),
    Act(0, "visits", VISITS),
    Act(1, "crosses", CROSSES),
    Act(1, "again and again", AGAIN),
    Act(6, "visits"),
    Act(7, "visits again", VISITS, is_exact=False),
    Act(1, "meet", MEET),
    Act(2, "three meet", THREE_MEET),
    Act(7, "meet"),
    Act(8, "meet again", MEET, is_exact=False),
)

SHAPES: dict[tuple[str, int], tuple[Shape, Nearest | None, bool]] = {  # the bool: only the fast ones
    ("depot", 0): (Box(2, 2, 7, 7), None, False),
    ("three", 1): (Everywhere(), Nearest(3, 5, 5), False),
    ("near o1", 1): (Everywhere(), Nearest(2, focal="o1"), False),
    ("round o2", 2): (MovingDisc("o2", 4), None, False),
    ("box o3", 4): (MovingBox("o3", 6, 8), None, True),
    ("depot", 5): (Disc(5, 5, 3), None, False),
    ("fast near o2", 6): (Everywhere(), Nearest(3, focal="o2"), True),
    ("near o1 again", 8): (Everywhere(), Nearest(1, focal="o1"), False),
    ("everybody", 10): (Everywhere(), None, False),
    ("dwell", 0): (Box(1, 1, 9, 9), None, False),
    ("among five", 2): (Everywhere(), Nearest(5, 5, 5), False),
    ("dwell again", 7): (Box(1, 1, 9, 9), None, False),
}
STAYS = {
    "dwell": Persistency(2 * SECOND, (0,), SECOND), "among five": Persistency(2 * SECOND, (0,)),
    "dwell again": Persistency(2 * SECOND, (0,), SECOND),
}  # fmt: skip
# By the answers of its steps; told as the key and how it ended.
ANSWERS: dict[str, tuple[Shape, Nearest | None, bool]] = {
    "left": (Box(0, 0, 5, 10), None, False), "right": (Box(4, 0, 10, 10), None, True),
    "top": (Box(0, 8, 10, 10), None, False), "low": (Everywhere(), Nearest(3, 2, 2), False),
    "high": (Everywhere(), Nearest(3, 8, 8), False),
}  # fmt: skip
PATTERNS = {"visits": "visits", "visits again": "visits", "crosses": "crosses", "again and again": "right"}


def pattern_of(name: str, of: Callable[[str], Answers]) -> Pattern:
    def step(name: str, answers: str, stay_s: int = 0, is_leaving: bool = False) -> PatternStep:
        by = () if name == "a" else (("a", 0),)
        return PatternStep(name, of(answers), Persistency(stay_s * SECOND, (0,)), by, is_leaving=is_leaving)

    if PATTERNS[name] == "crosses":
        positions = (Position((step("b", "high"),), within_us=7 * SECOND),)
        return Pattern(step("a", "low"), positions, SECOND, has_timeouts=True)
    nots = (step("c", "top"),)
    positions = (
        Position((step("b", "right"),), nots=nots, within_us=5 * SECOND),
        Position((step("out", "right", 2, is_leaving=True),), within_us=6 * SECOND),
    )
    return Pattern(step("a", "left", 1), positions, SECOND, has_timeouts=True)


PAIR = Trigger(2, (Time(0, 1, -4 * SECOND, 4 * SECOND), Distance(0, 1, "<", 2.0), Values(0, 0, "<", 1, 0)))
THREE = Trigger(
    3,
    tuple(
        one
        for i, j in combinations(range(3), 2)
        for one in (Time(i, j, -5 * SECOND, 5 * SECOND), Distance(i, j, "<=", 3.0))
    ),
    sets=((0, 1, 2),),
)
# For the oracle, and whether only the fast ones count.
TRIGGERS = {"meet": (PAIR, False), "meet again": (PAIR, False), "three meet": (THREE, True)}


def readings(seed: int) -> Iterator[list[Reading]]:
    """Of each step, in order of time; o1 leaves for some steps, and comes back."""
    chance = random.Random(seed)
    for step in range(STEPS):
        found = []
        for second in range(step * SECONDS_PER_STEP, (step + 1) * SECONDS_PER_STEP):
            for n in range(OBJECTS):
                if chance.random() < 0.7 and not (n == 1 and step in (5, 6)):
                    x, y, speed = chance.randint(0, 10), chance.randint(0, 10), chance.randint(0, 3)
                    gone = n == 1 and step == 4 and second % SECONDS_PER_STEP == 1
                    values: dict[str, object] = {"id": f"o{n}", "speed": float(speed)}
                    found.append(Reading(f"o{n}", (1000 + second) * SECOND, x, y, values, gone))
        yield found


def write_step(folder: Path, step: int, rows: list[Reading]) -> None:
    """Whole or not at all; written again it is not another file to Spark."""
    path = folder / f"{step:03}.parquet"
    if not path.exists():
        columns = {
            "id": [r.key for r in rows], "ts": [r.ts // SECOND for r in rows],
            "x": [float(r.x) for r in rows], "y": [float(r.y) for r in rows],
            "speed": [r.values["speed"] for r in rows], "gone": [r.gone for r in rows],
        }  # fmt: skip
        temporary = folder / f"_{step:03}.new"
        pq.write_table(pa.table(columns), temporary)
        os.utime(temporary, (step, step))  # Spark takes files in the order of their times
        temporary.replace(path)


# ----- what must have been told


def expected(seed: int, told: Told) -> Told:
    """By the oracle. Where a query may begin or end at one of several ticks, those that fit what was told."""
    steps = list(readings(seed))
    everything = [reading for step in steps for reading in step]
    found: Told = Counter()
    for start in (act for act in ACTS if act.select):
        stop = next((a for a in ACTS if a.name == start.name and not a.select and a.step > start.step), None)
        begins = ticks_for(start, steps) if start.step else [None]
        ends = [None] if stop is None else ticks_for(stop, steps)
        fitting = [_told_by(start, everything, b, e) for b, e in product(begins, ends)]
        mine = Counter(
            {
                one: n
                for one, n in told.items()
                if one[0] == start.name and _in_life(one[1], start, stop, steps)
            }
        )
        found += next((one for one in fitting if one == mine), fitting[0])
    return found


def _told_by(start: Act, everything: list[Reading], begin: int | None, end: int | None) -> Told:
    """What a query or trigger tells that lives from the one tick to the other."""
    if start.name in TRIGGERS:
        return alerts(start.name, everything, begin, end)
    if start.name in PATTERNS:
        return matches(start.name, everything, begin, end)
    query = replace(query_of(start), begin=begin, end=end)
    if start.name in STAYS:
        return _counted(stayed(STAYS[start.name], query, everything))
    return _counted(run(everything, [query], SECOND, ended=False).updates)


def stayed(asked: Persistency, query: Query, everything: list[Reading]) -> list[Update]:
    """The last tick does not close."""
    accepted, _, closed_to = arrive(everything, SECOND, 0, ended=False)
    assert closed_to is not None
    first = min(tick_end(reading.ts, SECOND) for reading in accepted)
    ticks = [tick for tick in range(first, closed_to + 1, SECOND) if query.exists(tick)]
    answers = {tick: list(answer_at(query, tick, accepted, SECOND, None)) for tick in ticks}
    found, before = list[Update](), Counter[tuple[object, ...]]()
    for tick in ticks:
        now = Counter(persistent(asked, {t: answers[t] for t in ticks if t <= tick}, SECOND))
        found += signed(tick, query.name, now - before) + signed(tick, query.name, _minus(before - now))
        before = now
    return found


def _minus(rows: Counter[tuple[object, ...]]) -> dict[tuple[object, ...], int]:
    return {row: -n for row, n in rows.items()}


def alerts(name: str, everything: list[Reading], begin: int | None, end: int | None) -> Told:
    """Readings are at whole seconds, so each is in the tick of its time; the last tick does not close."""
    trigger, is_fast = TRIGGERS[name]
    last = max(reading.ts for reading in everything)
    until = last if end is None else min(end, last)
    seen = [r for r in everything if (begin or 0) <= r.ts < until and not r.gone]
    if is_fast:
        seen = [r for r in seen if r.values["speed"] > 1]  # type: ignore[operator]
    seen.sort(key=lambda r: (r.ts, r.key))
    everyone = frozenset(range(trigger.size))
    events = [Event(r.ts, r.x, r.y, everyone, (int(str(r.key)[1:]),)) for r in seen]
    return Counter(
        (
            name,
            max(seen[n].ts for n in found),
            1,
            " ".join(f"{seen[n].key} {seen[n].ts // SECOND}" for n in found),
        )
        for found in solutions_early(trigger, events)
    )


def matches(name: str, everything: list[Reading], begin: int | None, end: int | None) -> Told:
    """What a pattern tells; the last tick does not close."""
    accepted, _, closed_to = arrive(everything, SECOND, 0, ended=False)
    assert closed_to is not None
    first = min(tick_end(reading.ts, SECOND) for reading in accepted) if begin is None else begin
    ticks = [tick for tick in range(first, closed_to + 1, SECOND) if end is None or tick < end]

    def answers(of: str) -> Answers:
        shape, nearest, is_fast = ANSWERS[of]
        query = _query(of, shape, nearest, is_fast)
        return {tick: list(answer_at(query, tick, accepted, SECOND, None)) for tick in ticks}

    if not ticks:
        return Counter()
    if name == "again and again":
        return Counter((name, tick, 1, f"{key} matched") for tick, key in told_again(answers("right")))
    found = told_by_pattern(pattern_of(name, answers))
    return Counter((name, run.tick, 1, f"{run.key[0]} {run.outcome}") for run in found)


def told_again(answers: Answers) -> Iterator[tuple[int, object]]:
    """Who has been there for a multiple of the time, without a break."""
    since: dict[object, int] = {}
    for tick, rows in sorted(answers.items()):
        since = {key: since.get(key, tick) for (key,) in rows}
        stays = ((key, tick - begun) for key, begun in since.items())
        yield from ((tick, key) for key, stay in stays if stay and not stay % (AGAIN_S * SECOND))


def query_of(act: Act) -> Query:
    return _query(act.name, *SHAPES[act.name, act.step])


def _query(name: str, shape: Shape, nearest: Nearest | None, is_fast: bool) -> Query:
    return Query(
        name, [(shape, {})], lambda v: (v["id"],),
        (lambda v: v["speed"] > 1) if is_fast else (lambda v: True), nearest=nearest,
    )  # fmt: skip


def ticks_for(act: Act, steps: list[list[Reading]]) -> list[int | None]:
    """The next tick to close after all before has been processed; or one of those around it."""
    first = closed_after(act.step - 1, steps) + SECOND
    spread = 0 if act.is_exact else 2 * SECONDS_PER_STEP
    return [first + n * SECOND for n in range(-spread, spread + 1)]


def closed_after(step: int, steps: list[list[Reading]]) -> int:
    last = max(reading.ts for rows in steps[: step + 1] for reading in rows)
    return math.ceil(last / SECOND) * SECOND - SECOND


def last_life(seed: int, name: str) -> int:
    """The tick before the last query of this name may begin."""
    start = [act for act in ACTS if act.name == name and act.select][-1]
    return closed_after(start.step - 1, list(readings(seed))) if start.step else 0


def _in_life(tick: int, start: Act, stop: Act | None, steps: list[list[Reading]]) -> bool:
    """A name that is used again: whose tick this is."""
    begin = closed_after(start.step - 1, steps) - 3 * SECONDS_PER_STEP * SECOND if start.step else 0
    end = closed_after(stop.step - 1, steps) + 3 * SECONDS_PER_STEP * SECOND if stop else math.inf
    return begin <= tick <= end


def _counted(updates: list[Update]) -> Told:
    return Counter((u.query, u.tick, u.sign, str(u.row[0])) for u in updates)
