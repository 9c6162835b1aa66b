"""What stands above FROM and WHERE: aggregates, HAVING, the select list, DISTINCT, the first n."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sanderling.catalog import Column, Stream
from sanderling.plan.explain.words import words_of
from sanderling.plan.expressions.check import (
    Constant,
    Scope,
    constant_of,
    is_previous,
    resolve_previous,
    span_of,
)
from sanderling.plan.expressions.distances import is_distance, written_out
from sanderling.plan.expressions.moments import has_tick, parts_of
from sanderling.plan.expressions.movement import is_movement
from sanderling.plan.expressions.rewrite import for_engine
from sanderling.plan.expressions.written import cast, plain, selected
from sanderling.plan.logical import filtered
from sanderling.plan.names.sides import Derived, GroupScope, RowScope, Side
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plan.query.ticking import ticking
from sanderling.plans import nodes
from sanderling.plans.columns import constant_name
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn
from sanderling.types import TYPES, SqlType

AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: nodes.COUNT, exp.Sum: nodes.SUM, exp.Avg: nodes.AVG, exp.Min: nodes.MIN, exp.Max: nodes.MAX,
    exp.Stddev: nodes.STDDEV, exp.StddevSamp: nodes.STDDEV, exp.ApproxDistinct: nodes.COUNT,
    exp.Quantile: nodes.PERCENTILE, exp.Median: nodes.PERCENTILE, exp.ArgMin: nodes.FIRST_BY,
    exp.ArgMax: nodes.LAST_BY, exp.First: nodes.FIRST_BY, exp.Last: nodes.LAST_BY,
}  # fmt: skip
INSTEAD: dict[type[exp.Expr], str] = {
    exp.ApproxQuantile: "write PERCENTILE(x, 0.9), which is exact",
    exp.FirstValue: "write FIRST(x), or MIN_BY(x, ts)",
    exp.LastValue: "write LAST(x), or MAX_BY(x, ts)",
    exp.CountIf: "write COUNT(CASE WHEN … THEN 1 END)",
    exp.Lag: "PREVIOUS(column) is of the same object's reading before",
}
KNOWN = "there are COUNT, SUM, AVG, MIN, MAX, STDDEV, PERCENTILE, MEDIAN, FIRST, LAST, MIN_BY and MAX_BY"
OF_NUMBERS = (nodes.SUM, nodes.AVG, nodes.STDDEV, nodes.PERCENTILE)


def aggregates_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Aggregates of this very SELECT, the outermost of each."""
    for n in node.dfs(prune=lambda n: isinstance(n, (exp.AggFunc, exp.Query))):
        if isinstance(n, exp.AggFunc):
            yield n


def has_aggregates(select: exp.Select) -> bool:
    parts = [*select.expressions, *(select.args[c] for c in ("having", "order") if select.args.get(c))]
    return any(True for part in parts for _ in aggregates_in(part))


