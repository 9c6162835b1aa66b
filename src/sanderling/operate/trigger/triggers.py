"""CREATE TRIGGER: which events satisfy the constraints together, for all triggers of one shape at once.

events of the shards, in event order ──► kernel: live events, search ──► what it could not judge ──► solutions
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, Bools
from sanderling.clock import NEVER
from sanderling.kernels.order import ordered_by
from sanderling.kernels.trigger.live import (
    BEGIN,
    BOUND,
    END,
    EXPIRY,
    NONE,
    NULLS,
    ORDER,
    ROOM,
    START,
    TS,
    Live,
    move_all,
    move_to,
    new_live,
    settle,
)
from sanderling.kernels.trigger.search import new_desk
from sanderling.kernels.trigger.solve import DONE, TOLD_IS_FULL, Events, How, advance, new_found
from sanderling.operate.trigger.rules import rules_of
from sanderling.plans.constraint_graph import Graph
from sanderling.space.metric import LAT, LON, ON_GLOBE, ON_PLANE, spread

LOOSE, TIGHT = "loose", "tight"
GRID, LISTS = "grid", "lists"
LEAST_ROOM = 4  # of a list
WORTH_GIVING_BACK = 8  # times the room that is needed
FEW = 64  # that are looked through sooner than their cells are
SOLUTIONS = 1 << 12  # that there is room for at first
LONG_AGO = np.iinfo(np.int64).min


class Solutions(NamedTuple):
    """In order of the event that completes each, then of triggers, then of their variables' events."""

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
        self.is_first, self.judge, self.is_globe = is_first, judge, graph.is_globe
        # Which solution is the first that holds is known only after judging.
        self.how = How(is_first and judge is None, expiry == TIGHT, FEW if index == GRID else NEVER)
        self.width = max((1 + max(c.left, c.right) for c in graph.compares), default=0)
        self.now = LONG_AGO  # nothing comes before it
        self._look_again = LONG_AGO
        self._pool: I64 = np.empty(0, np.int64)
        self._lay_out(np.full(len(self.triggers) * self._kinds, LEAST_ROOM))

    @property
    def _kinds(self) -> int:
        return len(self.rules.kinds)

    def turn_to(self, triggers: I64, graph: Graph) -> None:
        """Goes on with these triggers, whose shape is the same; those that stay keep their events."""
        was, old, kinds = self.triggers, self.live, self._kinds
        self.triggers, self.rules = np.asarray(triggers, np.int64), rules_of(graph)
        at = np.minimum(np.searchsorted(was, self.triggers), max(0, len(was) - 1))
        stays = was[at] == self.triggers if len(was) else np.zeros(len(self.triggers), np.bool_)
        of = np.where(stays[:, None], at[:, None] * kinds + np.arange(kinds), NONE).ravel()
        self._lay_out(np.where(of == NONE, LEAST_ROOM, old.lists[of, ROOM]), old, of)

    def advance(self, events: Events) -> Solutions:
        m, kinds = len(self.rules.pairs.variables), self._kinds
        found, out, row, told, why = new_found(kinds), np.empty((SOLUTIONS, m + 1), np.int64), 0, 0, NONE - 1
        while why != DONE:
            t = int(np.searchsorted(events.start, row, side="right")) - 1
            row, told, why = advance(
                self.rules, self.live, events, self.how, t, row, found, self._pool, self._desk, out, told
            )
            if why == TOLD_IS_FULL:
                out = np.concatenate([out, np.empty_like(out)])
            elif why != DONE:
                self._grow(why)
        if len(events.ts):
            self.now = max(self.now, int(events.ts[-1]))
        return self._judged(events, out[:told])

    def close(self, now: int) -> None:
        """No event at this time or before comes any more: what waited for one is gone."""
        self.now = max(self.now, now + 1)
        if self.now > self._look_again:
            # Whatever lives now is gone by then: so this costs no more than what has come.
            self._look_again = self.now + int(self.rules.lasts.max(initial=0))
            self._give_back_room()

    def _judged(self, events: Events, found: I64) -> Solutions:
        trigger = np.searchsorted(events.start, found[:, 0], side="right") - 1
        event = events.event[found[:, 0]]
        order = _in_order(event, trigger, found[:, 1:])
        trigger, event, variables = trigger[order], event[order], found[order, 1:]
        solutions = Solutions(self.triggers[trigger], events.ts[event], variables)
        if self.judge is None or not len(event):
            return solutions
        holds = self.judge(solutions)
        if self.is_first:
            held = np.flatnonzero(holds)
            is_next = (np.diff(event[held]) == 0) & (np.diff(trigger[held]) == 0)
            holds = holds.copy()
            holds[held[1:][is_next]] = False
        return Solutions._make(column[holds] for column in solutions)

    # ----- what lives

    def living(self) -> tuple[I64, I64]:
        """By live entry its list and its place, in the order of lists."""
        lists = self.live.lists
        some = lists[:, END] - lists[:, BEGIN]
        number = np.repeat(np.arange(len(lists)), some)
        entry = np.arange(len(number)) + np.repeat(lists[:, BEGIN] - np.cumsum(some) + some, some)
        is_alive = self.live.span[entry, EXPIRY] >= self.now
        return number[is_alive], entry[is_alive]

    @property
    def events(self) -> int:
        """Live events."""
        return len(self.orders())

    @property
    def entries(self) -> int:
        """Live events, each as often as triggers need it as a variable."""
        return len(self.living()[0])

    def places(self) -> tuple[I64, I64, F64]:
        """By entry its trigger, its event, and where that is; in any order."""
        number, entry = self.living()
        return self.triggers[number // self._kinds], self.live.whole[entry, ORDER], self.live.place[entry]

    def orders(self) -> I64:
        """The live events, by their numbers; of others nothing need be remembered."""
        return np.unique(self.live.whole[self.living()[1], ORDER])

    def values(self) -> I64:
        """What live events are compared by: a row for each entry, in the order of lists."""
        return self.live.whole[self.living()[1], BOUND + self._kinds :]

    def set_values(self, values: I64) -> None:
        """Other values for the same entries; those that were equal have to be so still."""
        self.live.whole[self.living()[1], BOUND + self._kinds :] = values

    @property
    def _of_place(self) -> int:
        return ON_GLOBE if self.is_globe else ON_PLANE

    def _written(self, place: F64) -> tuple[F64, F64]:
        """As events say where they are."""
        return (place[:, LON], place[:, LAT]) if self.is_globe else (place[:, 0], place[:, 1])

    # ----- saved and restored

    def state(self) -> pa.Table:
        """The live events as what they are needed, in event order."""
        number, entry = self.living()
        order = np.lexsort((number, self.live.whole[entry, ORDER]))
        number, entry = number[order], entry[order]
        whole, place = self.live.whole[entry], self.live.place[entry]
        columns = {
            "trigger": self.triggers[number // self._kinds], "kind": number % self._kinds,
            "order": whole[:, ORDER], "ts": self.live.span[entry, TS],
            "expiry": self.live.span[entry, EXPIRY], "nulls": whole[:, NULLS],
            **dict(zip("xy", self._written(place), strict=True)),
        }  # fmt: skip
        columns |= {f"bound and value {n}": column for n, column in enumerate(whole[:, BOUND:].T)}
        return pa.table(columns)

    def restore(self, state: pa.Table) -> None:
        """Takes up what `state` gave, with the same triggers."""
        some = {name: np.asarray(state.column(name).to_numpy()) for name in state.column_names}
        number = np.searchsorted(self.triggers, some["trigger"]) * self._kinds + some["kind"]
        counts = np.bincount(number, minlength=len(self.triggers) * self._kinds)
        self._lay_out(_rooms(counts))
        order = np.argsort(number, kind="stable")
        live, firsts = self.live, np.cumsum(counts) - counts
        entry = live.lists[number[order], START] + np.arange(len(order)) - np.repeat(firsts, counts)
        live.lists[:, END] += counts
        for column, name in ((TS, "ts"), (EXPIRY, "expiry")):
            live.span[entry, column] = some[name][order]
        live.place[entry] = spread(some["x"], some["y"], self.is_globe)[order]
        names = [f"bound and value {n}" for n in range(live.whole.shape[1] - BOUND)]
        for column, name in ((ORDER, "order"), (NULLS, "nulls"), *enumerate(names, BOUND)):
            live.whole[entry, column] = some[name][order]
        settle(live, self.rules.side, self._kinds, self.how.few)

    # ----- room

    def _lay_out(self, rooms: I64, old: Live | None = None, of: I64 | None = None) -> None:
        """Lists with these rooms, and as much again to grow into; they take over others, as `of` says."""
        kinds, self._top = self._kinds, int(rooms.sum())
        self.live = new_live(rooms, max(self._top, LEAST_ROOM), BOUND + kinds + self.width, self._of_place)
        if old is not None and of is not None:
            move_all(old, self.live, of, self.now, self.rules.side, kinds, self.how.few)
        self._make_desk(int(rooms.reshape(-1, kinds).sum(axis=1).max(initial=0)))

    def _grow(self, number: int) -> None:
        """Twice the room for a list."""
        lists = self.live.lists
        room = 2 * int(lists[number, ROOM])
        if self._top + room > len(self.live.span):
            rooms = lists[:, ROOM].copy()
            rooms[number] = room
            self._lay_out(rooms, self.live, np.arange(len(lists)))
            return
        side = self.rules.side[number // self._kinds]
        move_to(self.live, number, self._top, room, self.now, side, self.how.few)
        self._top += room
        first = number - number % self._kinds
        self._make_desk(int(lists[first : first + self._kinds, ROOM].sum()))

    def _give_back_room(self) -> None:
        """After a time with many events: lists only grow by themselves."""
        rooms = _rooms(np.bincount(self.living()[0], minlength=len(self.live.lists)))
        if WORTH_GIVING_BACK * int(rooms.sum()) < len(self.live.span):
            self._lay_out(rooms, self.live, np.arange(len(rooms)))

    def _make_desk(self, most: int) -> None:
        """For as many as an event can meet: so many of its trigger, once for each two kinds."""
        m, kinds = len(self.rules.pairs.variables), self._kinds
        if len(self._pool) < kinds * (most + kinds):
            self._pool = np.empty(2 * kinds * (most + kinds), np.int64)
            self._desk = new_desk(m, m * len(self._pool) // kinds)


def _rooms(counts: I64) -> I64:
    """Powers of two, with as much again as there is."""
    rooms: I64 = np.maximum(LEAST_ROOM, 2 << np.frexp(counts)[1].astype(np.int64))
    return rooms


def _in_order(event: I64, trigger: I64, variables: I64) -> I64:
    """Of what was found trigger by trigger: by event, then trigger, then the variables' events."""
    order = ordered_by(np.arange(len(event)), event)
    # Where an event completes several solutions of a trigger, they are still in any order.
    begins = np.append(True, (np.diff(event[order]) != 0) | (np.diff(trigger[order]) != 0))
    group = np.cumsum(begins[: len(order)])
    some = np.flatnonzero(np.bincount(group, minlength=1)[group] > 1)
    several = order[some]
    order[some] = several[np.lexsort((*variables[several].T[::-1], group[some]))]
    return order
