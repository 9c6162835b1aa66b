"""Expressions as they are written: as columns of a tree, as another type, or said of other columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache

from sqlglot import exp

from sanderling.language.parse import deep_recursion
from sanderling.plan.explain.words import shortened
from sanderling.plan.expressions.comparisons import comparisons_in
from sanderling.plan.expressions.rewrite import pair_column
from sanderling.plans.columns import by_place
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node, Select
from sanderling.types import TYPES, SqlType

# Of what is asked again and again: queries of one shape that come one by one.
REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Computed(Expression):
    """One with its syntax tree, as long as it is planned: so it can be said of other columns."""

    tree: exp.Expr | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Computed, tuple(getattr(self, f.name) for f in fields(self))


def bare(expression: Expression) -> Expression:
    """As plans have it."""
    if not isinstance(expression, Computed):
        return expression
    return Expression(*(getattr(expression, f.name) for f in fields(Expression)))


def of_tree(tree: exp.Expr, type_: SqlType, words: str = "") -> Expression:
    """What the evaluating engine is given as this tree."""
    with deep_recursion():
        sql = tree.sql(dialect="duckdb")
    own = {name.name for over in tree.find_all(exp.Lambda) for name in over.expressions}
    reads = frozenset(column.name for column in tree.find_all(exp.Column)) - own
    comparisons = comparisons_in(tree) if type_.name == "BOOLEAN" else None
    return Computed(sql, type_, reads, comparisons=comparisons, words=words, tree=tree)


def tree_of(expression: Expression) -> exp.Expr:
    if expression.is_plain:
        return pair_column(expression.column)
    assert isinstance(expression, Computed) and expression.tree is not None
    return expression.tree


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The same of other columns."""
    new = tuple((name, names[name]) for name in sorted(expression.reads) if name in names)
    return replace(_renamed(expression, new), words=expression.words) if new else expression


@lru_cache(REMEMBERED)
def _renamed(expression: Expression, new: tuple[tuple[str, str], ...]) -> Expression:
    names = dict(new)
    if expression.is_plain:
        return Expression.of_column(names[expression.column], expression.type)
    tree = tree_of(expression).copy()
    for column in tree.find_all(exp.Column):
        if column.name in names:
            column.set("this", exp.to_identifier(names[column.name], quoted=True))
    return of_tree(tree, expression.type)


def all_of(conditions: Sequence[Expression]) -> Expression | None:
    """Conditions that all have to hold, as one; None if there are none."""
    if not conditions:
        return None
    return replace(_all_of(tuple(conditions)), words=shortened(" AND ".join(c.words for c in conditions)))


@lru_cache(REMEMBERED)
def _all_of(conditions: tuple[Expression, ...]) -> Expression:
    if len(conditions) == 1:
        return conditions[0]
    return of_tree(exp.and_(*map(tree_of, conditions), copy=True), TYPES["BOOLEAN"])


def cast(expression: Expression, type_: SqlType) -> Expression:
    """The same as another type; NULL where it has no such value."""
    if type_ == expression.type:
        return expression
    to = exp.DataType.build(type_.duckdb, dialect="duckdb")
    return of_tree(exp.TryCast(this=tree_of(expression), to=to), type_, expression.words)


def plain(types: Iterable[SqlType]) -> tuple[Expression, ...]:
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
    columns = [cast(c, t) for c, t in zip(plain(child.types), types, strict=True)]
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
