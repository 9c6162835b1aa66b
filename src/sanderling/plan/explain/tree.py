"""The tree of a composed query in its author's words, down to what shards do for each branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sanderling.clock import show_duration, show_time
from sanderling.figures.figures import OperatorId, Tally
from sanderling.plan.explain.outline import Note, Outline
from sanderling.plan.explain.pattern import Counted, notes_of_match, words_of_match
from sanderling.plan.explain.shards import SHARD, merged_words, named, parts_of
from sanderling.plan.explain.trigger import notes_of_solve, words_of_solve
from sanderling.plan.logical import nodes_of
from sanderling.plans import nodes, operator_ids
from sanderling.plans.columns import place_of
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node, children_of, numbered
from sanderling.plans.plan import Plan, PlannedQuery, PlannedTree
from sanderling.space.outlines.outline import word_of

MERGE = "merge"
# Their rows are some of their child's, under the same names.
PASSING = (
    nodes.Distinct | nodes.First | nodes.Once | nodes.Persisting | nodes.Recent | nodes.Sample | nodes.Ticking
)


@dataclass(frozen=True)
class TreeWords:
    """The tree of one query: what all of its shape share, with this one's own numbers."""

    plan: Plan
    planned: PlannedTree
    query: PlannedQuery
    figures: Tally | None = None

    def outline(self, node: Node, outputs: Sequence[str] | None = None) -> Outline:
        """A node and all below it; `outputs` are what the answer calls its columns."""
        if isinstance(node, nodes.Exchange):
            (node,) = children_of(node)
        if isinstance(node, nodes.Branch):
            return self._branch(node)
        children = children_of(node)
        below = outputs if isinstance(node, PASSING) else None
        operator = self._operator(node)
        return Outline(
            self._words(node, outputs), self._runs, (*self._notes(node), *self._due(operator)),
            tuple(self.outline(child, below) for child in children), (operator,),
        )  # fmt: skip

    def _due(self, operator: OperatorId) -> tuple[str, ...]:
        """When it speaks next though nothing comes, of what was done so far."""
        due = None if self.figures is None else self.figures.of((operator,)).due
        return () if due is None else (f"due at {show_time(due)}",)

    def _notes(self, node: Node) -> tuple[str | Note, ...]:
        if isinstance(node, nodes.Match):
            return notes_of_match(node, self._value, self._counted(node))
        if not isinstance(node, nodes.Solve):
            return ()
        columns = [self.names(branch) for branch in node.branches]
        return notes_of_solve(node, columns, self.planned.constants, self._row)

    def _counted(self, node: Node) -> Counted | None:
        """How runs got on, where that was counted."""
        figures, place = self.figures, (self.planned.template.id, self._numbers[id(node)])
        if figures is None:
            return None
        return Counted(
            lambda at: operator_ids.position(*place, at),
            lambda at: figures.of([operator_ids.ended(*place, at)]),
        )

    def _operator(self, node: Node) -> OperatorId:
        return operator_ids.node(self.planned.template.id, self._numbers[id(node)])

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """By id: to look for a node that stands for many takes as long as they are."""
        numbers = numbered(self.planned.root)
        return {id(node): numbers[node] for node in nodes_of(self.planned.root)}

    @cached_property
    def _runs(self) -> str:
        return MERGE if self.planned.is_merged else SHARD

    def _below(self, node: nodes.Branch) -> TreeWords | None:
        """The tree whose rows they are, if they are those of one."""
        branch = self.planned.branches[node.number]
        found = (tree for tree in self.plan.trees if tree.template.id == branch)
        return next((replace(self, planned=tree) for tree in found), None)

    def _branch(self, node: nodes.Branch) -> Outline:
        below = self._below(node)
        if below is not None:
            number = below.planned.template.id
            under, done = below.outline(below.planned.root), (operator_ids.merge(number),)
            return Outline("rows of all shards", MERGE, below=(under,), operators=done)
        template = self.plan.templates()[self.planned.branches[node.number]]
        stream = next(s for s in self.plan.streams if s.stream.name == template.stream)
        of = f" of {_called(template.stream, node.alias)}"
        of += f", {node.refresh.words}" if node.refresh else ""
        merged = merged_words(stream, template, self.query, of) or f"rows{of}"
        parts = parts_of(stream, template, self.query, figures=self.figures)
        done = (operator_ids.merge(template.id),) if self.planned.is_merged else (self._operator(node),)
        return Outline(merged, self._runs, below=parts, operators=done)

    def _words(self, node: Node, outputs: Sequence[str] | None) -> str:
        match node:
            case nodes.TableRows(table, columns):
                return f"table {_called(table, node.alias)}: {', '.join(columns)}"
            case nodes.Select():
                return self._select(node, outputs)
            case nodes.Join():
                return self._join(node)
            case nodes.Neighbours(k=k):
                return f"{node.words}: the {k} nearest of each"
            case nodes.FocalPoints():
                return _focal_points(node)
            case nodes.Latest(child, tile=tile, n=n):
                return f"tessellate by {self.names(child)[tile]}: the last {n} of each"
            case nodes.Aggregate(_, groups):
                names = self.names(node)
                sums = [named(w, n) for w, n in zip(names, outputs or names, strict=True)][len(groups) :]
                by = f" by {', '.join(names[: len(groups)])}" if groups else ""
                return f"aggregate: {', '.join(sums)}{by}" if sums else f"aggregate{by}"
            case nodes.Distinct():
                return "distinct"
            case nodes.SetOperation(kind, is_all):
                return f"{kind} all" if is_all else kind
            case nodes.Persisting():
                return self._persisting(node)
            case nodes.Once():
                return self._once(node)
            case nodes.Ticking(words=words):
                return f"as time passes: {words}"
            case nodes.Recent(size_us=size_us):
                return f"for {show_duration(size_us)} each"
            case nodes.Sample(refresh=refresh):
                return f"looked at {refresh.words}"
            case nodes.Company():
                return self._company(node)
            case nodes.Passing():
                return self._passing(node)
            case nodes.Swelling():
                every = show_duration(node.every_us)
                return f"within a distance: {node.radius:g}, with every {every} by {node.growth:g} of it more"
            case nodes.Swept():
                return _swept(node)
            case nodes.Solve():
                return words_of_solve(node)
            case nodes.Match():
                return words_of_match(node)
            case nodes.First():
                names = self.names(node.child)
                orders = ", ".join(_order(order, names) for order in node.orders)
                of = f" of each {', '.join(names[column] for column in node.by)}" if node.by else ""
                return f"first {self._constant(node.count)}{of} by {orders}"
            case _:
                return "union all"

    def _select(self, node: nodes.Select, outputs: Sequence[str] | None) -> str:
        under = self.names(node.child)
        condition = ""
        if node.where is not None:
            word = "having" if isinstance(node.child, nodes.Aggregate) else "where"
            condition = f"{word} {_shown(node.where, under)}"
        words = [_shown(c, under) for c in node.columns]
        names = self.names(node) if outputs is None else outputs
        if condition and words == under and names == words:
            return condition
        items = ", ".join(named(w, n) for w, n in zip(words, names, strict=True))
        return f"select {items} {condition}".rstrip()

    def _join(self, node: nodes.Join) -> str:
        conditions = [node.words] if node.words else []
        if node.near is not None:
            sign = "<" if node.near.is_open else "<="
            conditions.append(f"{node.near.words} {sign} {self._constant(node.near.radius)}")
        return f"{'left join' if node.is_left else 'join'}: {' AND '.join(conditions)}"

    def _persisting(self, node: nodes.Persisting) -> str:
        names = self.names(node)
        stay, grace = (show_duration(self._value(what)) for what in (node.stay, node.grace))
        per = f" per {', '.join(names[key] for key in node.keys)}" if node.keys else ""
        broken = f" while {node.goes_on.words}" if node.goes_on is not None else ""
        return f"persistency {stay}{per}{broken}{f' grace {grace}' if self._value(node.grace) else ''}"

    def _once(self, node: nodes.Once) -> str:
        names = self.names(node)
        every = "" if node.every is None else f" every {show_duration(self._value(node.every))}"
        return f"once per {', '.join(names[key] for key in node.keys)}{every}"

    def _company(self, node: nodes.Company) -> str:
        stay = show_duration(self._value(node.stay))
        return f"company: {node.words} <= {self._constant(node.radius)} for {stay}"

    def _passing(self, node: nodes.Passing) -> str:
        stay = show_duration(self._value(node.stay))
        return f"passing: {node.words} <= {self._constant(node.radius)} of places of the last {stay}"

    def _constant(self, expression: Expression) -> str:
        """What this query has where others of its shape have something else."""
        if not expression.reads:
            return expression.words
        value = self._value(expression)
        return f"{value:g}" if isinstance(value, float) else str(value)

    def _value(self, expression: Expression) -> Any:
        return self.planned.constants.column(expression.column)[self._row].as_py()

    @property
    def _row(self) -> int:
        """Of its own constants."""
        return int(np.searchsorted(self.planned.queries, self.query.id))

    def names(self, node: Node) -> list[str]:
        """What people call its columns."""
        match node:
            case nodes.Branch(number):
                below = self._below(node)
                if below is not None:
                    return below.names(below.planned.root)
                template = self.plan.templates()[self.planned.branches[number]]
                return [o.expression.words for o in template.outputs]
            case nodes.TableRows(_, columns):
                return list(columns)
            case nodes.Solve(branches, _, variables):
                of = [self.names(branch) for branch in branches]
                return [f"{v.name}.{of[v.branch][c]}" for v in variables for c in v.shown]
            case nodes.Match(shown=shown):
                return [f"{node.steps[s.step].name}.{s.what}" for s in shown]
            case nodes.Select(child, _, columns, given):
                under = self.names(child)
                return [*given, *(_shown(c, under) for c in columns[len(given) :])]
            case nodes.Company(left, right, (one, other)) | nodes.Passing(left, right, (one, other)):
                return [self.names(left)[one], self.names(right)[other]]
            case nodes.Join(left, right) | nodes.Neighbours(left, right):
                return self.names(left) + self.names(right)
            case nodes.FocalPoints(None):
                return ["x", "y"]
            case nodes.Aggregate(child, groups, sums):
                under = self.names(child)
                return [*(under[g] for g in groups), *(_sum(s, under) for s in sums)]
            case _:
                return self.names(children_of(node)[0])


def _swept(node: nodes.Swept) -> str:
    return f"inside, as it is now: {word_of(node.outlines[0])}"


def _focal_points(node: nodes.FocalPoints) -> str:
    of = "a table's" if node.table is not None else f"{len(node.written)} written"
    return f"{of} places, for each query"


def _shown(expression: Expression, under: Sequence[str]) -> str:
    """In its author's words; a column that nobody wrote as what it is called below."""
    return expression.words or under[place_of(expression.column)]


def _sum(found: nodes.Sum, under: Sequence[str]) -> str:
    of = "*" if found.column is None else under[found.column]
    return f"{found.kind.upper()}({'DISTINCT ' if found.is_distinct else ''}{of})"


def _order(order: nodes.Order, names: Sequence[str]) -> str:
    nulls = f" NULLS {'FIRST' if order.is_null_first else 'LAST'}"
    is_usual = order.is_null_first != order.is_descending  # NULL is smaller than everything
    return names[order.column] + (" DESC" if order.is_descending else "") + ("" if is_usual else nulls)


def _called(name: str, alias: str) -> str:
    return name if alias.casefold() in ("", name.casefold()) else f"{name} {alias}"
