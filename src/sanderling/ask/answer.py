"""Questions to tables: what is asked is planned by itself, and given the readings that somebody has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import F64, float64_of
from sanderling.ask.bounds import bounds_in
from sanderling.ask.once import Once, Pieces
from sanderling.ask.question import GONE, KEY, Question, RowsOf, X, Y
from sanderling.ask.reach import reach_of
from sanderling.batches import ROW, TS, Slice
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, tick_end
from sanderling.errors import QueryError, SanderlingError
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.plan import last_queries
from sanderling.plan.logical import Query
from sanderling.plan.once import OncePlanner
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.storage.lately import Bounds

# What is asked for is not there: told at the time that was written.
NOT_THERE = ("history.none", "history.not_kept", "history.not_yet", "history.not_exact")


class Past(Protocol):
    """Whoever has readings: shards, files, an archive. What it does not have it refuses (history.…)."""

    def now(self, streams: Sequence[Stream]) -> int | None:
        """The last tick that has closed; None: when all of them has been read.

        Asked first, and once: what is given of these streams afterwards is as it was then.
        """
        ...

    def upto(
        self, stream: Stream, last: int | None, reach: int | None, bounds: Bounds | None = None
    ) -> Pieces:
        """Readings that an answer at the tick `last` may depend on, in order of arrival.

        `reach`: those of so long before, and each object's last before that, would do; None: all of them.
        `bounds`, where that is 0: nobody matters who is not in this box.
        """
        ...

    def between(self, stream: Stream, first: int, last: int | None, bounds: Bounds | None = None) -> pa.Table:
        """Readings that counted, with these times (`last` None: up to now): declared columns, and `__ts`.

        `bounds`: none matters that is not in this box.
        """
        ...

    def last(self, stream: Stream) -> pa.Table:
        """What is kept of each object's last reading, whoever runs."""
        ...

    def queries(self) -> pa.Table:
        """What is kept of queries, whoever runs."""
        ...

    def snapshot(self, stream: Stream, last: int) -> tuple[int, Pieces]:
        """The last snapshot up to a time, and when that is."""
        ...


def answered(known: Planner, question: Question, past: Past) -> pa.Table:
    """What it is asked for, as rows in its order."""
    try:
        return question.ordering.of(_answer(known, question, past))
    except SanderlingError as e:
        if e.place is not None or e.code not in NOT_THERE:
            raise
        raise question.refused(e.code, e.message, e.hint) from e


def _answer(known: Planner, question: Question, past: Past) -> pa.Table:
    planner = OncePlanner(known, [rows.stream for rows in question.rows])
    query, plan = planner.planned(question.ask.query, question.text)
    if question.rows:
        return _of_rows(planner, plan, question, past)
    if question.when.is_snapshot:
        return _of_snapshot(plan, question, past)
    return _at(planner, query, plan, question.when.last, past).answer()


def _at(
    planner: OncePlanner, query: Query, plan: Plan, time: int | None, past: Past, is_told: bool = False
) -> Once:
    """A plan of one query, given all up to the tick of a time; None: up to now.

    What depends on nothing before begins at that tick: with its whole answer, so the rest is not told.
    """
    streams = [part.stream for part in plan.streams]
    now = past.now(streams)
    last = now if time is None else tick_end(time, streams[0].tick_us)
    reach = None if is_told else reach_of(plan)
    if reach is not None and last is not None and now not in (None, NOTHING_YET):
        plan = planner.plan_of(query, "", begin=last)
    once = Once(plan, last, is_told)
    bounds = {part.stream.name: bounds_in(part) if reach == 0 else None for part in plan.streams}
    once.feed({stream.name: past.upto(stream, last, reach, bounds[stream.name]) for stream in streams})
    if now is not None:  # files have ended where they end: whoever is silent then is not stale
        once.close()
    return once


def _of_snapshot(plan: Plan, question: Question, past: Past) -> pa.Table:
    """As at the time of the last snapshot: of one stream, and of what a snapshot knows."""
    stream, when = plan.streams[0].stream, question.when
    if len(plan.streams) > 1 or reach_of(plan) != 0:
        message, hint = "a snapshot knows each object's last reading", "leave out SNAPSHOT, or the window"
        raise question.refused("history.not_exact", message, hint)
    assert when.last is not None
    at, pieces = past.snapshot(stream, when.last)
    once = Once(plan, tick_end(at, stream.tick_us))
    once.feed({stream.name: pieces})
    once.close()
    return once.answer()


