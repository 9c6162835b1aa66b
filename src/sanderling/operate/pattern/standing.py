"""Who is in a step, since when, by number of a key; and what happened to whom in the ticks of a batch.

signed rows ──► which row each key shows ──► stays ──► events by key
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.kernels.pattern.presence import walk_presence
from sanderling.kernels.pattern.runs import Happened
from sanderling.operate.persistency.persisting import Persisting
from sanderling.operate.persistency.stays import NOBODY, StaysState
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.sql.signed import Signed
from sanderling.plans import nodes


class Long(NamedTuple):
    """Keys that have been there for long enough: when that was so, since when they stay, and their row."""

    key: I64
    tick: I64
    since: I64
    row: I64


class StandingState:
    """Stays, and by key the first of the watches that wait for it; who is asked for is known.

    Of a pattern that skips: a stay that began at `skipped_to` or before begins no run.
    """

    def __init__(self, stays: StaysState):
        self.stays = stays
        self._head, self._is_known = Grown(-1, np.int64), Grown(False, np.bool_)
        self._skipped_to = Grown(NOTHING_YET, np.int64)
        self._by_key = [Grown(0, np.int64) for _ in range(4)]
        self._events = [NOBODY] * 3
        self._happened: list[I64] = []  # to these keys
        self.known = 0  # how many

    @property
    def head(self) -> I64:
        return np.asarray(self._head.up_to(self.stays.keys.room))

    @property
    def is_known(self) -> Bools:
        return np.asarray(self._is_known.up_to(self.stays.keys.room))

    @property
    def skipped_to(self) -> I64:
        return np.asarray(self._skipped_to.up_to(self.stays.keys.room))

    @property
    def here(self) -> int:
        """How many stays are not over."""
        used = self.stays.keys.used
        return int(np.count_nonzero(self.stays.stays.since[used] != NEVER))

    @property
    def short(self) -> int:
        """How many of these are not long enough yet."""
        used, stays = self.stays.keys.used, self.stays.stays
        return int(np.count_nonzero((stays.since[used] != NEVER) & ~stays.is_long[used]))

    def count_begun(self) -> int:
        """How many stays began in this batch."""
        tick, _, since = self._events
        return int(np.count_nonzero(tick == since))

    @property
    def happened(self) -> Happened:
        return Happened(*(some.up_to(self.stays.keys.room) for some in self._by_key), *self._events)

    def note(self, found: I64, keys: I64, since: I64, row: I64) -> I64:
        """Events of keys, of whom none has had any in this batch, and how these stood before."""
        key, tick, rows, sinces, is_long = np.ascontiguousarray(found.T)
        is_new = np.ones(len(key), np.bool_)
        is_new[1:] = key[1:] != key[:-1]
        first = np.flatnonzero(is_new)
        there, base = self.happened, len(self._events[0])
        there.start[key[first]] = base + first
        there.end[key[first]] = base + np.append(first[1:], len(key))
        there.before[keys], there.row_before[keys] = since, row
        more = (tick, rows, sinces)
        self._events = [np.concatenate(two) for two in zip(self._events, more, strict=True)] if base else [
            *more
        ]  # fmt: skip
        self._happened.append(key[first])
        return np.asarray(is_long)

    @property
    def happened_to(self) -> I64:
        return np.concatenate([NOBODY, *self._happened])

    def settle(self) -> None:
        """The batch is over."""
        there, keys = self.happened, self.happened_to
        there.start[keys] = there.end[keys] = 0
        self._events, self._happened = [NOBODY] * 3, []
        self.stays.tidy()

    def know(self, keys: I64) -> None:
        """From now on these are asked for."""
        self.is_known[keys] = True
        self.stays.holds[keys] += 1
        self.known += len(keys)

    def drop(self, keys: I64) -> None:
        """Nobody needs to know of these any more."""
        self.is_known[keys] = False
        self.stays.holds[keys] -= 1
        self.known -= len(keys)
        self.stays.forget_keys(keys)

    def saved(self) -> dict[str, pa.Table]:
        keys = self.stays.stayed()
        skipped = pa.table({"skipped_to": self.skipped_to[keys]})
        return {**self.stays.saved(), "skipped": skipped}

    def restore(self, tables: dict[str, pa.Table]) -> None:
        keys = self.stays.restore(tables)
        self.skipped_to[keys] = tables["skipped"].column("skipped_to").to_numpy()


class Standing:
    """Of all keys of a step."""

    def __init__(self, node: nodes.Persisting, constants: Constants):
        self.node = node
        self.types = [t.arrow for t in node.types]
        self.persisting = Persisting(node, constants)

    def new_state(self) -> StandingState:
        return StandingState(self.persisting.new_state(None))

    def take_in(self, state: StandingState, changes: Signed, closed_to: int) -> Long:
        """Of keys of which nothing has come in this batch yet; who has been there for long enough by it."""
        if not len(changes) and state.stays.next_due > closed_to:
            return Long(NOBODY, NOBODY, NOBODY, NOBODY)
        looked = self.persisting.looked_at(state.stays, changes, closed_to)
        stays, keys = state.stays.stays, looked.keys
        since = stays.since[keys]
        is_there = (since != NEVER) & (stays.gone[keys] == NEVER)
        row = np.where(is_there, stays.row[keys], -1)
        found = walk_presence(stays, *looked, closed_to)
        is_long = state.note(found, keys, since, row)
        state.stays.look_ahead()
        key, tick, rows, sinces, _ = found[is_long != 0].T
        return Long(key, tick, sinces, rows)

    def key_columns(self, state: StandingState, keys: I64) -> tuple[I64, list[pa.Array]]:
        return state.stays.query_of(keys), state.stays.key_columns(keys)

    def drop_idle(self, state: StandingState, keys: I64) -> None:
        """Those of them that are known, and that nobody waits for."""
        idle = np.unique(keys)
        state.drop(idle[state.is_known[idle] & (state.head[idle] < 0)])
        state.stays.tidy()

    def forget(self, state: StandingState, queries: I64) -> None:
        """Nobody waits for any of them any more."""
        mine = state.stays.of_queries(queries)
        state.drop(mine[state.is_known[mine]])
        state.skipped_to[mine] = NOTHING_YET
        self.persisting.forget(state.stays, queries)

    def replan(self, state: StandingState, queries: I64, tick: int) -> None:
        """Who has been there for long enough has begun a run, and stays as it is."""
        stays = state.stays
        keys = stays.of_queries(queries)
        stays.finish(stays.replan(keys, self.persisting.asked(stays, keys), tick))
        stays.tidy()
