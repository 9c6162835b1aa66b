"""Columns of the tree as they are written for the evaluating engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sanderling.plan.expressions.check import Constant, Scope
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plans.columns import by_places, quoted
from sanderling.plans.nodes import Computed, Node, Select
from sanderling.types import TYPES, SqlType


@dataclass(frozen=True, slots=True)
class Written:
    """An item with its name; `is_plain` is a bare column."""

    name: str
    sql: str
    type: SqlType
    reads: frozenset[str]
    is_plain: bool
    words: str

    def cast_to(self, type_: SqlType) -> Written:
        if type_ == self.type:
            return self
        return replace(self, sql=f"TRY_CAST({self.sql} AS {type_.duckdb})", type=type_, is_plain=False)

    def as_computed(self) -> Computed:
        return Computed(self.sql, self.type, self.reads, self.words)

    def as_named(self) -> Computed:
        return replace(self.as_computed(), name=self.name)


def computed(selects: SelectPlanner, item: exp.Expr, scope: Scope, constants: list[Constant]) -> Written:
    """An item of a select list, or any other expression of a row."""
    found = selects.output(item, scope, constants)
    sql = quoted(found.source) if found.is_plain else found.sql
    return Written(found.name, sql, found.type, found.reads, found.is_plain, found.words)


def plain(types: Sequence[SqlType]) -> tuple[Computed, ...]:
    """All columns as they are."""
    return tuple(
        Computed(quoted(c), t, frozenset((c,)), c) for c, t in zip(by_places(len(types)), types, strict=True)
    )


def selected(child: Node, where: Computed | None, columns: Sequence[Computed]) -> Node:
    """Rows that satisfy a condition, and what is computed of them; the child itself if that is the same."""
    is_same = where is None and tuple(c.sql for c in columns) == tuple(c.sql for c in plain(child.types))
    return child if is_same else Select(child, where, tuple(columns))


def identity(child: Node, types: Sequence[SqlType], where: Computed | None = None) -> Node:
    """The same columns, cast where their types are others."""
    columns = [
        c if c.type == t else Computed(f"TRY_CAST({c.sql} AS {t.duckdb})", t, c.reads, c.words)
        for c, t in zip(plain(child.types), types, strict=True)
    ]
    return selected(child, where, columns)


def union_type(one: SqlType, other: SqlType) -> SqlType | None:
    """The type that both can have; None if there is none."""
    if one == other:
        return one
    if one.is_number and other.is_number:
        return TYPES["BIGINT"] if one.is_integer and other.is_integer else TYPES["DOUBLE"]
    if {one.name, other.name} == {"TIMESTAMP", "DATE"}:
        return TYPES["TIMESTAMP"]
    return None
