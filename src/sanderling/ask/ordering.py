"""ORDER BY of a SELECT that is asked once: its table has an order, so it needs no LIMIT.

What it is ordered by is shown as further columns, and taken away again when the rows are in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from sanderling import relational
from sanderling.deliver.order import sort_order
from sanderling.errors import QueryError
from sanderling.language.statements import Span

SHOWN = "__order_{}"


@dataclass(frozen=True, slots=True)
class Key:
    """A column that rows are in order of, and how."""

    column: str
    is_descending: bool
    is_null_first: bool


@dataclass(frozen=True, slots=True)
class Ordering:
    """Promise (tests/ask/test_ordering.py): rows that are equal in all keys are in order of their columns."""

    keys: tuple[Key, ...]

    def of(self, rows: pa.Table) -> pa.Table:
        shown = [name for name in rows.column_names if not name.startswith("__order_")]
        if rows.num_rows and shown:
            rows = rows.take(pa.array(sort_order([rows.column(name) for name in shown])))
        if self.keys and rows.num_rows:
            rows = rows.take(self._order(rows))
        return rows.select(shown)

    def _order(self, rows: pa.Table) -> pa.ChunkedArray:
        """Stable: the number of a row is the last of all keys."""
        table = rows.select(list(dict.fromkeys(key.column for key in self.keys)))
        table = table.append_column("__row", pa.array(range(rows.num_rows), pa.int64()))
        return relational.run(f"SELECT __row FROM rows ORDER BY {self._sql}, __row", rows=table).column(0)

    @property
    def _sql(self) -> str:
        return ", ".join(
            f'"{k.column.replace(chr(34), chr(34) * 2)}" {"DESC" if k.is_descending else "ASC"} '
            f"NULLS {'FIRST' if k.is_null_first else 'LAST'}"
            for k in self.keys
        )


def ordering_of(query: exp.Expr, text: str, span: Span) -> Ordering:
    """What a SELECT is ordered by; without a LIMIT its ORDER BY is taken out, for the engine has none."""
    whole = query
    while isinstance(whole, exp.Subquery) and not whole.args.get("order"):
        whole = whole.this
    order = whole.args.get("order")
    if order is None:
        return Ordering(())
    keys = tuple(_key(whole, ordered, number, text, span) for number, ordered in enumerate(order.expressions))
    if whole.args.get("limit") is None:
        whole.set("order", None)
    return Ordering(keys)


def _key(whole: exp.Expr, ordered: exp.Expr, number: int, text: str, span: Span) -> Key:
    is_descending, is_null_first = bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))
    items = whole.expressions if isinstance(whole, exp.Select) else _items(whole)
    shown = _meant(ordered.this.unnest(), items)
    if isinstance(shown, str):
        return Key(shown, is_descending, is_null_first)
    may_show_more = isinstance(whole, exp.Select) and not any(
        map(whole.args.get, ("distinct", "persistency"))
    )
    if not may_show_more:
        message = "ORDER BY takes columns of the select list here"
        raise QueryError(
            "query.unsupported", message, "add it to the select list, or order a SELECT around this one",
            span.place_in(text),
        )  # fmt: skip
    name = SHOWN.format(number)
    whole.append("expressions", exp.alias_(shown.copy(), name, quoted=True))
    return Key(name, is_descending, is_null_first)


def _items(operation: exp.Expr) -> list[exp.Expr]:
    """Of a set operation the first SELECT names the columns."""
    while not isinstance(operation, exp.Select):
        operation = operation.this
    return list(operation.expressions)


def _meant(node: exp.Expr, items: list[exp.Expr]) -> str | exp.Expr:
    """The name of an item, by its number or its name, or an expression."""
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        at = int(node.this) - 1
        if 0 <= at < len(items) and not any(item.is_star for item in items[: at + 1]):
            return items[at].alias_or_name or items[at]
    if isinstance(node, exp.Column) and not node.table:
        named = [i for i in items if i.alias_or_name.casefold() == node.name.casefold()]
        if named:
            return str(named[0].alias_or_name)
    return node


__all__ = ["Key", "Ordering", "ordering_of"]
