"""Queries that come and go while the stream runs, against the oracle: at any moment, however interrupted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.clock import show_time
from sanderling.operate.nearest import neighbourhood
from sanderling.operate.where.orders import ByCounts, Chooser
from sanderling.plan.grow.living import LivingPlan
from tests import oracle
from tests.engine.direct import ByPair, DirectRun
from tests.oracle.oracle import answer, arrive, comparable, now_at, tick_end
from tests.properties.runs import RELAXED, declarations, engine_updates, fences, write_csv
from tests.properties.worlds import SECOND, SHAPES, Ask, World, ask, worlds

__all__ = ["fences"]


# What waits is what moves.
KINDS = ("moving far",) * 6 + SHAPES


@dataclass(frozen=True)
class Pause:
    """Between two readings: some statements; if slow, what shards know is told them at the next pause."""

    drops: tuple[str, ...]
    comes: tuple[Ask, ...]
    is_slow: bool
    restart: str  # never, delta, snapshot


@dataclass(frozen=True)
class Tale:
    world: World
    pieces: tuple[list[oracle.Reading], ...]
    pauses: tuple[Pause, ...]  # one before each piece, and one behind the last


@st.composite
def tales(draw: st.DrawFn) -> Tale:
    world = draw(worlds(has_nearest=True))
    cuts = sorted(draw(st.lists(st.integers(0, len(world.readings)), max_size=5)))
    edges = [0, *cuts, len(world.readings)]
    pieces = tuple(world.readings[a:b] for a, b in pairwise(edges))
    pauses = tuple(draw(pause(world, number)) for number in range(len(pieces) + 1))
    return Tale(world, pieces, pauses)


@st.composite
def pause(draw: st.DrawFn, world: World, number: int) -> Pause:
    drops = draw(st.lists(st.sampled_from(["q0", "q1", "q2", "q3", "q4"]), max_size=2, unique=True))
    names = draw(st.lists(st.integers(0, 4), max_size=2, unique=True))
    comes = tuple(draw(ask(n, world.is_integer_key, KINDS, has_nearest=True)) for n in names)
    restart = draw(st.sampled_from(["never", "never", "delta", "snapshot"]))
    return Pause(tuple(drops), comes, draw(st.booleans()), restart)


@dataclass
class Known:
    """A query as the oracle is to know it, once it is sure when it begins."""

    query: oracle.Query
    is_waiting: bool
    is_over: bool = False  # its name is free, though it may live up to its end
    is_dropped: bool = False  # at once: nobody may ask for its answer

    def lives(self) -> bool:
        q = self.query
        return not self.is_waiting and (q.begin is None or q.end is None or q.begin < q.end)


class Chronicle:
    """What the oracle has to be asked: which query was there from which tick to which."""

    def __init__(self, world: World):
        self.tick_us = world.tick_s * SECOND
        self.lateness_us = world.lateness_s * SECOND
        self.seen: list[oracle.Reading] = []
        self.known: list[Known] = []

    def closed_to(self) -> int | None:
        return arrive(self.seen, self.tick_us, self.lateness_us, ended=False)[2]

    def names(self) -> set[str]:
        return {k.query.name for k in self.known if not k.is_over}

    def comes(self, asked: Ask, is_waiting: bool) -> None:
        name = asked.query.name
        begin, end = (
            None if t is None else tick_end(t, self.tick_us) for t in (asked.query.begin, asked.query.end)
        )
        if begin is not None and end is not None and end <= begin:
            return  # it never lived
        ends = [k.query.end for k in self.known if k.query.name == name and k.query.end is not None]
        free_from = max(ends, default=None)
        if free_from is not None:
            begin = free_from if begin is None else max(begin, free_from)
        known = Known(replace(asked.query, begin=begin, end=end), True, end is not None)
        self.known.append(known)
        if not is_waiting:
            self._begins(known)

    def _begins(self, known: Known) -> None:
        closed, begin = self.closed_to(), known.query.begin
        if closed is not None:
            begin = closed + self.tick_us if begin is None else max(begin, closed + self.tick_us)
        known.query, known.is_waiting = replace(known.query, begin=begin), False

    def wait_no_longer(self) -> None:
        for known in self.known:
            if known.is_waiting:
                self._begins(known)

    def goes(self, name: str) -> None:
        (known,) = (k for k in self.known if k.query.name == name and not k.is_over)
        closed = self.closed_to()
        if known.is_waiting or closed is None:
            self.known.remove(known)
        else:
            known.query = replace(known.query, end=closed + self.tick_us)
            known.is_over = known.is_dropped = True

    def queries(self) -> list[oracle.Query]:
        return [k.query for k in self.known if k.lives()]


@pytest.mark.parametrize("is_restless", [False, True])
@RELAXED
@given(tale=tales(), cuts=st.sampled_from([1, 40, 200, 1 << 20]), shards=st.sampled_from([1, 2, 7]),
       empty=st.booleans(), turns=st.booleans())  # fmt: skip
def test_queries_come_and_go(
    is_restless: bool, tale: Tale, cuts: int, shards: int, empty: bool, turns: bool, fences: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    """Also where every condition is judged object by object, and everything is tidied up all the time."""
    with pytest.MonkeyPatch.context() as patch:
        if is_restless:
            patch.setattr(neighbourhood, "FIT_LASTS", 0)
            patch.setattr(neighbourhood, "WORTH_FITTING", 0)
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        chooser = ByPair if is_restless else ByCounts
        run_and_check(tale, cuts, shards, empty, turns, fences, tmp_path, chooser)


def run_and_check(
    tale: Tale, cuts: int, shards: int, empty: bool, turns: bool, fences: Path, folder: Path,
    chooser: Callable[[], Chooser] = ByCounts,
) -> None:  # fmt: skip
    world = tale.world
    living = LivingPlan()
    living.execute(";\n".join(declarations(world, fences)))
    run = DirectRun(living.start().plan, shards, cuts, empty, turns, living, chooser)
    chronicle = Chronicle(world)
    for piece, here in zip((*tale.pieces, None), tale.pauses, strict=True):
        play(run, chronicle, here)
        check_answers(run, chronicle, world)
        if piece:
            run.feed_file("objects", write_csv(folder / "piece.csv", piece))
            chronicle.seen += piece
    run.close_to("objects", max(r.ts for r in world.readings))
    result = oracle.run(
        world.readings, chronicle.queries(), chronicle.tick_us, lateness_us=chronicle.lateness_us,
        stale_after_us=None if world.stale_after_s is None else world.stale_after_s * SECOND,
    )  # fmt: skip
    got = engine_updates(run)
    assert Counter(got) == Counter((show_time(t), q, s, row) for t, q, s, row in result.updates)
    assert [u[0] for u in got] == sorted(u[0] for u in got)  # type: ignore[type-var]
    assert sum(reason == "late" for _, reason, _ in run.letters) == len(result.late)


def play(run: DirectRun, chronicle: Chronicle, here: Pause) -> None:
    run.activate()
    chronicle.wait_no_longer()
    drops = [name for name in here.drops if name in chronicle.names()]
    comes = [a for a in here.comes if a.query.name in drops or a.query.name not in chronicle.names()]
    # Statements at times come behind all others, so a name that is dropped at once is free for them.
    statements = [f"DROP QUERY {name}" for name in drops] + [s for a in comes for s in a.statements()]
    if statements:
        run.execute(";\n".join(statements), is_activated=not here.is_slow)
        for name in drops:
            chronicle.goes(name)
        for asked in comes:
            chronicle.comes(asked, is_waiting=bool(run.waiting))
    if here.restart != "never":
        run.restart(is_snapshot=here.restart == "snapshot")


def check_answers(run: DirectRun, chronicle: Chronicle, world: World) -> None:
    """Asked for, an answer is what the oracle says it is."""
    stale = None if world.stale_after_s is None else world.stale_after_s * SECOND
    closed = chronicle.closed_to()
    accepted = arrive(chronicle.seen, chronicle.tick_us, chronicle.lateness_us, ended=False)[0]
    for name in sorted({k.query.name for k in chronicle.known}):
        wanted: Counter[tuple[object, ...]] = Counter()
        for known in chronicle.known if closed is not None else ():
            is_asked = known.query.name == name and known.lives() and not known.is_dropped
            if is_asked and known.query.exists(closed):
                wanted += answer(known.query, now_at(closed, accepted, stale), closed)
        told = [json.loads(line) for line in run.ask(name)]
        assert all(u["sign"] == 1 for u in told)
        assert Counter(tuple(comparable(v) for v in u["row"].values()) for u in told) == wanted