@dataclass(slots=True)
class Grouping:
    """Plans the upper clauses of a SELECT; constants it meets are added to `constants`."""

    selects: SelectPlanner
    constants: list[Constant]

    def planned(
        self, select: exp.Select, node: nodes.Node, where: list[exp.Expr], scope: RowScope
    ) -> Derived:
        distinct = select.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            hint = "write DISTINCT alone, or GROUP BY"
            raise scope.refuse(distinct.args["on"], "query.unsupported", "DISTINCT ON is not supported", hint)
        timed, still = _by_tick(where)
        node, condition = filtered(node, self.selects.conditions(still, scope, self.constants)), None
        node = ticking(self.selects, self.constants, node, timed, scope)
        items = list(select.expressions)
        orders = self._orders(select, items, scope)
        above: Scope = scope
        if select.args.get("group") or has_aggregates(select):
            grouped = _Grouped(self, select, items, scope)
            node, above = grouped.node(node), grouped.scope
            items = [grouped.replaced(item) for item in items]
            orders = [(grouped.replaced(o), d, f) for o, d, f in orders]
            having = select.args.get("having")
            chosen = [_by_items(having.this, select.expressions, grouped.columns)] if having else []
            timed, still = _by_tick([grouped.replaced(c) for c in chosen])
            node = ticking(self.selects, self.constants, node, timed, above)
            condition = self.selects.where(still, above, self.constants)
        elif select.args.get("having"):
            hint = "write WHERE, or aggregate something"
            raise scope.refuse(
                select.args["having"], "query.not_grouped", "HAVING without GROUP BY or an aggregate", hint
            )
        written = [self.selects.output(_written(i, scope), above, self.constants) for i in items]
        written = [_named(w, item) for w, item in zip(written, select.expressions, strict=True)]
        orders = [(written_out(o, scope), d, f) for o, d, f in orders]
        _refuse_same_names(written, items, scope)
        derived = self._finished(select, node, condition, written, orders, above)
        if above is not scope:
            return derived
        is_globe = any(side.is_globe for side in scope.all)
        return replace(derived, place=_place(select.expressions, scope), is_globe=is_globe)

    def first_of(self, union: exp.Expr, derived: Derived, scope: RowScope) -> Derived:
        """ORDER BY and LIMIT behind a set operation or behind brackets: over the columns there."""
        over = RowScope(scope.text, scope.span, [Side("", derived, scope.span)])
        over.places = {(0, c.name): i for i, c in enumerate(derived.columns)}
        items = [exp.column(exp.to_identifier(c.name, quoted=True)) for c in derived.columns]
        orders = self._orders(union, items, over)
        written = [self.selects.output(item, over, self.constants) for item in items]
        found = self._finished(union, derived.node, None, written, orders, over)
        return replace(found, place=derived.place, is_globe=derived.is_globe)

    def _finished(
        self, select: exp.Expr, node: nodes.Node, condition: Expression | None, written: list[OutputColumn],
        orders: list[tuple[exp.Expr, bool, bool]], scope: Scope,
    ) -> Derived:  # fmt: skip
        is_distinct = isinstance(select, exp.Select) and select.args.get("distinct") is not None
        columns = [w.expression for w in written]
        place_of = {c: i for i, c in reversed(list(enumerate(columns)))}
        found: list[nodes.Order] = []
        for order, is_descending, is_null_first in orders:
            key = self.selects.output(order, scope, self.constants).expression
            if key not in place_of:
                if is_distinct:
                    message = "with DISTINCT, ORDER BY takes columns of the select list"
                    raise scope.refuse(order, "query.unsupported", message, "add it to the select list")
                place_of[key] = len(columns)
                columns.append(key)
            found.append(nodes.Order(place_of[key], is_descending, is_null_first))
        node = nodes.Select(node, condition, tuple(columns), tuple(w.name for w in written))
        if is_distinct:
            node = nodes.Distinct(node)
        if found:
            node = nodes.First(node, tuple(found), self._count(select, scope))
            node = selected(node, None, plain(node.types)[: len(written)])
        return Derived(node, tuple(Column(w.name, w.type) for w in written))

    # ----- ORDER BY and LIMIT

    def _orders(
        self, select: exp.Expr, items: Sequence[exp.Expr], scope: RowScope
    ) -> list[tuple[exp.Expr, bool, bool]]:
        order, limit = select.args.get("order"), select.args.get("limit")
        if order is None and limit is None:
            return []
        if order is None or limit is None:
            message, hint = "LIMIT without ORDER BY", "say which rows come first"
            if limit is None:
                message, hint = "ORDER BY without LIMIT", "an answer has no order; add LIMIT"
            lonely: exp.Expr = order or limit or select
            raise scope.refuse(lonely, "query.missing_clause", message, hint)
        found = []
        for ordered in order.expressions:
            if isinstance(ordered.this, exp.Var):
                message, hint = f"ORDER BY {ordered.this.name} is not supported", "list what it is ordered by"
                raise scope.refuse(order, "query.unsupported", message, hint)
            node = _meant(ordered.this, items, scope, is_alias_first=True)
            node = _by_items(node, items) if node is ordered.this else node
            found.append((node, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))))
        return found

    def _count(self, select: exp.Expr, scope: Scope) -> Expression:
        written = select.args["limit"].expression.unnest()
        constant = constant_of(written, constant_name(len(self.constants)))
        if constant is None or not isinstance(constant.value, int) or constant.value < 1:
            message = "LIMIT takes a whole number from 1 on"
            raise scope.refuse(select.args["limit"], "query.wrong_type", message, "write LIMIT 5")
        self.constants.append(constant)
        return Expression.of_column(constant.name, constant.type, "?")


