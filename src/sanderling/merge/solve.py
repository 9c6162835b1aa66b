"""CREATE TRIGGER in a tree: events of all branches in, a row for each solution out, for ever.

rows of branches ──► events, numbered in their order ──► search ──► what solutions show of their events
                 └─► what is shown of them, kept as long as the search may need them

Events are in order of time, stream and key, over all shards and branches; so how rows came does not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling import relational
from sanderling.clock import tick_ends
from sanderling.kernels.order import ordered_by
from sanderling.kernels.solve import GUEST, Events
from sanderling.keys import Keys
from sanderling.merge.codes import Column, code, new_texts
from sanderling.merge.constants import Constants
from sanderling.merge.ranks import key_ranks
from sanderling.merge.shown import Shown
from sanderling.merge.signed import Signed
from sanderling.merge.tracts import ALONE, Partition, Tracts, floats
from sanderling.merge.triggers import Solutions, Solver
from sanderling.plan import tree
from sanderling.plan.constraint_graph import FLOAT, Graph, complete
from sanderling.plan.trigger_graph import stated

# Compaction waits for this much, so that little is not copied all the time.
WORTH_COMPACTING = 10_000

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Arrived(NamedTuple):
    """Rows of all branches behind each other, by event and trigger; all columns are in this order."""

    rows: I64
    order: I64  # the number of the event
    branch: I64
    query: I64
    ts: I64
    is_first: Bools  # of its event and trigger

    def once(self, branch: int) -> tuple[I64, I64]:
        """The events of a branch, and a row of each, counted from the branch's first."""
        mine = np.flatnonzero(self.branch == branch)
        mine = mine[_begins(self.order[mine])]
        return self.order[mine], self.rows[mine] - np.count_nonzero(self.branch < branch)


