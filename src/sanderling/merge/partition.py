"""One merge partition: what needs several shards, put together per query.

The engine is pure: batches in, batches out. Queries are spread over merge partitions by their
numbers, triggers that are bounded in distance by space as well (route/by_space.py); queries that a shard can
finish never come here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.figures import Figures
from sanderling.merge.latest import MergeLatest
from sanderling.merge.nearest import MergeNearest
from sanderling.merge.order import Order
from sanderling.operate.composed import Closed, Composed, Input
from sanderling.operate.consolidate import consolidate
from sanderling.plans import operator_ids
from sanderling.plans.plan import Plan, Plans, StreamPlan
from sanderling.route.by_space import Partition
from sanderling.route.sightings import count
from sanderling.state.frame import Frame
from sanderling.state.saved import Saved


class Merge:
    """All streams of one of so many merge partitions. While the plan lives, `plans` gives each version of it.

    Promises (tests/properties/test_knn.py, test_sql.py):
      exact     signed rows are the difference of two answers, whichever shard they come from
      complete  what all shards say in a turn comes together: they close the same ticks in it
    """

    def __init__(self, plan: Plan, number: int, plans: Plans | None = None, partitions: int = 1):
        self.number = number
        self.partition = Partition(number, partitions)
        self.plans = plans
        self.is_counting = False
        self.figures = Figures()
        self.nearest: dict[int, MergeNearest] = {}
        self.latest: dict[int, MergeLatest] = {}
        self.orders: dict[str, Order] = {}  # by stream
        self.composed: dict[int, Composed] = {}  # by the template of the composed queries
        self.closed: Closed = {}  # by stream, of those that composed queries read
        # What came for trees since it was last saved, batch by batch: replaying it gives their state.
        self.came: list[tuple[dict[int, Input], Closed]] = []
        self._follow(plan)

    def _follow(self, plan: Plan, is_running: bool = False) -> None:
        """What is known of queries that the plan does not have is forgotten."""
        before, self.nearest, self.version = self.nearest, {}, plan.version
        self.templates = plan.templates()
        for stream in plan.streams:
            for template in (t for t in stream.templates if t.is_nearest):
                part = before.get(template.id)
                if part is None:
                    part = MergeNearest(stream, template)
                else:
                    part.turn_to(stream)
                self.nearest[template.id] = part
            self._follow_latest(stream)
        trees, self.composed = self.composed, {}
        tables = {t.name: t for t in plan.tables}
        for planned in plan.trees:
            known = trees.get(planned.template.id)
            if known is None:
                known = Composed(planned, tables, is_running, self.partition)
            else:
                known.turn_to(planned, tables)
            self.composed[planned.template.id] = known

    def _follow_latest(self, plan: StreamPlan) -> None:
        """The same of rows of the last readings, and of their order."""
        name = plan.stream.name
        templates = {t.id: t for t in plan.templates if t.is_of_last}
        self.latest = {n: b for n, b in self.latest.items() if b.stream != name or n in templates}
        if not templates:
            self.orders.pop(name, None)
            return
        self.orders.setdefault(name, Order(plan)).turn_to(plan)
        for template in templates.values():
            if template.id not in self.latest:
                self.latest[template.id] = MergeLatest(plan, template)
            self.latest[template.id].turn_to(plan)

    def turn_to(self, version: int) -> None:
        """Goes on under this version; those between need no look, since no number is given twice."""
        if version > self.version:
            self._follow(self.plan_of(version), is_running=True)

    def begin_at(self, version: int) -> None:
        """A new merge partition begins with this version; its lists come from what was saved."""
        self._follow(self.plan_of(version))

    def plan_of(self, version: int) -> Plan:
        assert self.plans is not None, "a merge partition that turns needs to know where plans are"
        return self.plans(version)

    def advance(self, batches: list[Batch]) -> list[Batch]:
        """One turn: signed rows and answers come back; what is not to be merged passes through."""
        out = []
        self.figures.clear()
        # All shards have turned before they closed a tick of this batch.
        self.turn_to(max((b.version for b in batches if b.kind == Kind.PLAN), default=self.version))
        for composed in self.composed.values():
            composed.tree.count_anew()
        together: dict[tuple[str, str, int], list[Batch]] = {}
        for batch in batches:
            if self._is_of_last(batch):
                pass
            elif batch.kind in (Kind.CANDIDATES, Kind.DELTAS, Kind.SIGHTINGS):
                key = (batch.kind, batch.stream, batch.template)
                together.setdefault(key, []).append(batch)
            elif batch.kind not in (Kind.PLAN, Kind.ASK, Kind.CLOCK) and not self._is_of_branch(batch):
                out.append(batch)
        inputs: dict[int, Input] = {}
        for (kind, stream, template), mine in together.items():
            with self.figures.timed(operator_ids.merge(template)):
                if kind == Kind.CANDIDATES:
                    lists = [(b.shard, b.table) for b in mine if b.table.num_rows]
                    rows = self.nearest[template].advance(lists) if lists else pa.table({})
                else:
                    rows = pa.concat_tables([b.table for b in mine])
                    rows = consolidate(rows) if self.templates[template].into is None else rows
            self._count(template, mine, rows)
            into = self.templates[template].into
            if into is not None and rows.num_rows:
                branch = self.composed[into].planned.branches.index(template)
                inputs.setdefault(into, Input()).rows[branch] = rows
            elif rows.num_rows:
                out.append(Batch(Kind.DELTAS, rows, stream, template))
        for told in self._latest([b for b in batches if self._is_of_last(b)]):
            into = self.templates[told.template].into
            if into is None:
                out.append(told)
            else:
                branch = self.composed[into].planned.branches.index(told.template)
                inputs.setdefault(into, Input()).rows[branch] = told.table
        out += self._compose(inputs, [b for b in batches if b.kind == Kind.CLOCK])
        if self.is_counting:
            for number, composed in self.composed.items():
                composed.tree.count_into(self.figures, number)
            if len(self.figures):
                out.append(Batch(Kind.FIGURES, self.figures.table(), shard=self.number))
        return out + self._answers(batches)

    def _count(self, template: int, came: list[Batch], told: pa.Table) -> None:
        self.figures.add(operator_ids.merge(template), sum(count(b.table) for b in came), count(told))

    # ----- the last readings of all

    def _is_of_last(self, batch: Batch) -> bool:
        return batch.kind in (Kind.LATEST, Kind.LISTING, Kind.RELISTING)

    def _latest(self, batches: list[Batch]) -> Iterator[Batch]:
        """Rows of the last readings; before them the order of all readings goes on."""
        for stream in sorted({b.stream for b in batches}):
            mine = [b for b in batches if b.stream == stream and b.table.num_rows]
            order = self.orders[stream]
            parts = {n: part for n, part in self.latest.items() if part.stream == stream}
            anew = [b for b in batches if b.kind == Kind.RELISTING and b.stream == stream]
            if anew:
                order.begin_anew([_of_shard(b) for b in anew], anew[0].reach)
                for part in parts.values():
                    part.replace(order)
            order.append([_of_shard(b) for b in mine if b.kind == Kind.LISTING])
            for number, part in parts.items():
                came = [b for b in mine if b.kind == Kind.LATEST and b.template == number]
                with self.figures.timed(operator_ids.merge(number)):
                    rows = part.advance([_of_shard(b) for b in came], order)
                self._count(number, came, rows)
                if rows.num_rows:
                    yield Batch(Kind.DELTAS, rows, stream, number)
            order.forget()

    # ----- composed queries

    def _is_of_branch(self, batch: Batch) -> bool:
        return batch.kind == Kind.ANSWER and self.templates[batch.template].into is not None

    def _compose(self, inputs: dict[int, Input], clocks: list[Batch]) -> list[Batch]:
        closed = dict(self.closed)
        for clock in clocks:
            closed[clock.stream] = (clock.closed_to, clock.is_ended)
            for template, composed in self.composed.items():
                is_mine = np.isin(clock.table.column("query").to_numpy(), composed.planned.queries)
                if is_mine.any():
                    mine = inputs.setdefault(template, Input())
                    mine.turns = pa.concat_tables([mine.turns, clock.table.filter(pa.array(is_mine))])
        if inputs or clocks:
            self.came.append((inputs, closed))
        return self.compose(inputs, closed)

    def compose(self, inputs: dict[int, Input], closed: Closed, without: Sequence[int] = ()) -> list[Batch]:
        """What came for trees goes through them; also again, when a batch is replayed, but for some trees."""
        self.closed = closed
        out = []
        for template, composed in self.composed.items():
            if template in without:
                continue
            rows = composed.advance(inputs.get(template, Input()), closed)
            if rows.num_rows:
                out.append(Batch(Kind.DELTAS, rows, composed.planned.outlet, template))
        return out

    # ----- saved and restored

    def saved(self, is_whole: bool) -> Frame:
        """Trees are saved whole, or as what came for them: replaying it gives their state.

        A trigger may remember less than what came; then its tree is saved instead.
        """
        frame = Frame(values={"closed": self.closed})
        self._save_merged(frame, is_whole)
        whole = list(self.composed) if is_whole else self._remembering_little()
        for template in whole:
            frame.put(self.composed[template].saved(), "trees", str(template))
        if not is_whole:
            frame.values["batches"] = [closed for _, closed in self.came]
            for number, (inputs, _) in enumerate(self.came):
                for template in inputs.keys() - set(whole):
                    frame.put(inputs[template].saved(), "came", str(number), str(template))
        self.came = []
        return frame

    def _save_merged(self, frame: Frame, is_whole: bool) -> None:
        """What is merged by itself: lists of kNN queries, and the last readings of all."""
        lists = {str(template): part.lists.drain(is_whole) for template, part in self.nearest.items()}
        frame.put(Frame({name: table for name, table in lists.items() if table.num_rows}), "nearest")
        for stream, order in self.orders.items():
            is_anew = is_whole or order.is_anew
            tables = {"order": order.drain(is_anew)}
            for template, rows in self.latest.items():
                if rows.stream == stream:
                    tables[str(template)] = rows.drain(is_anew)
            frame.put(Frame(tables, {"total": order.total, "is_anew": is_anew}), "latest", stream)

    def _remembering_little(self) -> list[int]:
        """The trees that remember less than what came for them."""
        came: Counter[int] = Counter()
        for inputs, _ in self.came:
            for template, some in inputs.items():
                came[template] += sum(rows.nbytes for rows in some.rows.values())
        weights = {template: self.composed[template].weight() for template in came}
        return [t for t, weight in weights.items() if weight is not None and weight < came[t]]

    def restore(self, whole: Saved | None, since: Sequence[Saved]) -> None:
        if whole is not None:
            if whole.version != self.version:
                self.begin_at(whole.version)
            self._restore_merged(whole.frame)
            self.closed = whole.frame.values["closed"]
            self._restore_trees(whole.frame)
        self.catch_up(since)

    def catch_up(self, since: Sequence[Saved]) -> None:
        for frame, version in since:
            self.turn_to(version)
            self._restore_merged(frame)
            saved_whole = [int(template) for template in frame.part("trees").parts]
            for number, closed in enumerate(frame.values["batches"]):
                came = frame.part("came", str(number)).parts
                inputs = {int(template): Input.of(some) for template, some in came.items()}
                self.compose(inputs, closed, without=saved_whole)
            self._restore_trees(frame)

    def _restore_merged(self, frame: Frame) -> None:
        for number, lists in frame.part("nearest").tables.items():
            if int(number) in self.nearest:
                self.nearest[int(number)].lists.replay(lists)
        for stream, part in frame.part("latest").parts.items():
            order, is_anew = self.orders[stream], part.values["is_anew"]
            order.replay(part.tables["order"], part.values["total"], is_anew)
            for template, rows in self.latest.items():
                if rows.stream == stream:
                    rows.replay(part.tables[str(template)], order, is_anew)

    def _restore_trees(self, frame: Frame) -> None:
        for template, tree in frame.part("trees").parts.items():
            self.composed[int(template)].restore(tree)

    # ----- whole answers

    def _answers(self, batches: list[Batch]) -> list[Batch]:
        """After the rows of a batch are in."""
        told = [b for b in batches if b.kind == Kind.ASK]
        out = [answer for ask in told for answer in self._own_answers(ask)]
        asks = {ask.ask: ask for ask in told}
        for number, ask in asks.items():
            queries = sorted(
                {q for a in told if a.ask == number for q in a.table.column("query").to_pylist()}
            )
            of_branches = [
                b for b in (*batches, *out)
                if b.kind == Kind.ANSWER and b.ask == number and self._is_of_branch(b)
            ]  # fmt: skip
            out = [b for b in out if not self._is_of_branch(b)]
            for template, composed in self.composed.items():
                rows: dict[int, list[pa.Table]] = {}
                for batch in of_branches:
                    if batch.template in composed.planned.branches:
                        branch = composed.planned.branches.index(batch.template)
                        rows.setdefault(branch, []).append(batch.table)
                whole = {branch: pa.concat_tables(tables) for branch, tables in rows.items()}
                answer = composed.answer(queries, whole, ask.closed_to)
                if answer.num_rows:
                    out.append(Batch(Kind.ANSWER, answer, composed.planned.outlet, template, ask=number))
        return out

    def _own_answers(self, ask: Batch) -> Iterator[Batch]:
        """Of what is merged here by itself. Each stream of a composed query asks, for its own branches."""
        parts: dict[int, MergeNearest | MergeLatest] = {**self.nearest, **self.latest}
        for template, part in parts.items():
            if part.template.stream != ask.stream:
                continue
            rows = part.answer(ask.table.column("query").to_pylist(), ask.closed_to)
            if rows.num_rows:
                yield Batch(Kind.ANSWER, rows, ask.stream, template, ask=ask.ask)


def _of_shard(batch: Batch) -> tuple[int, pa.Table]:
    return batch.shard, batch.table
