"""One shard: all its streams, and the plan they follow; parcels in, parcels out.

The engine is pure: all state is in `StreamShard`, saved and restored as bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.batches import CandidateBatch, LatestBatch, ListingBatch, SightingBatch
from sanderling.clock import NOTHING_YET
from sanderling.operate.now import Change
from sanderling.operate.stream import Replayed, StreamShard
from sanderling.operate.where.orders import Chooser
from sanderling.operate.window.rows import listing_anew
from sanderling.plans.plan import Plan, Plans
from sanderling.route.controls import announce, told_figures
from sanderling.route.pack import shard_schema
from sanderling.route.parcels import Kind, Parcel, To
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

    def advance(self, parcels: list[Parcel]) -> list[Parcel]:
        """One batch: signed rows, late readings and counts come back; dead letters pass through."""
        out = [p for p in parcels if To.SHARDS not in p.kind.to]
        for stream in self.streams.values():
            stream.figures.clear()
        out += self._turn(parcels)
        for name, stream in self.streams.items():
            mine = [
                p for p in parcels if p.kind in (Kind.READINGS, Kind.FOCALS) and p.header["stream"] == name
            ]
            if not mine:
                continue
            ticks, before = stream.ticks_closed(), replace(stream.clock)
            out += stream.accept(mine)
            out += self.parcels(name, stream.close())
            if len(self.composed):
                out.append(stream.told_of(self.composed, before, is_first=self.number == 0))
            if self.number == 0:
                rows = sum(p.header["rows"] for p in mine if p.kind == Kind.READINGS)
                out.append(_counts(name, rows, stream.ticks_closed() - ticks, stream.told_to))
        for name, stream in self.streams.items():
            times = [self.streams[other].told_to for other in self.partners.get(name, ())]
            out += self.parcels(name, stream.go_on_to(max(times, default=NOTHING_YET)))
        if self.is_counting:
            who = f"shard {self.number}"
            out += [told_figures(who, s.stream.name, s.counted()) for s in self.streams.values()]
        return out + [answer for p in parcels if p.kind == Kind.ASK for answer in self._answers(p)]

    # ----- a plan that lives

    def turn_to(self, version: int) -> tuple[list[Parcel], set[str]]:
        """Goes through all versions up to this one: what is said, and the streams that have to be rebuilt."""
        said: list[Parcel] = []
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
                    said.append(Parcel(Kind.SAID, known, {"version": number, "stream": part.stream.name}))
            self.version, self.composed, self.partners = number, composed_in(plan), partners_in(plan)
        for name, reach in sorted(turned.items()):
            history = self.streams[name].past.history
            if history is not None and history.is_listed:
                # Windows of the last of all may reach further now.
                said += self.parcels(name, [listing_anew(history, reach)])
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

    def _turn(self, parcels: list[Parcel]) -> list[Parcel]:
        """Before the readings of a batch: what they find is the new plan."""
        wanted = max((p.header["version"] for p in parcels if p.kind == Kind.PLAN), default=self.version)
        is_new = wanted > self.version
        said, turned = self.turn_to(wanted)
        if is_new and self.number == 0:
            # Merge partitions hear from one shard what all shards do.
            said.append(announce(wanted))
        for name in turned:
            self.streams[name].rebuild()
        for parcel in parcels:
            if parcel.kind == Kind.ACTIVATE:
                self.streams[parcel.header["stream"]].activate(parcel.header["version"], parcel.table)
        return said

    def _answers(self, ask: Parcel) -> Iterator[Parcel]:
        """After the ticks of a batch have closed."""
        for name, stream in self.streams.items():
            for answer in stream.answer(ask.header["queries"]):
                header = {"ask": ask.header["ask"], "template": answer.template, "stream": name}
                yield Parcel(Kind.ANSWER, answer.rows, header)
            mine = np.intersect1d(ask.header["queries"], stream.plan.regions.query)
            merged = {*stream.merged_of(mine.tolist()), *np.intersect1d(mine, self.composed).tolist()}
            if self.number == 0 and merged:
                # Merge partitions know who the nearest, and which the last, of all shards are, and what
                # comes of branches.
                header = {"ask": ask.header["ask"], "stream": name, "tick": stream.clock.closed_to}
                yield Parcel(Kind.ASK, ask.table, {**header, "queries": sorted(merged)})

    def parcels(self, stream: str, changes: list[Change]) -> list[Parcel]:
        """Signed rows, and candidates, which are to be merged with those of other shards."""
        header = {"stream": stream, "shard": self.number}
        found = []
        for change in changes:
            match change:
                case ListingBatch():
                    listed = {"is_anew": change.is_anew, "reach": change.reach}
                    found.append(Parcel(Kind.LISTING, change.rows, {**header, **listed}))
                case CandidateBatch() | LatestBatch():
                    found.append(
                        Parcel(Kind.CANDIDATES, change.rows, {**header, "template": change.template})
                    )
                case SightingBatch():
                    told = {"template": change.template, "stream": stream}
                    found.append(Parcel(Kind.SIGHTINGS, change.rows, told))
                case _:
                    told = {"template": change.template, "stream": stream}
                    found.append(Parcel(Kind.DELTAS, change.rows, told))
        return found


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


def _counts(stream: str, rows: int, ticks: int, closed_to: int) -> Parcel:
    header: dict[str, Any] = {"stream": stream, "rows": rows, "ticks": ticks, "closed_to": closed_to}
    return Parcel(Kind.COUNTS, pa.table({}), header)
