"""CREATE TRIGGER: which events satisfy the constraints together, for all triggers of one shape at once.

events of the shards, in event order ──► kernel: live events, search ──► what it could not judge ──► solutions
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.kernels.live import (
    BOUND,
    ENTRIES,
    ENTRY,
    EVENTS,
    FREE,
    HEAP,
    KIND,
    MOST_ENTRIES,
    MOST_EVENTS,
    NULLS,
    ORDER,
    TRIGGER,
    TS,
    Live,
    new_live,
)  # fmt: skip
from sanderling.kernels.search import FULL, new_desk
from sanderling.kernels.solve import How, Rows, advance, again, close, new_found, settle
from sanderling.merge.trigger_rules import rules_of
from sanderling.plan.constraint_graph import Graph

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LOOSE, TIGHT = "loose", "tight"
GRID, LISTS = "grid", "lists"
PIECE = 1 << 13  # rows that room is made for at a time
LEAST_ROOM = 256
SOLUTIONS = 1 << 12  # that there is room for at first
SAVED = {"trigger": TRIGGER, "kind": KIND, "order": ORDER, "ts": TS, "nulls": NULLS}


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
    is_of: npt.NDArray[np.uint64]  # a bit for each variable whose own conditions it satisfies, and GUEST
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
        (whole, place), was = self._entries(), self.triggers
        self.triggers, self.rules = np.asarray(triggers, np.int64), rules_of(graph)
        stays = np.isin(was[whole[:, TRIGGER]], self.triggers)
        whole, place = whole[stays], place[stays]
        whole[:, TRIGGER] = np.searchsorted(self.triggers, was[whole[:, TRIGGER]])
        self._settle(whole, place, len(self.live.whole))

    def values(self) -> I64:
        """What live events are compared by: a row for each entry, in event order."""
        whole, _ = self._entries()
        return whole[:, whole.shape[1] - self.width :]

    def set_values(self, values: I64) -> None:
        """Other values for the same entries; those that were equal have to be so still."""
        whole, place = self._entries()
        whole[:, whole.shape[1] - self.width :] = values
        self._settle(whole, place, len(self.live.whole))

    def rows(self, events: Events) -> Rows:
        """Events as the kernel takes them."""
        return Rows(
            np.searchsorted(self.triggers, events.trigger), events.order, events.ts,
            np.stack([events.x, events.y], axis=1), events.is_of,
            np.ascontiguousarray(events.value[:, : self.width]), self._nulls(events.is_null),
        )  # fmt: skip

    def advance(self, events: Events) -> Solutions:
        rows = self.rows(events)
        found = [np.empty((0, 1 + len(self.rules.pairs.variables)), np.int64)]
        for begin in range(0, len(rows.ts), PIECE):
            piece = Rows._make(column[begin : begin + PIECE] for column in rows)
            self._make_room(len(piece.ts) * len(self.rules.kinds))
            found.append(self._found(piece) + np.append(begin, np.zeros(found[0].shape[1] - 1, np.int64)))
        return self._judged(events, np.concatenate(found))

    def _found(self, rows: Rows) -> I64:
        """By solution the row that completes it, and its events."""
        m, kinds = len(self.rules.pairs.variables), len(self.rules.kinds)
        # An event may meet all others, once for each two kinds; what is not used is never touched.
        pool = np.empty(kinds * (self.entries + (len(rows.ts) + 1) * kinds), np.int64)
        found, desk = new_found(kinds), new_desk(m, m * (len(pool) // kinds))
        out, row, told = np.empty((SOLUTIONS, m + 1), np.int64), 0, 0
        while True:
            row, told = advance(self.rules, self.live, rows, self.how, row, found, pool, desk, out, told)
            if row == len(rows.ts):
                return out[:told]
            more = FULL
            while more == FULL:
                out = np.concatenate([out, np.empty_like(out)])
                more = again(self.rules, self.live, rows, self.how, row, found, pool, desk, out, told)
            row, told = row + 1, more

    def _nulls(self, is_null: Bools) -> I64:
        bits: I64 = (is_null[:, : self.width] << np.arange(self.width)).sum(axis=1, dtype=np.int64)
        return bits

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

    def places(self) -> tuple[I64, I64, F64]:
        """By entry its trigger, its event, and where that is; in any order."""
        entries = self.live.heap[: self.live.counts[HEAP], ENTRY]
        whole = self.live.whole[entries]
        return self.triggers[whole[:, TRIGGER]], whole[:, ORDER], self.live.place[entries]

    def orders(self) -> I64:
        """The live events, by their numbers; of others nothing need be remembered."""
        return np.unique(self._entries()[0][:, ORDER])

    # ----- saved and restored

    def state(self) -> pa.Table:
        """The live events as what they are needed, in event order."""
        whole, place = self._entries()
        columns = {name: whole[:, column] for name, column in SAVED.items()}
        columns["trigger"] = self.triggers[columns["trigger"]]
        columns |= {f"bound and value {n}": column for n, column in enumerate(whole[:, BOUND:].T)}
        return pa.table({**columns, "x": place[:, 0], "y": place[:, 1]})

    def restore(self, state: pa.Table) -> None:
        """Takes up what `state` gave, with the same triggers."""
        whole = np.zeros((state.num_rows, self.live.whole.shape[1]), np.int64)
        for name, column in SAVED.items():
            whole[:, column] = state.column(name).to_numpy()
        whole[:, TRIGGER] = np.searchsorted(self.triggers, whole[:, TRIGGER])
        for n in range(whole.shape[1] - BOUND):
            whole[:, BOUND + n] = state.column(f"bound and value {n}").to_numpy()
        place = np.stack([state.column(name).to_numpy() for name in ("x", "y")], axis=1)
        self._settle(whole, place, max(LEAST_ROOM, state.num_rows))

    # ----- room

    def _empty(self, room: int) -> Live:
        kinds = len(self.rules.kinds)
        return new_live(room, max(1, len(self.triggers)) * kinds, BOUND + kinds + self.width)

    def _make_room(self, some: int) -> None:
        if self.live.counts[FREE] < some:
            needed = self.entries + some
            self._settle(*self._entries(), 1 << (needed - 1).bit_length())

    def _settle(self, whole: I64, place: F64, room: int) -> None:
        old, self.live = self.live, self._empty(room)
        settle(self.rules, self.live, whole, place, self.how.is_grid)
        for most in (MOST_EVENTS, MOST_ENTRIES):
            self.live.counts[most] = max(self.live.counts[most], old.counts[most])

    def _entries(self) -> tuple[I64, F64]:
        """The live entries, in event order."""
        entries = self.live.heap[: self.live.counts[HEAP], ENTRY]
        whole = self.live.whole[entries]
        order = np.lexsort((whole[:, KIND], whole[:, TRIGGER], whole[:, ORDER]))
        return whole[order], self.live.place[entries][order]
