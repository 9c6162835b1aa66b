"""Patterns over the simulated city: figures 5 to 8 of the paper (STEPQ, query Q1), without Spark.

Who is marked is in a school's square for a while, then in a place nearby, then in the square
again. Three ways:

complete   the whole answer of each step at every tick, and the states on top of them
naive      what changes of each step, of everybody: feedback = 'off'
feedback   later steps are looked at for those only who have a run there

All three tell the same. Times are the processor's: other work does not show in them.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks import pictures
from benchmarks.engine import Engine
from benchmarks.report import report
from sanderling.batches import ROW, TS, Batch, Kind
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plan.rules.place import place
from sanderling.plans import operator_ids
from sanderling.plans.plan import Plan
from sanderling.route.controls import ask
from sanderling.route.parcels import batch_in, parcel_of
from sanderling.simulate.city import RADIUS_M, make_city
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic

REASON = "who goes from a school's square to a place nearby and back: rows and time, three ways"
STREAM = (
    "CREATE STREAM people (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, offender BIGINT) "
    "KEY id TIME ts LOCATION (x, y) WITH (tick = '5 seconds')"
)
STEP_S, MILE_M, PAIRS = 5, 1_609.344, 10
SIDES = (0.1, 0.2, 0.4, 0.8)  # miles
STAYS = (10, 20, 40, 80)  # seconds
COMPLETE, NAIVE, FEEDBACK, FIRST = "complete", "naive", "feedback", "first step alone"

Square = tuple[float, float, float, float]


@dataclass(frozen=True)
class World:
    """Everybody's readings by step, and for each pair the middles of a school and of a place nearby."""

    steps: list[pa.Table]
    pairs: list[tuple[tuple[float, float], tuple[float, float]]]

    def squares(self, side_m: float) -> Iterator[tuple[Square, Square]]:
        for school, nearby in self.pairs:
            yield _around(school, side_m), _around(nearby, side_m)

    def offenders(self) -> World:
        return World([step.filter(pc.equal(step.column("offender"), 1)) for step in self.steps], self.pairs)


def _around(middle: tuple[float, float], side_m: float) -> Square:
    (x, y), half = middle, side_m / 2
    return x - half, y - half, x + half, y + half


def world(objects: int, steps: int, seed: int = 7) -> World:
    """A tenth is marked. Places are as far from their schools as the largest square is wide."""
    settings = TrafficSettings(
        objects=objects, new=0, step_us=STEP_S * 1_000_000, seed=seed, keeps_going=True
    )
    traffic, found = Traffic(make_city(seed), settings), []
    for number in range(1, steps + 1):
        table = traffic.step().combine_chunks()
        ids = table.column("id") if "id" in table.column_names else table.column(0)
        id_ = np.asarray(ids.to_numpy(), np.int64)
        ts = np.full(len(id_), number * STEP_S)
        columns = {
            "id": id_, "ts": ts, "x": table.column("x"), "y": table.column("y"),
            "offender": (id_ % 10 == 0).astype(np.int64),
            TS: ts * 1_000_000, ROW: np.arange(1, len(id_) + 1),
        }  # fmt: skip
        found.append(pa.table(columns))
    rng, far = np.random.default_rng(seed), SIDES[-1] * MILE_M + 1
    at = rng.uniform(-RADIUS_M / 2, RADIUS_M / 2, (PAIRS, 2))
    angle = rng.integers(0, 4, PAIRS) * np.pi / 2
    near = at + far * np.column_stack([np.cos(angle), np.sin(angle)])
    return World(found, [(tuple(a), tuple(b)) for a, b in zip(at.tolist(), near.tolist(), strict=True)])


# ----- what is asked


def select(square: Square) -> str:
    return f"SELECT id FROM people WHERE offender = 1 INSIDE ({', '.join(f'{v:.3f}' for v in square)})"


def pattern(name: str, school: Square, nearby: Square, stay_s: int, options: str = "") -> str:
    """Q1, each step with a query of its own, as the paper has it."""
    stay = f"PERSISTENCY {stay_s} SECONDS"
    steps = (("InSchool", school), ("Nearby", nearby), ("Again", school))
    given = ", ".join(f"{step} AS ({select(square)} {stay})" for step, square in steps)
    return (
        f"REGISTER PATTERN {name} AS WITH {given} SELECT id, REACHED(visit) AS came, REACHED(back) AS back "
        "FROM InSchool AS visit THEN Nearby AS away WITHIN 1 HOUR THEN ENTERING Again AS back "
        f"WITHIN 1 DAY OF visit {options}"
    )


def patterns(of: World, side: float, stay_s: int, options: str = "") -> list[str]:
    name = f"m{side:g}_s{stay_s}_p".replace(".", "_")
    squares = of.squares(side * MILE_M)
    return [pattern(f"{name}{i}", *two, stay_s, options) for i, two in enumerate(squares)]


