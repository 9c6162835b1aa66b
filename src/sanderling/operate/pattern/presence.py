"""Who is in a step, since when, by key; and what changes of it, tick by tick.

signed rows ──► which row each key shows ──► stays ──► events
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.clock import NEVER
from sanderling.kernels.pattern.presence import walk_presence
from sanderling.operate.persistency.persisting import Persisting
from sanderling.operate.persistency.stays import StaysState
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.signed import Signed
from sanderling.plans import nodes

Values = tuple[object, ...]
Key = tuple[int, Values]  # of a query


class Event(NamedTuple):
    """At a tick: since when a key stays (NEVER: it does not), and its row's values (None: not there).

    `is_long`: it has just been there for as long as the step asks.
    """

    tick: int
    key: Key
    since: int
    values: Values | None
    is_long: bool


class Here(NamedTuple):
    """A stay that is not over; in a break that is forgiven it has no values."""

    since: int
    values: Values | None


class PresenceState:
    def __init__(self, stays: StaysState):
        self.stays = stays
        self.here: dict[Key, Here] = {}


class Presence:
    """Of all keys of a step; `kept` are the columns that somebody needs once the step is reached."""

    def __init__(self, node: nodes.Persisting, kept: tuple[int, ...], constants: Constants):
        self.node, self.kept = node, kept
        self.persisting = Persisting(node, constants)

    def new_state(self) -> PresenceState:
        return PresenceState(self.persisting.new_state(None))

    def events(self, state: PresenceState, changes: Signed, closed_to: int) -> Iterator[Event]:
        stays = state.stays
        looked = self.persisting.looked_at(stays, changes, closed_to)
        found = walk_presence(stays.stays, *looked, closed_to)
        key, tick, row, since, is_long = np.ascontiguousarray(found.T)
        keys = _tuples(stays.key_columns(key), len(key))
        values = iter(self._values(stays, row[row >= 0], self.kept))
        query = stays.query_of(key).tolist()
        stays.look_ahead()
        for i, (at, one, began, long) in enumerate(
            zip(tick.tolist(), row.tolist(), since.tolist(), is_long.tolist(), strict=True)
        ):
            yield Event(at, (query[i], keys[i]), began, next(values) if one >= 0 else None, bool(long))
        stays.tidy()

    def take(self, state: PresenceState, event: Event) -> None:
        if event.since == NEVER:
            state.here.pop(event.key, None)
        else:
            state.here[event.key] = Here(event.since, event.values)

    def _values(self, stays: StaysState, rows: I64, places: tuple[int, ...]) -> list[Values]:
        return _tuples([stays.rows.column(rows, place) for place in places], len(rows))

    @property
    def key_type(self) -> pa.DataType:
        """Of keys of one column."""
        return self.node.types[self.node.keys[0]].arrow

    def key_column(self, keys: Iterable[Key]) -> tuple[I64, pa.Array]:
        """Of keys of one column: by key its query, and what it is."""
        (place,), found = self.node.keys, list(keys)
        query = np.array([query for query, _ in found], np.int64)
        return query, pa.array([values[0] for _, values in found], self.node.types[place].arrow)

    def drop(self, state: PresenceState, keys: Sequence[Key]) -> None:
        """Nobody needs to know of these any more."""
        numbers = state.stays.find(*self.key_column(keys))
        state.stays.forget_keys(numbers[numbers >= 0])
        for key in keys:
            state.here.pop(key, None)
        state.stays.tidy()

    def forget(self, state: PresenceState, queries: I64) -> None:
        self.persisting.forget(state.stays, queries)
        gone = set(queries.tolist())
        state.here = {key: here for key, here in state.here.items() if key[0] not in gone}

    def replan(self, state: PresenceState, queries: I64, tick: int) -> None:
        """Who has been there for long enough has begun a run, and stays as it is."""
        stays = state.stays
        keys = stays.of_queries(queries)
        asked = self.persisting.asked(stays, keys)
        over = stays.replan(keys, asked, tick)
        query, own = stays.query_of(over).tolist(), self._values(stays, stays.stays.row[over], self.node.keys)
        for i, values in enumerate(own):
            state.here.pop((query[i], values), None)
        stays.finish(over)
        stays.tidy()

    def saved(self, state: PresenceState) -> dict[str, pa.Table]:
        return state.stays.saved()

    def restore(self, state: PresenceState, tables: dict[str, pa.Table]) -> None:
        state.stays.restore(tables)
        stays, keys = state.stays.stays, state.stays.keys.used
        keys = keys[stays.since[keys] != NEVER]
        query = state.stays.query_of(keys).tolist()
        row = stays.row[keys]
        own, values = (self._values(state.stays, row, p) for p in (self.node.keys, self.kept))
        for i, (since, gone) in enumerate(
            zip(stays.since[keys].tolist(), stays.gone[keys].tolist(), strict=True)
        ):
            state.here[query[i], own[i]] = Here(since, values[i] if gone == NEVER else None)


def _tuples(columns: Sequence[pa.Array], n: int) -> list[Values]:
    return list(zip(*(column.to_pylist() for column in columns), strict=True)) if columns else [()] * n
