"""One shard: its objects' last readings and the query tables; closed ticks in, signed rows out.

The engine is pure: parcels in, parcels out, all state in `StreamShard`, saved and restored as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.batches import LATE, ROW, TS, DeltaBatch
from sanderling.clock import NOTHING_YET, closed_by, tick_end, tick_ends
from sanderling.operate.inside import Inside
from sanderling.operate.pairs import MoveBatch
from sanderling.operate.readings import LastReadings, int64_of
from sanderling.plan.plans import ALWAYS, NEVER, Plan, StreamPlan
from sanderling.route.pack import focal_columns
from sanderling.route.parcels import COUNTS, DELTAS, FOCALS, LATE_ROWS, READINGS, Parcel


@dataclass(slots=True)
class Clock:
    """What a shard knows of a stream's time. The same in all shards after the same batches."""

    max_ts: int = NOTHING_YET
    closed_to: int = NOTHING_YET
    first_tick: int = NOTHING_YET
    is_ended: bool = False


class StreamShard:
    """One stream's part of a shard."""

    def __init__(self, plan: StreamPlan, schema: pa.Schema):
        self.plan = plan
        self.stream = plan.stream
        self.clock = Clock()
        self.objects = LastReadings(plan.stream, schema)
        narrow = pa.schema([schema.field(name) for name in focal_columns(plan.stream)])
        self.focals = LastReadings(plan.stream, narrow, plan.focals)
        self.inside = Inside(plan)
        self.live = self.inside.new_state(NOTHING_YET, self.objects, self.focals)
        times = np.concatenate([plan.regions.begin, plan.regions.end])
        self.turns = [int(t) for t in np.unique(times) if t not in (ALWAYS, NEVER)]

    # ----- readings in

    def accept(self, parcels: list[Parcel]) -> list[Parcel]:
        """Takes a batch's readings, slice by slice in order of arrival; late ones come back."""
        late: list[Parcel] = []
        for number in sorted({p.header["slice"]["number"] for p in parcels}):
            before = self.clock.max_ts
            for parcel in (p for p in parcels if p.header["slice"]["number"] == number):
                refused = self._accept_one(parcel, before)
                if refused is not None:
                    late.append(refused)
                self.clock.max_ts = max(self.clock.max_ts, parcel.header["max_ts"])
                if self.clock.closed_to == NOTHING_YET and parcel.header["min_ts"] != NOTHING_YET:
                    first = tick_end(parcel.header["min_ts"], self.stream.tick_us)
                    known = self.clock.first_tick
                    self.clock.first_tick = first if known == NOTHING_YET else min(first, known)
                self.clock.is_ended |= parcel.header["is_last"]
        return late

    def _accept_one(self, parcel: Parcel, max_ts_before: int) -> Parcel | None:
        table = parcel.table
        ends = tick_ends(int64_of(table, TS), self.stream.tick_us)
        is_late = np.asarray(table.column(LATE).to_numpy(), np.bool_) | (ends <= self.clock.closed_to)
        if max_ts_before != NOTHING_YET:
            is_late = is_late | (ends < max_ts_before - self.stream.lateness_us)
        last = self.objects if parcel.kind == READINGS else self.focals
        readings = table.select(last.schema.names)
        if is_late.any():
            readings = readings.filter(pa.array(~is_late))
        last.accept(readings)
        if parcel.kind == READINGS:
            self.accept_own_focals(readings)
        if parcel.kind == FOCALS or not is_late.any():
            return None
        rows = table.filter(pa.array(is_late)).select([ROW])
        return Parcel(LATE_ROWS, rows, {"stream": self.stream.name, "slice": parcel.header["slice"]})

    def accept_own_focals(self, readings: pa.Table) -> None:
        """Focal objects that live here are saved as objects; those of other shards come by other parcels."""
        if not len(self.plan.focals):
            return
        keys = readings.column(self.stream.key)
        numbers = self.focals.keys.find(
            pa.concat_arrays(keys.chunks) if len(keys) else self.focals.keys.all[:0]
        )
        if (numbers >= 0).any():
            mine = readings.select(self.focals.schema.names)
            self.focals.accept(mine.filter(pa.array(numbers >= 0)), is_saved=True)

    # ----- ticks

    def close(self) -> list[DeltaBatch]:
        """Closes every tick that the clock has passed."""
        clock, tick_us = self.clock, self.stream.tick_us
        if clock.max_ts == NOTHING_YET:
            return []
        target = closed_by(clock.max_ts - self.stream.lateness_us, tick_us)
        if clock.is_ended:
            target = tick_end(clock.max_ts, tick_us)
        return self.close_to(target)

    def close_to(self, target: int) -> list[DeltaBatch]:
        """Closes all ticks up to `target`, stopping where queries begin or end."""
        deltas: list[DeltaBatch] = []
        for turn in self.turns:
            if self.clock.closed_to < turn <= target:
                deltas += self._step(turn - self.stream.tick_us)
                self.live = self.inside.ended(self.live, turn, self.objects, self.focals)
                deltas += self._step(turn)
                self.live, answers = self.inside.begun(self.live, turn, self.objects, self.focals)
                deltas += answers
        deltas += self._step(target)
        self.focals.compact()
        if self.objects.compact():
            self.refresh()
        return deltas

    def refresh(self) -> None:
        """What follows from the readings, made anew."""
        self.live = self.inside.new_state(self.clock.closed_to, self.objects, self.focals)

    def settle(self, moves: MoveBatch, focal_moves: MoveBatch, closed_from: int) -> None:
        """What follows from the readings, after moves whose changes have been told by another copy."""
        has_turned = any(closed_from < turn <= self.clock.closed_to for turn in self.turns)
        self.focals.compact()
        if self.objects.compact() or has_turned:
            self.refresh()
        elif self.live.moving is not None:
            self.live.moving.settle(moves, focal_moves, self.objects, self.focals)

    def _step(self, target: int) -> list[DeltaBatch]:
        if target <= self.clock.closed_to:
            return []
        rows_before = self.objects.row_of.copy()
        moves, focal_moves = self.objects.close(target), self.focals.close(target)
        self.clock.closed_to = target
        return self.inside.apply(self.live, moves, self.objects, rows_before, focal_moves, self.focals)

    def ticks_closed(self) -> int:
        clock = self.clock
        if NOTHING_YET in (clock.first_tick, clock.closed_to):
            return 0
        return max(0, (clock.closed_to - clock.first_tick) // self.stream.tick_us + 1)


class Shard:
    """All streams of one shard."""

    def __init__(self, plan: Plan, number: int, schemas: dict[str, pa.Schema]):
        self.number = number
        self.streams = {s.stream.name: StreamShard(s, schemas[s.stream.name]) for s in plan.streams}

    def advance(self, parcels: list[Parcel]) -> list[Parcel]:
        """One batch: signed rows, late readings and counts come back; dead letters pass through."""
        out = [p for p in parcels if p.kind not in (READINGS, FOCALS)]
        for name, stream in self.streams.items():
            mine = [p for p in parcels if p.kind in (READINGS, FOCALS) and p.header["stream"] == name]
            if not mine:
                continue
            ticks = stream.ticks_closed()
            out += stream.accept(mine)
            out += [Parcel(DELTAS, d.rows, {"template": d.template, "stream": name}) for d in stream.close()]
            if self.number == 0:
                rows = sum(p.header["rows"] for p in mine if p.kind == READINGS)
                out.append(_counts(name, rows, stream.ticks_closed() - ticks, stream.clock.closed_to))
        return out


def _counts(stream: str, rows: int, ticks: int, closed_to: int) -> Parcel:
    header: dict[str, Any] = {"stream": stream, "rows": rows, "ticks": ticks, "closed_to": closed_to}
    return Parcel(COUNTS, pa.table({}), header)
