"""The names that the condition of WINDOW UNTIL may use: columns of a held reading, and NEXT's."""

from __future__ import annotations

from sqlglot import exp

from sanderling.errors import did_you_mean
from sanderling.language.statements import Span
from sanderling.plan.expressions.check import Scope
from sanderling.plans.columns import of_next, of_reading
from sanderling.types import TYPES, SqlType

NEXT = "NEXT"


class NextScope(Scope):
    """`speed` is the held reading's, `NEXT.speed` that of a later one of its object."""

    def __init__(self, scope: Scope, span: Span):
        super().__init__(scope.text, span, scope.stream, scope.aliases[0], None, "")
        self.there: list[str] = []  # columns that say whether a place is in a region

    def types(self) -> dict[str, SqlType]:
        held = {of_reading(c.name): c.type for c in self.stream.columns}
        nexts = {of_next(c.name): c.type for c in self.stream.columns}
        return held | nexts | dict.fromkeys(self.there, TYPES["BOOLEAN"])

    def resolve(self, column: exp.Column) -> tuple[str, SqlType]:
        if column.table.upper() != NEXT or column.args.get("db"):
            return super().resolve(column)
        found = self.stream.column(column.name)
        if found is None:
            hint = did_you_mean(column.name, [c.name for c in self.stream.columns])
            raise self.refuse(column, "query.unknown_column", f'no column is named "{column.name}"', hint)
        return of_next(found.name), found.type
