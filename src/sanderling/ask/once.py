"""The engine of one SELECT: readings in, in order; the sum of all that it tells out.

readings, slice by slice ──► Engine ──► signed rows of ticks up to a time ──► added up ──► rows
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest

import pyarrow as pa

from sanderling.batches import ROW, TS, Batch, Kind, Slice
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, Rise, Rises
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.operate.sql.consolidate import put_together, repeated
from sanderling.pipeline import Engine
from sanderling.plans.columns import by_places
from sanderling.plans.plan import Plan, StreamPlan
from sanderling.route.pack import pack

Pieces = Iterable[tuple[Slice, Ingested]]
ADDED = 200_000  # signed rows, before they are added up


class Once:
    """A plan of one query, in this process.

    Promise (tests/properties/test_once.py): what comes back is the sum of the updates that the query tells
    of ticks up to `last`, whichever slices the readings came in.
    """

    def __init__(self, plan: Plan, last: int | None = None, is_told: bool = False):
        """`last`: the tick that is asked about; without one, to the end of all input.

        `is_told`: updates are kept as they are told, for `updates_from`.
        """
        self.plan, self.last, self.is_told = plan, last, is_told
        self.engine = Engine.of(plan, 1, 1)
        (self.template,) = {int(t) for t in plan.queries.template}
        self.outputs = plan.templates()[self.template].outputs
        self._rows: list[pa.Table] = []
        self._waiting = 0

    def feed(self, pieces: Mapping[str, Pieces]) -> None:
        """Slices of each stream, side by side, each to its end."""
        plans = {plan.stream.name: plan for plan in self.plan.streams}
        packed = (_with(plans[name], mine) for name, mine in pieces.items())
        for turn in zip_longest(*packed):
            self._advance([batch for one in turn if one is not None for batch in _packed(*one)])

    def close(self) -> None:
        """Every stream has come to the tick that is asked about."""
        if self.last is not None and self.last != NOTHING_YET:
            self._advance([slice_without_readings(plan, self.last) for plan in self.plan.streams])

    def _advance(self, batches: list[Batch]) -> None:
        for told in self.engine.advance([batches]):
            if told.kind == Kind.DELTAS and told.template == self.template:
                self._take(told.table)

    def _take(self, rows: pa.Table) -> None:
        if self.last is not None:
            rows = rows.filter(pa.array(rows.column("tick").to_numpy() <= self.last))
        if rows.num_rows:
            self._rows.append(rows if self.is_told else _timeless(rows))
            self._waiting += rows.num_rows
        if self._waiting > ADDED and not self.is_told:
            self._add_up()

    def _add_up(self) -> None:
        self._rows = [put_together(pa.concat_tables(self._rows))]
        self._waiting = 0

    def answer(self) -> pa.Table:
        """The columns of the query, a row for each that is left."""
        names, shown = by_places(len(self.outputs)), [output.name for output in self.outputs]
        if self._rows:
            self._add_up()
            rows = repeated(self._rows[0], self._rows[0].schema)
        else:
            rows = self.plan.templates()[self.template].schema().empty_table()
        return rows.select(names).rename_columns(shown).combine_chunks()

    def told(self) -> pa.Table:
        """All signed rows, as shards and merge partitions tell them."""
        return pa.concat_tables([self.plan.templates()[self.template].schema().empty_table(), *self._rows])

    def updates_from(self, first: int) -> pa.Table:
        """What was told from this tick on: tick, sign, the columns of the query, and the tick as `__ts`."""
        told = self.told()
        told = told.filter(pa.array(told.column("tick").to_numpy() >= first))
        shown = by_places(len(self.outputs))
        named = told.select(["tick", "sign", *shown]).rename_columns(
            ["tick", "sign", *(output.name for output in self.outputs)]
        )
        ts = named.column("tick")
        named = named.set_column(0, "tick", ts.cast(pa.timestamp("us")))
        return named.append_column(TS, ts).combine_chunks()


def _with(plan: StreamPlan, pieces: Pieces) -> Iterator[tuple[StreamPlan, Slice, Ingested]]:
    yield from ((plan, piece, ingested) for piece, ingested in pieces)


def _timeless(rows: pa.Table) -> pa.Table:
    """Rows that are equal but for their tick are equal."""
    at = rows.column_names.index("tick")
    rows = rows.set_column(at, "tick", pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows))
    at = rows.column_names.index("sign")
    return rows.set_column(at, "sign", rows.column("sign").cast(pa.int64()))


def _packed(plan: StreamPlan, piece: Slice, ingested: Ingested) -> list[Batch]:
    return [batch for _, batch in pack(plan, piece, ingested, 1)]


def slice_without_readings(plan: StreamPlan, tick: int) -> Batch:
    """After it this tick has closed, and the next one has not."""
    time = tick + plan.stream.lateness_us + 1
    piece = Slice(1 << 40, "", "", 0, 0, 0, is_last=False)
    (batch,) = _packed(plan, piece, nothing_of(plan.stream))
    return replace(batch, rises={"": Rises(time, [Rise(NOTHING_YET, time, "", 0)])})


def nothing_of(stream: Stream) -> Ingested:
    """What a slice without rows becomes."""
    types = [(column.name, column.type.arrow) for column in stream.columns]
    schema = pa.schema([*types, (TS, pa.int64()), (ROW, pa.int64())])
    return Ingested(schema.empty_table(), LETTERS.empty_table(), 0)
