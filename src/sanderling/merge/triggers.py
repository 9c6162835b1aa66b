"""CREATE TRIGGER: which events satisfy the constraints together, for all triggers of one shape at once.

events of the shards, in event order ──► kernel: live events, search ──► what it could not judge ──► solutions
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.kernels.live import ENTRIES, EVENTS, FREE, HEAP, MOST_ENTRIES, MOST_EVENTS, Live, new_live
from sanderling.kernels.solve import How, Rows, advance, close, settle
from sanderling.merge.trigger_rules import rules_of
from sanderling.plan.constraint_graph import Graph

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LOOSE, TIGHT = "loose", "tight"
GRID, LISTS = "grid", "lists"
PIECE = 1 << 16  # rows that room is made for at a time
LEAST_ROOM = 256


class Events(NamedTuple):
    """Events by trigger: in event order, and those of one event by trigger.

    `order` numbers events in event order, for as long as the solver lives. `value` holds the columns that
    constraints compare, doubles by their bits.
    """

    trigger: I64
    order: I64
    ts: I64
    x: F64
    y: F64
    is_of: npt.NDArray[np.uint64]  # a bit for each variable whose own conditions it satisfies
    value: I64
    is_null: Bools


class Solutions(NamedTuple):
    """In order of the event that completes each, then of their variables' events."""

    trigger: I64
    ts: I64
    order: I64  # by solution and variable: the event


Judge = Callable[[Solutions], Bools]


class Solver:
    """The triggers of one shape and what they remember.

    Promises (tests/properties/test_trigger.py):
      exact     a solution if and only if its events satisfy all constraints
      chunking  cutting the input elsewhere, or saving and going on, changes nothing
      ways      neither the expiry nor the index shows in the solutions
      memory    TIGHT never keeps more than LOOSE

    What the kernel cannot compare is left to `judge`, which says of solutions which hold.
    """

    def __init__(
        self, triggers: I64, graph: Graph, is_first: bool = False, expiry: str = TIGHT, index: str = GRID,
        judge: Judge | None = None,
    ):  # fmt: skip
        self.triggers, self.rules = np.asarray(triggers, np.int64), rules_of(graph)
        self.is_first, self.judge = is_first, judge
        # Which solution is the first that holds is known only after judging.
        self.how = How(is_first and judge is None, expiry == TIGHT, index == GRID)
        self.width = max((1 + max(c.left, c.right) for c in graph.compares), default=0)
        self.live = self._empty(LEAST_ROOM)

    def turn_to(self, triggers: I64, graph: Graph) -> None:
        """Goes on with these triggers, whose shape is the same; those that stay keep their events."""
        old, was = self.live, self.triggers
        self.triggers, self.rules = np.asarray(triggers, np.int64), rules_of(graph)
        entries = self._by_order(old)
        stays = np.isin(was[old.trigger[entries]], self.triggers)
        entries = entries[stays]
        old.trigger[entries] = np.searchsorted(self.triggers, was[old.trigger[entries]])
        self._settle(old, entries, len(old.trigger))

    def advance(self, events: Events) -> Solutions:
        rows = Rows(
            np.searchsorted(self.triggers, events.trigger), *events[1:6],
            np.ascontiguousarray(events.value[:, : self.width]),
            np.ascontiguousarray(events.is_null[:, : self.width]),
        )  # fmt: skip
        found = [np.empty((0, 1 + len(self.rules.kind_of)), np.int64)]
        for begin in range(0, len(rows.ts), PIECE):
            piece = Rows._make(column[begin : begin + PIECE] for column in rows)
            self._make_room(len(piece.ts) * len(self.rules.size_of))
            some = advance(self.rules, self.live, piece, self.how)
            some[:, 0] += begin
            found.append(some)
        return self._judged(events, np.concatenate(found))

    def close(self, now: int) -> None:
        """No event at this time or before comes any more: what waited for one goes."""
        close(self.rules, self.live, now, self.how.is_grid)

    def _judged(self, events: Events, found: I64) -> Solutions:
        found = found[np.lexsort(found.T[::-1])]
        row, order = found[:, 0], found[:, 1:]
        solutions = Solutions(events.trigger[row], events.ts[row], order)
        if self.judge is None or not len(row):
            return solutions
        holds = self.judge(solutions)
        if self.is_first:
            holds = holds.copy()
            held = np.flatnonzero(holds)
            holds[held[1:][np.diff(row[held]) == 0]] = False
        return Solutions._make(column[holds] for column in solutions)

    # ----- counters

    @property
    def events(self) -> int:
        """Live events."""
        return int(self.live.counts[EVENTS])

    @property
    def entries(self) -> int:
        """Live events, each as often as triggers need it as a variable."""
        return int(self.live.counts[ENTRIES])

    @property
    def most_events(self) -> int:
        return int(self.live.counts[MOST_EVENTS])

    @property
    def most_entries(self) -> int:
        return int(self.live.counts[MOST_ENTRIES])

    def orders(self) -> I64:
        """The live events, by their numbers; of others nothing need be remembered."""
        return np.unique(self.live.order[self._by_order(self.live)])

    # ----- saved and restored

    def state(self) -> pa.Table:
        """The live events as what they are needed, in event order."""
        live, entries = self.live, self._by_order(self.live)
        columns = {"trigger": self.triggers[live.trigger[entries]]}
        for name in ("kind", "order", "ts", "x", "y"):
            columns[name] = getattr(live, name)[entries]
        for name in ("bound", "value", "is_null"):
            for k, column in enumerate(getattr(live, name)[entries].T):
                columns[f"{name}.{k}"] = column
        return pa.table(columns)

    def restore(self, state: pa.Table) -> None:
        """Takes up what `state` gave, with the same triggers."""
        room = max(LEAST_ROOM, state.num_rows)
        old = self._empty(room)
        some = slice(0, state.num_rows)
        old.trigger[some] = np.searchsorted(self.triggers, state.column("trigger").to_numpy())
        for name in ("kind", "order", "ts", "x", "y"):
            getattr(old, name)[some] = state.column(name).to_numpy()
        for name in ("bound", "value", "is_null"):
            array = getattr(old, name)
            for k in range(array.shape[1]):
                array[some, k] = state.column(f"{name}.{k}").to_numpy()
        self._settle(old, np.arange(state.num_rows), room)

    # ----- room

    def _empty(self, room: int) -> Live:
        kinds = len(self.rules.size_of)
        return new_live(room, max(1, len(self.triggers)) * kinds, kinds, self.width)

    def _make_room(self, some: int) -> None:
        if self.live.counts[FREE] >= some:
            return
        needed = int(self.live.counts[HEAP]) + some
        self._settle(self.live, self._by_order(self.live), 1 << (needed - 1).bit_length())

    def _settle(self, old: Live, entries: I64, room: int) -> None:
        self.live = self._empty(room)
        settle(self.rules, self.live, old, entries, self.how.is_grid)
        for most in (MOST_EVENTS, MOST_ENTRIES):
            self.live.counts[most] = max(self.live.counts[most], old.counts[most])

    def _by_order(self, live: Live) -> I64:
        """The live entries, in event order."""
        entries = live.heap[: live.counts[HEAP]]
        return entries[np.lexsort((live.kind[entries], live.trigger[entries], live.order[entries]))]