class Solve:
    """All triggers of one shape.

    Promises (tests/properties/test_trigger.py, tests/scripts/trigger): a row for each combination of events
    that satisfies all constraints, at the tick of its last event, whatever came in which batch. Routed by
    space, it is told in the merge partition that is that event's home (test_trigger_space.py).
    """

    def __init__(self, node: tree.Solve, constants: Constants, partition: Partition = ALONE):
        self.node, self.constants, self.partition = node, constants, partition
        self.tracts = self._tracts()
        self.guests = 0  # rows of the last batch whose home is elsewhere
        self.over: I64 = np.empty(0, np.int64)  # ended, though their constants are still known
        self.next_order = 0
        self.texts, self._many_texts = new_texts(), WORTH_COMPACTING
        self._of_texts = [
            place
            for place, value in enumerate(node.values)
            if pa.types.is_string(node.branches[value.branch].types[value.column].arrow)
        ]
        of_branch = [
            [v for v, var in enumerate(node.variables) if var.branch == b.number] for b in node.branches
        ]
        self.mask = np.array([sum(1 << v for v in mine) for mine in of_branch], np.uint64)
        self.shown = [Shown([t.arrow for t in b.types]) for b in node.branches]
        self.solver = Solver(
            self._triggers(), self._graph(), node.is_first, node.expiry, node.index,
            None if node.rest is None else self._judged,
        )  # fmt: skip

    def _triggers(self) -> I64:
        return np.setdiff1d(self.constants.queries, self.over)

    def _tracts(self) -> Tracts | None:
        """None: every event is at home here."""
        is_spread = self.node.halos and self.partition.of > 1 and len(self.constants.queries)
        return Tracts.of(self.node, self.constants) if is_spread else None

    def _graph(self) -> Graph:
        queries = self._triggers()

        def value_of(computed: tree.Computed) -> npt.NDArray[np.generic]:
            return np.asarray(self.constants.computed(computed, queries).to_numpy())

        return complete(stated(self.node, value_of, len(queries)))

    def _follow(self) -> None:
        """Queries may have come and gone."""
        if not np.array_equal(self.solver.triggers, self._triggers()):
            self.solver.turn_to(self._triggers(), self._graph())
            self.tracts = self._tracts()

    # ----- events in

    def apply(self, inputs: Sequence[Signed], begun: Signed) -> Signed:
        self._follow()
        self.guests = 0
        came = [self._arriving(rows) for rows in inputs]
        if not any(len(rows) for rows in came):
            return Signed.none([t.arrow for t in self.node.types])
        arrived = self._numbered(came)
        for number, rows in enumerate(came):
            self.shown[number].add(*arrived.once(number), rows.columns)
        solutions = self.solver.advance(self._events(came, arrived))
        told = self._told(solutions)
        for shown in self.shown:
            shown.keep(self.solver.orders)
        if len(self.texts) > self._many_texts:
            self._forget_texts()
        return told

    def _forget_texts(self) -> None:
        """Texts get other numbers, without those that no live event has."""
        values = self.solver.values()
        used, new = np.unique(values[:, self._of_texts], return_inverse=True)
        values[:, self._of_texts] = new.reshape(len(values), len(self._of_texts))
        self.solver.set_values(values)
        self.texts = Keys(self.texts.all.take(pa.array(used)))
        self._many_texts = 2 * len(self.texts) + WORTH_COMPACTING

    def _arriving(self, rows: Signed) -> Signed:
        """Readings that come, of queries that are there; none from before its query began."""
        is_new = (
            rows.tick == tick_ends(_int64(rows.columns[0]), self.node.tick_us) if len(rows) else rows.sign
        )
        is_in = (rows.sign > 0) & is_new.astype(np.bool_) & np.isin(rows.query, self.solver.triggers)
        return rows if is_in.all() else rows.take(np.flatnonzero(is_in))

    def _numbered(self, came: list[Signed]) -> Arrived:
        branch = np.repeat(np.arange(len(came)), [len(rows) for rows in came])
        stream = np.asarray(self.node.stream_of)[branch]
        ts, query = (
            np.concatenate(c) for c in zip(*((_int64(r.columns[0]), r.query) for r in came), strict=True)
        )
        key = np.empty(len(ts), np.int64)
        for number in np.flatnonzero(np.bincount(stream)):
            mine = [rows.columns[1] for rows, s in zip(came, self.node.stream_of, strict=True) if s == number]
            key[stream == number] = key_ranks(pa.chunked_array([c for m in mine for c in _chunks(m)]))
        rows = np.arange(len(ts))
        for column in (query.astype(np.int64), key, stream, ts):  # the last one counts most
            rows = ordered_by(rows, column)
        is_event = _begins(ts[rows]) | _begins(stream[rows]) | _begins(key[rows])
        order = self.next_order + np.cumsum(is_event) - 1
        self.next_order = int(order[-1]) + 1
        return Arrived(rows, order, branch[rows], query[rows], ts[rows], is_event | _begins(query[rows]))

    def _events(self, came: list[Signed], arrived: Arrived) -> Events:
        """Each event once a trigger, as all that it may be."""
        first = np.flatnonzero(arrived.is_first)
        some, query = arrived.rows[first], arrived.query[first]
        x, y = (np.concatenate([floats(rows.columns[c]) for rows in came])[some] for c in (2, 3))
        is_of = np.bitwise_or.reduceat(self.mask[arrived.branch], first)
        is_guest = ~self._is_home(query, x, y)
        is_of[is_guest] |= np.uint64(1 << GUEST)
        at = np.searchsorted(self.solver.triggers, query)
        by_trigger = ordered_by(np.arange(len(at)), at)
        value = np.zeros((len(first), len(self.node.values)), np.int64)
        is_null = np.ones(value.shape, np.bool_)
        event = np.empty(len(arrived.rows), np.int64)
        event[arrived.rows] = np.cumsum(arrived.is_first) - 1
        starts = np.cumsum([0, *(len(rows) for rows in came)])
        for place, what in enumerate(self.node.values):
            mine = event[starts[what.branch] : starts[what.branch + 1]]
            value[mine, place], is_null[mine, place] = _coded(
                came[what.branch].columns[what.column], what.kind, self.texts
            )
        self.guests = int(is_guest[event].sum())
        nulls = (is_null << np.arange(is_null.shape[1])).sum(axis=1, dtype=np.int64)
        start = np.searchsorted(at[by_trigger], np.arange(len(self.solver.triggers) + 1))
        return Events(
            arrived.order[first], arrived.ts[first], np.stack([x, y], axis=1), value, nulls, start,
            by_trigger, is_of[by_trigger],
        )  # fmt: skip

    def _is_home(self, query: I64, x: F64, y: F64) -> Bools:
        """Which events this merge partition searches for; the others only wait here."""
        if self.tracts is None:
            return np.ones(len(query), np.bool_)
        is_mine: Bools = self.tracts.home(query, x, y, self.partition.of) == self.partition.number
        return is_mine

    # ----- solutions out

    def _columns(self, solutions: Solutions, places: Sequence[int] | None = None) -> dict[int, Column]:
        """What solutions show, by its place in the row; all of it, or some."""
        found: dict[int, Column] = {}
        place = 0
        for v, variable in enumerate(self.node.variables):
            shown, at = self.shown[variable.branch], None
            for column in variable.shown:
                if places is None or place in places:
                    at = shown.rows(solutions.order[:, v]) if at is None else at
                    found[place] = shown.column(column, at)
                place += 1
        return found

    def _judged(self, solutions: Solutions) -> Bools:
        """Which satisfy what the search has not compared."""
        rest = self.node.rest
        assert rest is not None
        columns = self._columns(solutions, [int(r[1:]) for r in rest.reads if r.startswith("c")])
        reads: dict[str, Column] = {f"c{place}": column for place, column in columns.items()}
        for name in rest.reads:
            if name.startswith("q:"):
                reads[name] = self.constants.column(name, solutions.trigger)
        (verdict,) = relational.evaluate([rest.sql], pa.table(reads))
        return np.asarray(verdict.fill_null(False).to_numpy(), np.bool_)

    def _told(self, solutions: Solutions) -> Signed:
        columns = self._columns(solutions)
        tick = tick_ends(solutions.ts, self.node.tick_us)
        sign = np.ones(len(tick), np.int64)
        return Signed(solutions.trigger, tick, sign, [columns[place] for place in range(len(columns))])

    # ----- what is remembered

    def pass_time(self, tick: int) -> None:
        self.solver.close(tick)

    def forget(self, queries: I64) -> None:
        self.over = np.intersect1d(np.union1d(self.over, queries), self.constants.queries)
        self._follow()

    def held(self) -> int:
        """Live events, each counted at home."""
        if self.tracts is None:
            return self.solver.events
        trigger, order, place = self.solver.places()
        return len(np.unique(order[self._is_home(trigger, place[:, 0], place[:, 1])]))

    def saved(self) -> dict[str, pa.Table]:
        texts = pa.table({"text": self.texts.all})
        counts = pa.table({"next": pa.array([self.next_order], pa.int64())})
        shown = {f"shown{i}": s.saved(self.solver.orders()) for i, s in enumerate(self.shown)}
        return {"live": self.solver.state(), "texts": texts, "counts": counts, **shown}

    def restore(self, tables: dict[str, pa.Table]) -> None:
        self._follow()
        self.solver.restore(tables["live"])
        self.texts = Keys(tables["texts"].column("text").combine_chunks())
        self.next_order = tables["counts"].column("next")[0].as_py()
        for i, shown in enumerate(self.shown):
            shown.restore(tables[f"shown{i}"])


def _begins(values: I64) -> Bools:
    """Where a value differs from the one before."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def _coded(column: Column, kind: str, texts: Keys) -> tuple[I64, Bools]:
    """Values as the search compares them: whole numbers, and doubles by their bits."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if kind == FLOAT:
        is_null = np.asarray(flat.is_null().to_numpy(zero_copy_only=False), np.bool_)
        values = flat.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
        return (values + 0.0).view(np.int64), is_null
    codes, nulls = code(flat, flat.type, texts)
    return codes, np.zeros(len(codes), np.bool_) if nulls is None else nulls


def _chunks(column: Column) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _int64(column: Column) -> I64:
    return np.asarray(column.to_numpy(), np.int64)
