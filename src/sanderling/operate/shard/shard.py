"""One shard: all its streams, and the plan they follow; batches in, batches out.

The engine is pure: all state is in `StreamShard`, saved and restored as bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, flat
from sanderling.batches import Batch, Kind, To
from sanderling.clock import NOTHING_YET, Clock
from sanderling.figures.figures import Figures
from sanderling.operate.readings.waiting import is_in
from sanderling.operate.shard.stream import Replayed, StreamShard
from sanderling.operate.takers import Takers
from sanderling.operate.tree.composed import Composed
from sanderling.operate.tree.looks import Looks
from sanderling.operate.where.orders import Chooser
from sanderling.operate.window.rows import listing_anew
from sanderling.plans.plan import Plan, PlannedTree, Plans
from sanderling.route.controls import announce, ask
from sanderling.route.pack import shard_of, shard_schema
from sanderling.state.frame import Frame
from sanderling.state.saved import Saved


class Shard:
    """All streams of one shard. While the plan lives, `plans` gives each version of it."""

    def __init__(
        self, plan: Plan, number: int, plans: Plans | None = None, chooser: Chooser | None = None
    ) -> None:
        self.number = number
        self.version = plan.version
        self.plans = plans
        self.is_counting = False
        self.streams = {s.stream.name: StreamShard(s, shard_schema(s), chooser) for s in plan.streams}
        self.trees = Takers()
        self._follow(plan)

    def _follow(self, plan: Plan, is_running: bool = False) -> None:
        self.version, self.partners, self.gathered = plan.version, partners_in(plan), plan.gathered()
        self.composed = queries_of(plan.trees)
        self.merged = queries_of(tree for tree in plan.trees if tree.is_merged)
        mine = (tree for tree in plan.trees if not tree.is_merged)
        self.trees.follow(
            plan, {f"{t.template.id}": partial(self._composed, plan, t, is_running) for t in mine}
        )

    def _composed(self, plan: Plan, tree: PlannedTree, is_running: bool) -> Composed:
        """It may look at objects of its stream that it waits for."""
        stream = self.streams[tree.template.stream]
        return Composed(plan, tree, is_running, looks=Looks(stream.look))

    def advance(self, batches: list[Batch]) -> list[Batch]:
        """One turn: signed rows, late readings and counts come back; dead letters pass through."""
        out = [b for b in batches if To.SHARDS not in b.kind.to]
        for stream in self.streams.values():
            stream.figures.clear()
            if stream.waited.is_any:
                stream.tidy()
        for tree in self.trees:
            tree.count_anew()
        version = self.version
        out += self._turn(batches)
        # How far streams have come, also those that have ended long ago: new trees begin with it.
        is_new, streams = self.version > version, self.streams.values()
        told = [clock for stream in streams if is_new for clock in self.clocks(stream, stream.clock)]
        for name, stream in self.streams.items():
            mine = [b for b in batches if b.kind in (Kind.READINGS, Kind.FOCALS) and b.stream == name]
            if not mine:
                continue
            ticks, before = stream.ticks_closed(), replace(stream.clock)
            out += stream.accept(mine)
            told += [*stream.close(), *self.clocks(stream, before)]
            if self.number == 0:
                rows, ticks = sum(b.rows for b in mine), stream.ticks_closed() - ticks
                counts = Batch(Kind.COUNTS, stream=name, rows=rows, ticks=ticks, closed_to=stream.told_to)
                filled = sorted({name for b in mine for name in b.filled})
                met = sorted({key for b in mine for key in b.met}, key=str)
                out.append(replace(counts, furthest=stream.furthest, filled=filled, met=met))
            out += stream.past.archived()
        for name, stream in self.streams.items():
            times = [self.streams[other].told_to for other in self.partners.get(name, ())]
            told += stream.go_on_to(max(times, default=NOTHING_YET))
        out += self.told(self.grown(told))
        if self.is_counting:
            out += self.told(Batch(Kind.FIGURES, figures.table()) for figures in self._counted())
        out += [self._kept(b) for b in batches if b.kind == Kind.RECALL]
        return out + [answer for b in batches if b.kind == Kind.ASK for answer in self._answers(b)]

    def clocks(self, stream: StreamShard, before: Clock) -> list[Batch]:
        """What trees have to know of a stream's time, if there are any."""
        return [stream.told_of(self.composed, before)] if len(self.composed) else []

    def grown(self, told: list[Batch]) -> list[Batch]:
        """What trees make of what streams tell, and what goes on as it is."""
        left = self.trees.advance(told, self._is_gathered)
        return left if len(self.merged) else [batch for batch in left if batch.kind != Kind.CLOCK]

    def _is_gathered(self, batch: Batch) -> bool:
        """Whether merge partitions take it, whichever tree takes it here."""
        return batch.kind == Kind.CLOCK or batch.template in self.gathered

    def _counted(self) -> Iterator[Figures]:
        yield from (stream.counted() for stream in self.streams.values())
        figures = Figures()
        for tree in self.trees:
            tree.count_into(figures)
        yield figures

    # ----- a plan that lives

    def turn_to(self, version: int) -> tuple[list[Batch], set[str]]:
        """Goes through all versions up to this one: what is said, and the streams that have to be rebuilt."""
        said: list[Batch] = []
        turned: dict[str, int] = {}  # with how far the order of all its readings was known all the time
        for number in range(self.version + 1, version + 1):
            plan = self.plan_of(number)
            for part in plan.streams:
                stream = self.streams[part.stream.name]
                if stream.plan.version == part.version:
                    continue
                reach = stream.past.reach
                turned[part.stream.name] = min(reach, turned.get(part.stream.name, reach))
                known = stream.turn_to(part)
                if known.num_rows:
                    said.append(Batch(Kind.SAID, known, part.stream.name, version=number))
            self._follow(plan, is_running=True)
        for name, reach in sorted(turned.items()):
            history = self.streams[name].past.history
            if history is not None and history.is_listed:
                # Windows of the last of all may reach further now.
                said += self.told([listing_anew(history, reach)])
        return said, set(turned)

    def begin_at(self, version: int) -> None:
        """A new shard begins with this version; its readings come from what was saved."""
        plan = self.plan_of(version)
        for part in plan.streams:
            stream = self.streams[part.stream.name]
            stream.plan = part
            stream.focals.follow(part.focals)
            stream.past.begin(part)
        self._follow(plan)

    # ----- saved and restored

    def saved(self, is_whole: bool) -> Frame:
        streams = Frame(parts={name: stream.saved(is_whole) for name, stream in self.streams.items()})
        return Frame(parts={"streams": streams, "trees": self.trees.saved(is_whole)})

    def restore(self, whole: Saved | None, since: Sequence[Saved]) -> None:
        if whole is not None:
            if whole.version != self.version:
                self.begin_at(whole.version)
            for name, stream in self.streams.items():
                stream.restore(whole.frame.part("streams", name))
            self.trees.restore(whole.frame.part("trees"))
        for saved in since:
            self._replay(saved)
        for stream in self.streams.values():
            stream.rebuild()

    def catch_up(self, since: Sequence[Saved]) -> None:
        turned: set[str] = set()
        for saved in since:
            replayed, turned_now = self._replay(saved)
            turned |= turned_now
            turned |= {n for n in self.streams if saved.frame.part("streams", n, "filled").tables}
            for name in replayed.keys() - turned:
                self.streams[name].settle(replayed[name])
        for name in turned:
            self.streams[name].compact()
            self.streams[name].rebuild()

    def _replay(self, saved: Saved) -> tuple[dict[str, Replayed], set[str]]:
        """By stream what it replayed; and the streams that have another plan now."""
        _, turned = self.turn_to(saved.version)
        self.trees.restore(saved.frame.part("trees"))
        streams, frame = self.streams.items(), saved.frame.part("streams")
        return {name: stream.replay(frame.part(name)) for name, stream in streams}, turned

    def plan_of(self, version: int) -> Plan:
        assert self.plans is not None, "a shard that turns needs to know where plans are"
        return self.plans(version)

    def _turn(self, batches: list[Batch]) -> list[Batch]:
        """Before the readings of a batch: what they find is the new plan."""
        wanted = max((b.version for b in batches if b.kind == Kind.PLAN), default=self.version)
        is_new = wanted > self.version
        said, turned = self.turn_to(wanted)
        if is_new and self.number == 0:
            # Merge partitions hear from one shard what all shards do.
            said.append(announce(wanted))
        for name in turned:
            self.streams[name].rebuild()
        for batch in (b for b in batches if b.kind in (Kind.RETOLD, Kind.HELD)):
            said += self.streams[batch.stream].tell_past(batch)
        for batch in (b for b in batches if b.kind == Kind.ACTIVATE):
            self.streams[batch.stream].activate(batch.version, batch.table)
        return self._filled([b for b in batches if b.kind == Kind.FILL], said)

    def _filled(self, fills: list[Batch], said: list[Batch]) -> list[Batch]:
        """With what is this shard's, and with where focal objects were; of a stream one list is told."""
        reaches = {b.stream: b.reach for b in said if b.kind == Kind.RELISTING}
        again: dict[str, int] = {}
        for batch in sorted(fills, key=lambda b: b.version):
            stream, name = self.streams[batch.stream], batch.stream
            reach = min(stream.past.reach, reaches.get(name, stream.past.reach))
            if stream.fill(batch.version, *self._shared_out(batch)):
                stream.rebuild()
                again[name] = min(reach, again.get(name, reach))
        said = [b for b in said if b.kind != Kind.RELISTING or b.stream not in again]
        for name, reach in again.items():
            history = self.streams[name].past.history
            if history is not None and history.is_listed:
                said += self.told([listing_anew(history, reach)])
        return said

    def _shared_out(self, batch: Batch) -> tuple[pa.Table, pa.Table]:
        """Of readings those of this shard's objects, and those of focal objects."""
        stream, readings = self.streams[batch.stream], batch.table
        if not readings.num_rows:
            return readings, readings
        keys = flat(readings.column(stream.stream.key))
        is_mine = shard_of(keys, batch.shards) == self.number
        return readings.filter(pa.array(is_mine)), readings.filter(pa.array(is_in(keys, stream.plan.focals)))

    def _answers(self, asked: Batch) -> Iterator[Batch]:
        """After the ticks of a turn have closed."""
        queries = asked.table.column("query").to_pylist()
        asks, answers = list[Batch](), list[Batch]()
        for name, stream in self.streams.items():
            found = stream.answer(queries)
            answers += [replace(answer, kind=Kind.ANSWER, ask=asked.ask) for answer in found]
            yield from (replace(held, ask=asked.ask) for held in stream.told_before(queries))
            mine = np.intersect1d(queries, stream.plan.regions.query)
            asks.append(ask(asked.ask, mine.tolist(), name, stream.clock.closed_to))
            merged = {*stream.merged_of(mine.tolist()), *np.intersect1d(mine, self.merged).tolist()}
            if self.number == 0 and merged:
                # Merge partitions know who the nearest, and which the last, of all shards are, and what
                # comes of branches.
                yield ask(asked.ask, sorted(merged), name, stream.clock.closed_to)
        yield from map(self._for_merging, self.trees.answer(asks, answers, self._is_gathered))

    def _kept(self, asked: Batch) -> Batch:
        stream = self.streams[asked.stream]
        kept, closed_to = stream.kept(), stream.clock.closed_to
        return Batch(Kind.KEPT, kept, asked.stream, ask=asked.ask, closed_to=closed_to)

    def _for_merging(self, answer: Batch) -> Batch:
        """Of a branch that trees on both sides share, merge partitions are asked for some queries only."""
        if answer.template not in self.gathered:
            return answer
        is_asked = np.isin(answer.table.column("query").to_numpy(), self.merged)
        return replace(answer, table=answer.table.filter(pa.array(is_asked)))

    def told(self, batches: Iterable[Batch]) -> list[Batch]:
        """With who tells it."""
        return [replace(batch, shard=self.number) for batch in batches]


def queries_of(trees: Iterable[PlannedTree]) -> I64:
    return np.concatenate([np.empty(0, np.int64), *(tree.queries for tree in trees)])


def partners_in(plan: Plan) -> dict[str, set[str]]:
    """By stream those that it meets in composed queries, itself among them."""
    found: dict[str, set[str]] = {}
    for tree in plan.trees:
        for name in tree.streams if len(tree.streams) > 1 else ():
            found.setdefault(name, set()).update(tree.streams)
    return found