def planned(statements: Sequence[str], is_gathered: bool = False) -> Plan:
    planner = Planner(rules=[rule for rule in RULES if rule is not place or not is_gathered])
    planner.run_script(";\n".join([STREAM, *statements]))
    return planner.plan()


# ----- how it runs


class Run:
    """One plan over the world, step by step; what is told is kept."""

    def __init__(self, plan: Plan):
        self.engine = Engine(plan, shards=1)
        self.shard = self.engine.shards[0]
        self.shard.is_counting = True
        self.told: set[tuple[object, ...]] = set()
        self.rows: Counter[int] = Counter()
        self.seconds: list[float] = []

    def step(self, readings: pa.Table) -> None:
        started = time.process_time()
        said = self._said(readings)
        self.seconds.append(time.process_time() - started)
        for batch in said:
            if batch.kind == Kind.FIGURES:
                self._count(batch.table)
            elif batch.kind == Kind.DELTAS:
                self.told |= {tuple(row.values()) for row in batch.table.to_pylist()}

    def _said(self, readings: pa.Table) -> list[Batch]:
        self.engine.number += 1
        return self.engine.shards_say(readings)

    def _count(self, table: pa.Table) -> None:
        """Rows that each branch told."""
        names, rows = (table.column(name).to_pylist() for name in ("operator", "rows_in"))
        by_name = dict(zip(names, rows, strict=True))
        for template in self.engine.plan.templates():
            self.rows[template] += by_name.get(operator_ids.select(template), 0) or 0

    @property
    def runs(self) -> Counter[tuple[int, int]]:
        """Live runs by query and the position they wait for; 0: stays that are not long enough yet."""
        found: Counter[tuple[int, int]] = Counter()
        for tree in self.shard.trees:
            state = (
                tree.tree.stations[-2].state if not hasattr(tree.tree.stations[-1].state, "runs") else None
            )
            state = tree.tree.stations[-1].state if state is None else state
            runs, stays = state.runs, state.presences[0].stays
            mine = runs.used
            found.update(zip(runs.query[mine].tolist(), (runs.position[mine] + 1).tolist(), strict=True))
            waits = stays.stayed()
            waits = waits[~stays.stays.is_long[waits]]
            found.update((query, 0) for query in stays.query_of(waits).tolist())
        return found


