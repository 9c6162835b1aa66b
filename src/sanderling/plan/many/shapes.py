"""Statements of one shape to a cohort: planned once, then their literals are columns.

Promise (tests/language/test_repeats.py, test_query_table.py): the same queries, or the same error after
the same queries, as if each statement had been read and planned by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools
from sanderling.clock import ticks_from, time_of
from sanderling.errors import QueryError
from sanderling.language.shapes import VALUE, Column, Reading, Shape, alike
from sanderling.language.statements import Registration, Spot, Value, focal_of
from sanderling.plan.build.areas import PLACE, areas_like, coordinates_of, numbers_of
from sanderling.plan.build.asked import Asked, Written
from sanderling.plan.build.nearest import neighbours_like, written
from sanderling.plan.logical import Query, Scan
from sanderling.plan.many.cohorts import Cohort
from sanderling.types import TYPES, SqlType

DOUBLE = TYPES["DOUBLE"]
# Checks one statement; the text is what its spans count in.
Plan = Callable[[Registration, str], Query]


class Given(NamedTuple):
    """A value in a query: the same in all statements, or a literal of each, by its number."""

    type: SqlType
    value: object
    literal: int | None
    sign: float
    most: float = np.inf  # what is farther from 0 is to be looked at

    def column(self, group: Group, rows: Sequence[int]) -> pa.Array:
        """What it is in some rows; nothing where somebody has to look at it."""
        arrow = self.type.arrow
        if self.literal is None:
            return pa.repeat(pa.scalar(self.value, arrow), len(rows))
        literals, value_of = group.columns[self.literal], VALUE[group.shape.kinds[self.literal]]
        values = [value_of(literals[row]) for row in rows]
        if self.type.name == "TIMESTAMP":
            return pa.array([time_of(value) for value in values], arrow)
        if not self.type.is_number:
            return pa.array(values, arrow)
        numbers, dtype = self.sign * np.array(values), arrow.to_pandas_dtype()
        bounds = np.iinfo(dtype) if self.type.is_integer else np.finfo(dtype)
        is_odd = (numbers < bounds.min) | (numbers > bounds.max) | (np.abs(numbers) > self.most)
        return pa.array(numbers.astype(dtype), mask=is_odd)


@dataclass(frozen=True, slots=True)
class Planned:
    """A query, and which of its values are literals: its constants, then those of its scans."""

    query: Query
    given: tuple[Given, ...]

    @property
    def free(self) -> frozenset[int]:
        return frozenset(given.literal for given in self.given if given.literal is not None)

    def cohort(
        self, columns: Sequence[pa.Array], names: Sequence[str], sql: Sequence[str], begin: I64
    ) -> Cohort:
        """The statements with these values."""
        values = iter(columns)
        constants = [next(values) for _ in self.query.constants]
        asked = [_asked(_written(its), values, len(names)) for its in self.query.asked]
        return Cohort.new(self.query, names, sql, begin, constants, asked)


def planned(query: Query, reading: Reading, shape: Shape) -> Planned | None:
    """Of a query with the literals of a shape; None: of no use for others."""
    # What other queries and tables say stands in other statements.
    if query.queries or any(scan.table is not None for scan in query.scans):
        return None
    number_of = {reading.ends[number]: number for number in shape.free}

    def given(type_: SqlType, value: object, spot: Spot | None, most: float = np.inf) -> Given:
        literal = number_of.get(spot.end) if spot else None
        return Given(type_, value, literal, spot.sign if spot else 1, most)

    values = [given(c.type, c.value, c.spot) for c in query.constants]
    for scan, asked in zip(query.scans, query.asked, strict=True):
        values += [given(*one) for one in _values_of(scan, _written(asked))]
    found = Planned(query, tuple(values))
    # One literal must not have gone to two places.
    return found if len(found.free) == sum(one.literal is not None for one in values) else None


def _values_of(scan: Scan, asked: Written) -> Iterator[tuple[SqlType, object, Spot | None, float]]:
    """The values that a scan asks with, in the order of `_asked`."""
    shape, target, key = asked.shape, asked.nearest, scan.stream.key_type

    def focal(value: Value | None) -> list[tuple[SqlType, object, Spot | None, float]]:
        return [] if value is None else [(key, value.value, value.spot, np.inf)]

    numbers = numbers_of(shape)
    followed, spots = focal_of(shape), getattr(shape, "spots", ())
    if scan.regions_used:
        # What a named region is of stands in another statement.
        followed, spots = followed and replace(followed, spot=None), ()
    spots = spots or (None,) * len(numbers)
    most = coordinates_of(shape) if asked.is_globe else (np.inf,) * len(numbers)
    yield from ((DOUBLE, *one) for one in zip(numbers, spots, most, strict=True))
    yield from focal(followed)
    if target is not None:
        most = (np.inf, *(PLACE if asked.is_globe else (np.inf, np.inf)))
        yield from ((DOUBLE, v.value, v.spot, m) for v, m in zip(written(target), most, strict=False))
        yield from focal(target.focal)


def _asked(asked: Written, columns: Iterator[pa.Array], n: int) -> Asked:
    shape, target = asked.shape, asked.nearest
    areas = areas_like(shape, [next(columns).to_numpy() for _ in numbers_of(shape)], n, asked.is_globe)
    focals = next(columns) if focal_of(shape) else None
    if target is None:
        return Asked(areas, focals, None)
    numbers = [next(columns).to_numpy() for _ in written(target)]
    return Asked(areas, focals, neighbours_like(numbers, next(columns) if target.focal else None))


def _written(asked: Asked) -> Written:
    assert asked.written is not None
    return asked.written


class Group(NamedTuple):
    """Statements of one shape: their numbers in a run, their literals, and how to read one of them."""

    shape: Shape
    rows: I64
    columns: Sequence[Column]
    read: Callable[[int], Reading]


@dataclass(frozen=True, slots=True)
class Run:
    """Statements that follow each other; what is in no group is planned by itself, and may be refused."""

    names: Sequence[str]
    sql: Sequence[str]
    times: I64  # from when on they hold
    groups: Sequence[Group]
    by_itself: Callable[[int], Query]

    def one(self, row: int) -> Cohort:
        query = self.by_itself(row)
        (begin,) = ticks_from(self.times[row : row + 1], query.stream.tick_us)
        return Cohort.of_one(self.names[row], query, self.sql[row], int(begin))


class Some(NamedTuple):
    """Rows of a run that were planned together, and the values in them."""

    planned: Planned
    rows: I64
    columns: list[pa.Array]

    def is_sure(self) -> Bools:
        sure = np.ones(len(self.rows), np.bool_)
        for given, column in zip(self.planned.given, self.columns, strict=True):
            if given.literal is not None and column.null_count:
                sure &= column.is_valid().to_numpy(zero_copy_only=False)
        return sure

    def between(self, start: int, stop: int) -> Some:
        first, last = np.searchsorted(self.rows, (start, stop))
        columns = [column.slice(first, last - first) for column in self.columns]
        return Some(self.planned, self.rows[first:last], columns)

    def cohort(self, run: Run) -> Cohort:
        begin = ticks_from(run.times[self.rows], self.planned.query.stream.tick_us)
        names, sql = ([texts[row] for row in self.rows.tolist()] for texts in (run.names, run.sql))
        return self.planned.cohort(self.columns, names, sql, begin)


def cohorts_of(run: Run, plan: Plan, doubtful: Sequence[int] = ()) -> Iterator[list[tuple[I64, Cohort]]]:
    """In order, with their numbers in the run; each has to be there when the next one is asked for."""
    found = [some for group in run.groups for some in _planned_of(group, plan)]
    is_sure = np.zeros(len(run.names), np.bool_)
    for some in found:
        is_sure[some.rows] = some.is_sure()
    is_sure[list(doubtful)] = False
    start = 0
    for stop in [*np.flatnonzero(~is_sure).tolist(), len(run.names)]:
        here = [some.between(start, stop) for some in found]
        yield [(some.rows, some.cohort(run)) for some in here if len(some.rows)]
        if stop < len(run.names):
            yield [(np.array([stop]), run.one(stop))]
        start = stop + 1


def _planned_of(group: Group, plan: Plan) -> Iterator[Some]:
    """Those that can be planned together; errors are told when a statement is planned by itself."""

    def find(row: int) -> Planned | None:
        reading = group.shape.first([column[row] for column in group.columns]) or group.read(row)
        try:
            return planned(plan(reading.statement, reading.text), reading, group.shape)
        except QueryError:
            return None

    for found, rows in alike(group.shape.free, group.columns, len(group.rows), find):
        if found is not None:
            columns = [given.column(group, rows) for given in found.given]
            yield Some(found, group.rows[np.asarray(rows)], columns)
