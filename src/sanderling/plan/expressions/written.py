"""Columns of the tree, as expressions over those of the node below."""

from __future__ import annotations

from collections.abc import Sequence

from sanderling.plans.columns import by_place
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node, Select
from sanderling.types import TYPES, SqlType


def plain(types: Sequence[SqlType]) -> tuple[Expression, ...]:
    """All columns as they are."""
    return tuple(Expression.of_column(by_place(i), t) for i, t in enumerate(types))


def selected(
    child: Node, where: Expression | None, columns: Sequence[Expression], names: Sequence[str] = ()
) -> Node:
    """Rows that satisfy a condition, and what is computed of them; the child itself if that is the same."""
    is_same = where is None and tuple(columns) == plain(child.types)
    return child if is_same else Select(child, where, tuple(columns), tuple(names))


def identity(child: Node, types: Sequence[SqlType], where: Expression | None = None) -> Node:
    """The same columns, cast where their types are others."""
    columns = [c.cast_to(t) for c, t in zip(plain(child.types), types, strict=True)]
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
