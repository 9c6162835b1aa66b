"""INSIDE's targets and the coverages, still and moving. Lines and what is made of them: lines.py.

A mix-in of the dialect's parser. Numbers are read with their sign; a shape that cannot be (a
negative radius, an open or self-crossing ring) is refused here, where its text is at hand.
"""

from __future__ import annotations

import re
from dataclasses import replace

import shapely
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import QueryError
from sanderling.language.grammar.space.motion import MotionParser
from sanderling.language.grammar.space.units import UnitParser, unit_of
from sanderling.language.statements import (
    CircleShape,
    Coverage,
    ExteriorShape,
    Focal,
    Following,
    FollowingShape,
    InsideTarget,
    MovingCircleShape,
    MovingRectShape,
    OutlineShape,
    RectShape,
    Span,
    Spot,
    Value,
)
from sanderling.space.outlines import outline
from sanderling.types import LARGEST

FORMS = (
    "INSIDE takes (x1, y1, x2, y2), (x, y, r), ('M', id, xdist, ydist), ('M', id, r), a region or a coverage"
)
GLUED = re.compile(r"([0-9]+)([A-Za-z]+)")
NUMBERS = (TokenType.NUMBER, TokenType.DASH, TokenType.PLUS)
# Coverages by how they begin: a word with numbers in parentheses behind it, or two words.
IN_PARENTHESES = ("RECT", "CIRCLE", "POLYGON", "MULTIPOLYGON", "SPOT", "BAND", "AROUND")
TWO_WORDS = (("LEFT", "OF"), ("RIGHT", "OF"), ("ON", "LINE"), ("EXTERIOR", "OF"))
COVERAGES = ", ".join([*IN_PARENTHESES, *(" ".join(words) for words in TWO_WORDS)])


