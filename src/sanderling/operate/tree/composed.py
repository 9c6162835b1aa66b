"""Composed queries: rows of branches wait until their tick has closed in all streams.

rows of branches ─┐
rows of tables ───┼─► wait for the slowest stream ─► tree ─► signed rows
begun, ended ─────┘

A query that was registered while streams run waits until all of them have begun with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.batches import FAILED, Batch, Kind
from sanderling.clock import NOTHING_YET
from sanderling.figures.figures import Figures
from sanderling.operate.inside.waited import Wanted
from sanderling.operate.pattern.own_state import States
from sanderling.operate.sql.consolidate import put_together, repeated
from sanderling.operate.sql.constants import Constants
from sanderling.operate.takers import Key, Taker
from sanderling.operate.tree.came import Closed, Input, by_branch
from sanderling.operate.tree.looks import Looks
from sanderling.operate.tree.replaced import Replacements
from sanderling.operate.tree.table_rows import TableRows
from sanderling.operate.tree.tree import Tree
from sanderling.operate.tree.turns import Turned, Turns
from sanderling.plans import operator_ids
from sanderling.plans.nodes import Branch, is_told_only, numbered
from sanderling.plans.plan import Plan, PlannedTree
from sanderling.plans.window import Refresh
from sanderling.route.by_space import ALONE, Partition
from sanderling.route.sightings import apart, are_sightings, count, queries_and_ticks, where
from sanderling.state.frame import Frame

Name = TypeVar("Name", int, str)


class Composed(Taker):
    """The composed queries of one shape.

    Promises (tests/properties/test_sql.py): what comes out at a tick is the difference of two answers,
    however streams are cut into batches and whichever of them runs ahead.
    """

    def __init__(
        self, plan: Plan, planned: PlannedTree, is_joining: bool = False, partition: Partition = ALONE,
        looks: Looks | None = None, states: States | None = None,
    ):  # fmt: skip
        """`is_joining`: it was registered while streams run. Above a stream it may ask that. Code of
        patterns' own states comes from `states`.
        """
        self.planned, self.looks = planned, looks
        self.tree = Tree(planned.root, Constants(planned.queries, planned.constants), partition, states)
        self.closed: Closed = {}  # how far streams have come
        self.ready = NOTHING_YET  # all streams have closed this tick
        self.came: list[Input] = []  # since it was last saved: replaying it gives the state
        self.waiting: dict[int, pa.Table] = {}
        self.turns = Turns()
        if is_joining:
            self.turns.join(planned.queries)
        self.takes, self.shared = _taken_by(planned), _shared_in(plan)
        self.refreshes = _refreshes_of(planned)
        # Of what comes through an exchange, unless others merge and count it first, the rows of a turn.
        templates, gathered = plan.templates(), planned.branches if planned.is_merged else ()
        self.rows_of = {b: 0 for b in gathered if not templates[b].is_merged_first}
        self.replaced = Replacements(planned.tick_us)
        self.replaced.learn(planned, NOTHING_YET)
        self.tables = TableRows(planned.tick_us)
        self.tables.learn(plan, planned.tables, NOTHING_YET)

    def turn_to(self, plan: Plan) -> None:
        (planned,) = (tree for tree in plan.trees if tree.template.id == self.planned.template.id)
        gone = np.setdiff1d(self.planned.queries, planned.queries)
        self.turns.join(np.setdiff1d(planned.queries, self.planned.queries))
        self.planned, self.takes, self.shared = planned, _taken_by(planned), _shared_in(plan)
        self.replaced.learn(planned, self.ready)
        self._take_constants()
        self.tables.learn(plan, planned.tables, self.ready)
        if len(gone):
            self.tree.forget(gone)
            self.waiting = {b: _without(rows, gone) for b, rows in self.waiting.items()}
            self.turns.forget(gone)

    def advance(self, came: list[Batch]) -> list[Batch]:
        self.came.append(Input.of(came, self.planned, self.shared))
        for branch, rows in self.came[-1].rows.items():
            if (template := self.planned.branches[branch]) in self.rows_of:
                self.rows_of[template] += count(rows)
        if self.looks is not None:
            self.looks.begin()
        rows = self.take(self.came[-1])
        if self.looks is not None:
            self.came[-1].looked = self.looks.told()
        told = [self._batch(Kind.DELTAS, rows)] if rows.num_rows else []
        faults = [fault._asdict() for fault in self.tree.faults()]
        return [*told, *([Batch(Kind.FAILED, pa.Table.from_pylist(faults, FAILED))] if faults else [])]

    def _batch(self, kind: Kind, rows: pa.Table, ask: int = -1) -> Batch:
        return Batch(kind, rows, self.planned.outlet, self.planned.template.id, ask=ask)

    def take(self, came: Input) -> pa.Table:
        """Gives signed rows."""
        for branch, came_rows in came.rows.items():
            rows = self._stamped(branch, came_rows)
            before = self.waiting.get(branch)
            self.waiting[branch] = rows if before is None else pa.concat_tables([before, rows])
        self.closed |= came.closed
        clocks = {name: self.closed.get(name, (NOTHING_YET, False)) for name in self.planned.streams}
        self.ready = _ready(list(clocks.values()))
        running = [name for name, (_, is_ended) in clocks.items() if not is_ended]
        turned = self.turns.take(came.turns, self.ready, running)
        branches = {branch: self._released(branch, turned) for branch in list(self.waiting)}
        begun = pa.table({"query": turned.begun, "tick": turned.begin})
        changes = self.tables.now(self.ready)
        schema = self.planned.template.schema()
        told = []
        for tick, replaced in self.replaced.due(self.ready).items():
            before, branches = _cut(branches, tick)
            changed, changes = _cut(changes, tick)
            first, begun = (some["begun"] for some in _cut({"begun": begun}, tick))
            told += self._applied(before, changed, first, max(tick - self.planned.tick_us, NOTHING_YET))
            self.replaced.take_effect(tick)
            self._take_constants()
            self.tree.replan(np.array([one.query for one in replaced], np.int64), tick)
        told += self._applied(branches, changes, begun, self.ready)
        out = pa.concat_tables([schema.empty_table(), *told])
        self.tree.pass_time(self.ready)
        if len(turned.ended):
            self.tree.forget(turned.ended)
            out = _before(out, turned.ended, turned.end)
            self.waiting = {b: _without(rows, turned.ended) for b, rows in self.waiting.items()}
        return out

    def _look(self, wanted: Wanted, place: int) -> pa.Table | None:
        assert self.looks is not None
        return self.looks.look(replace(wanted, template=self.planned.branches[wanted.template]), place)

    def _applied(
        self, branches: dict[int, pa.Table], tables: dict[str, pa.Table], begun: pa.Table, to: int
    ) -> list[pa.Table]:
        """What the tree tells up to a tick, if it is not quiet."""
        is_quiet = not any(t.num_rows for t in (*branches.values(), *tables.values(), begun))
        if is_quiet and not self.tree.is_due(to):
            return []
        look = None if self.looks is None else self._look
        return [self._shown(self.tree.apply(branches, tables, begun, to, look))]

    def _take_constants(self) -> None:
        queries = self.planned.queries
        self.tree.constants.replace(queries, self.replaced.constants(queries, self.planned.constants))

    def _shown(self, rows: pa.Table) -> pa.Table:
        """As its consumers take them."""
        template = self.planned.template
        return rows.cast(template.schema()) if template.is_branch else repeated(rows, template.schema())

    def weight(self) -> int | None:
        """About how many bytes are remembered; None: that is not known."""
        weight = self.tree.weight()
        if weight is None:
            return None
        return weight + sum(int(rows.nbytes) for rows in self.waiting.values())

    def count_anew(self) -> None:
        self.tree.count_anew()
        self.rows_of = dict.fromkeys(self.rows_of, 0)

    def count_into(self, figures: Figures) -> None:
        self.tree.count_into(figures, self.planned.template.id)
        for branch, rows in self.rows_of.items():
            figures.add(operator_ids.merge(branch), rows, rows)

    def saved(self, is_whole: bool) -> Frame:
        """All that the tree remembers, or what came for it; a trigger may remember less than that."""
        came, self.came = self.came, []
        weight, size = self.weight(), sum(rows.nbytes for some in came for rows in some.rows.values())
        if is_whole or self.tree.is_saved_whole() or (weight is not None and weight < size):
            return self._saved_whole()
        return Frame(parts={str(number): some.saved() for number, some in enumerate(came)})

    def _saved_whole(self) -> Frame:
        frame = Frame(values={"ready": self.ready, "closed": self.closed})
        frame.put(Frame(self.tree.saved()), "tree")
        frame.put(Frame({str(branch): rows for branch, rows in self.waiting.items()}), "waiting")
        frame.put(self.turns.saved(), "turns")
        frame.put(self.tables.saved(), "tables")
        frame.put(self.replaced.saved(), "replaced")
        return frame

    def restore(self, frame: Frame) -> None:
        if "ready" in frame.values:
            self._restore_whole(frame)
        else:
            for some in frame.parts.values():
                came = Input.restored(some)
                if self.looks is not None:
                    self.looks.begin(came.looked)
                self.take(came)

    def _restore_whole(self, frame: Frame) -> None:
        self.ready, self.closed = frame.values["ready"], frame.values["closed"]
        self.tables.restore(frame.part("tables"))
        self.replaced.restore(frame.part("replaced"))
        self._take_constants()
        self.tree = self.tree.anew()
        self.tree.restore(frame.part("tree").tables)
        self.waiting = {int(branch): rows for branch, rows in frame.part("waiting").tables.items()}
        self.turns.restore(frame.part("turns"))

    def _released(self, branch: int, turned: Turned) -> pa.Table:
        """Rows of ticks that are ready."""
        rows = self._begun(branch, turned) if turned.is_joined.any() else self.waiting[branch]
        if not len(self.turns.joining) and (rows.column("tick").to_numpy() <= self.ready).all():
            self.waiting[branch] = rows.schema.empty_table()  # a slice would hold on to all of it
        else:
            query, tick = queries_and_ticks(rows)
            is_ready = (tick <= self.ready) & ~np.isin(query, self.turns.joining)
            self.waiting[branch], rows = where(rows, ~is_ready), where(rows, is_ready)
        # What came and went between two refreshes is told at one tick: it cancels.
        return put_together(rows) if branch in self.refreshes else rows

    def _begun(self, branch: int, turned: Turned) -> pa.Table:
        """What waits, that of queries which begin now at their begin, if it was earlier."""
        rows = self.waiting[branch]
        order = np.argsort(turned.begun)
        begun, begin = turned.begun[order], turned.begin[order]
        # What a query gets that it begins too late for has a tick that is not its own.
        rows = apart(rows) if are_sightings(rows) else rows
        query, tick = queries_and_ticks(rows)
        at = np.minimum(np.searchsorted(begun, query), len(begun) - 1)
        tick = np.where(begun[at] == query, np.maximum(tick, begin[at]), tick)
        rows = rows.set_column(rows.column_names.index("tick"), "tick", pa.array(tick))
        return self._stamped(branch, rows)

    def _stamped(self, branch: int, rows: pa.Table) -> pa.Table:
        """With the ticks at which they are told, where a window is refreshed now and then."""
        if branch not in self.refreshes:
            return rows
        tick = np.asarray(rows.column("tick").to_numpy(), np.int64)
        told_at = self.refreshes[branch].ticks(tick, self.planned.tick_us)
        return rows.set_column(rows.column_names.index("tick"), "tick", pa.array(told_at))

    def answer(self, asked: list[Batch], whole: list[Batch]) -> list[Batch]:
        """Of the whole answers of their branches; each stream of a query asks."""
        told = []
        mine = [batch for batch in asked if batch.stream in self.planned.streams]
        for number in dict.fromkeys(batch.ask for batch in mine):
            asks = [batch for batch in mine if batch.ask == number]
            queries = np.concatenate([batch.table.column("query").to_numpy() for batch in asks])
            rows = by_branch([batch for batch in whole if batch.ask == number], self.planned, self.shared)
            told.append(self._batch(Kind.ANSWER, self._answer(queries, rows, asks[-1].closed_to), number))
        return [batch for batch in told if batch.table.num_rows]

    def _answer(self, queries: I64, rows: Mapping[int, pa.Table], tick: int) -> pa.Table:
        """Triggers and patterns have none."""
        mine = np.setdiff1d(np.intersect1d(queries, self.planned.queries), self.turns.joining)
        schema = self.planned.template.schema()
        if not len(mine) or self.ready == NOTHING_YET or is_told_only(self.planned.root):
            return schema.empty_table()
        begun = pa.table({"query": mine, "tick": np.full(len(mine), tick)})
        now = {b: _known(rows.get(b), self.waiting.get(b), mine, tick) for b in {*rows, *self.waiting}}
        return self._shown(
            put_together(
                put_at(self.tree.answering(mine, tick).apply(now, self.tables.told(), begun, tick), tick)
            )
        )


def _taken_by(planned: PlannedTree) -> list[Key]:
    rows = [(kind, branch) for branch in planned.branches for kind in (Kind.DELTAS, Kind.SIGHTINGS)]
    return [*rows, *((Kind.CLOCK, stream) for stream in planned.streams)]


def _refreshes_of(planned: PlannedTree) -> dict[int, Refresh]:
    """By branch, where its rows are told now and then only."""
    branches = [node for node in numbered(planned.root) if isinstance(node, Branch)]
    return {node.number: node.refresh for node in branches if node.refresh is not None}


def _shared_in(plan: Plan) -> frozenset[int]:
    """Branches that have several consumers, each for its own queries."""
    return frozenset(branch for branch, trees in plan.consumers().items() if len(trees) > 1)


def _known(whole: pa.Table | None, ahead: pa.Table | None, queries: I64, tick: int) -> pa.Table:
    """A branch's whole answer without what its stream, being ahead, has told for later ticks.

    All of it at one tick, and put together: taken back tick by tick, a row would go before it came.
    """
    parts = [] if whole is None else [whole]
    if ahead is not None:
        back = pc.negate(ahead.column("sign"))
        parts.append(ahead.set_column(ahead.column_names.index("sign"), "sign", back))
    rows = pa.concat_tables(parts, promote_options="permissive")
    return put_together(
        put_at(rows.filter(pa.array(np.isin(rows.column("query").to_numpy(), queries))), tick)
    )


def put_at(rows: pa.Table, tick: int) -> pa.Table:
    """What is there, as if it had come at this tick."""
    return rows.set_column(
        rows.column_names.index("tick"), "tick", pa.array(np.full(rows.num_rows, tick), pa.int64())
    )


def _cut(tables: dict[Name, pa.Table], tick: int) -> tuple[dict[Name, pa.Table], dict[Name, pa.Table]]:
    """Rows before a tick, and from it on."""
    before, after = dict[Name, pa.Table](), dict[Name, pa.Table]()
    for name, rows in tables.items():
        is_before = queries_and_ticks(rows)[1] < tick
        before[name], after[name] = where(rows, is_before), where(rows, ~is_before)
    return before, after


def _ready(closed: Sequence[tuple[int, bool]]) -> int:
    """Up to which tick all have come; nobody waits for a stream that has ended."""
    running = [tick for tick, is_ended in closed if not is_ended]
    return min(running) if running else max(tick for tick, _ in closed)


def _before(rows: pa.Table, ended: I64, end: I64) -> pa.Table:
    """A table may change in the tick that a query ends in, which says nothing more then."""
    query = rows.column("query").to_numpy()
    at = np.minimum(np.searchsorted(ended, query), len(ended) - 1)
    is_over = (ended[at] == query) & (rows.column("tick").to_numpy() >= end[at])
    return rows.filter(pa.array(~is_over)) if is_over.any() else rows


def _without(rows: pa.Table, queries: I64) -> pa.Table:
    return where(rows, ~np.isin(queries_and_ticks(rows)[0], queries))
