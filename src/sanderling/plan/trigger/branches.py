"""What shards do for a trigger: a branch for each variable, or one for several that ask the same.

A branch gives every event that satisfies its conditions once: time, key and place, then what compares and
solutions read of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sanderling.batches import TS
from sanderling.catalog import Stream, Table
from sanderling.errors import did_you_mean
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.statements import RegisterQuery, Span
from sanderling.plan.build.asked import Asked, asked_of
from sanderling.plan.expressions.check import Constant, Scope
from sanderling.plan.logical import Scan
from sanderling.plan.names.sides import Side, different_spaces
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plan.trigger.constraints import Comparison, renamed
from sanderling.plans import nodes
from sanderling.plans.columns import of_reading
from sanderling.plans.constraint_graph import FLOAT, INT
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn
from sanderling.types import TYPES, SqlType

# That the search compares: it has a bit for each.
MOST_VALUES = 62
# Whose differences are the same as doubles.
EXACT_AS_DOUBLE = ("TINYINT", "SMALLINT", "INT", "DOUBLE")


@dataclass(slots=True)
class Arm:
    """A branch while it is planned."""

    scan: Scan  # without its columns
    asked: Asked
    outputs: list[OutputColumn] = field(default_factory=list)

    @property
    def number(self) -> int:
        return self.scan.number

    @property
    def stream(self) -> Stream:
        return self.scan.stream

    def place(self, output: OutputColumn) -> int:
        """Where a column stands; one that is new stands behind the others."""
        for place, known in enumerate(self.outputs):
            if known.expression == output.expression:
                return place
        self.outputs.append(output)
        return len(self.outputs) - 1

    def plain(self, name: str, type_: SqlType) -> int:
        """Where a column of the stream stands."""
        return self.place(OutputColumn(name, Expression.of_column(of_reading(name), type_, name)))

    def node(self, alias: str) -> Scan:
        return replace(self.scan, alias=alias).showing(self.outputs)


@dataclass(slots=True)
class Arms:
    """The branches of a trigger, and which of them each variable of FOR has."""

    selects: SelectPlanner
    asked: RegisterQuery
    text: str
    sides: Sequence[Side]
    constants: list[Constant]
    all: list[Arm] = field(default_factory=list)
    of: list[Arm] = field(default_factory=list)
    values: list[nodes.Value] = field(default_factory=list)

    def add_all(self, below: dict[int, list[exp.Expr]]) -> None:
        known: dict[Hashable, Arm] = {}
        for number, side in enumerate(self.sides):
            conditions = below.get(number, [])
            assert isinstance(side.relation, Stream)
            key = (side.relation.name, *(_meaning(c, side.alias) for c in conditions))
            if key not in known:
                known[key] = self._new(side, conditions)
            self.of.append(known[key])

    def _new(self, side: Side, conditions: list[exp.Expr]) -> Arm:
        scope = self._scope(side)
        stream, table = scope.stream, self._table(conditions, scope)
        shape, used = self.selects.relations.inside(self.asked, conditions, self._scope(side, table))
        judged = [c for c in conditions if not isinstance(c, LocationInside)]
        where = self.selects.conditions(judged, scope, self.constants)
        scan = Scan(
            len(self.all), (), stream=stream, table=table, outputs=(), where=where, is_sighted=True,
            regions_used=used,
        )  # fmt: skip
        arm = Arm(scan, asked_of(shape, None, stream))
        arm.place(OutputColumn(TS, Expression.of_column(of_reading(TS), TYPES["BIGINT"], "time")))
        for name in (stream.key, stream.x, stream.y):
            column = stream.column(name)
            assert column is not None
            arm.plain(column.name, column.type)
        assert len(arm.outputs) == nodes.EVENT_COLUMNS
        self.all.append(arm)
        return arm

    def _scope(self, side: Side, table: Table | None = None) -> Scope:
        assert isinstance(side.relation, Stream)
        name = table.name if table else ""
        return Scope(self.text, side.span, side.relation, side.alias, table, name)

    def _table(self, conditions: list[exp.Expr], scope: Scope) -> Table | None:
        """Whose regions INSIDE asks about: an event in several of them is still one."""
        found = None
        for operator in (c for c in conditions if isinstance(c, LocationInside)):
            target = operator.args["expression"]
            if isinstance(target, exp.Column) and target.table:
                found = self._table_of(target, scope)
        return found

    def _table_of(self, target: exp.Column, scope: Scope) -> Table:
        tables = self.selects.relations.tables
        if target.table.casefold() in [side.alias.casefold() for side in self.sides]:
            hint = "name a region, write its shape, or name the regions of a table: districts.region"
            message = f'"{target.table}" is a variable, and no region'
            raise scope.refuse(target, "query.unsupported", message, hint)
        found = tables.get(target.table)
        if found is None:
            hint = did_you_mean(target.table, tables) or "CREATE TABLE first"
            message = f'no table is named "{target.table}"'
            raise scope.refuse(target.args["table"], "query.unknown_table", message, hint)
        if found.is_globe != scope.stream.is_globe:
            raise scope.refuse(target, *different_spaces(Side(target.table, found, Span(0, 1))))
        return found

    # ----- what two variables are compared by

    def compared(self, found: Comparison) -> tuple[int, int, str] | None:
        """The values of both sides by number, and as what they are compared; None: in SQL, elsewhere."""
        sides = [(found.i, found.left), (found.j, found.right)]
        outputs = [self.selects.output(node, self._scope(self.sides[i]), []) for i, node in sides]
        kind = _kind(outputs[0].type, outputs[1].type, found.op, found.constant is not None)
        if kind is None or len(self.values) > MOST_VALUES - 2:
            return None
        left, right = (
            self._value(self.of[i], output, kind) for (i, _), output in zip(sides, outputs, strict=True)
        )
        return left, right, kind

    def _value(self, arm: Arm, output: OutputColumn, kind: str) -> int:
        value = nodes.Value(arm.number, arm.place(output), kind)
        if value not in self.values:
            self.values.append(value)
        return self.values.index(value)


def _kind(left: SqlType, right: SqlType, op: str, is_difference: bool) -> str | None:
    """As what values are compared, so that it is the same as in SQL; None if that is not known to be so."""
    if is_difference:
        return FLOAT if left.name in EXACT_AS_DOUBLE and right.name in EXACT_AS_DOUBLE else None
    if left.is_integer and right.is_integer:
        return INT
    if left.is_number and right.is_number:
        has_float = "FLOAT" in (left.name, right.name)
        return None if has_float and (left.is_integer or right.is_integer) else FLOAT
    if left != right or (left.name == "STRING" and op not in ("=", "<>")):
        return None
    return INT


def _meaning(condition: exp.Expr, alias: str) -> Hashable:
    """What is the same of conditions that ask the same of other variables."""
    if isinstance(condition, LocationInside):
        target = condition.args["expression"]
        return repr(target) if isinstance(target, exp.Expression) else target
    return repr(renamed(condition, alias, ""))
