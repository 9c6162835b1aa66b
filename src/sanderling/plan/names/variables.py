"""Names in a trigger: in WHEN those of FOR, in SELECT those of all members of sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from sanderling.catalog import Names, Table
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.statements import Span
from sanderling.plan.names.sides import RowScope, Side


class VariableScope(RowScope):
    """Variables stand side by side, as streams do in FROM; `sets` has the members of each set by its name.

    `tables` are those whose regions INSIDE may ask about.
    """

    def __init__(
        self, text: str, span: Span, sides: Sequence[Side], sets: Mapping[str, Sequence[str]],
        tables: Names[Table],
    ):  # fmt: skip
        super().__init__(text, span, sides)
        self.sets = sets
        self.tables = tables

    def _named(self, column: exp.Column) -> Iterable[Side]:
        name = column.table.casefold()
        if not name or name in [alias.casefold() for alias in self.aliases]:
            return super()._named(column)
        if (table := self.tables.get(column.table)) is not None:
            raise self._refuse_table(column, table)
        message, hint = f'no variable is named "{column.table}"', did_you_mean(column.table, self.aliases)
        for one, members in self.sets.items():
            if name == one.casefold():
                message = f'"{one}" is a set, and this is of one of its events'
                hint = f"write {members[0]}.{column.name}, up to {members[-1]}.{column.name}"
            elif name in [member.casefold() for member in members]:
                message = f'"{column.table}" is one of the set "{one}", whose events can change places'
                hint = (
                    f"write {one}.{column.name}, which is asked of all of them, or name variables one by one"
                )
        raise self.refuse(column.args["table"], "query.unknown_name", message, hint)

    def _refuse_table(self, column: exp.Column, table: Table) -> QueryError:
        """An event in several regions of a table is one event: which of them would be meant?"""
        message = f'"{table.name}" is a table: a trigger asks whether events are in its regions, not in which'
        hint = "write a trigger for each region, V.location INSIDE name; or a query that joins the table"
        return self.refuse(column.args["table"], "query.unsupported", message, hint)
