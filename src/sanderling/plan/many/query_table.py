"""REGISTER QUERIES: the rows of a query table as a run of statements.

A row means the statement that its template is with the values filled in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sanderling.arrays import I64
from sanderling.errors import ODD_CHARACTER, QueryError
from sanderling.ingest.query_rows import ABSENT, QueryRows
from sanderling.language.parameters import Parametric, literal_of, parametric
from sanderling.language.parse import parse_template
from sanderling.language.shapes import (
    DECIMAL,
    MINUS_DECIMAL,
    MINUS_WHOLE,
    OTHER,
    TEXT,
    WHOLE,
    Column,
    Reading,
    grouped,
    shaped,
)
from sanderling.language.statements import Registration
from sanderling.plan.logical import Query
from sanderling.plan.many.shapes import Group, Run
from sanderling.plans.plan import ALWAYS

# Kinds that are refused: the code, what is wrong, and what would be right.
MISSING, NOT_FINITE, NO_VALUE = "missing", "not finite", "no value"
REFUSED = {
    MISSING: ("query.missing_parameter", "is not given", "add it to the parameters"),
    NOT_FINITE: ("query.not_finite", "is not finite", "give a number"),
    NO_VALUE: ("query.wrong_type", "is no single value", "give a number, a text, true, false or null"),
}
# Beyond these somebody has to look whether a number fits.
LARGEST_WHOLE, LARGEST_DECIMAL = 10**18, 1e300


def kind_of(value: Any) -> str:
    """What kind of literal a value is."""
    kind = type(value)
    if kind is int:
        is_far = not -LARGEST_WHOLE < value < LARGEST_WHOLE
        return OTHER if is_far else WHOLE if value >= 0 else MINUS_WHOLE
    if kind is float:
        if not math.isfinite(value):
            return NOT_FINITE
        is_far = not -LARGEST_DECIMAL < value < LARGEST_DECIMAL
        return OTHER if is_far else DECIMAL if math.copysign(1, value) > 0 else MINUS_DECIMAL
    if kind is str:
        return OTHER if ODD_CHARACTER.search(value) else TEXT
    if value is ABSENT:
        return MISSING
    return OTHER if value is None or kind is bool else NO_VALUE


@dataclass(frozen=True, slots=True)
class QueryTable:
    """The rows hold from a time on; `plan` checks one of them."""

    table: QueryRows
    at: int | None
    plan: Callable[[Registration, str], Query]

    def run(self) -> Run:
        sql = [""] * len(self.table.names)
        groups: list[Group] = []
        for template, numbers in grouped(self.table.templates).items():
            with self._about(numbers[0]):
                text = parametric(template)
            rows = np.array(numbers)
            literals, kinds = self._literals(text, rows)
            for number, filled in zip(numbers, text.filled(literals, len(rows)), strict=True):
                sql[number] = filled
            groups += self._groups(text, rows, literals, kinds, sql)
        times = np.full(len(sql), ALWAYS if self.at is None else self.at, np.int64)
        return Run(self.table.names, sql, times, groups, lambda row: self._one(sql[row], row))

    def _literals(self, text: Parametric, rows: I64) -> tuple[list[Column], list[Column]]:
        """For each place the literals and their kinds, row by row."""
        parameters = set(text.parameters)
        values = {name: self.table.parameters.values(name, rows) for name in parameters}
        kinds = {name: list(map(kind_of, values[name])) for name in parameters}
        for name in sorted(parameters):
            self._refuse_bad(name, kinds[name], rows)
        self._refuse_superfluous(parameters, rows)
        literals = {name: list(map(literal_of, values[name])) for name in parameters}
        return [literals[name] for name in text.parameters], [kinds[name] for name in text.parameters]

    def _groups(
        self, text: Parametric, rows: I64, literals: list[Column], kinds: list[Column], sql: Sequence[str]
    ) -> Iterator[Group]:
        """Rows of one template by their shapes."""
        for kind, mine in grouped(zip(*kinds, strict=True) if kinds else [()] * len(rows)).items():
            columns = [[column[i] for i in mine] for column in literals]
            read = _reader(text, [sql[row] for row in rows[mine]], columns)
            for shape, some in shaped("".join(kind), columns, len(mine), read):
                chosen = [[column[i] for i in some] for column in columns]
                numbers = rows[mine][np.asarray(some)]
                yield Group(shape, numbers, chosen, _reader(text, [sql[row] for row in numbers], chosen))

    def _one(self, sql: str, row: int) -> Query:
        with self._about(row):
            return self.plan(parse_template(sql), sql)

    def _refuse_bad(self, name: str, kinds: list[str], rows: I64) -> None:
        for kind, (code, what, hint) in REFUSED.items():
            if kind in kinds:
                with self._about(int(rows[kinds.index(kind)])):
                    raise QueryError(code, f'the parameter ":{name}" {what}', hint)

    def _refuse_superfluous(self, parameters: set[str], rows: I64) -> None:
        found = self.table.parameters.superfluous(parameters, rows)
        if found is not None:
            with self._about(found[0]):
                message = f'its template has no parameter ":{found[1]}"'
                raise QueryError("query.unknown_parameter", message, "use it in the template, or remove it")

    @contextmanager
    def _about(self, row: int) -> Iterator[None]:
        """Errors say which row they are about."""
        try:
            yield
        except QueryError as e:
            raise QueryError(e.code, f"{self.table.shown(row)}: {e.message}", e.hint, e.place) from e


def _reader(text: Parametric, sql: Sequence[str], columns: Sequence[Column]) -> Callable[[int], Reading]:
    return lambda number: text.read(sql[number], [column[number] for column in columns])
