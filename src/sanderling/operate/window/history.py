"""The readings that windows hold: one history for all windows of a stream, in order of time.

closing ticks ──► rows behind the others ──► who follows whom ──► who leaves which window, and when

A reading is in a window from its own tick on, up to the tick in which it leaves, which the window's holder
knows (holders.py). What no window needs any more is forgotten.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools, Growing, Pile, flat, float64_of, int64_of, is_worth_compacting
from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.clock import ALWAYS, NEVER, NOTHING_YET, tick_end, tick_ends
from sanderling.kernels.readings.fold import stale_tick
from sanderling.kernels.window.history import link, relink
from sanderling.operate.window.holder import NO_ROWS, Closing, Holder
from sanderling.operate.window.holders import HOLDERS
from sanderling.plans.plan import StreamPlan
from sanderling.plans.window import Window
from sanderling.route.keys import Keys

# Columns of what is saved, behind those of a reading.
SEGMENT, CUT, NUMBER, LEAVE = "__segment", "__cut", "__number", "__leave"


class History:
    """Promises (tests/properties/test_window.py, tests/engine/test_history.py):

    exact     when a reading leaves a window depends on the readings alone, not on how they were cut
    placing   what a window begins with does not depend on the number of shards
    cost      closing a tick costs by readings that come and leave, not by those that are held
    memory    what no window needs is forgotten: at most as much again as is needed, and a little more
    """

    def __init__(self, stream: Stream, schema: pa.Schema, ends: dict[Window, int]):
        """`ends` has windows with the tick from which on nobody looks at them."""
        self.stream = stream
        self._ends = ends
        self.closed_to = NOTHING_YET
        self.next_number = 0  # of a reading among all that the shard ever held
        self._holders: dict[Window, Holder] = {}
        self._begin(schema.empty_table(), NO_ROWS, NO_ROWS, NO_ROWS, {})
        self.first_new = 0  # rows from here on came with the last ticks that closed
        self.left: dict[Window, I64] = {}  # those that left with them

    def _begin(self, store: pa.Table, segment: I64, cut: I64, number: I64, leaves: dict[Window, I64]) -> None:
        """Anew with these rows, in order of time, `cut` by row. Windows without `leaves` begin with them."""
        self._pile = Pile(store)
        self._ts, self._number = Growing(int64_of(store, TS), 0), Growing(number, 0)
        self._x, self._y = (Growing(float64_of(store, c), np.nan) for c in (self.stream.x, self.stream.y))
        self.keys = Keys(pa.nulls(0, store.schema.field(self.stream.key).type))
        self._object = Growing(self.keys.number(flat(store.column(self.stream.key))), -1)
        own = np.flatnonzero(segment >= 0)
        _, some, numbered = np.unique(segment[own], return_index=True, return_inverse=True)
        self._segment, self._cut = Growing(np.full(len(self), -1), -1), Growing(cut[own[some]], NEVER)
        self.segment[own] = numbered
        self._after = Growing(np.full(len(self), -1), -1)
        self._last_row = Growing(np.full(len(self.keys), -1), -1)
        relink(own, self.object, self._last_row.all, self.after)
        self._quiet_to = NOTHING_YET  # nobody falls silent before this tick
        self._tidied = len(self)
        self._holders = {w: HOLDERS[type(w)](w, self, leaves.get(w)) for w in self.windows}

    # ----- what is held

    @property
    def windows(self) -> tuple[Window, ...]:
        return tuple(self._ends)

    @property
    def oldest_tick(self) -> int:
        """No reading that is held, or that windows of time would hold, belongs to an earlier tick.

        So of what goes by time no shard knows more than another, whatever readings it has.
        """
        return tick_end(min([self._oldest_time, *self.ts[:1].tolist()]), self.stream.tick_us)

    @property
    def oldest_shown(self) -> int:
        """The same, but for readings that n ROWS alone holds: which these are differs from shard to shard."""
        shown = np.flatnonzero(self.held_by({w for w in self._living(self._ends) if not w.is_of_all}))
        return tick_end(min([self._oldest_time, *self.ts[shown[:1]].tolist()]), self.stream.tick_us)

    @property
    def _oldest_time(self) -> int:
        if self.closed_to == NOTHING_YET:
            return NOTHING_YET
        return min((self._holders[w].oldest for w in self._living(self._ends)), default=self.closed_to)

    def __len__(self) -> int:
        return len(self._ts)

    @property
    def store(self) -> pa.Table:
        return self._pile.table

    @property
    def ts(self) -> I64:
        return self._ts.all

    @property
    def x(self) -> F64:
        return self._x.all

    @property
    def y(self) -> F64:
        return self._y.all

    @property
    def number(self) -> I64:
        return self._number.all

    @property
    def object(self) -> I64:
        """Objects have numbers of their own here: a window may outlast what is known of them elsewhere."""
        return self._object.all

    @property
    def segment(self) -> I64:
        """By row: readings of an object that was neither gone nor silent in between share one.

        -1: held for the last of all only, and not seen by other windows.
        """
        return self._segment.all

    @property
    def is_own(self) -> Bools:
        """By row whether windows of this shard may look at it, not only those over all shards."""
        return np.asarray(self.segment >= 0)

    @property
    def after(self) -> I64:
        """By row the next one of the same object, -1: none yet."""
        return self._after.all

    @property
    def cut(self) -> I64:
        """By segment the tick in which its object was gone or silent, NEVER: not yet."""
        return self._cut.all

    def ticks(self, rows: I64) -> I64:
        """The ticks that readings belong to."""
        return tick_ends(self.ts[rows], self.stream.tick_us)

    def leaves(self, window: Window, rows: I64) -> I64:
        """The tick in which each reading leaves a window; NEVER: not yet, or others know."""
        return self._holders[window].leaves(rows)

    def is_held(self, window: Window) -> Bools:
        """Which readings a window holds after the last tick that closed; of the last of all: may hold."""
        return self._holders[window].is_held()

    def needed(self) -> Bools:
        """The readings that some window still needs."""
        return self.held_by(self._living(self._ends))

    def held_by(self, windows: set[Window]) -> Bools:
        held = np.zeros(len(self), np.bool_)
        for window in windows:
            held |= self.is_held(window)
        return held

    def _living(self, ends: dict[Window, int]) -> set[Window]:
        """Those that somebody will look at."""
        return {window for window, end in ends.items() if self.closed_to < end}

    # ----- ticks close

    def advance(self, closing: pa.Table, ts: I64, ordered: I64, is_gone: Bools, closed_to: int) -> None:
        """Takes the readings of ticks that close; `ordered` are those that count, by object and time."""
        self._forget_some()
        self.first_new, before = len(self), self.closed_to
        rows, followed, ended = NO_ROWS, NO_ROWS, NO_ROWS
        if len(ordered):
            rows, followed, ended = self._append(closing, ts, ordered, is_gone)
        self.closed_to = closed_to
        ended = np.concatenate([ended, self._fallen_silent(closed_to)])
        closed = Closing(before, rows, followed, ended)
        self.left = {window: holder.advance(closed) for window, holder in self._holders.items()}

    def _append(self, closing: pa.Table, ts: I64, ordered: I64, is_gone: Bools) -> tuple[I64, I64, I64]:
        """New rows by object and time; rows that have one behind them now; last rows of what has ended."""
        first, kept = len(self), ordered[~is_gone[ordered]]
        kept = kept[np.argsort(ts[kept], kind="stable")]
        row = np.full(len(ts), -1)
        row[kept] = first + np.arange(len(kept))
        readings = closing.take(pa.array(kept)).combine_chunks()
        self._pile.append(readings)
        self._ts.append(ts[kept])
        self._x.append(float64_of(readings, self.stream.x))
        self._y.append(float64_of(readings, self.stream.y))
        self._number.append(self.next_number + np.arange(len(kept)))
        self.next_number += len(kept)
        objects = self.keys.number(flat(closing.column(self.stream.key).take(pa.array(ordered))))
        row = row[ordered]
        for column in (self._object, self._segment, self._after):
            column.grow_to(first + len(kept))
        self.object[row[row >= 0]] = objects[row >= 0]
        self._last_row.grow_to(len(self.keys))
        segments, tick_us = len(self._cut), self.stream.tick_us
        self._cut.grow_to(segments + len(kept))
        segments, followed, ended = link(
            objects, tick_ends(ts[ordered], tick_us), row, self._last_row.all, self.ts, self.segment,
            self.after, self.cut, segments, tick_us, self._stale_us,
        )  # fmt: skip
        self._cut.shrink_to(segments)
        if len(kept):
            self._quiet_to = min(self._quiet_to, stale_tick(int(ts[kept[0]]), self._stale_us, tick_us))
        return row[row >= 0], followed, ended

    @property
    def _stale_us(self) -> int:
        return -1 if self.stream.stale_after_us is None else self.stream.stale_after_us

    def _fallen_silent(self, closed_to: int) -> I64:
        """The last rows of objects that have become silent for too long."""
        stale_us, tick_us = self._stale_us, self.stream.tick_us
        are_ended = any(holder.leave is not None for holder in self._holders.values())
        if stale_us < 0 or closed_to < self._quiet_to or not are_ended:
            return NO_ROWS
        last = self._last_row.all[self._last_row.all >= 0]
        last = last[self.cut[self.segment[last]] == NEVER]
        at: I64 = ((self.ts[last] + stale_us) // tick_us + 1) * tick_us
        is_over = at <= closed_to
        self._quiet_to = int(at[~is_over].min(initial=NEVER))
        self.cut[self.segment[last[is_over]]] = at[is_over]
        return np.asarray(last[is_over])

    # ----- what is forgotten, saved and restored

    def _forget_some(self) -> None:
        """Once there is as much again as was needed the last time somebody looked."""
        if is_worth_compacting(len(self), self._tidied):
            self.tidy()

    def tidy(self) -> None:
        """Forgets what no window needs."""
        needed = self.needed()
        if not needed.all():
            self._begin(*self._rows(needed))
        self._tidied = len(self)

    def _rows(self, kept: Bools) -> tuple[pa.Table, I64, I64, I64, dict[Window, I64]]:
        leaves = {w: h.leave.all[kept] for w, h in self._holders.items() if h.leave is not None}
        segment = self.segment[kept]
        cut = np.append(self.cut, NEVER)[segment]
        return self.store.filter(pa.array(kept)), segment, cut, self.number[kept], leaves

    def saved(self) -> pa.Table:
        """All that is needed, as a table."""
        self.tidy()
        table, segment, cut, number, leaves = self._rows(np.ones(len(self), np.bool_))
        more = {SEGMENT: segment, CUT: cut, NUMBER: number}
        more |= {f"{LEAVE}{i}": leaves[w] for i, w in enumerate(self.windows) if w in leaves}
        for name, column in more.items():
            table = table.append_column(name, pa.array(column))
        return table.combine_chunks()

    def restore(self, table: pa.Table, closed_to: int, next_number: int) -> None:
        """Begins with what was saved, under the same windows."""
        known = {w: f"{LEAVE}{i}" for i, w in enumerate(self.windows)}
        leaves = {w: int64_of(table, c).copy() for w, c in known.items() if c in table.column_names}
        segment, cut, number = (int64_of(table, name) for name in (SEGMENT, CUT, NUMBER))
        self._begin(table.select(self.store.column_names), segment, cut, number, leaves)
        self.closed_to, self.next_number = closed_to, next_number

    @property
    def is_listed(self) -> bool:
        """Whether the merge stage has to know the order of all readings."""
        return any(window.is_of_all for window in self.windows)

    @property
    def reach(self) -> int:
        """So many of the last readings of all are held, whichever shards they are in."""
        return max((w.reach for w in self._living(self._ends)), default=0)

    # ----- another plan

    def turn_to(self, plan: StreamPlan, schema: pa.Schema, last: pa.Table) -> None:
        """Goes on with other windows and columns; new ones begin with what the old ones hold.

        And with `last`, the last readings of objects, as far as nobody holds them.
        """
        self.tidy()
        store, segment, cut, number, leaves = self._rows(np.ones(len(self), np.bool_))
        old, ends = self._living(self._ends), ends_of(plan)
        leaves = {w: leave for w, leave in leaves.items() if w in old}
        if self._living(ends) - old:
            held = self._last_held(last)
            is_seen = self.held_by({w for w in old if not w.is_of_all})
            is_seen[held[held >= 0]] = True
            segment = np.where(is_seen, segment, -1)
            is_new = held < 0
            last, n = last.filter(pa.array(is_new)), int(is_new.sum())
            store = pa.concat_tables([with_columns(store, schema), with_columns(last, schema)])
            segment = np.append(segment, segment.max(initial=-1) + 1 + np.arange(n))
            cut, number = (
                np.append(cut, np.full(n, NEVER)),
                np.append(number, self.next_number + np.arange(n)),
            )
            self.next_number += n
            by_time = np.argsort(int64_of(store, TS), kind="stable")
            store, segment, cut, number = (
                store.take(pa.array(by_time)), segment[by_time], cut[by_time], number[by_time],
            )  # fmt: skip
            leaves = {w: np.append(leave, np.full(n, NEVER))[by_time] for w, leave in leaves.items()}
        self._ends = ends
        self._begin(with_columns(store, schema).combine_chunks(), segment, cut, number, leaves)

    def numbered_as(self, known: History) -> None:
        """Readings that the other holds too have its numbers; the others have new ones."""
        mine, theirs = self.object, self.keys.find(flat(known.store.column(self.stream.key)))
        who, ts = np.concatenate([mine, theirs]), np.concatenate([self.ts, known.ts])
        is_theirs = np.arange(len(who)) >= len(mine)
        order = np.lexsort((is_theirs, ts, who))
        one, other = order[:-1], order[1:]
        is_same = (who[one] == who[other]) & (ts[one] == ts[other]) & ~is_theirs[one] & is_theirs[other]
        number = np.full(len(mine), -1)
        number[one[is_same]] = known.number[other[is_same] - len(mine)]
        is_new = number < 0
        number[is_new] = known.next_number + np.arange(int(is_new.sum()))
        self.number[:] = number
        self.next_number = known.next_number + int(is_new.sum())

    def holds_not(self, last: pa.Table) -> Bools:
        """Which of objects' last readings nobody holds."""
        return np.asarray(self._last_held(last) < 0)

    def _last_held(self, last: pa.Table) -> I64:
        """Of objects' last readings, the rows that they are held in; -1: nobody holds it."""
        found = self.keys.find(flat(last.column(self.stream.key)))
        rows = np.append(self._last_row.all, -1)[found]
        return np.where(np.append(self.ts, NOTHING_YET)[rows] == int64_of(last, TS), rows, -1)


def ends_of(plan: StreamPlan) -> dict[Window, int]:
    """The windows of a plan with the tick in which the last query that looks at each ends."""
    ends = dict.fromkeys(plan.windows, ALWAYS)
    for template in plan.templates:
        if template.window is not None:
            mine = plan.regions.end[plan.regions.template == template.id]
            ends[template.window] = max(ends[template.window], int(mine.max(initial=ALWAYS)))
    return ends


def with_columns(readings: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of a schema; those that are not there are NULL."""
    nothing = pa.nulls(readings.num_rows)
    columns = [
        readings.column(f.name) if f.name in readings.column_names else nothing.cast(f.type) for f in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
