"""Drives the pure engine without Spark: the same ingest, routing, shards and merging, cut as a test likes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.clock import tick_end
from sanderling.deliver.changes import UpdateLines, gather
from sanderling.ingest.files import SourceFile
from sanderling.ingest.read import Ingested, read_slice
from sanderling.ingest.slices import Slice, Slicer
from sanderling.operate.shard import Shard
from sanderling.pipeline import for_shards, shard_schemas
from sanderling.plan.growth import grown
from sanderling.plan.living import Change, LivingPlan
from sanderling.plan.plans import ALWAYS, Plan, StreamPlan
from sanderling.route.controls import activate, announce, ask
from sanderling.route.pack import pack
from sanderling.route.parcels import ANSWER, DELTAS, Parcel
from sanderling.state.saved import catch_up, delta, restore, snapshot


@dataclass
class DirectRun:
    """Shards in memory. `updates` and `letters` collect what came out, in order."""

    plan: Plan
    shards: int = 1
    slice_bytes: int = 1 << 20
    empty_between: bool = False
    # As Spark's workers do it: of two copies of a shard now one, now the other goes on.
    takes_turns: bool = False
    # What the plan came from, if queries are to come and go.
    living: LivingPlan | None = None
    updates: list[str] = field(default_factory=list)
    letters: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan = of_csv(self.plan)
        # Of the versions, as shards have them: what is sent is the growth.
        self.plans = {self.plan.version: for_shards(self.plan)}
        self.first = self.plan.version
        # What a source sends to every shard; it never sends less.
        self.followed = {s.stream.name: s.focals for s in self.plan.streams}
        self.waiting: list[tuple[Change, list[Parcel]]] = []
        # Where among the updates those of a query begin, by its name.
        self.since = {q.name: 0 for q in self.plan.queries}
        self.engines = [self._new(n) for n in range(self.shards)]
        self.saved: list[tuple[bytes | None, list[bytes]]] = [(None, []) for _ in range(self.shards)]
        self.others = [self._new(n) for n in range(self.shards)] if self.takes_turns else []
        self.missed: list[list[bytes]] = [[] for _ in range(self.shards)]
        self.batches = 0
        self.numbers = dict.fromkeys((s.stream.name for s in self.plan.streams), 0)

    def _new(self, number: int) -> Shard:
        """As it began: what came later is in what was saved."""
        plan = self.plans[self.first]
        return Shard(plan, number, shard_schemas(plan), self.plans.__getitem__)

    def stream_plan(self, name: str) -> StreamPlan:
        return next(s for s in self.plan.streams if s.stream.name.casefold() == name.casefold())

    def feed_file(self, name: str, path: Path) -> None:
        """All readings of a csv file, slice by slice, a batch each."""
        stream = self.stream_plan(name)
        slicer = Slicer([SourceFile(path.name, str(path))], "csv", self.slice_bytes, 1000)
        offset = slicer.first()
        while (following := slicer.next(offset)) is not None:
            piece, offset = following
            self._batch(stream, replace(piece, number=self._number(stream), is_last=False))
            if self.empty_between:
                self._batch(stream, None)

    def _number(self, stream: StreamPlan) -> int:
        self.numbers[stream.stream.name] += 1
        return self.numbers[stream.stream.name]

    def _take_turns(self) -> None:
        """The last two of any three batches are the other copy's."""
        self.batches += 1
        for number, engine in enumerate(self.engines if self.takes_turns else []):
            change = delta(engine)
            base, deltas = self.saved[number]
            self.saved[number] = (base, [*deltas, change])
            self.missed[number].append(change)
            if self.batches % 3 != 2:
                catch_up(self.others[number], self.missed[number])
                self.engines[number], self.others[number] = self.others[number], engine
                self.missed[number] = []

    def _batch(self, stream: StreamPlan, piece: Slice | None) -> None:
        self._take_turns()
        if piece is None:
            piece = Slice(self._number(stream), "nothing", "nothing", 0, 0, 1, False)
            types = {c.name: c.type.arrow for c in stream.stream.columns}
            schema = pa.schema([*types.items(), ("__ts", pa.int64()), ("__row", pa.int64())])
            from sanderling.ingest.letters import LETTERS

            ingested = Ingested(schema.empty_table(), LETTERS.empty_table(), 0)
        else:
            ingested = read_slice(stream.stream, piece)
        parcels: list[list[Parcel]] = [[] for _ in self.engines]
        for shard, parcel in pack(stream, piece, ingested, self.shards, self.followed[stream.stream.name]):
            parcels[shard].append(parcel)
        self._advance(parcels)

    def _advance(self, parcels: list[list[Parcel]]) -> list[Parcel]:
        out = []
        for engine, mine in zip(self.engines, parcels, strict=True):
            # Through bytes, as between Spark's stages.
            said = engine.advance([Parcel.from_bytes(p.to_bytes()) for p in mine])
            out += [Parcel.from_bytes(p.to_bytes()) for p in said]
        self._collect(out)
        return out

    # ----- queries that come and go

    def execute(self, text: str, is_activated: bool = True) -> Change:
        """Statements between two batches; what has new focal objects may wait for `activate`."""
        assert self.living is not None
        change = self.living.execute(text)
        if change.growth is None:
            return change
        self.plan = of_csv(change.plan)
        growth = pickle.loads(pickle.dumps(change.growth))
        self.plans[change.version] = grown(self.plans[change.version - 1], growth)
        for number in change.dropped:
            self.since.pop(self.plan.queries[int(number)].name, None)
        self.since |= {self.plan.queries[int(n)].name: len(self.updates) for n in change.new_queries}
        for name, keys in change.new_focals.items():
            self.followed[name] = pa.concat_arrays([self.followed[name], keys])
        said = self._tell([announce(change.version)])
        if change.new_focals:
            self.waiting.append((change, said))
        if is_activated:
            self.activate()
        return change

    def activate(self) -> None:
        """What waits goes on, version by version."""
        for change, said in self.waiting:
            self._tell(activate(change.version, change.new_focals, said))
        self.waiting = []

    def ask(self, name: str) -> list[str]:
        """The answer of a query as lines, in order; from the shards, not from the updates."""
        numbers = np.flatnonzero(pc.equal(self.plan.queries.names, name).to_numpy(zero_copy_only=False))
        numbers = numbers[self.plan.queries.end[numbers] != ALWAYS]
        told = [p for p in self._tell([ask(7, numbers)]) if p.kind == ANSWER]
        assert all(p.header["ask"] == 7 for p in told)
        by_template: dict[int, list[pa.Table]] = {}
        for parcel in told:
            by_template.setdefault(parcel.header["template"], []).append(parcel.table)
        rows = {template: pa.concat_tables(tables) for template, tables in by_template.items()}
        return [line.as_py() for line in UpdateLines(self.plan).of(rows)]

    def _tell(self, parcels: list[Parcel]) -> list[Parcel]:
        """A batch without readings: the same to every shard."""
        self._take_turns()
        return self._advance([parcels for _ in self.engines])

    def close_to(self, name: str, time: int) -> None:
        """Ends every tick up to the one that contains `time`, as the end of the input would."""
        stream = self.stream_plan(name).stream
        out = []
        for engine in self.engines:
            part = engine.streams[stream.name]
            deltas = part.close_to(max(tick_end(time, stream.tick_us), part.clock.closed_to))
            out += [Parcel(DELTAS, d.rows, {"template": d.template, "stream": stream.name}) for d in deltas]
        self._collect(out)

    def _collect(self, out: list[Parcel]) -> None:
        for change in gather(self.plan, out).values():
            self.updates += [line.as_py() for line in UpdateLines(self.plan).of(change.rows)]
            letters = change.ordered_letters()
            self.letters += [(r["stream"], r["reason"], r["raw"]) for r in letters.to_pylist()]

    def restart(self, is_snapshot: bool = False) -> None:
        """Saves, forgets everything, and comes back from what was saved."""
        for number, engine in enumerate(self.engines):
            base, deltas = self.saved[number]
            change = delta(engine)
            base, deltas = (snapshot(engine), []) if is_snapshot else (base, [*deltas, change])
            self.saved[number] = (base, deltas)
            self.engines[number] = self._new(number)
            restore(self.engines[number], base, deltas)
            if self.takes_turns:
                self.others[number], self.missed[number] = self._new(number), []
                restore(self.others[number], base, deltas)


def of_csv(plan: Plan) -> Plan:
    streams = tuple(replace(s, stream=replace(s.stream, format="csv")) for s in plan.streams)
    return replace(plan, streams=streams)
