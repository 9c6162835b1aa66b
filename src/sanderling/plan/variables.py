"""Names in a trigger: in WHEN those of FOR, in SELECT those of all members of sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from sanderling.errors import did_you_mean
from sanderling.language.statements import Span
from sanderling.plan.sides import RowScope, Side


class VariableScope(RowScope):
    """Variables stand side by side, as streams do in FROM; `sets` has the members of each set by its name."""

    def __init__(self, text: str, span: Span, sides: Sequence[Side], sets: Mapping[str, Sequence[str]]):
        super().__init__(text, span, sides)
        self.sets = sets

    def _named(self, column: exp.Column) -> Iterable[Side]:
        name = column.table.casefold()
        if not name or name in [alias.casefold() for alias in self.aliases]:
            return super()._named(column)
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
