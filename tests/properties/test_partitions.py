"""Who is late, who is ahead and what is told, against the oracle of clocks, however a source is ordered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from sanderling.clock import NOTHING_YET, show_time
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.oracle.clocks import Came, Judged, by_batch, by_partition, in_order, late_in_its_partition
from tests.properties.runs import RELAXED

SECOND = 1_000_000
# A focal object and a neighbour, so that readings go to shards in which their objects do not live.
QUERIES = """REGISTER QUERY everybody AS SELECT id, n FROM s;
REGISTER QUERY beside AS SELECT id FROM s INSIDE ('M', 'p0 a', 3, 3)"""

seeds = st.integers(0, 10**9)


class Row(NamedTuple):
    id: str
    partition: str
    ts: int
    n: int  # so that no two are alike


@dataclass(frozen=True)
class Source:
    """How a stream is declared, in seconds; without `idle_after` nobody knows its partitions, unless it is in
    one order as files are.
    """

    tick: int
    lateness: int
    idle_after: int | None
    ahead: int | None = None
    is_file: bool = False

    @property
    def is_ordered(self) -> bool:
        return self.is_file or self.idle_after is not None

    def judged(self, batches: Sequence[Sequence[Row]]) -> Judged:
        came = [[Came(row.partition, row.ts) for row in batch] for batch in batches]
        tick, lateness = self.tick * SECOND, self.lateness * SECOND
        ahead = None if self.ahead is None else self.ahead * SECOND
        if self.is_file:
            return in_order([one for batch in came for one in batch], tick, lateness, ahead)
        if self.idle_after is None:
            return by_batch(came, tick, lateness)
        return by_partition(came, tick, lateness, self.idle_after * SECOND, ahead)

    def run(self, chance: Random) -> DirectRun:
        known = "" if self.idle_after is None else f", partition = 'part', idle_after = {self.idle_after}"
        known += "" if self.ahead is None else f", ahead = {self.ahead}"
        planner = Planner()
        planner.run_script(
            "CREATE STREAM s (id STRING, ts DOUBLE, x DOUBLE, y DOUBLE, n BIGINT, part STRING) KEY id "
            f"TIME ts LOCATION (x, y) WITH (tick = {self.tick}, lateness = {self.lateness}{known});{QUERIES}"
        )
        return DirectRun(planner.plan(), chance.choice([1, 3]), takes_turns=chance.random() < 0.5)


def some(chance: Random, partitions: int, readings: int) -> Iterator[Row]:
    """In every partition time goes on, some more and some less; now and then it goes back."""
    at = [0] * partitions
    for n in range(readings):
        p = n if n < partitions else chance.randrange(partitions)
        step = chance.choice([0, 1, 1, 2, 3, -2]) if n >= partitions else 0
        at[p] += step
        yield Row(f"p{p} {chance.choice('abc')}", f"p{p}", at[p] * SECOND // 2, n)
        at[p] -= min(step, 0) if chance.random() < 0.8 else 0


def cut(rows: Sequence[Row], chance: Random, most: int) -> list[list[Row]]:
    """Into pieces one behind the other."""
    pieces: list[list[Row]] = []
    while (done := sum(map(len, pieces))) < len(rows):
        pieces.append(list(rows[done : done + chance.randint(1, most)]))
    return pieces


def fed(source: Source, batches: Sequence[Sequence[Row]], chance: Random, folder: Path) -> DirectRun:
    """Each batch in some slices, whose tasks end in any order; with restarts in between."""
    run = source.run(chance)
    for number, batch in enumerate(batches):
        paths = []
        for part, rows in enumerate(cut(batch, chance, 5)):
            paths.append(folder / f"{number}-{part}.csv")
            lines = [f"{r.id},{r.ts / 1e6},{r.n % 7},0,{r.n},{r.partition}\n" for r in rows]
            paths[-1].write_text("id,ts,x,y,n,part\n" + "".join(lines))
        run.feed_together("s", paths, is_ordered=source.is_ordered, chance=chance)
        if chance.random() < 0.3:
            run.restart(is_snapshot=chance.random() < 0.5)
    return run


def refused_in(run: DirectRun, reason: str) -> list[int]:
    return sorted(int(raw.split(",")[4]) for _, why, raw in run.letters if why == reason)


def late_in(run: DirectRun) -> list[int]:
    assert {reason for _, reason, _ in run.letters} <= {"late"}
    return refused_in(run, "late")


def told(run: DirectRun) -> Counter[str]:
    """Once all ticks have closed."""
    run.close_to("s", 10**6 * SECOND)
    return Counter(run.updates)


def expected(rows: Sequence[Row], tick: int) -> Counter[tuple[str, int, str, int]]:
    """How the last readings of all objects change, tick by tick."""
    ends = {row.n: -(-row.ts // (tick * SECOND)) * tick * SECOND for row in rows}
    found: Counter[tuple[str, int, str, int]] = Counter()
    held: dict[str, int] = {}
    for end in sorted(set(ends.values())):
        known = sorted((r for r in rows if ends[r.n] <= end), key=lambda r: r.ts)  # stable
        now = {r.id: r.n for r in known}
        for key in now.keys() | held.keys():
            if now.get(key) != held.get(key):
                found.update([(show_time(end), 1, key, now[key])])
                found.update([(show_time(end), -1, key, held[key])] if key in held else [])
        held = now
    return found


@RELAXED
@given(seed=seeds, kind=st.sampled_from(["file", "known", "unknown"]))
def test_the_engine_judges_as_the_oracle(seed: int, kind: str, tmp_path: Path) -> None:
    chance = Random(seed)
    idle_after = chance.choice([0, 1, 3, 60]) if kind == "known" else None
    ahead = chance.choice([None, 0, 1, 2, 5]) if kind != "unknown" else None
    source = Source(chance.choice([1, 2]), chance.choice([0, 0, 1, 3]), idle_after, ahead, kind == "file")
    rows = list(some(chance, chance.randint(1, 4), 40))
    if ahead is not None:
        rows = [r._replace(ts=r.ts + 100 * SECOND) if chance.random() < 0.1 else r for r in rows]
    batches = cut(rows, chance, 12)
    run = fed(source, batches, chance, tmp_path)
    judged = source.judged(batches)
    assert refused_in(run, "late") == judged.late and refused_in(run, "ahead") == judged.ahead
    assert len(run.letters) == len(judged.late) + len(judged.ahead)
    clocks = [engine.streams["s"].clock for engine in run.engines]
    assert all(clock == clocks[0] for clock in clocks)
    assert clocks[0].closed_to == (NOTHING_YET if judged.closed_to is None else judged.closed_to)
    taken = [row for row in rows if row.n not in (*judged.late, *judged.ahead)]
    updates = [json.loads(line) for line in told(run).elements()]
    of_all = [(u["tick"], u["sign"], *u["row"].values()) for u in updates if u["query"] == "everybody"]
    assert Counter(of_all) == expected(taken, source.tick)


@RELAXED
@given(seed=seeds)
def test_how_partitions_take_turns_and_are_cut_does_not_show(seed: int, tmp_path: Path) -> None:
    chance = Random(seed)
    source = Source(chance.choice([1, 2]), chance.choice([0, 0, 1]), chance.choice([1, 2, 5]))
    rows = list(some(chance, chance.randint(2, 4), 40))
    late = late_in_its_partition(
        [Came(r.partition, r.ts) for r in rows], source.tick * SECOND, source.lateness * SECOND
    )
    runs = []
    for number in range(2):
        folder = tmp_path / f"{seed} {number}"
        folder.mkdir(exist_ok=True)
        batches = cut(together(rows, source, chance), chance, 12)
        runs.append(fed(source, batches, chance, folder))
        assert late_in(runs[-1]) == late
    assert told(runs[0]) == told(runs[1])


def together(rows: Sequence[Row], source: Source, chance: Random) -> list[Row]:
    """In another order, but each partition in its own, and none further behind than is idle."""
    assert source.idle_after is not None
    highest: dict[str, int] = {}
    due: dict[str, int] = {}
    when = {}
    for row in rows:
        p = row.partition
        highest[p] = max(row.ts, highest.get(p, row.ts))
        delay = chance.randint(0, source.idle_after * SECOND)
        when[row.n] = due[p] = max(due.get(p, highest[p]), highest[p] + delay)
    return sorted(rows, key=lambda row: (when[row.n], row.partition, row.n))


def test_a_batch_without_partitions_makes_nobody_of_it_late(tmp_path: Path) -> None:
    rows = [Row(f"p{p} a", f"p{p}", s * SECOND, 10 * p + s) for p in range(3) for s in range(10)]
    assert late_in(fed(Source(1, 0, None), [rows], Random(1), tmp_path)) == []