def _of_rows(planner: OncePlanner, plan: Plan, question: Question, past: Past) -> pa.Table:
    """All rows come in one tick, so that each is there at its end."""
    bounds = {part.stream.name: bounds_in(part) for part in plan.streams}
    found = {
        rows.stream.name: _rows(planner, rows, question, past, bounds.get(rows.stream.name))
        for rows in question.rows
    }
    times = [int(table.column(TS).to_numpy().max()) for table in found.values() if table.num_rows]
    last = question.when.last if question.when.last is not None else max(times, default=0)
    tick = tick_end(last, plan.streams[0].stream.tick_us)
    once = Once(plan, tick)
    once.feed({name: _numbered(name, table, tick, plan) for name, table in found.items()})
    once.close()
    return once.answer()


def _rows(
    planner: OncePlanner, rows: RowsOf, question: Question, past: Past, bounds: Bounds | None
) -> pa.Table:
    when = question.when
    stream = planner.known.streams.get(rows.name)
    if when.is_last:
        if stream is not None:
            return past.last(stream)
        return _last_queries(planner.known, past, rows.stream.is_globe)
    assert when.first is not None
    if rows.query is None:
        assert stream is not None
        return past.between(stream, when.first, when.last, bounds)
    plan = planner.plan_of(rows.query, "")
    once = _at(planner, rows.query, plan, when.last, past, is_told=True)
    return once.updates_from(tick_end(when.first, rows.stream.tick_us))


def _last_queries(known: Planner, past: Past, is_globe: bool) -> pa.Table:
    """Those that are registered here; where none is, those that archives know. With where each of them is."""
    members = known.queries.values()
    rows = last_queries.rows_of(members) if members else past.queries()
    x, y = (float64_of(rows, name).copy() for name in "xy")
    followed = rows.filter(rows.column("focal").is_valid())
    for name in followed.column("stream").unique().to_pylist():
        stream = known.streams.get(name)
        if stream is not None:
            at = _places_of(rows, stream, past)
            x, y = (np.where(np.isnan(new), old, new) for old, new in zip((x, y), at, strict=True))
    shown = {"x": pa.array(x, from_pandas=True), "y": pa.array(y, from_pandas=True)}
    # Who has no place is as far away as can be, and in no region.
    is_nowhere = np.isnan(x) | np.isnan(y)
    far_x, far_y = FAR_ON_GLOBE if is_globe else FAR
    hidden = {X: np.where(is_nowhere, far_x, x), Y: np.where(is_nowhere, far_y, y)}
    for name, column in (shown | hidden).items():
        rows = (
            rows.set_column(rows.column_names.index(name), name, column)
            if name in shown
            else rows.append_column(name, pa.array(column))
        )
    return rows.append_column(TS, pa.array(np.zeros(len(rows), np.int64)))


FAR, FAR_ON_GLOBE = (1e150, 1e150), (0.0, -90.0)


def _places_of(rows: pa.Table, stream: Stream, past: Past) -> tuple[F64, F64]:
    """Of queries of a stream that follow objects: where these were last; NaN where nobody knows."""
    try:
        last = past.last(stream)
    except QueryError:  # nothing of it is kept
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    keys = last.column(stream.key).combine_chunks().cast(pa.string())
    at = pc.index_in(rows.column("focal"), value_set=keys, skip_nulls=True)
    at = pc.if_else(pc.equal(rows.column("stream"), stream.name), at, None)
    x, y = (
        last.column(name).take(at).cast(pa.float64()).to_numpy().astype(np.float64)
        for name in (stream.x, stream.y)
    )
    return x, y


def _numbered(name: str, table: pa.Table, tick: int, plan: Plan) -> Iterator[tuple[Slice, Ingested]]:
    """Rows as readings of objects of their own, all at one time. Where there are none, one that is gone says
    that there could have been some: COUNT(*) is 0 then."""
    stream, n = plan.stream(name).stream, max(1, table.num_rows)
    number, is_gone = np.arange(n), np.full(n, not table.num_rows)
    hidden = {KEY: number, X: np.zeros(n), Y: np.zeros(n), GONE: is_gone}
    columns = {
        c.name: pa.array(hidden[c.name])
        if c.name in hidden and c.name not in table.column_names
        else _filled(table.column(c.name), n)
        for c in stream.columns
    }
    readings = pa.table({**columns, TS: pa.array(np.full(n, tick)), ROW: pa.array(number)})
    yield Slice(0, "", "", 0, 0, 0, is_last=False), Ingested(readings, LETTERS.empty_table(), n)


def _filled(column: pa.ChunkedArray, n: int) -> pa.ChunkedArray | pa.Array:
    return column if len(column) == n else pa.nulls(n, column.type)


__all__ = ["Past", "answered"]
