"""PREVIOUS(…) WITHIN WINDOW: what was before, as long as the window holds that reading too.

readings, with what was before ──► those whose reading before is in the window, as they are ─┐
                               └─► the others, with NULL for what was before ────────────────┴─► both
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Column, Stream
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.written import cast, of_tree, plain, selected, tree_of
from sanderling.plan.names.sides import Side
from sanderling.plans import nodes
from sanderling.plans.columns import constant_name, previous_of, without_within
from sanderling.plans.expression import Expression
from sanderling.types import TYPES, SqlType

if TYPE_CHECKING:
    from sanderling.plan.query.joining import Joining

# Before all times that there are: the first one, as a time and as seconds.
FIRST_TIME, FIRST_SECOND = "0001-01-01 00:00:00", 62_135_596_800
WORDS = "the reading before is {}in the window"


def within_window(
    joining: Joining, side: Side, stream: Stream, columns: Sequence[tuple[int, Column]],
    conditions: list[exp.Expr],
) -> nodes.Node:  # fmt: skip
    """What such a side brings. A window that is looked at now and then is looked at as a whole."""
    number, time = joining.sides.index(side), stream.column(stream.time)
    assert side.lasts_us is not None and time is not None
    before = (number, Column(previous_of(time.name), time.type))
    wide = list(dict.fromkeys([*map(_without, columns), before]))
    scan = joining.scan(side, stream, wide, conditions)
    refresh, scan = scan.refresh, replace(scan, refresh=None)
    whole, name = plain(scan.types), constant_name(len(joining.work.constants))
    joining.work.constants.append(Constant(name, TYPES["BIGINT"], side.lasts_us))
    shift, at = Expression.of_column(name, TYPES["BIGINT"], "?"), whole[wide.index(before)]
    parts = [whole[wide.index(_without(column))] for column in columns]
    nothing = [
        part if without_within(column.name) is None else _null(column.type)
        for part, (_, column) in zip(parts, columns, strict=True)
    ]
    bounds = (
        nodes.TickBound(_moment(at), shift, True, True),
        nodes.TickBound(_or_never(at), shift, False, False),
    )
    both = []
    for bound, shown, words in zip(bounds, (parts, nothing), ("", "not "), strict=True):
        node = nodes.Ticking(scan, (bound,), stream.tick_us, WORDS.format(words))
        both.append(selected(node, None, shown, [_words(column.name) for _, column in columns]))
    found = nodes.Union(tuple(both))
    return found if refresh is None else nodes.Sample(found, refresh, stream.tick_us)


def _without(column: tuple[int, Column]) -> tuple[int, Column]:
    """As shards know it."""
    name = without_within(column[1].name)
    return column if name is None else (column[0], replace(column[1], name=previous_of(name)))


def _words(name: str) -> str:
    column = without_within(name)
    return name if column is None else f"PREVIOUS({column}) WITHIN WINDOW"


def _null(type_: SqlType) -> Expression:
    return of_tree(exp.cast(exp.Null(), type_.duckdb, dialect="duckdb"), type_, "NULL")


def _moment(at: Expression) -> Expression:
    """A time, or seconds since 1970."""
    if at.type.name in ("TIMESTAMP", "DATE"):
        return cast(at, TYPES["TIMESTAMP"])
    return cast(at, TYPES["BIGINT" if at.type.is_integer else "DOUBLE"])


def _or_never(at: Expression) -> Expression:
    """Where nothing was before it left the window long ago."""
    found = _moment(at)
    is_time = found.type.name == "TIMESTAMP"
    first: exp.Expr = exp.Neg(this=exp.Literal.number(FIRST_SECOND))
    if is_time:
        first = exp.cast(exp.Literal.string(FIRST_TIME), "TIMESTAMP")
    return of_tree(exp.Coalesce(this=tree_of(found), expressions=[first]), found.type)
