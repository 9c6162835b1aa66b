"""Drives the pure engine without Spark: the same ingest, routing, shards and merging, cut as a test likes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.batches import Batch, Kind, Slice
from sanderling.clock import tick_end
from sanderling.deliver.changes import UpdateLines, arrivals_in, failures_in, gather
from sanderling.figures.figures import Tally
from sanderling.ingest.files import SourceFile
from sanderling.ingest.read import Ingested, read_slice
from sanderling.ingest.slices import Slicer
from sanderling.merge.partition import Merge
from sanderling.operate.pattern.own_state import States
from sanderling.operate.shard.shard import Shard
from sanderling.operate.where.orders import ByCounts, Chooser
from sanderling.pipeline import Engine
from sanderling.plan.grow.living import Change, LivingPlan
from sanderling.plans.growth import Growth, grown
from sanderling.plans.parts import for_shards
from sanderling.plans.plan import ALWAYS, Plan, StreamPlan
from sanderling.route.controls import activate, announce, ask
from sanderling.route.pack import pack
from sanderling.route.parcels import batch_in, parcel_of
from sanderling.state import saved
from sanderling.state.plans import PLANS
from tests.engine.own_states import STATES


class ByPair(ByCounts):
    """Judges every condition pair by pair, however few there are."""

    def judges_readings(self) -> bool:
        return False


class Copies:
    """A shard or merge partition, what was saved of it, and another copy for turns."""

    def __init__(self, new: Callable[[], Any], takes_turns: bool):
        self.new = new
        self.engine, self.other = new(), new() if takes_turns else None
        self.base: bytes | None = None
        self.deltas: list[bytes] = []
        self.missed: list[bytes] = []

    def take_turns(self, is_other: bool) -> None:
        change = saved.delta(self.engine)
        self.deltas.append(change)
        self.missed.append(change)
        if is_other:
            saved.catch_up(self.other, self.missed)
            self.engine, self.other, self.missed = self.other, self.engine, []

    def save(self) -> None:
        self.deltas.append(saved.delta(self.engine))

    def restart(self, is_snapshot: bool, takes_turns: bool) -> None:
        change = saved.delta(self.engine)
        self.base, self.deltas = (
            (saved.snapshot(self.engine), []) if is_snapshot else (self.base, [*self.deltas, change])
        )
        self.engine = self.new()
        saved.restore(self.engine, self.base, self.deltas)
        if takes_turns:
            self.other, self.missed = self.new(), []
            saved.restore(self.other, self.base, self.deltas)


@dataclass
class DirectRun:
    """Shards and merge partitions in memory. `updates` and `letters` collect what came out, in order."""

    plan: Plan
    shards: int = 1
    slice_bytes: int = 1 << 20
    empty_between: bool = False
    # As Spark's workers do it: of two copies of a shard now one, now the other goes on.
    takes_turns: bool = False
    # What the plan came from, if queries are to come and go.
    living: LivingPlan | None = None
    # Whether WHERE or INSIDE comes first; a shard's own, as it begins and whenever it comes back.
    chooser: Callable[[], Chooser] = ByCounts
    # Merge partitions: as many as shards, but for one shard two: a query's lists are to find their way.
    partitions: int = 0
    states: States = STATES
    updates: list[str] = field(default_factory=list)
    letters: list[tuple[str, str, str]] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)  # patterns that their own states ended, by number
    figures: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.plan = of_csv(self.plan)
        # Of the versions, as shards have them: what is sent is the growth.
        self.plans = {self.plan.version: PLANS.decoded(PLANS.encoded(for_shards(self.plan)), Plan)}
        self.first = self.plan.version
        # What a source sends to every shard; it never sends less.
        self.followed = {s.stream.name: s.focals for s in self.plan.streams}
        self.waiting: list[tuple[Change, list[Batch]]] = []
        # Where among the updates those of a query begin, by its name.
        self.since = {q.name: 0 for q in self.plan.queries}
        self.shard_copies = [Copies(lambda n=n: self._new(n), self.takes_turns) for n in range(self.shards)]
        self.partitions = self.partitions or (2 if self.shards == 1 else 3)
        self.merges = [
            Copies(lambda n=n: self._new_merge(n), self.takes_turns) for n in range(self.partitions)
        ]
        self.batches = 0
        self.numbers = dict.fromkeys((s.stream.name for s in self.plan.streams), 0)

    @property
    def engines(self) -> list[Shard]:
        return [copies.engine for copies in self.shard_copies]

    def _new(self, number: int) -> Shard:
        """As it began: what came later is in what was saved."""
        plan = self.plans[self.first]
        shard = Shard(plan, number, self.plans.__getitem__, self.chooser())
        shard.is_counting = True
        return shard

    def _new_merge(self, number: int) -> Merge:
        merge = Merge(self.plans[self.first], number, self.plans.__getitem__, self.partitions, self.states)
        merge.is_counting = True
        return merge

    def stream_plan(self, name: str) -> StreamPlan:
        return next(s for s in self.plan.streams if s.stream.name.casefold() == name.casefold())

    def feed_file(self, name: str, path: Path, is_last: bool = False) -> None:
        """All readings of a csv file, slice by slice, a batch each; the stream may end with them."""
        stream = self.stream_plan(name)
        slicer = Slicer([SourceFile(path.name, str(path))], "csv", self.slice_bytes, 1000)
        offset = slicer.first()
        while (following := slicer.next(offset)) is not None:
            piece, offset = following
            is_end = is_last and slicer.next(offset) is None
            self._batch(stream, replace(piece, number=self._number(stream), is_last=is_end))
            if self.empty_between:
                self._batch(stream, None)

    def feed_together(self, name: str, paths: list[Path], is_ordered: bool, chance: Random) -> None:
        """Files as slices of one batch, as tasks of Spark give them: who is done first is chance."""
        stream = self.stream_plan(name)
        pieces = []
        for path in paths:
            slicer = Slicer([SourceFile(path.name, str(path))], "csv", 1 << 20, 1000)
            found = slicer.next(slicer.first())
            assert found is not None
            pieces.append(
                replace(found[0], number=self._number(stream), is_last=False, is_ordered=is_ordered)
            )
        self._take_turns()
        chance.shuffle(pieces)
        self._advance(self._packed(stream, [(piece, read_slice(stream.stream, piece)) for piece in pieces]))

    def _number(self, stream: StreamPlan) -> int:
        self.numbers[stream.stream.name] += 1
        return self.numbers[stream.stream.name]

    def _take_turns(self) -> None:
        """The last two of any three batches are the other copy's."""
        self.batches += 1
        for copies in (*self.shard_copies, *self.merges) if self.takes_turns else ():
            copies.take_turns(is_other=self.batches % 3 != 2)

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
        self._advance(self._packed(stream, [(piece, ingested)]))

    def _packed(self, stream: StreamPlan, pieces: Iterable[tuple[Slice, Ingested]]) -> list[list[Batch]]:
        """By shard what it gets of some slices, slice by slice as they are given."""
        batches: list[list[Batch]] = [[] for _ in self.engines]
        followed = self.followed[stream.stream.name]
        for piece, ingested in pieces:
            for shard, batch in pack(stream, piece, ingested, self.shards, followed):
                batches[shard].append(batch)
        return batches

    def _advance(self, batches: list[list[Batch]]) -> list[Batch]:
        engine = self._engine()
        # Last shard first: who comes first is not to show.
        out = engine.merged(reversed(engine.said(batches)))
        self._collect(out)
        return out

    def _engine(self) -> Engine:
        """As it is now: copies take turns, plans grow. All goes through bytes, as between Spark's stages."""
        partitions = [copies.engine for copies in self.merges]
        return Engine(self.plan, self.engines, partitions, carried)

    # ----- queries that come and go

    def execute(self, text: str, is_activated: bool = True) -> Change:
        """Statements between two batches; what has new focal objects may wait for `activate`."""
        assert self.living is not None
        change = self.living.execute(text)
        if change.growth is None:
            return change
        self.plan = of_csv(change.plan)
        growth = PLANS.decoded(PLANS.encoded(change.growth), Growth)
        self.plans[change.version] = grown(self.plans[change.version - 1], growth)
        for number in change.dropped:
            self.since.pop(self.plan.queries[int(number)].name, None)
        self.since |= {self.plan.queries[int(n)].name: len(self.updates) for n in change.new_queries}
        for name, keys in change.new_focals.items():
            self.followed[name] = pa.concat_arrays([self.followed[name], keys])
        # As on Spark, a version is in what is saved of its own batch: nothing from before comes behind it.
        for copies in () if self.takes_turns else (*self.shard_copies, *self.merges):
            copies.save()
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
        """The answer of a query as lines, in order; from shards and merge partitions, not from updates."""
        numbers = np.flatnonzero(pc.equal(self.plan.queries.names, name).to_numpy(zero_copy_only=False))
        numbers = numbers[self.plan.queries.end[numbers] != ALWAYS]
        told = [b for b in self._tell([ask(7, numbers)]) if b.kind == Kind.ANSWER]
        assert all(b.ask == 7 for b in told)
        by_template: dict[int, list[pa.Table]] = {}
        for batch in told:
            by_template.setdefault(batch.template, []).append(batch.table)
        rows = {template: pa.concat_tables(tables) for template, tables in by_template.items()}
        return [line.as_py() for line in UpdateLines(self.plan).of(rows)]

    def _tell(self, batches: list[Batch]) -> list[Batch]:
        """A batch without readings: the same to every shard."""
        self._take_turns()
        return self._advance([batches for _ in self.engines])

    def close_to(self, name: str, time: int) -> None:
        """Ends every tick up to the one that contains `time`, as the end of the input would."""
        stream = self.stream_plan(name).stream
        out = []
        for engine in self.engines:
            part = engine.streams[stream.name]
            before = replace(part.clock)
            changes = part.close_to(max(tick_end(time, stream.tick_us), part.clock.closed_to))
            out += engine.told(engine.grown([*changes, *engine.clocks(part, before)]))
        self._collect(self._engine().merged(reversed(out)))

    def _collect(self, out: list[Batch]) -> None:
        for batch in (b for b in out if b.kind == Kind.FIGURES):
            self.figures.take(batch.shard, batch.table)
        self.figures.arrive(arrivals_in(out))
        self.failed |= {row["query"]: row["message"] for row in failures_in(out)}
        changes = gather(self.plan, out)
        # Those of all streams in one order, as they are in the end.
        rows = {template: table for change in changes.values() for template, table in change.rows.items()}
        self.updates += [line.as_py() for line in UpdateLines(self.plan).of(rows)]
        for change in changes.values():
            letters = change.ordered_letters()
            self.letters += [(r["stream"], r["reason"], r["raw"]) for r in letters.to_pylist()]

    def restart(self, is_snapshot: bool = False) -> None:
        """Saves, forgets everything, and comes back from what was saved."""
        for copies in (*self.shard_copies, *self.merges):
            copies.restart(is_snapshot, self.takes_turns)


def carried(batch: Batch) -> Batch:
    """As between processes, where only what belongs to its kind arrives."""
    assert {*batch.kind.columns} <= {*batch.table.column_names}, batch.kind
    return batch_in(parcel_of(batch))


def of_csv(plan: Plan) -> Plan:
    streams = tuple(replace(s, stream=replace(s.stream, format="csv")) for s in plan.streams)
    return replace(plan, streams=streams)
