"""PERSISTENCY above a query: what its key is, and what its clause says, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Column, Table
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.statements import Name, PersistencyClause
from sanderling.plan.expressions.check import Constant
from sanderling.plan.logical import Scan, nodes_of
from sanderling.plan.names.sides import Derived, RowScope, Side
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, constant_name, is_by_place, of_reading, of_table, place_of
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node
from sanderling.types import TYPES, SqlType

if TYPE_CHECKING:
    from sanderling.plan.query.compose import Work

Keys = tuple[int, ...]


def persisting(work: Work, derived: Derived, clause: PersistencyClause, text: str) -> Derived:
    """The same rows, of keys that stay."""
    scope = ChangeScope(text, clause, derived)
    scans = [node for node in nodes_of(derived.node) if isinstance(node, Scan)]
    if not scans:
        message, hint = "PERSISTENCY of tables alone", "say it of the query that reads a stream"
        raise QueryError("query.unsupported", message, hint, clause.span.place_in(text))
    tables = work.reader.selects.relations.tables
    keys = key_of(derived.node, tables.get)
    if clause.per is not None:
        keys = tuple(dict.fromkeys(_place(name, derived, text) for name in clause.per))
    elif keys is None:
        keys = tuple(range(len(derived.columns)))
    conditions = [] if clause.condition is None else [clause.condition]
    goes_on = work.reader.selects.where(conditions, scope, work.constants)
    stay, grace = (_duration(work, us) for us in (clause.stay_us, clause.grace_us))
    node = nodes.Persisting(
        derived.node,
        keys,
        stay,
        grace,
        goes_on,
        scans[0].stream.tick_us,
        clause.is_unbroken,
        clause.is_lingering,
    )
    return replace(derived, node=node)


def _duration(work: Work, us: int) -> Expression:
    """Queries that differ only in it share a template."""
    work.constants.append(Constant(constant_name(len(work.constants)), TYPES["BIGINT"], us))
    return Expression.of_column(work.constants[-1].name, TYPES["BIGINT"], "?")


def _place(name: Name, derived: Derived, text: str) -> int:
    names = [c.name.casefold() for c in derived.columns]
    if name.text.casefold() in names:
        return names.index(name.text.casefold())
    message = f'the answer has no column "{name.text}"'
    hint = (
        did_you_mean(name.text, [c.name for c in derived.columns]) or "PER takes columns of the select list"
    )
    raise QueryError("query.unknown_column", message, hint, name.span.place_in(text))


class ChangeScope(RowScope):
    """Names in WHILE: columns of the answer, and PREVIOUS of one as it was in the same key's row before."""

    def __init__(self, text: str, clause: PersistencyClause, derived: Derived):
        super().__init__(text, clause.span, [Side("", derived, clause.span)])
        self.places = {(0, c.name): i for i, c in enumerate(derived.columns)}

    def find(self, column: exp.Column) -> tuple[Side, Column]:
        if column.table:
            message, hint = "WHILE is about columns of the answer", f"write {column.name} alone"
            raise self.refuse(column, "query.unknown_name", message, hint)
        return super().find(column)

    def previous(self, column: exp.Column, is_within: bool = False) -> str:
        if is_within:
            raise self._no_window(column)
        return by_place(len(self.places) + place_of(self.resolve(column)[0]))

    def types(self) -> dict[str, SqlType]:
        now = super().types()
        return now | {by_place(len(now) + place_of(name)): type_ for name, type_ in now.items()}


# ----- what tells the rows of an answer apart


def key_of(node: Node, table_of: Callable[[str], Table | None]) -> Keys | None:
    """What it is grouped by, else the keys of all that it reads; None: they are not all shown."""
    match node:
        case Scan():
            wanted = [of_reading(node.stream.key), *([of_table(node.table.key)] if node.table else [])]
            shown = {o.expression.column: i for i, o in enumerate(node.outputs) if o.expression.is_plain}
            return _all(shown.get(column) for column in wanted)
        case nodes.TableRows(table, columns):
            found = table_of(table)
            return (columns.index(found.key),) if found is not None and found.key in columns else None
        case nodes.Select(child, _, columns):
            below = key_of(child, table_of)
            plain = {
                place_of(c.column): i
                for i, c in reversed(list(enumerate(columns)))
                if c.is_plain and is_by_place(c.column)
            }
            return None if below is None else _all(plain.get(place) for place in below)
        case nodes.Join(left, right):
            one, other = key_of(left, table_of), key_of(right, table_of)
            width = len(left.types)
            return None if one is None or other is None else (*one, *(width + place for place in other))
        case nodes.Aggregate(_, groups):
            return tuple(range(len(groups)))
        case nodes.Distinct(child) | nodes.First(child) | nodes.Sample(child) | nodes.Ticking(child):
            return key_of(child, table_of)
        case nodes.Persisting(keys=keys):
            return keys
        case _:
            return None


def _all(places: Iterable[int | None]) -> Keys | None:
    found = list(places)
    return tuple(place for place in found if place is not None) if None not in found else None
