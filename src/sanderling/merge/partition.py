"""One merge partition: what needs several shards, put together per query.

The engine is pure: parcels in, parcels out. Queries are spread over merge partitions by their
numbers, triggers that are bounded in distance by space as well (route/by_space.py); queries that a shard can
finish never come here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sanderling.figures import Figures
from sanderling.merge.composed import Closed, Composed, Input
from sanderling.merge.latest import MergeLatest, Order
from sanderling.merge.nearest import MergeNearest
from sanderling.operate.consolidate import consolidate
from sanderling.plans import operator_ids
from sanderling.plans.plan import Plan, Plans, StreamPlan
from sanderling.route.by_space import Partition
from sanderling.route.controls import told_figures
from sanderling.route.parcels import Kind, Parcel
from sanderling.route.sightings import count
from sanderling.state.frame import Frame
from sanderling.state.saved import Saved


class Merge:
    """All streams of one of so many merge partitions. While the plan lives, `plans` gives each version of it.

    Promises (tests/properties/test_knn.py, test_sql.py):
      exact     signed rows are the difference of two answers, whichever shard they come from
      complete  a batch's parcels of all shards come together: all shards close the same ticks in it
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
        self.latest = {n: p for n, p in self.latest.items() if p.stream != name or n in templates}
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

    def advance(self, parcels: list[Parcel]) -> list[Parcel]:
        """One batch: signed rows and answers come back; what is not to be merged passes through."""
        out = []
        self.figures.clear()
        # All shards have turned before they closed a tick of this batch.
        self.turn_to(max((p.header["version"] for p in parcels if p.kind == Kind.PLAN), default=self.version))
        for composed in self.composed.values():
            composed.tree.count_anew()
        together: dict[tuple[str, str, int], list[Parcel]] = {}
        for parcel in parcels:
            if self._is_of_last(parcel):
                pass
            elif parcel.kind in (Kind.CANDIDATES, Kind.DELTAS, Kind.SIGHTINGS):
                key = (parcel.kind, parcel.header["stream"], parcel.header["template"])
                together.setdefault(key, []).append(parcel)
            elif parcel.kind not in (Kind.PLAN, Kind.ASK, Kind.CLOCK) and not self._is_of_branch(parcel):
                out.append(parcel)
        inputs: dict[int, Input] = {}
        for (kind, stream, template), mine in together.items():
            with self.figures.timed(operator_ids.merge(template)):
                if kind == Kind.CANDIDATES:
                    lists = [(p.header["shard"], p.table) for p in mine if p.table.num_rows]
                    rows = self.nearest[template].advance(lists) if lists else pa.table({})
                else:
                    rows = pa.concat_tables([p.table for p in mine])
                    rows = consolidate(rows) if self.templates[template].into is None else rows
            self._count(template, mine, rows)
            into = self.templates[template].into
            if into is not None and rows.num_rows:
                branch = self.composed[into].planned.branches.index(template)
                inputs.setdefault(into, Input()).rows[branch] = rows
            elif rows.num_rows:
                out.append(Parcel(Kind.DELTAS, rows, {"template": template, "stream": stream}))
        for told in self._latest([p for p in parcels if self._is_of_last(p)]):
            into = self.templates[told.header["template"]].into
            if into is None:
                out.append(told)
            else:
                branch = self.composed[into].planned.branches.index(told.header["template"])
                inputs.setdefault(into, Input()).rows[branch] = told.table
        out += self._compose(inputs, [p for p in parcels if p.kind == Kind.CLOCK])
        if self.is_counting:
            for number, composed in self.composed.items():
                composed.tree.count_into(self.figures, number)
            if len(self.figures):
                out.append(told_figures(f"merge {self.number}", "", self.figures))
        return out + self._answers(parcels)

    def _count(self, template: int, came: list[Parcel], told: pa.Table) -> None:
        self.figures.add(operator_ids.merge(template), sum(count(p.table) for p in came), count(told))

    # ----- the last readings of all

    def _is_of_last(self, parcel: Parcel) -> bool:
        return parcel.kind == Kind.LISTING or (
            parcel.kind == Kind.CANDIDATES and parcel.header["template"] in self.latest
        )

    def _latest(self, parcels: list[Parcel]) -> Iterator[Parcel]:
        """Rows of the last readings; before them the order of all readings goes on."""
        for stream in sorted({p.header["stream"] for p in parcels}):
            mine = [p for p in parcels if p.header["stream"] == stream and p.table.num_rows]
            order = self.orders[stream]
            parts = {n: part for n, part in self.latest.items() if part.stream == stream}
            anew = [p for p in parcels if p.kind == Kind.LISTING and p.header["is_anew"]]
            anew = [p for p in anew if p.header["stream"] == stream]
            if anew:
                order.begin_anew([_of_shard(p) for p in anew], anew[0].header["reach"])
                for part in parts.values():
                    part.replace(order)
            order.append([_of_shard(p) for p in mine if p.kind == Kind.LISTING and not p.header["is_anew"]])
            for number, part in parts.items():
                came = [p for p in mine if p.kind == Kind.CANDIDATES and p.header["template"] == number]
                with self.figures.timed(operator_ids.merge(number)):
                    rows = part.advance([_of_shard(p) for p in came], order)
                self._count(number, came, rows)
                if rows.num_rows:
                    yield Parcel(Kind.DELTAS, rows, {"template": number, "stream": stream})
            order.forget()

    # ----- composed queries

    def _is_of_branch(self, parcel: Parcel) -> bool:
        return parcel.kind == Kind.ANSWER and self.templates[parcel.header["template"]].into is not None

    def _compose(self, inputs: dict[int, Input], clocks: list[Parcel]) -> list[Parcel]:
        closed = dict(self.closed)
        for clock in clocks:
            closed[clock.header["stream"]] = (clock.header["closed_to"], clock.header["is_ended"])
            for template, composed in self.composed.items():
                is_mine = np.isin(clock.table.column("query").to_numpy(), composed.planned.queries)
                if is_mine.any():
                    mine = inputs.setdefault(template, Input())
                    mine.turns = pa.concat_tables([mine.turns, clock.table.filter(pa.array(is_mine))])
        if inputs or clocks:
            self.came.append((inputs, closed))
        return self.compose(inputs, closed)

    def compose(self, inputs: dict[int, Input], closed: Closed, without: Sequence[int] = ()) -> list[Parcel]:
        """What came for trees goes through them; also again, when a batch is replayed, but for some trees."""
        self.closed = closed
        out = []
        for template, composed in self.composed.items():
            if template in without:
                continue
            rows = composed.advance(inputs.get(template, Input()), closed)
            if rows.num_rows:
                header = {"template": template, "stream": composed.planned.outlet}
                out.append(Parcel(Kind.DELTAS, rows, header))
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

    def _answers(self, parcels: list[Parcel]) -> list[Parcel]:
        """After the rows of a batch are in."""
        told = [p for p in parcels if p.kind == Kind.ASK]
        out = [answer for ask in told for answer in self._own_answers(ask)]
        asks = {ask.header["ask"]: ask for ask in told}
        for number, ask in asks.items():
            queries = sorted({q for a in told if a.header["ask"] == number for q in a.header["queries"]})
            of_branches = [
                p for p in (*parcels, *out)
                if p.kind == Kind.ANSWER and p.header["ask"] == number and self._is_of_branch(p)
            ]  # fmt: skip
            out = [p for p in out if not self._is_of_branch(p)]
            for template, composed in self.composed.items():
                rows: dict[int, list[pa.Table]] = {}
                for parcel in of_branches:
                    if parcel.header["template"] in composed.planned.branches:
                        branch = composed.planned.branches.index(parcel.header["template"])
                        rows.setdefault(branch, []).append(parcel.table)
                whole = {branch: pa.concat_tables(tables) for branch, tables in rows.items()}
                answer = composed.answer(queries, whole, ask.header["tick"])
                if answer.num_rows:
                    header = {"ask": number, "template": template, "stream": composed.planned.outlet}
                    out.append(Parcel(Kind.ANSWER, answer, header))
        return out

    def _own_answers(self, ask: Parcel) -> Iterator[Parcel]:
        """Of what is merged here by itself. Each stream of a composed query asks, for its own branches."""
        parts: dict[int, MergeNearest | MergeLatest] = {**self.nearest, **self.latest}
        for template, part in parts.items():
            if part.template.stream != ask.header["stream"]:
                continue
            rows = part.answer(ask.header["queries"], ask.header["tick"])
            if rows.num_rows:
                header = {"ask": ask.header["ask"], "template": template, "stream": ask.header["stream"]}
                yield Parcel(Kind.ANSWER, rows, header)


def _of_shard(parcel: Parcel) -> tuple[int, pa.Table]:
    return parcel.header["shard"], parcel.table