class CoverageParser(MotionParser, UnitParser):
    """Reads coverages from the token stream; to be mixed into a sqlglot parser."""

    def _value(self, what: str) -> Value:
        first = self._curr
        if first and first.token_type == TokenType.STRING:
            self._advance()
            end = first.end + 1
            return Value(first.text, Span(first.start, end), Spot(end, 1))
        sign = self._sign()
        glued = GLUED.fullmatch(self._curr.text) if self._curr else None
        if glued is not None and self._curr.token_type != TokenType.NUMBER:
            message, hint = f"{glued[0]} is no number", f"write {glued[1]} {glued[2]}, with a blank between"
            raise self.refuse("query.syntax", message, hint, self._curr)
        has_point = self._match(TokenType.DOT)
        token = self._curr
        if not self._match(TokenType.NUMBER):
            self.raise_error(f"Expected {what}")
        text = f".{token.text}" if has_point else token.text
        number = float(text) if any(c in text for c in ".eE") else int(text)
        end = token.end + 1
        return Value(sign * number, Span(first.start, end), None if has_point else Spot(end, sign))

    def _sign(self) -> int:
        sign = 1
        while self._curr and self._curr.token_type in (TokenType.DASH, TokenType.PLUS):
            sign = -sign if self._curr.token_type == TokenType.DASH else sign
            self._advance()
        return sign

    def _finite(self) -> float:
        return float(self._finite_value().value)

    def _finite_value(self) -> Value:
        first = self._curr
        value = self._value("a number")
        self._finite_of(value, first)
        return value

    def _finite_of(self, value: Value, first: Token) -> float:
        """A number as it was read, from this token on."""
        if isinstance(value.value, str):
            raise self.refuse(
                "query.wrong_type", f'"{value.value}" is not a number', "write it without quotes", first
            )
        if abs(value.value) > LARGEST:
            hint = f"coordinates and sizes go up to {LARGEST:g}"
            raise self.refuse("query.not_finite", f"{value.value} is too large", hint, first, self._prev)
        return float(value.value)

    def _not_negative(self, what: str, number: float, at: Token) -> None:
        if number < 0:
            raise self.refuse(
                f"query.negative_{what}", f"a {what} cannot be negative: {number:g}",
                f"give a {what} of 0 or more", at, self._number_from(at),
            )  # fmt: skip

    def _number_from(self, first: Token) -> Token:
        """The last token of the number that begins with this one."""
        at = next(i for i, token in enumerate(self._tokens) if token is first)
        while self._tokens[at].token_type != TokenType.NUMBER:
            at += 1
        token: Token = self._tokens[at]
        return token

    # ----- INSIDE

    def _parse_inside_target(self) -> InsideTarget:
        if self._match(TokenType.L_PAREN, advance=False):
            first = self._curr
            return self._written(self._with_motion(self._parse_inside_tuple()), first)
        if self._is_coverage():
            return self._parse_region()
        if self._curr and self._curr.token_type == TokenType.STRING:
            message, hint = "a region's name is no text", f"write it without quotes: INSIDE {self._curr.text}"
            raise self.refuse("query.syntax", message, hint, self._curr)
        name: InsideTarget = self._name("a region's name or a coverage")
        self._refuse_motion()
        return name

    def _parse_inside_tuple(self) -> Coverage:
        first = self._curr
        self._advance()
        if self._curr and self._curr.token_type == TokenType.STRING and self._curr.text.upper() == "M":
            return self._parse_moving(first)
        starts, values = self._numbers()
        if len(values) == 4:
            return self._rect(values)
        if len(values) == 3:
            return self._circle(starts, values)
        raise self._wrong_count(first, f"INSIDE got {len(values)} numbers")

    def _parse_moving(self, first: Token) -> Following:
        self._advance()
        if not self._match(TokenType.COMMA):
            raise self._wrong_count(first, "a moving INSIDE needs a focal object and a size")
        return self._parse_around(first)

    def _parse_around(self, first: Token) -> Following:
        """A focal object, and sizes or a polygon around it, up to the closing parenthesis."""
        focal = self._focal()
        if self._is_polygon_next():
            self._advance()
            inner = self._parse_coverage()
            self._match_r_paren()
            assert isinstance(inner, OutlineShape)
            return FollowingShape(focal, inner.outline)
        starts: list[Token] = []
        values: list[Value] = []
        while self._match(TokenType.COMMA):
            starts.append(self._curr)
            values.append(self._distance_value())
        self._match_r_paren()
        if len(values) not in (1, 2):
            raise self._wrong_count(first, f"a moving INSIDE got {len(values)} sizes")
        sizes, spots = [float(v.value) for v in values], tuple(_of_size(v.spot) for v in values)
        for start, size in zip(starts, sizes, strict=True):
            self._not_negative("radius" if len(sizes) == 1 else "length", size, start)
        unit = unit_of(*values)
        return (
            MovingCircleShape(focal, sizes[0], spots, unit)
            if len(sizes) == 1
            else MovingRectShape(focal, sizes[0], sizes[1], spots, unit)
        )

    def _is_polygon_next(self) -> bool:
        is_comma = bool(self._curr) and self._curr.token_type == TokenType.COMMA
        return is_comma and bool(self._next) and self._next.text.upper() in ("POLYGON", "MULTIPOLYGON")

    def _focal(self) -> Focal:
        """'zoe', an object of the stream that is asked; customers 'zoe', one of another."""
        names, keys = (TokenType.VAR, TokenType.IDENTIFIER), (*NUMBERS, TokenType.STRING)
        following = self._next.token_type if self._curr and self._next else None
        is_name, of = bool(self._curr) and self._curr.token_type in names, None
        if is_name and following in keys:
            of, is_name = self._name("a stream's name"), False
        if is_name:
            is_of, first = following in names, self._curr
            written = f"{first.text} '{self._next.text}'" if is_of else f"'{first.text}'"
            message = f"the focal object {self._next.text if is_of else first.text} is not a constant"
            hint = f"write its key in quotes: {written}"
            raise self.refuse("query.wrong_type", message, hint, self._next if is_of else first)
        key = self._value("the focal object's key")
        span = key.span if of is None else Span(of.span.start, key.span.end)
        return Focal(key.value, span, key.spot, of=of)

    def _wrong_count(self, first: Token, message: str) -> QueryError:
        error: QueryError = self.refuse("query.wrong_argument_count", message, FORMS, first, self._prev)
        return error

    def _numbers(self) -> tuple[list[Token], list[Value]]:
        starts, values = [self._curr], [self._distance_value()]
        while self._match(TokenType.COMMA):
            starts.append(self._curr)
            values.append(self._distance_value())
        self._match_r_paren()
        return starts, values

    def _circle(self, starts: list[Token], values: list[Value]) -> CircleShape:
        self._refuse_units(values[:2])
        x, y, radius = (float(value.value) for value in values)
        self._not_negative("radius", radius, starts[2])
        spots = (values[0].spot, values[1].spot, _of_size(values[2].spot))
        return CircleShape(x, y, radius, spots, values[2].unit)

    def _rect(self, values: list[Value]) -> RectShape:
        self._refuse_units(values)
        x1, y1, x2, y2 = (float(value.value) for value in values)
        return RectShape(x1, y1, x2, y2, tuple(value.spot for value in values))

    # ----- coverages

    def _is_coverage(self) -> bool:
        if not self._curr or not self._next:
            return False
        word = self._curr.text.upper()
        if self._next.token_type == TokenType.L_PAREN:
            return word in IN_PARENTHESES
        return (word, self._next.text.upper()) in TWO_WORDS

    def _parse_region(self) -> Coverage:
        """A coverage, which may change by itself."""
        first = self._curr
        return self._written(self._with_motion(self._parse_coverage()), first)

    def _written(self, coverage: Coverage, first: Token) -> Coverage:
        """With where it is written."""
        if isinstance(coverage, ExteriorShape):
            return coverage
        return replace(coverage, span=Span(first.start, self._prev.end + 1))

    def _parse_coverage(self) -> Coverage:
        first = self._curr
        if not self._is_coverage():
            self.raise_error(f"Expected a coverage: {COVERAGES}")
        word = first.text.upper()
        self._advance()
        if word == "EXTERIOR":
            self._advance()
            return self._parse_exterior(first)
        if word not in IN_PARENTHESES:
            return self._parse_side(word, first)
        self._match_l_paren()
        if word == "POLYGON":
            return self._checked([self._rings()], first)
        if word == "MULTIPOLYGON":
            return self._checked(self._polygons(), first)
        if word == "SPOT":
            return OutlineShape(outline.spots(self._points()))
        if word == "BAND":
            return self._parse_band(first)
        if word == "AROUND":
            return self._parse_around(first)
        starts, values = self._numbers()
        expected = 4 if word == "RECT" else 3
        if len(values) != expected:
            raise self.refuse(
                "query.wrong_argument_count", f"{word} takes {expected} numbers, not {len(values)}",
                "RECT (x1, y1, x2, y2) or CIRCLE (x, y, r)", first, self._prev,
            )  # fmt: skip
        return self._rect(values) if word == "RECT" else self._circle(starts, values)

    def _polygons(self) -> list[list[list[tuple[float, float]]]]:
        polygons = []
        while True:
            self._match_l_paren()
            polygons.append(self._rings())
            if not self._match(TokenType.COMMA):
                break
        self._match_r_paren()
        return polygons

    def _rings(self) -> list[list[tuple[float, float]]]:
        rings = [self._ring()]
        while self._match(TokenType.COMMA):
            rings.append(self._ring())
        self._match_r_paren()
        return rings

    def _ring(self) -> list[tuple[float, float]]:
        first = self._curr
        self._match_l_paren()
        points = self._points()
        if points[0] != points[-1]:
            raise self.refuse(
                "query.open_ring", "this ring is not closed", "end it with its first point", first, self._prev
            )
        if len(points) < 4:
            raise self.refuse(
                "query.short_ring", "a ring needs three corners and its first point again", "add corners",
                first, self._prev,
            )  # fmt: skip
        return points

    def _checked(self, polygons: list[list[list[tuple[float, float]]]], first: Token) -> OutlineShape:
        shape = shapely.MultiPolygon([(rings[0], rings[1:]) for rings in polygons])
        if not shapely.is_valid(shape):
            reason = shapely.is_valid_reason(shape)
            raise self.refuse(
                "query.self_crossing_ring", f"this polygon is not valid: {reason}",
                "rings may neither cross themselves nor each other", first, self._prev,
            )  # fmt: skip
        return OutlineShape(shapely.to_wkb(shape))


def _of_size(spot: Spot | None) -> Spot | None:
    """A size with a minus is looked at, since it may be negative."""
    return spot if spot is not None and spot.sign > 0 else None
