"""Statements of one shape are read once: they differ in literals only that nobody looks at.

REGISTER QUERY q17 AS SELECT id FROM taxi WHERE speed > 50 INSIDE ('M', 17, 0.5)
its shape                                       speed > …  INSIDE ('M', …, …)

rows of one text, their literals as columns ──► the first is read ──► which literals it passes on ──► shapes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlglot import exp

from sanderling.errors import QueryError
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.grammar.nearest import is_count
from sanderling.language.statements import (
    CircleShape,
    CreateTrigger,
    FollowingShape,
    InsideTarget,
    MovingCircleShape,
    MovingRectShape,
    NearestTarget,
    RectShape,
    RegisterPattern,
    RegisterQuery,
    Registration,
    Spots,
)

# Kinds of literals: a whole number, a decimal, with a minus, a text, and what can be no column.
WHOLE, DECIMAL, MINUS_WHOLE, MINUS_DECIMAL, TEXT, OTHER = "i", "d", "I", "D", "s", "-"

# What a literal may be an operand of without being looked at.
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)

# Of a place for literals: what stands there, row by row.
Column = Sequence[str]
Key = TypeVar("Key", bound=Hashable)


def text_in(literal: str) -> str:
    """What a text says."""
    return literal[1:-1].replace("''", "'").replace("\\\\", "\\")


def constant_of(literal: str) -> str | int | float:
    """What a literal says that has no minus."""
    if literal[0] == "'":
        return text_in(literal)
    return int(literal) if literal.isdigit() else float(literal)


# What literals of a kind say, without their minus, which the reader keeps beside them.
VALUE: dict[str, Callable[[str], Any]] = {
    WHOLE: int, DECIMAL: float, TEXT: text_in,
    MINUS_WHOLE: lambda literal: -int(literal), MINUS_DECIMAL: lambda literal: -float(literal),
}  # fmt: skip


class Reading(NamedTuple):
    """A statement that was read; the text it stands in, its literals, and where they end in that text."""

    statement: Registration
    text: str
    literals: Sequence[str]
    ends: Sequence[int]


@dataclass(slots=True, eq=False)
class Shape:
    """Statements of one text that are read alike."""

    kinds: str  # of the literals
    free: frozenset[int]  # which literals may be others
    count: int | None  # which of them is the k of kNN: the reader looks whether it is a count
    is_trigger: bool
    _first: Reading | None

    def first(self, literals: Sequence[str]) -> Reading | None:
        """The one that was read, if it has these literals; once, since planning changes its tree."""
        reading = self._first
        if reading is None or list(reading.literals) != list(literals):
            return None
        self._first = None
        return reading


def shaped(
    kinds: str, columns: Sequence[Column], n: int, read: Callable[[int], Reading]
) -> Iterator[tuple[Shape, Sequence[int]]]:
    """Rows of one text by their shapes. What cannot be read is in none: whoever reads it is told why."""

    def shape_of(row: int) -> Shape | None:
        try:
            reading = read(row)
        except QueryError:
            return None
        statement, ends = reading.statement, reading.ends
        free = frozenset(i for i in free_literals(statement, ends) if kinds[i] != OTHER)
        k = statement.nearest.k.spot if isinstance(statement, RegisterQuery) and statement.nearest else None
        count = next((i for i in free if k is not None and ends[i] == k.end), None)
        return Shape(kinds, free, count, isinstance(statement, CreateTrigger), reading)

    for shape, rows in alike(range(len(kinds)), columns, n, shape_of):
        if shape is not None and shape.count is not None:
            rows = [row for row in rows if is_count(int(columns[shape.count][row]))]
        if shape is not None:
            yield shape, rows


class Found(Protocol):
    @property
    def free(self) -> frozenset[int]:
        """Which literals may be others."""


F = TypeVar("F", bound=Found)


def alike(
    places: Iterable[int], columns: Sequence[Column], n: int, find: Callable[[int], F | None]
) -> Iterator[tuple[F | None, Sequence[int]]]:
    """Rows with what is found of one: it holds for all that have the same literals, but for free ones."""
    first, places = find(0), frozenset(places)
    fixed = places - first.free if first is not None else frozenset()
    if not fixed:
        yield first, range(n)
        return
    for rows in grouped(zip(*(columns[i] for i in fixed), strict=True)).values():
        found = find(rows[0]) if rows[0] else first
        yield found if found is not None and places - found.free <= fixed else None, rows


def grouped(keys: Iterable[Key]) -> dict[Key, list[int]]:
    """By key the numbers of those that have it."""
    found: dict[Key, list[int]] = {}
    for number, key in enumerate(keys):
        found.setdefault(key, []).append(number)
    return found


def free_literals(statement: Registration, ends: Sequence[int]) -> Iterator[int]:
    """Which of the literals that end there the reader has passed on without a look at their value."""
    conditions = _passing_on(statement)
    literals = [n for n in conditions.find_all(exp.Literal) if "end" in n.meta]
    passed_on = [n.meta["end"] + 1 for n in literals if _is_passed_on(n)]
    targets = [operator.args["expression"] for operator in conditions.find_all(LocationInside)]
    if isinstance(statement, RegisterQuery):
        targets += [statement.inside, statement.nearest]
    if isinstance(statement, RegisterPattern):
        targets += _targets_of_steps(statement)
    passed_on += [spot.end for target in targets for spot in _spots_of(target) if spot is not None]
    # A literal that stands in the tree twice has been looked at by somebody.
    seen, found = Counter(n.meta["end"] + 1 for n in literals), Counter(passed_on)
    return (i for i, end in enumerate(ends) if found[end] == 1 and seen[end] <= 1)


def _passing_on(statement: Registration) -> exp.Expr:
    """Where literals are that may be passed on; what is shown of an alert or a match is always looked at."""
    if isinstance(statement, CreateTrigger):
        return statement.when
    return statement.steps if isinstance(statement, RegisterPattern) else statement.select


def _targets_of_steps(pattern: RegisterPattern) -> Iterator[InsideTarget | NearestTarget]:
    """How many are the nearest is looked at."""
    for select in pattern.steps.find_all(exp.Select):
        inside, nearest = select.args.get("inside"), select.args.get("nearest")
        if inside is not None:
            yield inside
        if nearest is not None:
            yield replace(nearest, k=replace(nearest.k, spot=None))


def _is_passed_on(literal: exp.Literal) -> bool:
    above = literal.parent.parent if isinstance(literal.parent, exp.Neg) else literal.parent
    is_item = isinstance(above, exp.Alias) and isinstance(above.parent, exp.Select)
    return is_item or isinstance(above, COMPARISONS)


def _spots_of(target: InsideTarget | NearestTarget | None) -> Spots:
    match target:
        case RectShape() | CircleShape():
            return target.spots
        case MovingRectShape() | MovingCircleShape():
            return (target.focal.spot, *target.spots)
        case FollowingShape(focal):
            return (focal.spot,)
        case NearestTarget(k, place, focal):
            return tuple(value.spot for value in (k, *(place or ()), focal) if value is not None)
    return ()
