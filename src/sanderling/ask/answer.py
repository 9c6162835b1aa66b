"""Questions to tables: what is asked is planned by itself, and given the readings that somebody has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from sanderling.ask.once import Once, Pieces
from sanderling.ask.question import GONE, KEY, LAST_COLUMNS, Question, RowsOf, X, Y
from sanderling.ask.reach import reach_of
from sanderling.batches import ROW, TS, Slice
from sanderling.catalog import Stream
from sanderling.clock import ALWAYS, NOTHING_YET, tick_end
from sanderling.errors import SanderlingError
from sanderling.ingest.letters import LETTERS
from sanderling.ingest.read import Ingested
from sanderling.plan.logical import Query
from sanderling.plan.once import OncePlanner
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan

# What is asked for is not there: told at the time that was written.
NOT_THERE = ("history.none", "history.not_kept", "history.not_yet", "history.not_exact")


class Past(Protocol):
    """Whoever has readings: shards, files, an archive. What it does not have it refuses (history.…)."""

    def now(self, streams: Sequence[Stream]) -> int | None:
        """The last tick that has closed; None: when all of them has been read.

        Asked first, and once: what is given of these streams afterwards is as it was then.
        """
        ...

    def upto(self, stream: Stream, last: int | None, reach: int | None) -> Pieces:
        """Readings that an answer at the tick `last` may depend on, in order of arrival.

        `reach`: those of so long before, and each object's last before that, would do; None: all of them.
        """
        ...

    def between(self, stream: Stream, first: int, last: int | None) -> pa.Table:
        """Readings that counted, with these times (`last` None: up to now): declared columns, and `__ts`."""
        ...

    def last(self, stream: Stream) -> pa.Table:
        """What is kept of each object's last reading, whoever runs."""
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
    once.feed({stream.name: past.upto(stream, last, reach) for stream in streams})
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
    found = {rows.stream.name: _rows(planner, rows, question, past) for rows in question.rows}
    times = [int(table.column(TS).to_numpy().max()) for table in found.values() if table.num_rows]
    last = question.when.last if question.when.last is not None else max(times, default=0)
    tick = tick_end(last, plan.streams[0].stream.tick_us)
    once = Once(plan, tick)
    once.feed({name: _numbered(name, table, tick, plan) for name, table in found.items()})
    once.close()
    return once.answer()


def _rows(planner: OncePlanner, rows: RowsOf, question: Question, past: Past) -> pa.Table:
    when = question.when
    stream = planner.known.streams.get(rows.name)
    if when.is_last:
        return queries_of(planner.known) if stream is None else past.last(stream)
    assert when.first is not None
    if rows.query is None:
        assert stream is not None
        return past.between(stream, when.first, when.last)
    plan = planner.plan_of(rows.query, "")
    once = _at(planner, rows.query, plan, when.last, past, is_told=True)
    return once.updates_from(tick_end(when.first, rows.stream.tick_us))


def queries_of(known: Planner) -> pa.Table:
    """LAST QUERIES: those that are registered, and when each began, if that was not at the beginning."""
    members = known.queries.values()
    columns: dict[str, list[object]] = {
        "name": [m.name for m in members], "kind": [m.query.kind for m in members],
        "begun": [None if m.begin == ALWAYS else m.begin for m in members], "sql": [m.sql for m in members],
        TS: [0 for _ in members],
    }  # fmt: skip
    types = {c.name: c.type.arrow for c in LAST_COLUMNS} | {TS: pa.int64()}
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})


def _numbered(name: str, table: pa.Table, tick: int, plan: Plan) -> Iterator[tuple[Slice, Ingested]]:
    """Rows as readings of objects of their own, all at one time. Where there are none, one that is gone says
    that there could have been some: COUNT(*) is 0 then."""
    stream, n = plan.stream(name).stream, max(1, table.num_rows)
    number, is_gone = np.arange(n), np.full(n, not table.num_rows)
    hidden = {KEY: number, X: np.zeros(n), Y: np.zeros(n), GONE: is_gone}
    columns = {
        c.name: pa.array(hidden[c.name]) if c.name in hidden else _filled(table.column(c.name), n)
        for c in stream.columns
    }
    readings = pa.table({**columns, TS: pa.array(np.full(n, tick)), ROW: pa.array(number)})
    yield Slice(0, "", "", 0, 0, 0, is_last=False), Ingested(readings, LETTERS.empty_table(), n)


def _filled(column: pa.ChunkedArray, n: int) -> pa.ChunkedArray | pa.Array:
    return column if len(column) == n else pa.nulls(n, column.type)


__all__ = ["Past", "answered"]
