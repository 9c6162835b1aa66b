"""An archive as a stream again: what its queries tell, as a run over the stream would have told it.

archives ──► pieces in order of time ──► Engine ──► what is told, tick by tick ──► a sink
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from sanderling.arrays import int64_of
from sanderling.ask.archive import since_of
from sanderling.ask.once import nothing_of, slice_without_readings
from sanderling.ask.reach import reach_of
from sanderling.batches import ROW, TS, Batch, Slice
from sanderling.catalog import Stream
from sanderling.clock import tick_end, tick_ends
from sanderling.errors import ConfigError
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.pipeline import Engine
from sanderling.plan.once import beginning_at, in_order
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan, StreamPlan
from sanderling.route.pack import pack
from sanderling.storage.archive import Archive

Told = tuple[int, list[Batch]]


@dataclass(frozen=True, slots=True)
class Times:
    """From when to when, in microseconds; None: from the first reading, to the last. `is_paced`: by tick."""

    begin: int | None = None
    end: int | None = None
    is_paced: bool = False


@dataclass(frozen=True, slots=True)
class Replay:
    """Promise (tests/ask/test_replay.py): byte for byte what a run over the same readings tells."""

    plan: Plan
    archives: Mapping[str, Archive]  # by the folded name of a stream
    times: Times

    @classmethod
    def of(cls, planner: Planner, archives: Mapping[str, Archive], times: Times) -> Replay:
        """Of all that a script registers; what began before `begin` begins there with its whole answer."""
        for name, archive in archives.items():
            stream = planner.streams.get(name)
            if stream is not None:
                _refuse_other(stream, archive)
        if times.begin is not None:
            beginning_at(planner, times.begin)
        plan = planner.plan()
        asked = tuple(part for part in plan.streams if part.templates)
        for part in asked:
            if part.stream.name.casefold() not in archives:
                raise ConfigError(
                    "config.missing_path", f'stream "{part.stream.name}" has nothing to be replayed from',
                    "name its archive too: --archive past/…",
                )  # fmt: skip
        return cls(replace(plan, streams=tuple(map(_replayed, asked))), archives, times)

    def told(self) -> Iterator[Told]:
        """What is told, with the time up to which it was read."""
        engine = Engine.of(self.plan, 1, 1)
        for time, part, table in heapq.merge(
            *map(self._pieces, self.plan.streams), key=lambda piece: piece[0]
        ):
            yield time, engine.advance([_packed(part, table)])
        last = max((archive.archived_to or 0 for archive in self.archives.values()), default=0)
        yield last, engine.advance([[batch for part in self.plan.streams for batch in self._end_of(part)]])

    def _end_of(self, part: StreamPlan) -> list[Batch]:
        """The input ends here; or this tick closes, and the next is another story."""
        if self.times.end is None:
            piece = Slice(1 << 40, "", "", 0, 0, 0, is_last=True)
            return [batch for _, batch in pack(part, piece, nothing_of(part.stream), 1)]
        return [slice_without_readings(part, tick_end(self.times.end, part.stream.tick_us))]

    def _pieces(self, part: StreamPlan) -> Iterator[tuple[int, StreamPlan, pa.Table]]:
        archive, times = self.archives[part.stream.name.casefold()], self.times
        begin, end = archive.kept_from, archive.archived_to
        if begin is None or end is None:
            return
        if times.end is not None:
            end = min(end, tick_end(times.end, part.stream.tick_us))
        since, first = begin, archive.keyframe_before(begin)[1]
        if times.begin is not None:
            tick = tick_end(times.begin, part.stream.tick_us)
            since, first = since_of(archive, tick, reach_of(self.plan))
        yield from self._parts(part, first)
        for batch in archive.readings(since, end):
            yield from self._parts(part, pa.Table.from_batches([batch]))

    def _parts(self, part: StreamPlan, table: pa.Table) -> Iterator[tuple[int, StreamPlan, pa.Table]]:
        """As a whole, or tick by tick."""
        if not table.num_rows:
            return
        ts = int64_of(table, TS)
        edges = [0, table.num_rows]
        if self.times.is_paced:
            ticks = tick_ends(ts, part.stream.tick_us)
            edges = [0, *(np.flatnonzero(ticks[1:] != ticks[:-1]) + 1).tolist(), table.num_rows]
        for a, b in pairwise(edges):
            yield int(ts[b - 1]), part, table.slice(a, b - a)


def _replayed(part: StreamPlan) -> StreamPlan:
    part = in_order(part)
    return replace(part, archive=None, stream=replace(part.stream, path=None, format=""))


def _packed(part: StreamPlan, table: pa.Table) -> list[Batch]:
    table = table.append_column(ROW, pa.array(np.arange(table.num_rows))).combine_chunks()
    ingested = Ingested(table, LETTERS.empty_table(), table.num_rows)
    piece = Slice(0, "", "", 0, 0, 0, is_last=False)
    return [batch for _, batch in pack(part, piece, ingested, 1)]


def _refuse_other(stream: Stream, archive: Archive) -> None:
    known = {column.name: column.type for column in archive.stream.columns}
    other = [c.name for c in stream.columns if known.get(c.name) != c.type]
    if other or stream.tick_us != archive.tick_us:
        what = f'its column "{other[0]}"' if other else "its tick"
        raise ConfigError(
            "history.other_stream", f'{archive.folder} is not of the stream "{stream.name}": {what} differs',
            "declare it as about.json says, or leave the declaration out",
        )  # fmt: skip


__all__ = ["Replay", "Times"]
