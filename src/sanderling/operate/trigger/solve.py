"""CREATE TRIGGER in a tree: events of all branches in, a row for each solution out, for ever.

sightings ──► events, in their order, dealt to triggers ──► search ──► what solutions show of their events
          └─► what is shown of them, kept as long as the search may need them

Events are in order of time, stream and key, over all shards and branches; so how they came does not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling import relational
from sanderling.arrays import I64, Bools, most_kept
from sanderling.clock import tick_ends
from sanderling.kernels.trigger.deal import deal
from sanderling.kernels.trigger.solve import Events
from sanderling.kernels.trigger.tracts import Sides
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.codes import Column, code, new_texts
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.operate.trigger.dealt import Arrived, arrived, int64, taker_of
from sanderling.operate.trigger.shown import Shown, keep_living
from sanderling.operate.trigger.sightings import Sightings
from sanderling.operate.trigger.triggers import Solutions, Solver
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, is_by_place, is_of_query, place_of
from sanderling.plans.constraint_graph import FLOAT, Graph, complete
from sanderling.plans.expression import Expression
from sanderling.plans.trigger_graph import stated
from sanderling.route.by_space import ALONE, Partition, Tracts, floats
from sanderling.route.keys import Keys
from sanderling.space.metric import spread

NO_SIDES = Sides(np.zeros(1, np.int32), np.ones(1))


@dataclass(slots=True)
class SolveState:
    """Events that a search may still need, and what solutions show of them."""

    solver: Solver
    shown: list[Shown]  # by branch
    tracts: Tracts | None  # None: every event is at home here
    texts: Keys = field(default_factory=new_texts)
    many_texts: int = field(default_factory=lambda: most_kept(0))
    guests: int = 0  # rows of the last batch whose home is elsewhere
    over: I64 = field(default_factory=lambda: np.empty(0, np.int64))  # ended, though constants are known
    next_order: int = 0


class Solve:
    """All triggers of one shape.

    Promises (tests/properties/test_trigger.py, tests/scripts/trigger): a row for each combination of events
    that satisfies all constraints, at the tick of its last event, whatever came in which batch. Routed by
    space, it is told in the merge partition that is that event's home (test_trigger_space.py).
    """

    def __init__(self, node: nodes.Solve, constants: Constants, partition: Partition = ALONE):
        self.node, self.constants, self.partition = node, constants, partition
        self._of_texts = [
            place
            for place, value in enumerate(node.values)
            if pa.types.is_string(node.branches[value.branch].types[value.column].arrow)
        ]
        of_branch = [
            [v for v, var in enumerate(node.variables) if var.branch == b] for b in range(len(node.branches))
        ]
        self.mask = np.array([sum(1 << v for v in mine) for mine in of_branch], np.uint64)

    def new_state(self, at: None) -> SolveState:
        node, triggers = self.node, np.unique(self.constants.queries)
        shown = [
            Shown({c: branch.types[c].arrow for v in node.variables if v.branch == b for c in v.shown})
            for b, branch in enumerate(node.branches)
        ]
        solver = Solver(
            triggers, self._graph(triggers), node.is_first, node.expiry, node.index,
            None if node.rest is None else partial(self._judged, shown),
        )  # fmt: skip
        return SolveState(solver, shown, self._tracts())

    def _tracts(self) -> Tracts | None:
        is_spread = self.node.halos and self.partition.of > 1 and len(self.constants.queries)
        return Tracts.of(self.node, self.constants.queries, self.constants.columns) if is_spread else None

    def _graph(self, queries: I64) -> Graph:
        def value_of(computed: Expression) -> npt.NDArray[np.generic]:
            return np.asarray(self.constants.computed(computed, queries).to_numpy())

        return complete(stated(self.node, value_of, len(queries)))

    def _follow(self, state: SolveState) -> None:
        """Queries may have come and gone."""
        triggers = np.setdiff1d(self.constants.queries, state.over)
        if not np.array_equal(state.solver.triggers, triggers):
            state.solver.turn_to(triggers, self._graph(triggers))
            state.tracts = self._tracts()

    # ----- events in

    def apply(self, state: SolveState, given: Changes) -> Signed:
        self._follow(state)
        state.guests = 0
        came = [self._arriving(some) for some in given.inputs]
        if not any(len(some) for some in came):
            return Signed.none([t.arrow for t in self.node.types])
        events = self._dealt(state, came)
        solutions = state.solver.advance(events)
        told = self._told(state, solutions)
        keep_living(state.shown, state.solver.orders)
        if len(state.texts) > state.many_texts:
            self._forget_texts(state)
        return told

    def _forget_texts(self, state: SolveState) -> None:
        """Texts get other numbers, without those that no live event has."""
        values = state.solver.values()
        used, new = np.unique(values[:, self._of_texts], return_inverse=True)
        values[:, self._of_texts] = new.reshape(len(values), len(self._of_texts))
        state.solver.set_values(values)
        state.texts = Keys(state.texts.all.take(pa.array(used)))
        state.many_texts = most_kept(len(state.texts))

    def _arriving(self, some: Sightings) -> Sightings:
        """Without readings from before their query began."""
        is_new = some.tick == tick_ends(int64(some.columns[0]), self.node.tick_us)
        return some if is_new.all() else some.filtered(is_new)

    def _dealt(self, state: SolveState, came: list[Sightings]) -> Events:
        """Each event once, and to whom it goes."""
        some = arrived(came, self.node.stream_of)
        self._show(state, came, some)
        order = state.next_order + np.arange(some.events)
        state.next_order += some.events
        x, y = (some.of_events(floats(s.columns[c]) for s in came) for c in (2, 3))
        place = spread(x, y, self.node.is_globe)
        ts = some.of_events(int64(s.columns[0]) for s in came)
        sighted = some.sighted(came)
        sides, of = NO_SIDES, 1
        if state.tracts is not None:
            sides, of = state.tracts.sides(), self.partition.of
        start, event, is_of, state.guests = deal(
            sighted, self.mask, taker_of(state.solver.triggers, sighted.query), len(state.solver.triggers),
            place, sides, self.partition.number, of,
        )  # fmt: skip
        return Events(order, ts, place, *self._values(state.texts, came, some), start, event, is_of)

    def _show(self, state: SolveState, came: list[Sightings], some: Arrived) -> None:
        for number, own in enumerate(came):
            event, row = some.once[number]
            state.shown[number].add(state.next_order + event, row, own.columns)

    def _values(self, texts: Keys, came: list[Sightings], some: Arrived) -> tuple[I64, I64]:
        """What constraints compare of each event, and which of it is missing."""
        value = np.zeros((some.events, len(self.node.values)), np.int64)
        nulls = np.full(some.events, (1 << len(self.node.values)) - 1, np.int64)
        for place, what in enumerate(self.node.values):
            event, row = some.once[what.branch]
            column = came[what.branch].columns[what.column].take(pa.array(row))
            value[event, place], is_null = _coded(column, what.kind, texts)
            nulls[event] ^= (~is_null).astype(np.int64) << place
        return value, nulls

    # ----- solutions out

    def _columns(
        self, shown: Sequence[Shown], solutions: Solutions, places: Sequence[int] | None = None
    ) -> dict[int, Column]:
        """What solutions show, by its place in the row; all of it, or some."""
        found: dict[int, Column] = {}
        place = 0
        for v, variable in enumerate(self.node.variables):
            own, at = shown[variable.branch], None
            for column in variable.shown:
                if places is None or place in places:
                    at = own.rows(solutions.order[:, v]) if at is None else at
                    found[place] = own.column(column, at)
                place += 1
        return found

    def _judged(self, shown: Sequence[Shown], solutions: Solutions) -> Bools:
        """Which satisfy what the search has not compared."""
        rest = self.node.rest
        assert rest is not None
        columns = self._columns(shown, solutions, [place_of(r) for r in rest.reads if is_by_place(r)])
        reads: dict[str, Column] = {by_place(place): column for place, column in columns.items()}
        for name in rest.reads:
            if is_of_query(name):
                reads[name] = self.constants.column(name, solutions.trigger)
        (verdict,) = relational.evaluate([rest.sql], pa.table(reads))
        return np.asarray(verdict.fill_null(False).to_numpy(), np.bool_)

    def _told(self, state: SolveState, solutions: Solutions) -> Signed:
        columns = self._columns(state.shown, solutions)
        tick = tick_ends(solutions.ts, self.node.tick_us)
        sign = np.ones(len(tick), np.int64)
        return Signed(solutions.trigger, tick, sign, [columns[place] for place in range(len(columns))])

    # ----- what is remembered

    def pass_time(self, state: SolveState, tick: int) -> None:
        state.solver.close(tick)

    def forget(self, state: SolveState, queries: I64) -> None:
        state.over = np.intersect1d(np.union1d(state.over, queries), self.constants.queries)
        self._follow(state)

    def guests(self, state: SolveState) -> int:
        return state.guests

    def held(self, state: SolveState) -> int:
        """Live events, each counted at home."""
        if state.tracts is None:
            return state.solver.events
        trigger, order, place = state.solver.places()
        home = state.tracts.home(trigger, place[:, 0], place[:, 1], self.partition.of)
        return len(np.unique(order[home == self.partition.number]))

    def weight(self, state: SolveState) -> int:
        """Columns of eight bytes, and texts."""
        columns = len(state.solver.live.whole.T) + sum(len(b.types) for b in self.node.branches)
        return 8 * columns * state.solver.entries + int(state.texts.all.nbytes)

    def saved(self, state: SolveState) -> dict[str, pa.Table]:
        texts = pa.table({"text": state.texts.all})
        counts = pa.table({"next": pa.array([state.next_order], pa.int64())})
        living = state.solver.orders()
        shown = {f"shown{i}": s.saved(living) for i, s in enumerate(state.shown)}
        return {"live": state.solver.state(), "texts": texts, "counts": counts, **shown}

    def restore(self, state: SolveState, tables: dict[str, pa.Table]) -> None:
        self._follow(state)
        state.solver.restore(tables["live"])
        state.texts = Keys(tables["texts"].column("text").combine_chunks())
        state.next_order = tables["counts"].column("next")[0].as_py()
        for i, shown in enumerate(state.shown):
            shown.restore(tables[f"shown{i}"])


def _coded(column: Column, kind: str, texts: Keys) -> tuple[I64, Bools]:
    """Values as the search compares them: whole numbers, and doubles by their bits."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if kind == FLOAT:
        is_null = np.asarray(flat.is_null().to_numpy(zero_copy_only=False), np.bool_)
        values = flat.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
        return (values + 0.0).view(np.int64), is_null
    codes, nulls = code(flat, flat.type, texts)
    return codes, np.zeros(len(codes), np.bool_) if nulls is None else nulls
