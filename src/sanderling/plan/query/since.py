"""SINCE in FROM: all readings that are later than a time, of which none is kept.

So what is told of them is as large as the answer only if they are put together at once: by an aggregate, by
DISTINCT, or as the first n.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Stream
from sanderling.clock import UNITS_US
from sanderling.language.statements import WindowClause
from sanderling.plan.logical import Scan, rebuilt
from sanderling.plan.names.sides import Derived, Side
from sanderling.plan.query.grouping import has_aggregates
from sanderling.plans import nodes
from sanderling.plans.nodes import Node
from sanderling.plans.window import Coming

if TYPE_CHECKING:
    from sanderling.plan.query.blocks import Block

BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def later_than(block: Block) -> list[exp.Expr]:
    """That readings of streams with SINCE are later than its time."""
    found = []
    for side in block.sides:
        clause = side.bracket.window if side.bracket is not None else None
        if clause is not None and clause.since_us is not None:
            found.append(_later(side, clause.since_us))
    return found


def refuse_endless(block: Block) -> None:
    """What is told of such readings is put together in the SELECT that reads them, and nothing else is."""
    for side in block.sides:
        clause = side.bracket.window if side.bracket is not None else None
        if clause is not None and clause.since_us is not None:
            _refuse_endless(block, side, clause)


def _refuse_endless(block: Block, side: Side, clause: WindowClause) -> None:
    select, message = block.select, ""
    hint = (
        "put them together first: FROM (SELECT id, COUNT(*) AS n FROM stream [SINCE …] GROUP BY id) AS name"
    )
    others = [s for s in block.sides if s is not side and not s.is_regions]
    if others:
        message = f'"{side.alias}" has SINCE, and is joined'
    elif not has_aggregates(select) and not any(map(select.args.get, ("group", "distinct", "limit"))):
        message, hint = "all readings since then", "write an aggregate, DISTINCT, or ORDER BY … LIMIT"
    if message:
        message += ": an answer of all of them would grow without end"
        raise block.refuse_at(clause.span, "query.unbounded", message, hint)


def _later(side: Side, since_us: int) -> exp.Expr:
    assert isinstance(side.relation, Stream)
    column = side.relation.column(side.relation.time)
    assert column is not None
    time = exp.column(
        exp.to_identifier(column.name, quoted=True), table=exp.to_identifier(side.alias, quoted=True)
    )
    return exp.GT(this=time, expression=_written(column.type.name, since_us))


def _written(kind: str, time_us: int) -> exp.Expr:
    """A time as the time of a reading is written."""
    if kind not in ("TIMESTAMP", "DATE"):
        return exp.Literal.number(repr(time_us / UNITS_US["second"]))
    at = BEGIN + timedelta(microseconds=time_us)
    return exp.Literal.string(str(at.date()) if kind == "DATE" else at.replace(tzinfo=None).isoformat(" "))


def growing(derived: Derived) -> Derived:
    """Whoever puts such readings together is told that none ever leaves."""
    return replace(derived, node=rebuilt(derived.node, _growing))


def _growing(node: Node) -> Node:
    match node:
        case nodes.Aggregate(child=child) | nodes.Distinct(child=child) | nodes.First(child=child):
            return replace(node, is_growing=True) if _is_coming(child) else node
        case _:
            return node


def _is_coming(node: Node) -> bool:
    while isinstance(node, nodes.Select):
        node = node.child
    return isinstance(node, Scan) and isinstance(node.window, Coming)
