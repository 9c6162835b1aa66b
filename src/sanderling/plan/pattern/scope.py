"""Names in a pattern: its steps side by side, and REACHED, ENTERED and OUTCOME as columns of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sanderling.catalog import Column
from sanderling.errors import did_you_mean
from sanderling.language.statements import Span
from sanderling.plan.names.sides import Derived, RowScope, Side
from sanderling.plans import nodes
from sanderling.types import TYPES

TIMES = {"REACHED": nodes.REACHED, "ENTERED": nodes.ENTERED}
OUTCOME = "OUTCOME"


def side_of(name: str, derived: Derived, span: Span, is_first: bool) -> Side:
    """A step, with what else a match shows of it: columns that nobody can name but by what they are."""
    others = [Column(f"{word}({name})", TYPES["TIMESTAMP"]) for word in TIMES]
    others += [Column(f"{OUTCOME}()", TYPES["STRING"])] if is_first else []
    return Side(name, replace(derived, columns=(*derived.columns, *others)), span)


class PatternScope(RowScope):
    """A column without a step's name is the first step's."""

    def __init__(self, text: str, span: Span, sides: Sequence[Side], nots: Sequence[str]):
        super().__init__(text, span, sides)
        self.nots = [name.casefold() for name in nots]

    def find(self, column: exp.Column) -> tuple[Side, Column]:
        if column.table:
            return super().find(column)
        found = self.all[0].column(column.name)
        if found is not None:
            return self.all[0], found
        others = [s.alias for s in self.all if s.column(column.name)]
        if not others:
            raise self._unknown(column)
        message = f'the first step has no column "{column.name}"'
        hint = "write " + " or ".join(f"{alias}.{column.name}" for alias in others)
        raise self.refuse(column, "query.unknown_column", message, hint)

    def _named(self, column: exp.Column) -> list[Side]:
        sides = [side for side in self.all if side.alias.casefold() == column.table.casefold()]
        if sides or not column.table:
            return sides or self.all
        raise self._no_step(column.args["table"], column.table)

    def _no_step(self, node: exp.Expr, name: str) -> Exception:
        if name.casefold() in self.nots:
            message = f'"{name}" stands behind NOT: a match shows nothing of it'
            return self.refuse(node, "query.unknown_name", message, "show the other steps")
        hint = did_you_mean(name, self.aliases) or f"the steps are {', '.join(self.aliases)}"
        return self.refuse(node, "query.unknown_name", f'no step of FROM is named "{name}"', hint)

    def name_of(self, column: exp.Column) -> str:
        """REACHED(visit) is called visit_reached."""
        side, found = self.find(column)
        for word in TIMES:
            if found.name == f"{word}({side.alias})":
                return f"{side.alias}_{word.lower()}"
        return OUTCOME.lower() if found.name == f"{OUTCOME}()" else found.name

    def written(self, node: exp.Expr) -> exp.Expr:
        """REACHED(step), ENTERED(step) and OUTCOME() as the columns that they are."""
        return node.copy().transform(self._written)

    def _written(self, node: exp.Expr) -> exp.Expr:
        word = node.name.upper() if isinstance(node, exp.Anonymous) else ""
        if word not in (*TIMES, OUTCOME):
            return node
        if word == OUTCOME:
            if node.expressions:
                message, hint = "OUTCOME takes nothing", "write OUTCOME()"
                raise self.refuse(node, "query.wrong_argument_count", message, hint)
            return self._column(self.all[0], f"{OUTCOME}()")
        arguments = node.expressions
        if len(arguments) != 1 or not isinstance(arguments[0], exp.Column) or arguments[0].table:
            message, hint = f"{word} takes a step", f"write {word}({self.all[0].alias})"
            raise self.refuse(node, "query.wrong_argument_count", message, hint)
        name = arguments[0].name
        for side in self.all:
            if side.alias.casefold() == name.casefold():
                return self._column(side, f"{word}({side.alias})")
        raise self._no_step(arguments[0], name)

    def _column(self, side: Side, name: str) -> exp.Expr:
        column = exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(side.alias))
        column.meta["words"] = name
        return column
