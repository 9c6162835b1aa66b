"""What was said in a turn of all, put together: per stream, signed rows in order, dead letters, counts."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.batches import ROW, Batch, Kind
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, show_time
from sanderling.deliver.order import sort_order
from sanderling.deliver.render import joined, json_objects
from sanderling.figures.arrivals import Arrivals
from sanderling.ingest.formats.parquet import ParquetRows
from sanderling.ingest.letters import LETTERS as LETTER_COLUMNS
from sanderling.ingest.read import raw_rows
from sanderling.plans.columns import by_place, by_places
from sanderling.plans.plan import Plan, Template

# Readings that shards refuse; the kind is the reason.
REFUSED = {
    Kind.LATE_ROWS: "its tick had closed",
    Kind.AHEAD_ROWS: "it is too far ahead of the readings before it",
}
GATHERED = (Kind.DELTAS, Kind.LETTERS, *REFUSED, Kind.COUNTS)
# Lines are put together this many at a time, by two threads.
PIECE = 50_000
# So few are put together at once: on a busy machine a thread that steps back is waited for.
FEW = 1_000


def step_back() -> None:
    """This thread works while the next batch does, and only where that leaves the cores idle."""
    with suppress(AttributeError, OSError):  # not every system has priorities of threads
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LESS_URGENT)


LESS_URGENT = 15
WRITERS = ThreadPoolExecutor(2, "lines", initializer=step_back)


@dataclass(slots=True)
class Changes:
    """What one batch brings for one stream."""

    rows: dict[int, pa.Table] = field(default_factory=dict)  # by template, merged over shards
    letters: list[tuple[int, pa.Table]] = field(default_factory=list)  # by slice
    rows_read: int = 0
    ticks: int = 0
    closed_to: int = NOTHING_YET

    def ordered_letters(self) -> pa.Table:
        """Dead letters in order of arrival."""
        if not self.letters:
            return LETTER_COLUMNS.empty_table()
        slices = np.concatenate([np.full(t.num_rows, n) for n, t in self.letters])
        table = pa.concat_tables([t for _, t in self.letters])
        order = np.lexsort((table.column("row").to_numpy(), slices))
        return table.take(pa.array(order))


def gather(plan: Plan, batches: list[Batch], is_raw_wanted: bool = True) -> dict[str, Changes]:
    """The changes of every stream of the plan; the raw text of refused readings costs a second read."""
    changes = {name: Changes() for name in plan.outlets()}
    streams = {s.stream.name: s.stream for s in plan.streams}
    deltas: dict[tuple[str, int], list[pa.Table]] = {}
    for batch in (b for b in batches if b.kind in GATHERED):
        name = batch.stream
        if batch.kind == Kind.DELTAS:
            deltas.setdefault((name, batch.template), []).append(batch.table)
        elif batch.kind == Kind.LETTERS:
            changes[name].letters.append((batch.slice.number, batch.table))
        elif batch.kind in REFUSED:
            letters = refused_letters(streams[name], batch, is_raw_wanted)
            changes[name].letters.append((batch.slice.number, letters))
        elif batch.kind == Kind.COUNTS:
            changes[name].rows_read += batch.rows
            changes[name].ticks += batch.ticks
            changes[name].closed_to = batch.closed_to
    for (name, template), tables in deltas.items():
        changes[name].rows[template] = pa.concat_tables(tables)
    return changes


def arrivals_in(batches: Iterable[Batch]) -> dict[str, Arrivals]:
    """What came of rows, by stream."""
    found: dict[str, Arrivals] = {}
    for batch in sorted(batches, key=lambda b: b.slice.number):  # so that the same letter is the first
        came = Arrivals()
        if batch.kind == Kind.COUNTS:
            came = Arrivals(batch.rows, furthest=batch.furthest, filled=[*batch.filled], met=[*batch.met])
        elif batch.kind == Kind.LETTERS:
            came.ahead = pc.sum(pc.equal(batch.table.column("reason"), Kind.AHEAD_ROWS)).as_py() or 0
            came.unreadable = batch.table.num_rows - came.ahead
            came.sample = _sample(batch.table)
        elif batch.kind in REFUSED:
            is_late = batch.kind == Kind.LATE_ROWS
            came.late, came.ahead = (batch.table.num_rows if is_it else 0 for is_it in (is_late, not is_late))
        else:
            continue
        found.setdefault(batch.stream, Arrivals()).add(came)
    return found


def _sample(letters: pa.Table) -> str:
    """The first of them, for people."""
    unreadable = (
        letters.filter(pc.not_equal(letters.column("reason"), Kind.AHEAD_ROWS)).slice(0, 1).to_pylist()
    )
    return "".join(
        f"{one['reason']} in row {one['row']} of {one['file']}: {one['detail']}" for one in unreadable
    )


def failures_in(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    """Patterns that their own states have ended: query, tick, message."""
    return [row for batch in batches if batch.kind == Kind.FAILED for row in batch.table.to_pylist()]


def refused_letters(stream: Stream, batch: Batch, is_raw_wanted: bool = True) -> pa.Table:
    """Readings that are late or ahead: as they are, where they came along, else read again."""
    piece, said = batch.slice, batch.table
    rows = said.column(ROW).to_numpy()
    n = len(rows)
    raw = [""] * n
    if is_raw_wanted:
        own = said.select([c.name for c in stream.columns if c.name in said.column_names])
        raw = (
            ParquetRows(own, 0).raw(np.arange(n))
            if own.num_columns
            else raw_rows(stream, piece, rows.tolist())
        )
    columns = {
        "stream": [stream.name] * n, "reason": [str(batch.kind)] * n, "file": [piece.file] * n, "row": rows,
        "raw": raw, "detail": [REFUSED[batch.kind]] * n,
    }  # fmt: skip
    return pa.table(columns, schema=LETTER_COLUMNS)


class UpdateLines:
    """Signed rows to lines of JSON, one an update; what depends on the plan alone is made once."""

    def __init__(self, plan: Plan):
        self.templates = plan.templates()
        names = plan.queries.names.to_pylist()
        ranks = {name: rank for rank, name in enumerate(sorted(set(names), key=str.encode))}
        self.ranks = pa.array([ranks[name] for name in names], pa.int64())
        opening = [f'{{"query": {json.dumps(name, ensure_ascii=False)}, "tick": "' for name in names]
        self.openings = pa.array(opening, pa.string())

    def of(self, rows: dict[int, pa.Table]) -> pa.ChunkedArray:
        """In order of tick; within a tick by query, then − before +, then by row."""
        return pa.chunked_array(list(self.pieces(rows)), pa.string())

    def pieces(self, rows: dict[int, pa.Table]) -> Iterator[pa.Array]:
        """The same piece by piece: the first can be written while the next are put together."""
        some = [(self.templates[t], table) for t, table in sorted(rows.items()) if table.num_rows]
        if len(some) == 1:
            yield from self._lines(*some[0])[1]
        elif some:
            tables = []
            for template, table in some:
                ordered, texts = self._lines(template, table)
                tables.append(ordered.append_column("line", pa.chunked_array(list(texts))))
            whole = pa.concat_tables(tables)
            order = np.lexsort((whole.column("rank").to_numpy(), whole.column("tick").to_numpy()))
            yield from whole.column("line").take(pa.array(order)).chunks

    def _lines(self, template: Template, rows: pa.Table) -> tuple[pa.Table, Iterator[pa.Array]]:
        """Tick and rank in order, and the lines."""
        rank = self.ranks.take(rows.column("query"))
        names = by_places(len(template.outputs))
        order = sort_order([rows.column("tick"), rank, *(rows.column(c) for c in ("sign", *names))])
        rows = rows.append_column("rank", rank).take(pa.array(order))
        parts = [rows.slice(at, PIECE) for at in range(0, len(order), PIECE)]
        texts = partial(self._texts, template)
        lines = map(texts, parts) if len(order) <= FEW else WRITERS.map(texts, parts)
        return rows.select(["tick", "rank"]), lines

    def _texts(self, template: Template, rows: pa.Table) -> pa.Array:
        ticks, tick_of = np.unique(rows.column("tick").to_numpy(), return_inverse=True)
        moments = pa.array([show_time(int(t)) for t in ticks], pa.string())
        is_in = pc.greater(rows.column("sign"), 0)
        shown = [(o.name, by_place(i)) for i, o in enumerate(template.outputs)]
        return joined(
            self.openings.take(rows.column("query").combine_chunks()),
            moments.take(pa.array(tick_of)),
            pc.if_else(is_in, '", "sign": 1, "row": ', '", "sign": -1, "row": ').combine_chunks(),
            *json_objects(shown, rows),
            "}\n",
        )


def letter_lines(letters: pa.Table) -> pa.ChunkedArray:
    """One line of JSON a dead letter."""
    return pa.chunked_array([joined(*json_objects([(n, n) for n in letters.column_names], letters), "\n")])
