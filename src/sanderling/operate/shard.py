"""One shard: all its streams, and the plan they follow; batches in, batches out.

The engine is pure: all state is in `StreamShard`, saved and restored as bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from sanderling.arrays import I64
from sanderling.batches import Batch, Kind, To
from sanderling.clock import NOTHING_YET
from sanderling.operate.stream import Replayed, StreamShard
from sanderling.operate.where.orders import Chooser
from sanderling.operate.window.rows import listing_anew
from sanderling.plans.plan import Plan, Plans
from sanderling.route.controls import announce, ask
from sanderling.route.pack import shard_schema
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
        self.composed, self.partners = composed_in(plan), partners_in(plan)
        self.streams = {s.stream.name: StreamShard(s, shard_schema(s), chooser) for s in plan.streams}

    def advance(self, batches: list[Batch]) -> list[Batch]:
        """One turn: signed rows, late readings and counts come back; dead letters pass through."""
        out = [b for b in batches if To.SHARDS not in b.kind.to]
        for stream in self.streams.values():
            stream.figures.clear()
        out += self._turn(batches)
        for name, stream in self.streams.items():
            mine = [b for b in batches if b.kind in (Kind.READINGS, Kind.FOCALS) and b.stream == name]
            if not mine:
                continue
            ticks, before = stream.ticks_closed(), replace(stream.clock)
            out += stream.accept(mine)
            out += self.told(stream.close())
            if len(self.composed):
                out.append(stream.told_of(self.composed, before, is_first=self.number == 0))
            if self.number == 0:
                rows, ticks = sum(b.rows for b in mine), stream.ticks_closed() - ticks
                counts = Batch(Kind.COUNTS, stream=name, rows=rows, ticks=ticks, closed_to=stream.told_to)
                out.append(replace(counts, furthest=stream.furthest))
        for name, stream in self.streams.items():
            times = [self.streams[other].told_to for other in self.partners.get(name, ())]
            out += self.told(stream.go_on_to(max(times, default=NOTHING_YET)))
        if self.is_counting:
            out += self.told(Batch(Kind.FIGURES, s.counted().table()) for s in self.streams.values())
        return out + [answer for b in batches if b.kind == Kind.ASK for answer in self._answers(b)]

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
            self.version, self.composed, self.partners = number, composed_in(plan), partners_in(plan)
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
        self.version, self.composed, self.partners = version, composed_in(plan), partners_in(plan)

    # ----- saved and restored

    def saved(self, is_whole: bool) -> Frame:
        return Frame(parts={name: stream.saved(is_whole) for name, stream in self.streams.items()})

    def restore(self, whole: Saved | None, since: Sequence[Saved]) -> None:
        if whole is not None:
            if whole.version != self.version:
                self.begin_at(whole.version)
            for name, stream in self.streams.items():
                stream.restore(whole.frame.part(name))
        for saved in since:
            self._replay(saved)
        for stream in self.streams.values():
            stream.rebuild()

    def catch_up(self, since: Sequence[Saved]) -> None:
        turned: set[str] = set()
        for saved in since:
            replayed, turned_now = self._replay(saved)
            turned |= turned_now
            for name in replayed.keys() - turned:
                self.streams[name].settle(replayed[name])
        for name in turned:
            self.streams[name].compact()
            self.streams[name].rebuild()

    def _replay(self, saved: Saved) -> tuple[dict[str, Replayed], set[str]]:
        """By stream what it replayed; and the streams that have another plan now."""
        _, turned = self.turn_to(saved.version)
        streams = self.streams.items()
        return {name: stream.replay(saved.frame.part(name)) for name, stream in streams}, turned

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
        for batch in batches:
            if batch.kind == Kind.ACTIVATE:
                self.streams[batch.stream].activate(batch.version, batch.table)
        return said

    def _answers(self, asked: Batch) -> Iterator[Batch]:
        """After the ticks of a turn have closed."""
        queries = asked.table.column("query").to_pylist()
        for name, stream in self.streams.items():
            for answer in stream.answer(queries):
                yield replace(answer, kind=Kind.ANSWER, ask=asked.ask)
            mine = np.intersect1d(queries, stream.plan.regions.query)
            merged = {*stream.merged_of(mine.tolist()), *np.intersect1d(mine, self.composed).tolist()}
            if self.number == 0 and merged:
                # Merge partitions know who the nearest, and which the last, of all shards are, and what
                # comes of branches.
                yield ask(asked.ask, sorted(merged), name, stream.clock.closed_to)

    def told(self, batches: Iterable[Batch]) -> list[Batch]:
        """With who tells it."""
        return [replace(batch, shard=self.number) for batch in batches]


def composed_in(plan: Plan) -> I64:
    """The composed queries of a plan."""
    return np.concatenate([np.empty(0, np.int64), *(tree.queries for tree in plan.trees)])


def partners_in(plan: Plan) -> dict[str, set[str]]:
    """By stream those that it meets in composed queries, itself among them."""
    found: dict[str, set[str]] = {}
    for tree in plan.trees:
        for name in tree.streams if len(tree.streams) > 1 else ():
            found.setdefault(name, set()).update(tree.streams)
    return found
