"""WHEN, taken apart: what one variable has to satisfy, what two, and the rest.

WHEN ──► of one variable: shards judge it
     ├─► times and distances of two: bounds of the constraint graph
     ├─► comparisons of two: columns that shards compute, compared in the search
     └─► the rest: judged of whole solutions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sanderling.language.dialect import LocationInside
from sanderling.language.triggers import Within
from sanderling.plan.distances import is_distance, uses_of
from sanderling.plan.sides import RowScope, Side
from sanderling.plan.trigger_times import COMPARISONS, TURNED, Apart, apart, duration


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
    below: dict[int, list[exp.Expr]] = field(default_factory=dict)
    times: list[Apart] = field(default_factory=list)
    within_us: list[int] = field(default_factory=list)  # of all variables
    distances: list[Distance] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    rest: list[exp.Expr] = field(default_factory=list)

    def add(self, when: exp.Expr, sets: Sequence[bool]) -> None:
        for condition in _conjuncts(when):
            self._add(condition, sets)

    def _add(self, condition: exp.Expr, sets: Sequence[bool]) -> None:
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
        elif (times := apart(bare, self.scope)) is not None:
            self.times.append(times)
        elif found := list(self._distances(bare, sets)):
            self.distances += found
        else:
            self._add_other(condition)

    def _add_other(self, condition: exp.Expr) -> None:
        for part in condition.find_all(LocationInside):
            message, hint = "INSIDE stands alone or beside AND", "it cannot be under OR or NOT"
            raise self.scope.refuse(part, "query.unsupported", message, hint)
        owners = self._owners(condition)
        if len(owners) <= 1:
            self.below.setdefault(min(owners, default=0), []).append(condition)
        elif found := list(self._comparisons(condition.unnest())):
            self.comparisons += found
        else:
            self.rest.append(condition)

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

    def _distances(self, node: exp.Expr, sets: Sequence[bool]) -> Iterator[Distance]:
        """DISTANCE of two, or of a set, beside numbers."""
        if isinstance(node, exp.Between):
            low, high = _number(node.args["low"]), _number(node.args["high"])
            if is_distance(node.this.unnest()) and low is not None and high is not None:
                i, j = self._pair(node.this.unnest(), sets)
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
                i, j = self._pair(one, sets)
                for part in ("<=", ">=") if way == "=" else (way,):
                    yield Distance(i, j, part, radius, node)

    def _pair(self, distance: exp.Expr, sets: Sequence[bool]) -> tuple[int, int]:
        parts = distance.expressions
        if len(parts) not in (1, 2):
            raise self.scope.refuse(
                distance, "query.wrong_argument_count", "DISTANCE is between two", "write DISTANCE(V1, V2)"
            )
        numbers = [self._located(part) for part in parts]
        i, j = numbers[0], numbers[-1]
        if i == j and not sets[i]:
            hint = "name two variables, or a set of them: FOR 5 OF stream AS V"
            raise self.scope.refuse(distance, "query.bad_trigger", "DISTANCE is between two events", hint)
        return i, j

    def _located(self, part: exp.Expr) -> int:
        column = part.unnest()
        name = ""
        if isinstance(column, exp.Column):
            is_location = bool(column.table) and column.name.casefold() == "location"
            name = column.table if is_location else "" if column.table else column.name
        aliases = [a.casefold() for a in self.scope.aliases]
        if name.casefold() not in aliases:
            hint = f"name variables: DISTANCE({self.scope.aliases[0]}, {self.scope.aliases[-1]})"
            raise self.scope.refuse(part, "query.wrong_type", "DISTANCE takes variables", hint)
        return aliases.index(name.casefold())

    # ----- comparisons

    def _comparisons(self, node: exp.Expr) -> Iterator[Comparison]:
        """Of a column of one variable with one of another, or of their difference with a number."""
        if any(is_distance(n) for n in node.walk()):
            return
        if isinstance(node, exp.Between):
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
    bare = node.unnest()
    sign, literal = (-1, bare.this.unnest()) if isinstance(bare, exp.Neg) else (1, bare)
    is_number = isinstance(literal, exp.Literal) and not literal.is_string
    return sign * float(literal.this) if is_number else None


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