class Complete(Run):
    """Range queries, whose whole answers go to the states of patterns at every tick."""

    def __init__(self, of: World, side: float, stay_s: int):
        queries = []
        for i, (school, nearby) in enumerate(of.squares(side * MILE_M)):
            for step, square in enumerate((school, nearby, school)):
                queries.append(f"REGISTER QUERY q{step}_{i:03} AS {select(square)}")
        super().__init__(planned(queries))
        gathered = planned(patterns(of, side, stay_s), is_gathered=True)
        (tree,) = gathered.trees
        self.tree = Tree(tree.root, Constants(tree.queries, tree.constants))
        self.queries, self.before = tree.queries, [None, None, None]
        self.begun = pa.table({"query": tree.queries, "tick": np.full(len(tree.queries), STEP_S * 1_000_000)})
        self.sent = 0

    def _said(self, readings: pa.Table) -> list[Batch]:
        said = [b for b in super()._said(readings) if b.kind == Kind.FIGURES]
        asked = ask(1, list(range(3 * PAIRS)), "people", 0)
        # As between processes: the states are another system's.
        told = [batch_in(parcel_of(b)) for b in self.shard.advance([asked]) if b.kind == Kind.ANSWER]
        answers = [b.table for b in told]
        now = self.shard.streams["people"].clock.closed_to
        whole = pa.concat_tables(answers) if answers else None
        branches = {}
        for step in range(3):
            rows = self._of(whole, step, now)
            before = self.before[step]
            branches[step] = rows if before is None else pa.concat_tables([_back(before, now), rows])
            self.before[step] = rows
            self.sent += rows.num_rows if step else 0
        out = self.tree.apply(branches, {}, self.begun, now)
        self.begun = self.begun.slice(0, 0)
        return [*said, Batch(Kind.DELTAS, out, "people", 0)]

    def _of(self, whole: pa.Table | None, step: int, tick: int) -> pa.Table:
        query = np.empty(0, np.int64) if whole is None else whole.column("query").to_numpy()
        mine = np.flatnonzero(query // PAIRS == step)
        ids = pa.array([], pa.int64()) if whole is None else whole.column("c0").take(pa.array(mine))
        n = len(mine)
        query = self.queries[query[mine] % PAIRS].astype(np.int32)
        return pa.table({"query": query, "tick": np.full(n, tick), "sign": np.ones(n, np.int64), "c0": ids})


def _back(rows: pa.Table, tick: int) -> pa.Table:
    n = rows.num_rows
    return pa.table(
        {
            "query": rows.column("query"),
            "tick": np.full(n, tick),
            "sign": np.full(n, -1),
            "c0": rows.column("c0"),
        }
    )


def run_of(way: str, of: World, side: float, stay_s: int) -> Run:
    if way == COMPLETE:
        return Complete(of, side, stay_s)
    if way == FIRST:
        squares = of.squares(side * MILE_M)
        return Run(planned([f"REGISTER QUERY q{i} AS {select(a)}" for i, (a, _) in enumerate(squares)]))
    options = "WITH (feedback = 'off')" if way == NAIVE else ""
    return Run(planned(patterns(of, side, stay_s, options)))


# ----- figures


def figures_5_and_6(of: World, sides: Sequence[float], stays: Sequence[int]) -> list[dict[str, Any]]:
    """Matches; and of 40 seconds the most entries held at each position, by steps of the world."""
    run = Run(planned([text for side in sides for stay in stays for text in patterns(of, side, stay)]))
    names = run.engine.plan.queries.names.to_pylist()
    matches, most = Counter[str](), Counter[tuple[str, int]]()
    for readings in of.steps:
        run.step(readings)
        held = Counter[tuple[str, int]]()
        for (query, position), n in run.runs.items():
            held[_group(names[query]), position] += n
        most |= held
    matches.update(_group(names[row[0]]) for row in run.told)
    return [
        {"side, miles": side, "persistency, s": stay, "matches": matches[group],
         **{f"most held at {p + 1}": most[group, p] for p in range(3)}}
        for side in sides for stay in stays for group in [f"m{side:g}_s{stay}".replace(".", "_")]
    ]  # fmt: skip


def _group(name: str) -> str:
    return name.rpartition("_p")[0]


def figure_7(of: World, sides: Sequence[float], stay_s: int = 40) -> list[dict[str, Any]]:
    """Rows that steps 2 and 3 report: what the states have to look at."""
    rows = []
    for side in sides:
        runs = {way: run_of(way, of, side, stay_s) for way in (COMPLETE, NAIVE, FEEDBACK)}
        for run in runs.values():
            for readings in of.steps:
                run.step(readings)
        told = [run.told for run in runs.values()]
        assert len({frozenset(row[3:] for row in some) for some in told}) == 1, "other matches"
        complete = runs[COMPLETE]
        assert isinstance(complete, Complete)
        found = {COMPLETE: complete.sent}
        for way in (NAIVE, FEEDBACK):
            (tree,) = runs[way].engine.plan.trees
            found[way] = sum(runs[way].rows[branch] for branch in tree.branches[1:])
        rows.append(
            {"side, miles": side, **found, "matches": len(told[0]),
             "complete ÷ feedback": found[COMPLETE] / max(1, found[FEEDBACK]),
             "naive ÷ feedback": found[NAIVE] / max(1, found[FEEDBACK])}
        )  # fmt: skip
    return rows


def figure_8(of: World, side: float, warm: int, measured: int, stay_s: int = 40) -> list[dict[str, Any]]:
    """Milliseconds of a tick for steps 2, 3 and the states: beside the first step's queries alone."""
    means = {}
    for way in (FIRST, COMPLETE, NAIVE, FEEDBACK):
        run = run_of(way, of, side, stay_s)
        for number, readings in enumerate(of.steps[: warm + measured]):
            if number == warm:
                gc.collect()
                gc.freeze()  # what others left is not walked again
            run.step(readings)
        means[way] = 1000 * float(np.mean(run.seconds[warm:]))
        gc.unfreeze()
    return [
        {"way": way, "a tick, ms": ms, "steps 2, 3 and states, ms": ms - means[FIRST]}
        for way, ms in means.items()
    ]


def run(
    objects: int = 50_000, steps: int = 240, sides: tuple[float, ...] = SIDES, stays: tuple[int, ...] = STAYS,
    warm: int = 120, measured: int = 100,
) -> dict[str, float]:  # fmt: skip
    of = world(objects, steps)
    marked = of.offenders()  # nobody else satisfies any step
    counts = figures_5_and_6(marked, sides, stays)
    rows = figure_7(marked, sides)
    times = figure_8(of, sides[-1], warm, measured)
    by_way = {row["way"]: row["steps 2, 3 and states, ms"] for row in times}
    facts = {
        "objects": objects,
        "steps": steps,
        "rows, complete ÷ feedback, least of the sides": min(r["complete ÷ feedback"] for r in rows),
        "rows, naive ÷ feedback, least of the sides": min(r["naive ÷ feedback"] for r in rows),
        "time, complete ÷ feedback": by_way[COMPLETE] / by_way[FEEDBACK],
        "time, naive ÷ feedback": by_way[NAIVE] / by_way[FEEDBACK],
    }
    report("patterns", REASON, rows, facts | {"figures 5 and 6": counts, "figure 8": times})
    pictures.patterns(counts, rows, times)
    return facts