class _Grouped:
    """GROUP BY with the aggregates of one SELECT."""

    def __init__(self, grouping: Grouping, select: exp.Select, items: Sequence[exp.Expr], under: RowScope):
        self.selects, self.constants, self.under = grouping.selects, grouping.constants, under
        group = select.args.get("group")
        if group is not None and any(v for k, v in group.args.items() if k != "expressions"):
            raise under.refuse(group, "query.unsupported", "GROUP BY takes expressions only", "list columns")
        terms = [_meant(n, items, under).unnest() for n in (group.expressions if group else [])]
        for node in terms:
            for found in aggregates_in(node):
                raise under.refuse(
                    found, "query.not_grouped", "an aggregate stands above GROUP BY", "remove it"
                )
        self.groups = [
            self.selects.output(written_out(n, under), under, self.constants).expression for n in terms
        ]
        self.keys = {self._key(n): i for i, n in reversed(list(enumerate(terms)))}
        self.kinds = {type(n) for n in terms}
        self.columns = {n.name.casefold() for n in terms if isinstance(n, exp.Column)}
        self.known: dict[exp.Expr, int] = {}
        self.inputs: list[Expression] = []
        self.sums: list[nodes.Sum] = []
        self.words: list[str] = [g.words for g in self.groups]
        parts = [*items, *(select.args[c] for c in ("having", "order") if select.args.get(c))]
        for part in parts:
            for found in aggregates_in(part):
                self._learn(found)
        types = [*(g.type for g in self.groups), *(s.type for s in self.sums)]
        self.scope = GroupScope(under.text, under.span, self.words, types)

    def node(self, child: nodes.Node) -> nodes.Node:
        inputs = [*self.groups, *self.inputs]
        return nodes.Aggregate(
            selected(child, None, inputs), tuple(range(len(self.groups))), tuple(self.sums)
        )

    def _learn(self, node: exp.Expr) -> int:
        """The number of an aggregate; one that was met before has its number."""
        if node not in self.known:
            self.known[node.copy()] = self._number(node)
        return self.known[node]

    def _number(self, node: exp.Expr) -> int:
        kind = AGGREGATES.get(type(node))
        if kind is None:
            name = self.under.word_of(node)
            hint = INSTEAD.get(type(node), KNOWN)
            raise self.under.refuse(node, "query.unsupported", f"{name.upper()} is not supported", hint)
        argument, is_distinct = node.this, isinstance(node, exp.ApproxDistinct)
        if isinstance(argument, exp.Distinct):
            is_distinct = True
            if len(argument.expressions) != 1:
                raise self.under.refuse(
                    node, "query.wrong_argument_count", "DISTINCT takes one column here", "COUNT(DISTINCT a)"
                )
            argument = argument.expressions[0]
        is_star = isinstance(argument, exp.Star)
        if argument is None or (is_star and (is_distinct or kind != nodes.COUNT)):
            message = f"{kind.upper()} takes one column here"
            raise self.under.refuse(node, "query.wrong_argument_count", message, "only COUNT(*) counts rows")
        if node.args.get("expressions"):
            raise self.under.refuse(
                node,
                "query.wrong_argument_count",
                "an aggregate takes one argument",
                "use GREATEST for several",
            )
        for inner in aggregates_in(argument):
            raise self.under.refuse(
                inner, "query.not_grouped", "an aggregate of an aggregate", "use FROM (SELECT …)"
            )
        column, type_ = self._input(kind, argument, node)
        by = self._by(node) if kind in (nodes.FIRST_BY, nodes.LAST_BY) else None
        part = self._part(node) if kind == nodes.PERCENTILE else 0.0
        only_once = is_distinct and kind not in (nodes.MIN, nodes.MAX)
        if only_once and (by is not None or kind == nodes.PERCENTILE):
            message = f"{self.under.word_of(node).upper()} does not take DISTINCT"
            raise self.under.refuse(node, "query.unsupported", message, "leave it out")
        found = nodes.Sum(kind, column, type_, only_once, by, part)
        if found not in self.sums:
            self.sums.append(found)
            self.words.append(words_of(node))
        return self.sums.index(found)

    def _input(self, kind: str, argument: exp.Expr, node: exp.Expr) -> tuple[int | None, SqlType]:
        if isinstance(argument, exp.Star):
            return None, TYPES["BIGINT"]
        of = self.selects.output(written_out(argument, self.under), self.under, self.constants).expression
        if kind in OF_NUMBERS:
            if not of.type.is_number:
                message = f"{kind.upper()} takes numbers, this is {of.type.name}"
                raise self.under.refuse(node, "query.wrong_type", message, "CAST it, or COUNT it")
            is_sum_of_integers = kind == nodes.SUM and of.type.is_integer
            of = cast(of, TYPES["BIGINT" if is_sum_of_integers else "DOUBLE"])
        if of not in self.inputs:
            self.inputs.append(of)
        place = len(self.groups) + self.inputs.index(of)
        if kind == nodes.COUNT:
            return place, TYPES["BIGINT"]
        is_double = kind in (nodes.AVG, nodes.STDDEV, nodes.PERCENTILE)
        return place, TYPES["DOUBLE"] if is_double else of.type

    def _by(self, node: exp.Expr) -> int:
        """What MIN_BY and MAX_BY go by; FIRST and LAST go by the time of their reading."""
        found = node.args.get("expression")
        if isinstance(node, (exp.First, exp.Last)):
            found = self._time_of(node)
        word = self.under.word_of(node).upper()
        if found is None or node.args.get("count"):
            message, hint = f"{word} takes what is shown, and what it goes by", f"write {word}(speed, ts)"
            raise self.under.refuse(node, "query.wrong_argument_count", message, hint)
        return self._input(nodes.MIN, found, node)[0] or 0

    def _time_of(self, node: exp.Expr) -> exp.Expr:
        """The time of the stream that the column is of."""
        streams = {s.alias: s for c in node.this.find_all(exp.Column) for s in [self.under.find(c)[0]]}
        sides = list(streams.values()) or self.under.all
        stream = sides[0].relation
        if len(sides) != 1 or not isinstance(stream, Stream):
            by = "MIN_BY" if isinstance(node, exp.First) else "MAX_BY"
            message = f"{self.under.word_of(node).upper()} is by time, of the readings of one stream"
            raise self.under.refuse(
                node, "query.unsupported", message, f"write {by}(column, what it goes by)"
            )
        name, alias = (exp.to_identifier(text, quoted=True) for text in (stream.time, sides[0].alias))
        return exp.column(name, table=alias)

    def _part(self, node: exp.Expr) -> float:
        """How far through: from 0, the least, up to 1, the greatest."""
        if isinstance(node, exp.Median):
            return 0.5
        written = node.args.get("quantile")
        constant = None if written is None else constant_of(written.unnest(), "")
        value = constant.value if constant is not None else None
        if not isinstance(value, (int, float)) or not 0 <= value <= 1:
            message, hint = "a percentile is at a number from 0 to 1", "write PERCENTILE(x, 0.9)"
            raise self.under.refuse(node, "query.wrong_type", message, hint)
        return float(value)

    def _key(self, node: exp.Expr) -> str:
        """What is the same for expressions that mean the same."""
        holder = exp.Paren(this=written_out(node, self.under))
        resolve_previous(holder, self.under)
        return for_engine(holder.this, self.under).sql

    def replaced(self, node: exp.Expr) -> exp.Expr:
        """The same with what is grouped by, and aggregates, as columns of the groups."""
        return node.transform(self._replace)

    def _replace(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.AggFunc):
            return self._column(len(self.groups) + self._learn(node), node)
        if _is_operand(node):
            return node  # of DISTANCE or PREVIOUS, which are looked at whole
        if type(node) in self.kinds:
            place = self.keys.get(self._key(node))
            if place is not None:
                return self._column(place, node)
        return node

    def _column(self, place: int, like: exp.Expr) -> exp.Expr:
        name = like.name if isinstance(like, exp.Column) else self.words[place]
        column = exp.column(exp.to_identifier(name, quoted=True))
        span = span_of(like)
        if span is not None:
            column.meta.update({"start": span.start, "end": span.end - 1})
        column.meta["group"] = place
        return column


