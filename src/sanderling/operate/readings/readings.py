"""NOW: each object's last reading, and the readings whose tick has not closed yet.

accept ──► pending ──close──► store (append-only, compacted) ◄── row_of[object]
                        └──► moves: what was, what is
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import F64, I64, Bools, Pile, flat, float64_of, int64_of, is_worth_compacting
from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, tick_ends
from sanderling.kernels.readings.chain import chain
from sanderling.kernels.readings.fold import (
    fold,
    last_of_each,
    order_by_tick,
    rows_by_object,
    stale_tick,
)
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.plans.columns import previous_of
from sanderling.route.keys import Keys
from sanderling.state.frame import Frame

NEVER_STALE = np.iinfo(np.int64).max


class Stored(Protocol):
    """Readings by row, wherever they are kept."""

    @property
    def store(self) -> pa.Table: ...

    @property
    def x(self) -> F64: ...

    @property
    def y(self) -> F64: ...


class Keeper(Protocol):
    """Whoever needs more than the last readings."""

    def advance(self, closing: pa.Table, ts: I64, ordered: I64, is_gone: Bools, closed_to: int) -> None:
        """Takes the readings of ticks that close; `ordered` are those that count, by object and time."""


class LastReadings:
    """The objects of one shard (or the focal objects of a stream).

    Promises (tests/properties/test_readings.py):
      order     of two readings of an object in a tick the later counts; at equal times the later to arrive
      chunking  accepting in pieces and closing once is accepting at once
      memory    objects that are gone, and rows that were replaced, are forgotten
    """

    def __init__(
        self, stream: Stream, schema: pa.Schema, lasting: pa.Array | None = None,
        previous: tuple[str, ...] = (),
    ):  # fmt: skip
        """`lasting` keys have the first numbers, for ever; of `previous` columns what was before is kept."""
        self.stream = stream
        self.schema = schema
        self.previous = previous
        # Whoever needs all readings of ticks that close gets them; who holds them has all saved, too.
        self.keepers: tuple[Keeper, ...] = ()
        self.is_every_saved = False
        self._lasting = pa.array([], schema.field(stream.key).type) if lasting is None else lasting
        self._forget_all()
        self._pile = Pile(self.store_schema.empty_table())
        self.x: F64 = np.empty(0, np.float64)
        self.y: F64 = np.empty(0, np.float64)
        self.pending: pa.Table = schema.empty_table()
        self._pending_ts: I64 = np.empty(0, np.int64)
        # For saving only what changed: readings since the last drain whose ticks have closed are logged.
        self._is_pending_saved: Bools = np.empty(0, np.bool_)
        self._log: list[pa.Table] = []

    @property
    def store(self) -> pa.Table:
        """Readings by row; those that were replaced among them, for a while."""
        return self._pile.table

    @property
    def store_schema(self) -> pa.Schema:
        """Readings as they are kept: what columns were in the reading before stands behind them."""
        more = [pa.field(previous_of(c), self.schema.field(c).type) for c in self.previous]
        return pa.schema([*self.schema, *more])

    def remember(self, previous: tuple[str, ...]) -> None:
        """From now on what these columns were before is kept; of what is there already it is not known."""
        self.previous, known = previous, set(self.store.column_names)
        nothing = {
            n: pa.nulls(self.store.num_rows, t) for n, t in _types(self.store_schema) if n not in known
        }
        store = self.store
        for name, column in nothing.items():
            store = store.append_column(name, column)
        self._pile = Pile(store.select(self.store_schema.names))

    def _forget_all(self) -> None:
        self.keys = Keys(self._lasting)
        self.row_of: I64 = np.full(len(self.keys), -1)
        self.ts_of: I64 = np.full(len(self.keys), NOTHING_YET)
        self._quiet_to = NOTHING_YET  # nobody becomes stale before this tick

    # ----- readings in

    def accept(self, readings: pa.Table, is_saved: bool = False) -> None:
        """Takes readings of ticks that are still open, in order of arrival; `is_saved`: not to be drained."""
        n = readings.num_rows
        if n:
            self.pending = pa.concat_tables([self.pending, readings])
            self._pending_ts = np.concatenate([self._pending_ts, int64_of(readings, TS)])
            self._is_pending_saved = np.concatenate([self._is_pending_saved, np.full(n, is_saved)])

    def close(self, closed_to: int) -> MoveBatch:
        """Applies all pending readings of ticks up to `closed_to`; what moved comes back, by tick."""
        is_closing = tick_ends(self._pending_ts, self.stream.tick_us) <= closed_to
        if not is_closing.any():
            return self._apply(self.schema.empty_table(), self._pending_ts[:0], closed_to, is_closing[:0])
        closing, ts, is_saved = self.pending, self._pending_ts, self._is_pending_saved
        self.pending = self.schema.empty_table()
        if not is_closing.all():
            self.pending = closing.filter(pa.array(~is_closing)).combine_chunks()
            closing = closing.filter(pa.array(is_closing))
        self._pending_ts, self._is_pending_saved = ts[~is_closing], is_saved[~is_closing]
        return self._apply(closing, ts[is_closing], closed_to, is_saved[is_closing])

    def _apply(self, closing: pa.Table, ts: I64, closed_to: int, is_saved: Bools) -> MoveBatch:
        stream = self.stream
        objects = self._intern(closing.column(stream.key))
        by_time = np.argsort(ts, kind="stable") if (ts[1:] < ts[:-1]).any() else np.arange(len(ts))
        ordered = rows_by_object(objects, len(self.row_of), by_time)
        stale_us = -1 if stream.stale_after_us is None else stream.stale_after_us
        is_gone = self._is_gone(closing)
        logged, counting = closing, ordered
        if self.previous or self.keepers:
            counts, before = chain(
                ordered, objects, ts, is_gone, self.row_of, self.ts_of, self.store.num_rows,
                stream.tick_us, stale_us,
            )  # fmt: skip
            closing, counting = self._with_previous(closing, before), ordered[counts[ordered]]
        self._log_last(logged, objects, counting, is_saved)
        kept, *moved = fold(
            ordered, objects, ts, is_gone, self.row_of, self.ts_of,
            self.store.num_rows, stream.tick_us, stale_us, closed_to,
        )  # fmt: skip
        self._append(closing.take(pa.array(kept)) if len(kept) < closing.num_rows else closing)
        if len(ts):
            self._quiet_to = min(self._quiet_to, stale_tick(int(ts.min()), stale_us, stream.tick_us))
        silent = self._silent(stale_us, closed_to)
        for keeper in self.keepers:
            keeper.advance(closing, ts, counting, is_gone, closed_to)
        if len(silent[0]):
            gone = (*silent, np.full(len(silent[0]), -1))
            moved = [np.concatenate(pair) for pair in zip(moved, gone, strict=True)]
        by_tick = order_by_tick(moved[0], stream.tick_us)
        return MoveBatch(*(column[by_tick] if len(by_tick) else column for column in moved))

    def _with_previous(self, closing: pa.Table, before: I64) -> pa.Table:
        """With what columns were in the reading before."""
        rows = pa.array(before, mask=before < 0)
        for name in self.previous:
            known = pa.chunked_array(
                [*self.store.column(name).chunks, *closing.column(name).chunks], closing.field(name).type
            )
            closing = closing.append_column(previous_of(name), known.take(rows))
        return closing

    def _log_last(self, closing: pa.Table, objects: I64, ordered: I64, is_saved: Bools) -> None:
        """Of the readings not saved yet only each object's last still matters, now that their ticks close.

        And the one before it, where somebody asks what was before; or all, where somebody holds them.
        """
        if not is_saved.all():
            many = len(ordered) if self.is_every_saved else 2 if self.previous else 1
            is_logged = last_of_each(ordered, objects, many)
            is_logged &= ~is_saved
            # In order of arrival: what is restored is replayed.
            self._log.append(closing if is_logged.all() else closing.filter(pa.array(is_logged)))

    def drain(self) -> pa.Table:
        """What came since the last drain and still matters; replaying it gives this state again."""
        fresh = np.flatnonzero(~self._is_pending_saved)
        changes = self.schema.empty_table()
        if self._log or len(fresh):
            changes = pa.concat_tables([*self._log, self.pending.take(pa.array(fresh))])
        self._log = []
        self._is_pending_saved[:] = True
        return changes.combine_chunks()

    def saved(self, is_whole: bool) -> Frame:
        changes = self.drain()
        if is_whole:
            return Frame({"last": self.last(), "pending": self.pending})
        return Frame({"changes": changes} if changes.num_rows else {})

    def restore(self, frame: Frame) -> None:
        """Of a new one, what was saved whole."""
        last = frame.tables["last"].combine_chunks()
        self.replace(last, np.asarray(int64_of(last, TS)))
        self.accept(frame.tables["pending"])
        self.drain()

    def changed(self, frame: Frame) -> pa.Table:
        """The readings of a batch that were saved."""
        return frame.tables.get("changes", self.schema.empty_table())

    def _is_gone(self, readings: pa.Table) -> npt.NDArray[np.bool_]:
        if self.stream.gone is None:
            return np.zeros(readings.num_rows, np.bool_)
        said = readings.column(self.stream.gone).fill_null(False)
        return np.asarray(said.to_numpy(), np.bool_)

    def _silent(self, stale_us: int, closed_to: int) -> tuple[I64, I64, I64]:
        """Objects that became stale without saying anything: tick, object, row."""
        if stale_us < 0 or closed_to < self._quiet_to:
            nothing = np.empty(0, np.int64)
            return nothing, nothing, nothing
        tick_us = self.stream.tick_us
        present = np.flatnonzero(self.row_of >= 0)
        at: I64 = ((self.ts_of[present] + stale_us) // tick_us + 1) * tick_us
        is_over = at <= closed_to
        who, at_who = present[is_over], at[is_over]
        self._quiet_to = int(at[~is_over].min(initial=NEVER_STALE))
        rows = self.row_of[who]
        self.row_of[who] = -1
        return at_who, who, rows

    # ----- objects and rows

    def _intern(self, keys: pa.ChunkedArray) -> I64:
        """Each key's object number; keys not seen before get new ones."""
        numbers = self.keys.number(flat(keys))
        new = len(self.keys) - len(self.row_of)
        if new:
            self.row_of = np.concatenate([self.row_of, np.full(new, -1)])
            self.ts_of = np.concatenate([self.ts_of, np.full(new, NOTHING_YET)])
        return numbers

    def _append(self, readings: pa.Table) -> None:
        if readings.num_rows:
            self._pile.append(readings)
            self.x = np.concatenate([self.x, float64_of(readings, self.stream.x)])
            self.y = np.concatenate([self.y, float64_of(readings, self.stream.y)])

    def compact(self) -> bool:
        """Forgets rows that were replaced, and objects that are gone, once they are the greater part.

        Whether objects have other numbers now.
        """
        alive = int(np.count_nonzero(self.row_of >= 0))
        if is_worth_compacting(len(self.row_of), max(alive, len(self._lasting))):
            ts = self.ts_of[self.row_of >= 0]
            self.replace(self.last(), ts)
            return True
        if is_worth_compacting(self.store.num_rows, alive):
            present = np.flatnonzero(self.row_of >= 0)
            self._store(self.last())
            self.row_of[present] = np.arange(len(present))
        return False

    def known_of(self, keys: pa.Array) -> pa.Table:
        """The last readings of these objects, and those whose tick is open, in order of arrival."""
        if not len(keys):
            return self.schema.empty_table()
        numbers = self.keys.find(keys)
        rows = self.row_of[numbers[numbers >= 0]]
        last = self.store.select(self.schema.names).take(pa.array(rows[rows >= 0]))
        is_asked = pc.is_in(self.pending.column(self.stream.key), value_set=keys)
        return pa.concat_tables([last, self.pending.filter(is_asked)]).combine_chunks()

    def last(self) -> pa.Table:
        """The last readings of the objects that are present, in order of object."""
        return self.store.take(pa.array(self.row_of[self.row_of >= 0])).combine_chunks()

    def replace(self, readings: pa.Table, ts: I64) -> None:
        """Begins anew with these last readings."""
        self._forget_all()
        self._store(readings)
        objects = self._intern(readings.column(self.stream.key))
        self.row_of[objects], self.ts_of[objects] = np.arange(readings.num_rows), ts

    def know_before(self, other: LastReadings) -> None:
        """Of the same objects, what columns were before; nothing of whoever's last reading is another."""
        last = self.last()
        number = other.keys.find(flat(last.column(self.stream.key)))
        row = np.append(other.row_of, -1)[number]
        is_same = (row >= 0) & (np.append(other.ts_of, NOTHING_YET)[number] == int64_of(last, TS))
        rows = pa.array(row, mask=~is_same)
        for name in map(previous_of, self.previous):
            known = pc.coalesce(other.store.column(name).take(rows), last.column(name))
            last = last.set_column(last.column_names.index(name), name, known)
        self.replace(last.combine_chunks(), self.ts_of[self.row_of >= 0])

    def follow(self, lasting: pa.Array) -> None:
        """These keys have the first numbers from now on; the readings of all others are forgotten."""
        self._lasting = lasting
        last, ts = self.last(), self.ts_of[self.row_of >= 0]
        is_kept = self._is_lasting(last)
        self.replace(last.filter(pa.array(is_kept)).combine_chunks(), ts[is_kept])
        is_kept = self._is_lasting(self.pending)
        self.pending, self._pending_ts = self.pending.filter(pa.array(is_kept)), self._pending_ts[is_kept]
        self._is_pending_saved = self._is_pending_saved[is_kept]
        self._log = [log.filter(pa.array(self._is_lasting(log))) for log in self._log]

    def _is_lasting(self, readings: pa.Table) -> npt.NDArray[np.bool_]:
        keys = readings.column(self.stream.key)
        is_in = pc.is_in(keys, value_set=self._lasting)
        return np.asarray(is_in.to_numpy(), np.bool_)

    def _store(self, readings: pa.Table) -> None:
        self._pile = Pile(readings)
        self.x, self.y = float64_of(readings, self.stream.x), float64_of(readings, self.stream.y)

    def places(self, rows: I64) -> tuple[F64, F64]:
        """The places of readings by row; NaN for absent ones."""
        if not len(self.x):
            return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        is_absent = rows < 0
        x, y = self.x[rows], self.y[rows]
        x[is_absent], y[is_absent] = np.nan, np.nan
        return x, y

    def all_places(self) -> tuple[F64, F64]:
        """Where everybody is, by number; NaN of who is absent."""
        return self.places(self.row_of)


def _types(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema]
