"""CREATE TRIGGER, checked: what shards do for it, and above that the search for solutions.

FOR ───► variables; the members of a set are variables that can change places
WHEN ──► conditions of one variable go to its branch, those of several to the search
SELECT ► what is computed of a solution; without it, key and time of every variable
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
from sqlglot import exp

from sanderling.catalog import Stream
from sanderling.errors import QueryError, did_you_mean, with_article
from sanderling.language.parse import deep_recursion, too_deep
from sanderling.language.statements import CreateTrigger, Name, OnceClause, RegisterQuery, Span
from sanderling.plan.declarations import Declarations
from sanderling.plan.explain.words import shortened, words_of
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.distances import is_distance, uses_of, written_out
from sanderling.plan.expressions.lengths import settle_lengths
from sanderling.plan.logical import Query, Rule, finished
from sanderling.plan.names.sides import Derived, Side, Uses, different_spaces, in_another_space
from sanderling.plan.names.variables import VariableScope
from sanderling.plan.query.compose import refuse_other_ticks
from sanderling.plan.query.grouping import Grouping, has_aggregates
from sanderling.plan.query.selects import SelectPlanner
from sanderling.plan.trigger.branches import Arms
from sanderling.plan.trigger.constraints import Constraints, for_members
from sanderling.plans import nodes, trigger_space
from sanderling.plans.columns import constant_name
from sanderling.plans.constraint_graph import Apart, Compare, Contradiction, Graph, Unbounded, complete
from sanderling.plans.expression import Expression
from sanderling.plans.trigger_graph import circle_in_words, stated
from sanderling.plans.trigger_space import WHOLE, halos_of, unbounded_pair
from sanderling.space.sphere import HALF_WAY_ROUND
from sanderling.types import TYPES

# The first is the default: what the benchmark found best (docs/decisions/0020); by space, where that can be.
TRIGGER_OPTIONS = {"expiry": ("tight", "loose"), "index": ("grid", "lists"), "route": ("space", "query")}
MOST_VARIABLES = 32


def read_trigger(
    selects: SelectPlanner, statement: CreateTrigger, text: str, others: int, rules: Sequence[Rule]
) -> Query:
    """A trigger, checked, beside so many others."""
    try:
        with deep_recursion():
            return Trigger(selects, statement, text).query(others, rules)
    except RecursionError as e:
        raise too_deep(text, statement.name.span.start, statement.name.span.end) from e


class Trigger:
    """One trigger while it is planned. Variables of FOR have numbers, and so have all members of sets."""

    def __init__(self, selects: SelectPlanner, statement: CreateTrigger, text: str):
        self.selects, self.statement, self.text = selects, statement, text
        self.span = statement.name.span
        self.constants: list[Constant] = []
        self.sides = [Side(v.name.text, self._stream(v.stream), v.name.span) for v in statement.variables]
        counts = [1 if v.count is None else int(v.count.value) for v in statement.variables]
        self.names = [
            [s.alias] if n == 1 else [f"{s.alias}{k}" for k in range(1, n + 1)]
            for s, n in zip(self.sides, counts, strict=True)
        ]
        self.members = [list(range(a, b)) for a, b in pairwise(np.cumsum([0, *counts]).tolist())]
        named = [(s, name) for s, names in zip(self.sides, self.names, strict=True) for name in names]
        self._refuse_names([(s, name) for s, name in named])
        if (other := in_another_space(self.sides)) is not None:
            raise self._refuse(*different_spaces(other), other.span)
        self.is_globe = bool(self.sides[0].is_globe)
        sets = {s.alias: names for s, names in zip(self.sides, self.names, strict=True) if len(names) > 1}
        tables = selects.relations.tables
        self.scope = VariableScope(text, self.span, self.sides, sets, tables)
        members = [Side(name, s.relation, s.span) for s, name in named]
        self.row = VariableScope(text, self.span, members, sets, tables)
        asked = RegisterQuery(statement.name, exp.Select(), None, statement.sql, statement.span)
        self.arms = Arms(selects, asked, text, self.sides, self.constants)

    def query(self, others: int, rules: Sequence[Rule]) -> Query:
        options = self._options()
        found = Constraints(self.scope, [len(m) > 1 for m in self.members])
        settle_lengths(self.statement.when, self.scope)
        found.add(self.statement.when)
        self.arms.add_all(found.below)
        compares, rest = self._compares(found)
        select = self._select()
        variables = self._variables([*rest, *select.expressions])
        times, distances = tuple(self._times(found)), tuple(self._distances(found))
        node = nodes.Solve(
            tuple(arm.node(self._alias_of(arm.number)) for arm in self.arms.all), self._streams(), variables,
            times, distances, tuple(self.arms.values), *compares, self._condition(rest),
            self.statement.is_first, options["expiry"], options["index"], self.arms.all[0].stream.tick_us,
            is_globe=self.is_globe,
        )  # fmt: skip
        graph = self._completed(node)
        if self.statement.once is None and options["route"] == "space" and not self._is_wide(graph):
            halos = halos_of(graph, variables, len(self.arms.all))
            if others >= trigger_space.FEW and "route" not in self.statement.options:
                halos = [WHOLE] * len(halos)
            node = replace(node, halos=tuple(map(self._constant, halos)))
        derived = Grouping(self.selects, self.constants).planned(select, node, [], self.row)
        if self.statement.once is not None:
            derived = replace(derived, node=self._once(derived, self.statement.once))
        query = finished(derived, rules, self.constants, [arm.asked for arm in self.arms.all])
        refuse_other_ticks(query.scans, self.statement.name, self.text)
        return query

    def _once(self, derived: Derived, clause: OnceClause) -> nodes.Once:
        """Whoever tells once has to know of all alerts, so space does not say who finds them."""
        _, asked = self.statement.options.get("route", (None, None))
        if asked is not None and str(asked.value).lower() == "space":
            message, hint = "REPORT ONCE knows of all alerts: it is routed by query", "leave out route"
            raise self._refuse("query.bad_option", message, hint, asked.span)
        names = [c.name.casefold() for c in derived.columns]
        for name in clause.per:
            if name.text.casefold() not in names:
                shown = [c.name for c in derived.columns]
                hint = did_you_mean(name.text, shown) or "PER takes columns of an alert"
                message = f'an alert has no column "{name.text}"'
                raise self._refuse("query.unknown_column", message, hint, name.span)
        keys = dict.fromkeys(names.index(name.text.casefold()) for name in clause.per)
        every = None if clause.every_us is None else self._constant(clause.every_us)
        return nodes.Once(derived.node, tuple(keys), every)

    # ----- FOR and WITH

    def _stream(self, name: Name) -> Stream:
        relations = self.selects.relations
        found = relations.streams.get(name.text)
        if found is None:
            kind = relations.kind_of(name.text)
            hint = did_you_mean(name.text, relations.streams) or "CREATE STREAM first"
            if kind:
                hint = f'"{name.text}" is {with_article(kind)}; FOR takes a stream'
            raise self._refuse("query.unknown_stream", f'no stream is named "{name.text}"', hint, name.span)
        return found

    def _refuse_names(self, named: list[tuple[Side, str]]) -> None:
        seen: set[str] = set()
        for side, name in named:
            if name.casefold() in seen:
                message = f'two variables are named "{name}"'
                raise self._refuse("query.duplicate_name", message, "give one another name", side.span)
            seen.add(name.casefold())
        if len(named) > MOST_VARIABLES:
            message = f"a trigger has up to {MOST_VARIABLES} variables, this one has {len(named)}"
            raise self._refuse("query.bad_trigger", message, "ask for fewer events", self.span)

    def _options(self) -> dict[str, str]:
        declarations = Declarations(self.text)
        given = declarations.options(self.statement.options, tuple(TRIGGER_OPTIONS))
        chosen = {}
        for key, known in TRIGGER_OPTIONS.items():
            text = (declarations.text_option(given, key) or known[0]).lower()
            if text not in known:
                hint = f"{key} = '{known[0]}' or '{known[1]}'"
                raise self._refuse("query.bad_option", f'no {key} is named "{text}"', hint, given[key].span)
            chosen[key] = text
        return chosen

    def _refuse(self, code: str, message: str, hint: str, span: Span) -> QueryError:
        return QueryError(code, message, hint, span.place_in(self.text))

    # ----- WHEN

    def _constant(self, value: float | int) -> Expression:
        """A number that differs from trigger to trigger of one shape."""
        name = constant_name(len(self.constants))
        type_ = TYPES["BIGINT" if isinstance(value, int) else "DOUBLE"]
        self.constants.append(Constant(name, type_, value))
        return Expression.of_column(name, type_, "?")

    def _times(self, found: Constraints) -> Iterator[nodes.TimeBound]:
        for time in found.times:
            least, most = (None if us is None else self._constant(us) for us in (time.least, time.most))
            for i, j in product(self.members[time.i], self.members[time.j]):
                yield nodes.TimeBound(i, j, least, most)
        for us in found.within_us:
            least, most = self._constant(-us), self._constant(us)
            for i, j in combinations(range(len(self.row.all)), 2):
                yield nodes.TimeBound(i, j, least, most)

    def _distances(self, found: Constraints) -> Iterator[nodes.DistanceBound]:
        for distance in found.distances:
            is_near = distance.op in ("<", "<=")
            if is_near and (distance.radius < 0 or (distance.radius == 0 and distance.op == "<")):
                message, hint = "no distance is below 0", "write another radius"
                raise self.scope.refuse(distance.node, "query.trigger_unsatisfiable", message, hint)
            if not is_near and distance.radius < 0:
                continue  # that much apart is everything
            if not is_near and self.is_globe and distance.radius > HALF_WAY_ROUND:
                message = "nothing is farther away than half way round the globe"
                hint = f"write another radius, up to {HALF_WAY_ROUND:.0f} metres"
                raise self.scope.refuse(distance.node, "query.trigger_unsatisfiable", message, hint)
            radius = self._constant(float(distance.radius))
            for i, j in self._pairs(distance.i, distance.j):
                yield nodes.DistanceBound(i, j, distance.op, radius)

    def _pairs(self, i: int, j: int) -> list[tuple[int, int]]:
        """Those of members of two variables, or of one set."""
        if i == j:
            return list(combinations(self.members[i], 2))
        return list(product(self.members[i], self.members[j]))

    def _compares(
        self, found: Constraints
    ) -> tuple[tuple[tuple[Compare, ...], tuple[Expression | None, ...]], list[exp.Expr]]:
        """Compares of members with their constants, and all that is judged of whole solutions."""
        compares: list[Compare] = []
        constants: list[Expression | None] = []
        rest = list(found.rest)
        for comparison in found.comparisons:
            values = self.arms.compared(comparison)
            if values is None:
                rest += [comparison.node] if comparison.node not in rest else []
                continue
            left, right, kind = values
            is_difference = comparison.constant is not None
            constant = self._constant(comparison.constant) if comparison.constant is not None else None
            for i, j in product(self.members[comparison.i], self.members[comparison.j]):
                compares.append(Compare(i, left, comparison.op, j, right, kind, is_difference))
                constants.append(constant)
        of_members = [part for c in rest for part in for_members(c, self.sides, self.names)]
        return (tuple(compares), tuple(constants)), of_members

    def _condition(self, rest: list[exp.Expr]) -> Expression | None:
        where = [written_out(c, self.row) for c in rest]
        found = self.selects.where(where, self.row, self.constants)
        return None if found is None else replace(found, words=self._words(rest))

    def _words(self, rest: list[exp.Expr]) -> str:
        """As its author wrote it: a DISTANCE is not shown as what it is computed by."""
        far = [c for c in rest if any(is_distance(n) for n in c.walk())]
        others = self.selects.where([c for c in rest if c not in far], self.row, [])
        return shortened(" AND ".join([*([others.words] if others else []), *(words_of(c) for c in far)]))

    def _completed(self, node: nodes.Solve) -> Graph:
        """The graph with all that follows; one that makes no sense is refused."""
        value = {c.name: c.value for c in self.constants}
        graph = stated(node, lambda constant: value[constant.column])
        try:
            return complete(graph)
        except Contradiction as e:
            message = f"no events can satisfy this: {circle_in_words(graph, e.args)}"
            hint = "look at the times of these variables"
            raise self._refuse("query.trigger_unsatisfiable", message, hint, self.span) from e
        except Apart as e:
            one, other = (graph.names[i] for i in e.args)
            message = f'"{one}" and "{other}" cannot be that near and that far from each other'
            hint = "look at the distances of these variables"
            raise self._refuse("query.trigger_unsatisfiable", message, hint, self.span) from e
        except Unbounded as e:
            one, other = (graph.names[i] for i in e.args)
            message = f'nothing says how long after "{one}" an event "{other}" may come: all would be kept'
            first, second = (self._time_of(i) for i in e.args)
            hint = f"add {second} - {first} < 1 HOUR, or WITHIN 1 HOUR"
            raise self._refuse("query.trigger_unbounded", message, hint, self.span) from e

    def _is_wide(self, graph: Graph) -> bool:
        """Whether events of a solution may be anywhere; refused, if it is to be routed by space."""
        pair = unbounded_pair(graph)
        if pair is None:
            return False
        if "route" in self.statement.options:
            _, asked = self.statement.options["route"]
            one, other = (graph.names[i] for i in pair)
            message = f'nothing says how far "{one}" and "{other}" may be apart: it cannot be routed by space'
            hint = "add a bound, DISTANCE(…) < 1000, or write route = 'query'"
            raise self._refuse("query.bad_option", message, hint, asked.span)
        return True

    def _time_of(self, member: int) -> str:
        side = self.row.all[member]
        assert isinstance(side.relation, Stream)
        return f"{side.alias}.{side.relation.time}"

    # ----- SELECT

    def _select(self) -> exp.Select:
        select = exp.Select(expressions=list(self.statement.items) or list(self._key_and_time()))
        settle_lengths(select, self.row)
        if has_aggregates(select):
            hint = "list columns of variables"
            raise self._refuse(
                "query.unsupported",
                "a trigger's SELECT is of one alert: it takes no aggregates",
                hint,
                self.span,
            )
        select.set("expressions", self.selects.expanded(select, self.row))
        return select

    def _key_and_time(self) -> Iterator[exp.Expr]:
        for side in self.row.all:
            assert isinstance(side.relation, Stream)
            for name in (side.relation.key, side.relation.time):
                column = exp.column(exp.to_identifier(name), exp.to_identifier(side.alias))
                yield exp.alias_(column, f"{side.alias}_{name}", quoted=True)

    def _variables(self, read_by: list[exp.Expr]) -> tuple[nodes.Variable, ...]:
        """All members, with the columns that are read of each; the row's columns get places."""
        uses: Uses = set().union(*(uses_of(node, self.row) for node in read_by))
        variables: list[nodes.Variable] = []
        for number, members in enumerate(self.members):
            arm = self.arms.of[number]
            for member in members:
                side = self.row.all[member]
                shown = [c for c in side.all_columns if (member, c.name) in uses]
                for column in shown:
                    self.row.places[member, column.name] = len(self.row.places)
                places = tuple(arm.plain(c.name, c.type) for c in shown)
                set_of = number if len(members) > 1 else -1
                variables.append(nodes.Variable(side.alias, arm.number, places, set_of))
        return tuple(variables)

    def _streams(self) -> tuple[int, ...]:
        """By branch the place of its stream among all, in order of name."""
        names = sorted({arm.stream.name for arm in self.arms.all})
        return tuple(names.index(arm.stream.name) for arm in self.arms.all)

    def _alias_of(self, arm: int) -> str:
        of = [side.alias for side, mine in zip(self.sides, self.arms.of, strict=True) if mine.number == arm]
        return ", ".join(of)