def _by_tick(conditions: Sequence[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Those that change by themselves as time passes, and the others."""
    parts = [part for condition in conditions for part in parts_of(condition)]
    return [p for p in parts if has_tick(p)], [p for p in parts if not has_tick(p)]


def _meant(
    node: exp.Expr, items: Sequence[exp.Expr], scope: RowScope, is_alias_first: bool = False
) -> exp.Expr:
    """What GROUP BY or ORDER BY means: an item by its number or alias, or an expression."""
    bare = node.unnest()
    if isinstance(bare, exp.Literal) and not bare.is_string:
        if bare.this.isdigit() and 1 <= int(bare.this) <= len(items):
            return _bare(items[int(bare.this) - 1])
        hint = f"the select list has {len(items)} items"
        raise scope.refuse(node, "query.unknown_column", f"there is no item {bare.this}", hint)
    if isinstance(bare, exp.Column) and not bare.table:
        is_column = any(side.column(bare.name) for side in scope.all)
        named = [i for i in items if i.alias_or_name.casefold() == bare.name.casefold()]
        if named and (is_alias_first or not is_column):
            return _bare(named[0])
    return node


def _by_items(node: exp.Expr, items: Sequence[exp.Expr], columns: Collection[str] = ()) -> exp.Expr:
    """The same with names that the select list gave written out; what it groups by comes before them."""
    named = {i.alias.casefold(): i for i in reversed(items) if isinstance(i, exp.Alias)}

    def meant(n: exp.Expr) -> exp.Expr:
        if not isinstance(n, exp.Column) or n.table or is_of_rows(n):
            return n
        name = n.name.casefold()
        return exp.paren(_bare(named[name])) if name in named and name not in columns else n

    return node.transform(meant)


def is_of_rows(node: exp.Expr) -> bool:
    """Whether it stands where only columns of FROM may: in an aggregate, PREVIOUS or DISTANCE."""
    return node.find_ancestor(exp.AggFunc) is not None or _is_operand(node)


def _named(written: OutputColumn, item: exp.Expr) -> OutputColumn:
    """Without an alias a column has its author's words as its name."""
    is_plain = isinstance(item, exp.Alias) or isinstance(item.unnest(), exp.Column)
    return written if is_plain else replace(written, name=words_of(item))


def _place(items: Sequence[exp.Expr], scope: RowScope) -> tuple[str, str] | None:
    """The columns that show the location of the one in FROM that has its own shown, under their new names."""
    shown = {}
    for item in items:
        bare = _bare(item).unnest()
        if isinstance(bare, exp.Column):
            side, column = scope.find(bare)
            shown[scope.all.index(side), column.name] = item.alias_or_name
    places = [
        (shown[i, x], shown[i, y])
        for i, (x, y) in ((i, s.place) for i, s in enumerate(scope.all) if s.place is not None)
        if (i, x) in shown and (i, y) in shown
    ]
    return places[0] if len(places) == 1 else None


def _is_operand(node: exp.Expr) -> bool:
    above = node.parent
    return above is not None and (is_distance(above) or is_previous(above) or is_movement(above))


def _bare(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _written(item: exp.Expr, scope: RowScope) -> exp.Expr:
    """An item without DISTANCE, under its own name."""
    if not isinstance(item, exp.Alias):
        return written_out(item, scope)
    copy = item.copy()
    copy.set("this", written_out(item.this, scope))
    return copy


def _refuse_same_names(written: Sequence[OutputColumn], items: Sequence[exp.Expr], scope: Scope) -> None:
    seen: set[str] = set()
    for found, item in zip(written, items, strict=True):
        if found.name.casefold() in seen:
            message = f'two columns are named "{found.name}"'
            raise scope.refuse(item.copy(), "query.duplicate_column", message, "give one an alias")
        seen.add(found.name.casefold())
