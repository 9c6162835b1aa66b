"""All n ROWS queries of a stream: one order of the readings of all shards, and the rows of each template."""

from __future__ import annotations

import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.figures.figures import Figures
from sanderling.merge.latest import MergeLatest
from sanderling.merge.order import Order
from sanderling.operate.takers import Key, Taker
from sanderling.plans import operator_ids
from sanderling.plans.plan import Plan
from sanderling.state.frame import Frame


class LastOfAll(Taker):
    """Before the rows of a turn the order of all readings goes on."""

    def __init__(self, plan: Plan, stream: str, figures: Figures):
        self.stream, self.figures = stream, figures
        self.order = Order(plan.stream(stream))
        self.rows: dict[int, MergeLatest] = {}  # by template
        self.turn_to(plan)

    def turn_to(self, plan: Plan) -> None:
        own = plan.stream(self.stream)
        self.order.turn_to(own)
        templates = {t.id: t for t in own.templates if t.is_of_last}
        self.rows = {number: self.rows.get(number) or MergeLatest(own, t) for number, t in templates.items()}
        for rows in self.rows.values():
            rows.turn_to(own)
        listings: list[Key] = [(Kind.LISTING, self.stream), (Kind.RELISTING, self.stream)]
        self.takes = [*listings, *((Kind.LATEST, template) for template in self.rows)]

    def advance(self, came: list[Batch]) -> list[Batch]:
        anew = [batch for batch in came if batch.kind == Kind.RELISTING]
        if anew:
            self.order.begin_anew(_by_shard(anew), anew[0].reach)
            for rows in self.rows.values():
                rows.replace(self.order)
        came = [batch for batch in came if batch.table.num_rows]
        self.order.append(_by_shard([batch for batch in came if batch.kind == Kind.LISTING]))
        told = [batch for number in self.rows for batch in self._told(number, came)]
        self.order.forget()
        return told

    def _told(self, template: int, came: list[Batch]) -> list[Batch]:
        rows, operator = self.rows[template], operator_ids.merge(template)
        mine = [batch for batch in came if batch.template == template]
        with self.figures.timed(operator):
            told = rows.advance(_by_shard(mine), self.order)
        self.figures.add(operator, sum(batch.table.num_rows for batch in mine), told.num_rows)
        return self.told(rows.template, told)

    def answer(self, asked: list[Batch], whole: list[Batch]) -> list[Batch]:
        return [
            told for rows in self.rows.values() for told in self.answers(rows.template, asked, rows.answer)
        ]

    def saved(self, is_whole: bool) -> Frame:
        is_anew = is_whole or self.order.is_anew
        tables = {"order": self.order.drain(is_anew)}
        tables |= {str(template): rows.drain(is_anew) for template, rows in self.rows.items()}
        return Frame(tables, {"total": self.order.total, "is_anew": is_anew})

    def restore(self, frame: Frame) -> None:
        is_anew = frame.values["is_anew"]
        self.order.replay(frame.tables["order"], frame.values["total"], is_anew)
        for template, rows in self.rows.items():
            rows.replay(frame.tables[str(template)], self.order, is_anew)


def _by_shard(batches: list[Batch]) -> list[tuple[int, pa.Table]]:
    return [(batch.shard, batch.table) for batch in batches]
