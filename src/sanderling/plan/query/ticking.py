"""Conditions with TICK(): rows that come and go as time passes, though nothing is reported."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sanderling.errors import QueryError
from sanderling.plan.explain.words import shortened, words_of
from sanderling.plan.expressions.check import Constant, Scope, check
from sanderling.plan.expressions.moments import Moment, moments
from sanderling.plan.expressions.rewrite import pair_column
from sanderling.plan.expressions.written import cast
from sanderling.plan.logical import Scan, nodes_of
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plans import nodes
from sanderling.plans.columns import constant_name
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node
from sanderling.types import TYPES


def ticking(
    selects: SelectPlanner,
    constants: list[Constant],
    node: Node,
    conditions: Sequence[exp.Expr],
    scope: Scope,
) -> Node:
    """Rows of a node while these hold; queries that differ only in how long share a template."""
    if not conditions:
        return node
    scans = [below for below in nodes_of(node) if isinstance(below, Scan)]
    if not scans:
        message, hint = "TICK() beside tables alone", "say it of a query that reads a stream"
        raise scope.refuse(conditions[0], "query.bad_tick", message, hint)
    found = [_bound(selects, constants, moment, scope) for c in conditions for moment in moments(c, scope)]
    words = shortened(" AND ".join(_words(c) for c in conditions))
    return nodes.Ticking(node, tuple(found), scans[0].stream.tick_us, words)


def _bound(
    selects: SelectPlanner, constants: list[Constant], moment: Moment, scope: Scope
) -> nodes.TickBound:
    base = None
    if moment.base is not None:
        check(moment.base, scope)
        base = _of_time(selects.output(moment.base, scope, []).expression, moment, scope)
    constants.append(Constant(constant_name(len(constants)), TYPES["BIGINT"], moment.shift_us))
    shift = Expression.of_column(constants[-1].name, TYPES["BIGINT"], "?")
    return nodes.TickBound(base, shift, moment.is_upper, moment.is_open)


def _of_time(base: Expression, moment: Moment, scope: Scope) -> Expression:
    """A time, or seconds since 1970; as the TIME of a stream may be either."""
    if base.type.name in ("TIMESTAMP", "DATE"):
        if moment.has_number:
            raise _misfit(moment, scope, "beside a time stands an INTERVAL, and no number")
        return cast(base, TYPES["TIMESTAMP"])
    if not base.type.is_number:
        raise _misfit(moment, scope, f"TICK() is a time, this is {base.type.name}")
    return cast(base, TYPES["BIGINT" if base.type.is_integer else "DOUBLE"])


def _misfit(moment: Moment, scope: Scope, message: str) -> QueryError:
    assert moment.base is not None
    hint = "write TICK() - ts > INTERVAL '5' MINUTE; of a TIME in seconds, TICK() - ts > 300"
    return scope.refuse(moment.base, "query.wrong_type", message, hint)


def _words(condition: exp.Expr) -> str:
    """With ? for what differs from query to query."""
    copy = exp.Paren(this=condition.copy())
    for part in [n for n in copy.walk() if isinstance(n, (exp.Interval, exp.Literal))]:
        if not part.find_ancestor(exp.Interval):
            part.replace(pair_column(constant_name(0)))
    return words_of(copy.this)
