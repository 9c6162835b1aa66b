"""REGISTER QUERIES: the rows of a query table to cohorts.

A row means the statement that its template is with the values filled in. Rows of one template whose
values are of the same kinds are read once; from then on their values are columns.
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
from sanderling.language.blanks import Blanks, blanks_of, literal_of
from sanderling.language.moulds import free_literals
from sanderling.language.parse import parse_template
from sanderling.plan.logical import Query
from sanderling.plan.many.cohorts import Cohort
from sanderling.plan.many.recipes import Recipe, recipe_of
from sanderling.plan.query.compose import QueryReader

# Values of these kinds can be columns. Others are told apart by value, as is what somebody looks at.
WHOLE, MINUS_WHOLE, DECIMAL, MINUS_DECIMAL, TEXT = "i", "-i", "d", "-d", "s"
COLUMNS = (WHOLE, MINUS_WHOLE, DECIMAL, MINUS_DECIMAL, TEXT)
OTHER = "other"
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
    """What sort of literal a value is."""
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
class Found:
    """The queries of some rows, in their order."""

    rows: I64
    cohort: Cohort


@dataclass(frozen=True, slots=True)
class QueryTable:
    """Makes cohorts of the rows; `begin` says from which tick on a query lives."""

    reader: QueryReader
    table: QueryRows
    begin: Callable[[Query], int]

    def cohorts(self) -> Iterator[Found]:
        by_template: dict[str, list[int]] = {}
        for row, template in enumerate(self.table.templates):
            by_template.setdefault(template, []).append(row)
        for template, rows in by_template.items():
            with self.about(rows[0]):
                blanks = blanks_of(template)
            for alike in self._by_kinds(blanks, np.array(rows)):
                yield from alike.cohorts()

    def _by_kinds(self, blanks: Blanks, rows: I64) -> Iterator[Alike]:
        parameters = set(blanks.parameters)
        values = {name: self.table.parameters.values(name, rows) for name in parameters}
        kinds = {name: list(map(kind_of, values[name])) for name in parameters}
        for name in sorted(parameters):
            self._refuse_bad(name, kinds[name], rows)
        self._refuse_superfluous(parameters, rows)
        by_kinds: dict[tuple[str, ...], list[int]] = {}
        columns = [kinds[name] for name in blanks.parameters]
        for number, signature in enumerate(zip(*columns, strict=True) if columns else [()] * len(rows)):
            by_kinds.setdefault(signature, []).append(number)
        for signature, mine in by_kinds.items():
            chosen = [[values[name][number] for number in mine] for name in blanks.parameters]
            yield Alike(self, blanks, signature, rows[mine], chosen)

    def _refuse_bad(self, name: str, kinds: list[str], rows: I64) -> None:
        for kind, (code, what, hint) in REFUSED.items():
            if kind in kinds:
                with self.about(int(rows[kinds.index(kind)])):
                    raise QueryError(code, f'the parameter ":{name}" {what}', hint)

    def _refuse_superfluous(self, parameters: set[str], rows: I64) -> None:
        found = self.table.parameters.superfluous(parameters, rows)
        if found is not None:
            with self.about(found[0]):
                message = f'its template has no parameter ":{found[1]}"'
                raise QueryError("query.unknown_parameter", message, "use it in the template, or remove it")

    @contextmanager
    def about(self, row: int) -> Iterator[None]:
        """Errors say which row they are about."""
        try:
            yield
        except QueryError as e:
            raise QueryError(e.code, f"{self.table.shown(row)}: {e.message}", e.hint, e.place) from e


@dataclass(slots=True)
class Alike:
    """Rows of one template whose values are of the same kinds; a column of values for each place."""

    whole: QueryTable
    blanks: Blanks
    kinds: tuple[str, ...]
    rows: I64
    values: list[list[Any]]

    def cohorts(self) -> Iterator[Found]:
        literals = [list(map(literal_of, column)) for column in self.values]
        sql = self.blanks.filled(literals, len(self.rows))
        recipe = self._recipe(0, sql, literals)
        places = range(len(self.kinds))
        kept = [place for place in places if recipe is None or place not in recipe.literals]
        by_kept: dict[tuple[str, ...], list[int]] = {}
        keys = zip(*(literals[place] for place in kept), strict=True) if kept else [()] * len(sql)
        for number, key in enumerate(keys):
            by_kept.setdefault(key, []).append(number)
        for mine in by_kept.values():
            recipe = self._recipe(mine[0], sql, literals) if kept else recipe
            is_alike = recipe is not None and {p for p in places if p not in recipe.literals} <= set(kept)
            yield from self._found(recipe if is_alike else None, np.array(mine), sql)

    def _recipe(self, number: int, sql: list[str], literals: list[list[str]]) -> Recipe | None:
        """From reading one of the rows."""
        with self.whole.about(int(self.rows[number])):
            statement = parse_template(sql[number])
            query = self.whole.reader.read(statement, sql[number])
        ends = self.blanks.ends([column[number] for column in literals])
        free = free_literals(statement, ends)
        return recipe_of(query, ends, [place for place in free if self.kinds[place] in COLUMNS])

    def _found(self, recipe: Recipe | None, mine: I64, sql: list[str]) -> Iterator[Found]:
        unsure = mine
        if recipe is not None:
            columns = [self._column(place, mine) for place in range(len(self.kinds))]
            is_unsure = recipe.unsure(columns, len(mine))
            unsure, sure = mine[is_unsure], mine[~is_unsure]
            if len(sure):
                columns = [self._column(place, sure) for place in range(len(self.kinds))]
                names = [self.whole.table.names[row] for row in self.rows[sure]]
                begin = np.full(len(sure), self.whole.begin(recipe.query), np.int64)
                yield Found(self.rows[sure], recipe.cohort(columns, names, [sql[i] for i in sure], begin))
        for number in unsure.tolist():
            yield self._by_itself(number, sql[number])

    def _by_itself(self, number: int, sql: str) -> Found:
        row = int(self.rows[number])
        with self.whole.about(row):
            query = self.whole.reader.read(parse_template(sql), sql)
        name = self.whole.table.names[row]
        return Found(self.rows[number : number + 1], Cohort.of_one(name, query, sql, self.whole.begin(query)))

    def _column(self, place: int, mine: I64) -> Sequence[Any]:
        """The literals, without their minus."""
        values = [self.values[place][number] for number in mine.tolist()]
        return [-v for v in values] if self.kinds[place] in (MINUS_WHOLE, MINUS_DECIMAL) else values
