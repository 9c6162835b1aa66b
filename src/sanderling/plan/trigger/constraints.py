"""WHEN, taken apart: what one variable has to satisfy, what two, and the rest.

WHEN ──► of one variable: shards judge it
     ├─► times and distances of two: bounds of the constraint graph
     ├─► comparisons of two: columns that shards compute, compared in the search
     └─► the rest: judged of whole solutions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import add, mul, sub

from sqlglot import exp

from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.grammar.trigger import Before, Duration, Within
from sanderling.plan.expressions.comparisons import COMPARISONS, TURNED
from sanderling.plan.expressions.distances import is_distance, located, uses_of
from sanderling.plan.names.sides import RowScope, Side
from sanderling.plan.trigger.times import Apart, aparts, duration, exact

# What the search has to understand: under OR and NOT it would be judged too late to bound anything.
ALONE: dict[type[exp.Expr], tuple[str, str]] = {
    LocationInside: ("INSIDE stands alone or beside AND", "it cannot be under OR or NOT"),
    Within: ("WITHIN stands alone or beside AND", "it cannot be under OR or NOT"),
    Before: ("BEFORE and AFTER stand alone or beside AND", "elsewhere compare times: a.ts < b.ts"),
    Duration: (
        "a duration stands beside the times of two events: b.ts - a.ts < 5 MINUTES",
        "alone or beside AND; elsewhere write a number",
    ),
    exp.Query: ("a trigger's condition takes no query", "it is about the trigger's own events"),
}
ARITHMETIC: dict[type[exp.Expr], Callable[[Fraction, Fraction], Fraction]] = {
    exp.Add: add, exp.Sub: sub, exp.Mul: mul
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Distance:
    """distance(i, j) `op` radius, as `node` says."""

    i: int
    j: int
    op: str
    radius: float
    node: exp.Expr


@dataclass(frozen=True, slots=True)
class Comparison:
    """left(Vi) op right(Vj), or left(Vi) - right(Vj) op constant."""

    i: int
    left: exp.Expr
    op: str
    j: int
    right: exp.Expr
    constant: float | None
    node: exp.Expr


@dataclass(slots=True)
class Constraints:
    """The conditions of a trigger, by what they are about; variables by number, sets as one.

    i = j in times and distances: any two members of a set.
    """

    scope: RowScope
    sets: Sequence[bool]  # whether a variable is one
    below: dict[int, list[exp.Expr]] = field(default_factory=dict)
    times: list[Apart] = field(default_factory=list)
    within_us: list[int] = field(default_factory=list)  # of all variables
    distances: list[Distance] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    rest: list[exp.Expr] = field(default_factory=list)

    def add(self, when: exp.Expr) -> None:
        for condition in _conjuncts(when):
            self._add(condition)

    def _add(self, condition: exp.Expr) -> None:
        bare = condition.unnest()
        if isinstance(bare, Within):
            us = duration(bare.this, self.scope)
            if us is None or us < 0:
                raise self.scope.refuse(
                    bare, "query.bad_trigger", "WITHIN takes a duration", "write WITHIN 5 MINUTES"
                )
            self.within_us.append(us)
        elif isinstance(bare, LocationInside):
            self.below.setdefault(self._place_of(bare), []).append(bare)
        elif times := aparts(bare, self.scope):
            self.times += times
        elif found := list(self._distances(bare)):
            self.distances += found
        else:
            self._add_other(condition)

    def _add_other(self, condition: exp.Expr) -> None:
        for part in condition.find_all(*ALONE):
            message, hint = next(words for kind, words in ALONE.items() if isinstance(part, kind))
            raise self.scope.refuse(part, "query.unsupported", message, hint)
        owners = self._owners(condition)
        if len(owners) <= 1:
            self._refuse_same(condition, owners)
            self.below.setdefault(min(owners, default=0), []).append(condition)
        elif found := list(self._comparisons(condition.unnest())):
            self.comparisons += found
        else:
            self.rest.append(condition)

    def _refuse_same(self, condition: exp.Expr, owners: set[int]) -> None:
        """Two members of a set cannot be told apart: this would compare each with itself."""
        bare = condition.unnest()
        if type(bare) in COMPARISONS and bare.this == bare.expression and any(self.sets[i] for i in owners):
            alias = self.scope.aliases[min(owners)]
            message = f'"{alias}" is a set: this compares each of its events with itself'
            hint = "name variables one by one: FOR stream AS a, stream AS b WHEN a.id < b.id …"
            raise self.scope.refuse(bare.this, "query.bad_trigger", message, hint)

    def _owners(self, node: exp.Expr) -> set[int]:
        return {number for number, _ in uses_of(node, self.scope)}

    def _place_of(self, operator: LocationInside) -> int:
        """Whose location INSIDE is about."""
        name = operator.this.table.casefold()
        aliases = [a.casefold() for a in self.scope.aliases]
        if name in aliases:
            return aliases.index(name)
        if not name and len(aliases) == 1:
            return 0
        hint = f"write {self.scope.aliases[0]}.location"
        raise self.scope.refuse(operator.this, "query.unknown_name", "whose location is this?", hint)

    # ----- distances

    def _distances(self, node: exp.Expr) -> Iterator[Distance]:
        """DISTANCE of two, or of a set, beside numbers."""
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            low, high = _number(node.args["low"]), _number(node.args["high"])
            if is_distance(node.this.unnest()) and low is not None and high is not None:
                i, j = self._pair(node.this.unnest())
                yield Distance(i, j, ">=", low, node)
                yield Distance(i, j, "<=", high, node)
            return
        op = COMPARISONS.get(type(node))
        if op is None or op == "<>":
            return
        left, right = node.this.unnest(), node.expression.unnest()
        for one, other, way in ((left, right, op), (right, left, TURNED[op])):
            radius = _number(other)
            if is_distance(one) and radius is not None:
                i, j = self._pair(one)
                for part in ("<=", ">=") if way == "=" else (way,):
                    yield Distance(i, j, part, radius, node)

    def _pair(self, distance: exp.Expr) -> tuple[int, int]:
        parts = distance.expressions
        if len(parts) not in (1, 2):
            raise self.scope.refuse(
                distance, "query.wrong_argument_count", "DISTANCE is between two", "write DISTANCE(V1, V2)"
            )
        numbers = [self._located(part) for part in parts]
        i, j = numbers[0], numbers[-1]
        if i == j and not self.sets[i]:
            hint = "name two variables, or a set of them: FOR 5 OF stream AS V"
            raise self.scope.refuse(distance, "query.bad_trigger", "DISTANCE is between two events", hint)
        return i, j

    def _located(self, part: exp.Expr) -> int:
        name = located(part)
        aliases = [a.casefold() for a in self.scope.aliases]
        if name.casefold() not in aliases:
            names = list(dict.fromkeys((self.scope.aliases[0], self.scope.aliases[-1])))
            hint = f"DISTANCE({', '.join(names)}); near a place, {names[0]}.location INSIDE (x, y, r)"
            raise self.scope.refuse(part, "query.wrong_type", "DISTANCE takes variables", hint)
        return aliases.index(name.casefold())

    # ----- comparisons

    def _comparisons(self, node: exp.Expr) -> Iterator[Comparison]:
        """Of a column of one variable with one of another, or of their difference with a number."""
        if any(is_distance(n) for n in node.walk()):
            return
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            bounds = ((">=", node.args["low"]), ("<=", node.args["high"]))
            if all(_number(bound) is not None for _, bound in bounds):
                for way, bound in bounds:
                    yield from self._difference(node.this.unnest(), way, bound, node)
            return
        op = COMPARISONS.get(type(node))
        if op is None:
            return
        left, right = node.this, node.expression
        one, other = self._owners(left), self._owners(right)
        if len(one) == len(other) == 1 and one != other:
            yield Comparison(one.pop(), left, op, other.pop(), right, None, node)
        yield from self._difference(left.unnest(), op, right, node)
        yield from self._difference(right.unnest(), TURNED[op], left, node)

    def _difference(self, what: exp.Expr, op: str, bound: exp.Expr, node: exp.Expr) -> Iterator[Comparison]:
        constant = _number(bound)
        if not isinstance(what, exp.Sub) or constant is None:
            return
        one, other = self._owners(what.this), self._owners(what.expression)
        if len(one) == len(other) == 1 and one != other:
            yield Comparison(one.pop(), what.this, op, other.pop(), what.expression, constant, node)


def _conjuncts(when: exp.Expr) -> Iterator[exp.Expr]:
    """Taken apart at every AND that is under nothing but ANDs."""
    left = [when]
    while left:
        condition = left.pop()
        bare = condition.unnest()
        if isinstance(bare, exp.And):
            left += [bare.expression, bare.this]
        else:
            yield condition


def _number(node: exp.Expr) -> float | None:
    """A number that was written, also as a sum or a product of such."""
    found = _exact(node)
    try:
        return None if found is None else float(found)
    except OverflowError:
        return None


def _exact(node: exp.Expr) -> Fraction | None:
    bare = node.unnest()
    match bare:
        case exp.Literal():
            return None if bare.is_string else exact(bare.this)
        case exp.Neg():
            inner = _exact(bare.this)
            return None if inner is None else -inner
        case exp.Add() | exp.Sub() | exp.Mul():
            left, right = _exact(bare.this), _exact(bare.expression)
            return None if left is None or right is None else ARITHMETIC[type(bare)](left, right)
    return None


def for_members(condition: exp.Expr, sides: Sequence[Side], names: Sequence[Sequence[str]]) -> list[exp.Expr]:
    """A condition on sets: the same on each choice of a member of each set that it names."""
    found = [condition]
    for side, members in zip(sides, names, strict=True):
        if len(members) > 1:
            found = [renamed(c, side.alias, name) for c in found for name in members]
    return list(dict.fromkeys(found))


def renamed(condition: exp.Expr, alias: str, name: str) -> exp.Expr:
    """The same on another variable."""
    copy = condition.copy()
    for column in copy.find_all(exp.Column):
        place = "table" if column.table else "this"
        if column.args[place].name.casefold() == alias.casefold():
            old = column.args[place]
            new = exp.to_identifier(name)
            new.meta.update(old.meta)
            column.set(place, new)
    return copy
