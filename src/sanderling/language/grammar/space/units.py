"""Units of distance: 500 METERS, 1 KM, 2 MILES, 3 NAUTICAL MILES. They have a meaning on the globe only.

A mix-in of the dialect's parser. A number with a unit is a number of metres.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import Span, Spot, Value
from sanderling.types import LARGEST

KILOMETRE, MILE, NAUTICAL_MILE = 1000, 1609.344, 1852
# By the word behind the number, or by two.
UNITS: dict[str, float] = {
    "METER": 1, "METERS": 1, "METRE": 1, "METRES": 1, "M": 1,
    "KM": KILOMETRE, "KILOMETER": KILOMETRE, "KILOMETERS": KILOMETRE,
    "KILOMETRE": KILOMETRE, "KILOMETRES": KILOMETRE,
    "MILE": MILE, "MILES": MILE,
    "NAUTICAL MILE": NAUTICAL_MILE, "NAUTICAL MILES": NAUTICAL_MILE,
}  # fmt: skip


# In conditions a unit stands behind what is compared; in a select list the same word is a column's name.
COMPARISONS = (TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.EQ, TokenType.NEQ)
BEFORE = (*COMPARISONS, TokenType.BETWEEN, TokenType.AND, TokenType.L_PAREN, TokenType.L_BRACKET)
BEFORE_MAYBE = (TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.COMMA)
BEHIND_NAMES = (TokenType.COMMA, TokenType.FROM)


class Length(exp.Expression, exp.Condition):
    """`5 KM` in a condition: as it was written, and in metres."""

    arg_types: ClassVar = {"this": True, "metres": True}


def unit_of(*values: Value) -> Span | None:
    """The first unit that is written behind some of them."""
    return next((value.unit for value in values if value.unit is not None), None)


class UnitParser(Mixin):
    """Reads what stands behind a distance; to be mixed into a sqlglot parser."""

    def _parse_type(self, *args: Any, **named: Any) -> Any:
        """A number with a unit of distance behind it, in a condition."""
        if not self._is_length_here():
            return super()._parse_type(*args, **named)  # type: ignore[misc]
        first, number = self._curr, exp.Literal.number(self._curr.text)
        self._advance()
        found = self._unit_of_distance()
        assert found is not None
        number.update_positions(start=first.start, end=self._prev.end)
        metres = float(first.text) * found[0]
        if metres > LARGEST:
            hint = f"distances go up to {LARGEST:g}"
            raise self.refuse("query.not_finite", "this is too long", hint, first, self._prev)
        return Length(this=number, metres=metres)

    def _is_length_here(self) -> bool:
        if not self._curr or self._curr.token_type != TokenType.NUMBER or not self._next:
            return False
        before, at = self._prev, self._index + 1
        word = self._tokens[at].text.upper()
        if word == "NAUTICAL" and at + 1 < len(self._tokens):
            at += 1
            word = f"{word} {self._tokens[at].text.upper()}"
        if word not in UNITS:
            return False
        behind: Token | None = self._tokens[at + 1] if at + 1 < len(self._tokens) else None
        if behind is not None and behind.token_type in COMPARISONS:
            return True
        if before.token_type in BEFORE_MAYBE:
            return behind is None or behind.token_type not in BEHIND_NAMES
        return before.token_type in BEFORE

    def _unit_of_distance(self) -> tuple[float, Span] | None:
        """How many metres the unit has that stands here, and where it stands."""
        first = self._curr
        if not first:
            return None
        word = first.text.upper()
        if word == "NAUTICAL" and self._next:
            word = f"{word} {self._next.text.upper()}"
        if word not in UNITS:
            return None
        self._advance(len(word.split()))
        return UNITS[word], Span(first.start, self._prev.end + 1)

    def _with_unit(self, value: Value) -> Value:
        """The same in metres, if a unit stands behind it."""
        found = None if isinstance(value.value, str) else self._unit_of_distance()
        if found is None or isinstance(value.value, str):
            return value
        metres, span = found
        spot = value.spot and Spot(value.spot.end, value.spot.sign * metres)
        return replace(value, value=value.value * metres, spot=spot, unit=span)

    def _distance_value(self) -> Value:
        """A finite number, and its unit, if it has one."""
        first = self._curr
        value = self._with_unit(self._finite_value())
        if abs(float(value.value)) > LARGEST:
            hint = f"coordinates and sizes go up to {LARGEST:g}"
            raise self.refuse("query.not_finite", f"{value.value} is too large", hint, first, self._prev)
        return value

    def _refuse_units(self, values: list[Value]) -> None:
        """Of coordinates, which are no distances."""
        unit = unit_of(*values)
        if unit is not None:
            message, hint = "a coordinate has no unit", "leave the unit out: on the globe it is degrees"
            first = next(token for token in self._tokens if token.start == unit.start)
            raise self.refuse("query.bad_unit", message, hint, first, self._prev)
