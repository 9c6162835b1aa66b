"""Where focal objects were, tick by tick, as far back as windows reach.

A reading in a window is judged by the region as it was in the reading's own tick: when it comes, and
again when it leaves.

Where n ROWS is, a shard with few readings holds older ones than others, and knows of older ticks. What only
they need is hidden from windows that come later: what these begin with is the same in any number of shards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools, Growing, flat, float64_of, int64_of, is_worth_compacting
from sanderling.clock import NOTHING_YET, tick_ends
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.route.keys import Keys

# So many notes at least stand between two places at which everybody's whereabouts are written down.
STRIDE = 1024


class Whereabouts:
    """Notes of who was where from which tick on, in order of tick; NaN: nowhere.

    Promises (tests/engine/test_whereabouts.py):
      forgetting  `at` says what the notes up to a tick add up to, whatever was forgotten of older ones
      placing     where `is_hidden` says no, all shards know the same
    """

    def __init__(self, focals: pa.Array):
        self.focals = focals
        self._since: I64 = np.full(len(focals), NOTHING_YET)  # by focal object: before this tick it is hidden
        self.forget_all()

    def _begin(self, focal: I64, tick: I64, x: F64, y: F64) -> None:
        by_tick = np.argsort(tick, kind="stable")
        self._focal, self._tick = Growing(focal[by_tick], -1), Growing(tick[by_tick], 0)
        self._x, self._y = Growing(x[by_tick], np.nan), Growing(y[by_tick], np.nan)
        self._stride = max(STRIDE, len(self.focals))
        self._written = [(np.full(len(self.focals), np.nan), np.full(len(self.focals), np.nan))]
        self._tidied = len(focal)
        self._write_down()

    def __len__(self) -> int:
        return len(self._tick)

    # ----- notes

    def note(self, moves: MoveBatch, focals: LastReadings) -> None:
        """How focal objects moved over some ticks."""
        if len(moves):
            self._note(moves.object, moves.tick, *focals.places(moves.new_row))

    def note_last(self, focals: LastReadings) -> None:
        """Where they are by their last readings, of which nothing was noted."""
        some = np.flatnonzero(focals.row_of[: len(self.focals)] >= 0)
        if len(some):
            ticks = tick_ends(focals.ts_of[some], focals.stream.tick_us)
            self._note(some, ticks, *focals.places(focals.row_of[some]))

    def _note(self, focal: I64, tick: I64, x: F64, y: F64) -> None:
        is_behind = not len(self) or int(tick.min()) >= int(self._tick.all[-1])
        if is_behind and (np.diff(tick) >= 0).all():
            for column, values in self._columns(focal, tick, x, y):
                column.append(values)
            self._write_down()
            return
        self._begin(*(np.concatenate([column.all, new]) for column, new in self._columns(focal, tick, x, y)))

    def _columns(
        self, focal: I64, tick: I64, x: F64, y: F64
    ) -> list[tuple[Growing, npt.NDArray[np.generic]]]:
        return [(self._focal, focal), (self._tick, tick), (self._x, x), (self._y, y)]

    def _write_down(self) -> None:
        while len(self._written) * self._stride <= len(self):
            end = len(self._written) * self._stride
            self._written.append(self._up_to(end))

    def _up_to(self, end: int) -> tuple[F64, F64]:
        """Where everybody is after so many notes."""
        number = min(end // self._stride, len(self._written) - 1)
        x, y = (column.copy() for column in self._written[number])
        some = slice(number * self._stride, end)
        # Of several notes of one object the last counts: assignment goes from first to last.
        x[self._focal.all[some]], y[self._focal.all[some]] = self._x.all[some], self._y.all[some]
        return x, y

    def at(self, tick: int) -> tuple[F64, F64]:
        """Where the focal objects were after a tick, by number."""
        return self._up_to(int(np.searchsorted(self._tick.all, tick, side="right")))

    def is_hidden(self, tick: I64 | int, focal: I64) -> Bools:
        """Of which focal objects other shards may not know where they were after a tick; -1 is none."""
        follows = focal >= 0
        return np.asarray(follows & (tick < self._since[focal])) if follows.any() else follows

    def fill(self, moves: MoveBatch, focals: LastReadings, up_to: int) -> None:
        """How they moved in ticks up to this one, instead of what was known of these: as all shards know."""
        self._since[:] = NOTHING_YET
        is_it = moves.tick <= up_to
        focal, tick = moves.object[is_it], moves.tick[is_it]
        if not len(focal):
            return
        first = np.full(len(self.focals), np.iinfo(np.int64).max)
        np.minimum.at(first, focal, tick)
        kept = (self._tick.all > up_to) | (self._tick.all < first[self._focal.all])
        x, y = focals.places(moves.new_row[is_it])
        columns = self._columns(focal, tick, x, y)
        self._begin(*(np.concatenate([new, column.all[kept]]) for column, new in columns))

    # ----- what is forgotten, saved and restored

    def hide(self, before: int) -> None:
        """Only those who hold readings of ticks before this one may ask about these any more."""
        end = int(np.searchsorted(self._tick.all, before, side="right"))
        # The last note of each stays, as if the others had been forgotten.
        np.maximum.at(self._since, self._focal.all[:end], self._tick.all[:end])

    def forget(self, before: int, is_now: bool = False) -> None:
        """Nobody asks about ticks before this one any more."""
        if not is_now and not is_worth_compacting(len(self), self._tidied):
            return
        end = int(np.searchsorted(self._tick.all, before, side="right"))
        last = np.full(len(self.focals), -1)
        last[self._focal.all[:end]] = np.arange(end)
        kept = np.concatenate([np.sort(last[last >= 0]), np.arange(end, len(self))])
        self._begin(self._focal.all[kept], self._tick.all[kept], self._x.all[kept], self._y.all[kept])

    def forget_all(self) -> None:
        self._since[:] = NOTHING_YET
        nothing, nowhere = np.empty(0, np.int64), np.empty(0)
        self._begin(nothing, nothing, nowhere, nowhere)

    def turn_to(self, focals: pa.Array) -> None:
        """Follows these focal objects from now on; of those that are new nothing is known."""
        number = Keys(focals).find(self.focals)[self._focal.all] if len(self.focals) else self._focal.all
        known = number >= 0
        since = self._since[self._focal.all[known]]
        self.focals, self._since = focals, np.full(len(focals), NOTHING_YET)
        self._since[number[known]] = since
        self._begin(number[known], self._tick.all[known], self._x.all[known], self._y.all[known])

    def saved(self) -> pa.Table:
        keys = self.focals.take(pa.array(self._focal.all))
        columns = {"key": keys, "tick": self._tick.all, "x": self._x.all, "y": self._y.all}
        columns["since"] = self._since[self._focal.all]
        return pa.table({name: pa.array(values) for name, values in columns.items()})

    def restore(self, table: pa.Table) -> None:
        number = Keys(self.focals).find(flat(table.column("key")))
        self._since[:] = NOTHING_YET
        self._since[number] = int64_of(table, "since")
        self._begin(number, int64_of(table, "tick"), float64_of(table, "x"), float64_of(table, "y"))
