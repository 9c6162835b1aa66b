"""Expressions of a row, as planning gives them: nobody has to read their SQL to know what they are."""

from __future__ import annotations

from dataclasses import dataclass, field

from sanderling.plans.columns import is_of_query, is_of_reading, name_of, quoted
from sanderling.types import SqlType


@dataclass(frozen=True, slots=True)
class Comparison:
    """A reading's column, by the stream's own name, beside a constant; `op` is = <> < <= > or >=."""

    column: str
    op: str
    constant: str


@dataclass(frozen=True, slots=True)
class Expression:
    """What is computed from the columns of one row, in the evaluating engine's SQL.

    `reads` are all columns that it names, as columns.py calls them; `is_plain`: it is a bare column.
    `comparisons` say all of a condition that only compares, and all of them have to hold; None: it does more.
    """

    sql: str
    type: SqlType
    reads: frozenset[str]
    is_plain: bool = False
    comparisons: tuple[Comparison, ...] | None = None
    # As its author wrote it; what is the same in other words is the same.
    words: str = field(default="", compare=False)

    @classmethod
    def of_column(cls, column: str, type_: SqlType, words: str = "") -> Expression:
        """A bare column."""
        return cls(quoted(column), type_, frozenset((column,)), True, words=words)

    @property
    def column(self) -> str:
        """The one that a plain expression shows."""
        (column,) = self.reads
        return column

    @property
    def of_reading(self) -> frozenset[str]:
        """What it reads of a reading, by the stream's own names."""
        return frozenset(name_of(column) for column in self.reads if is_of_reading(column))

    @property
    def of_query(self) -> frozenset[str]:
        """The columns of a query's constants, and of the table that it joins, that it reads."""
        return frozenset(filter(is_of_query, self.reads))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # A bare column is told by its name: plans have many, and go to every worker.
        if self.is_plain:
            return _of_column, (self.column, self.type, self.words)
        return Expression, (self.sql, self.type, self.reads, False, self.comparisons, self.words)


def _of_column(column: str, type_: SqlType, words: str) -> Expression:
    return Expression.of_column(column, type_, words)
