"""What a merge partition says of the queries of a template, as batches."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from sanderling.arrays import I64
from sanderling.batches import Batch, Kind
from sanderling.plans.plan import Template


def told_of(template: Template, rows: pa.Table) -> list[Batch]:
    """Nothing, where there are no rows."""
    return [Batch(Kind.DELTAS, rows, template.stream, template.id)] if rows.num_rows else []


def answers_of(template: Template, asked: list[Batch], answer: Callable[[I64, int], pa.Table]) -> list[Batch]:
    """Of queries at a tick; each stream of a composed query asks, for its own branches."""
    mine = [ask for ask in asked if ask.stream == template.stream]
    found = [(ask.ask, answer(ask.table.column("query").to_numpy(), ask.closed_to)) for ask in mine]
    return [
        Batch(Kind.ANSWER, rows, template.stream, template.id, ask=number)
        for number, rows in found
        if rows.num_rows
    ]
