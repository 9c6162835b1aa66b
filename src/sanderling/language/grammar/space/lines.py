"""Coverages that are made of lines, and exteriors: LEFT OF, RIGHT OF, ON LINE, BAND, EXTERIOR OF.

A mix-in of the dialect's parser, beside coverages.py. A line that cannot be a border (too short, or crossing
itself with its ends that go on) is refused here, where its text is at hand.
"""

from __future__ import annotations

from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import (
    CircleShape,
    Coverage,
    ExteriorShape,
    FollowingShape,
    MovingCircleShape,
    MovingRectShape,
    OutlineShape,
    RectShape,
    Span,
    focal_of,
)
from sanderling.space.outlines.outline import (
    FARTHEST,
    LEFT,
    ON,
    RIGHT,
    Line,
    Point,
    band,
    circle,
    corridor,
    crosses_itself,
    exterior,
    lines_meet,
    rectangle,
    side,
    side_of_place,
)

SIDES = {"LEFT": LEFT, "RIGHT": RIGHT, "ON": ON}


class LineParser(Mixin):
    """Reads lines from the token stream; to be mixed into a sqlglot parser."""

    def _points(self) -> list[Point]:
        """x y, x y, … up to the closing parenthesis."""
        points = [(self._finite(), self._finite())]
        while self._match(TokenType.COMMA):
            points.append((self._finite(), self._finite()))
        self._match_r_paren()
        return points

    def _line(self) -> list[Point]:
        """LINE (x y, x y, …), a border."""
        if not self._match_text_seq("LINE"):
            self.raise_error("Expected LINE (x y, x y, …)")
        first = self._prev
        self._match_l_paren()
        found = self._points()
        line = [found[0], *(b for a, b in pairwise(found) if a != b)]
        if len(line) < 2:
            hint = "give at least two points that differ"
            raise self.refuse("query.short_line", "a line needs two points", hint, first, self._prev)
        if max(abs(number) for point in line for number in point) > FARTHEST:
            hint = f"the points of a line go up to {FARTHEST:g}"
            raise self.refuse("query.not_finite", "this line goes too far", hint, first, self._prev)
        return line

    def _border(self) -> list[Point]:
        """A line that parts the plane."""
        first, line = self._curr, self._line()
        if crosses_itself(line):
            message = "this line crosses itself, or would where its ends go on"
            hint = "its first piece goes on backwards without end, and its last one forwards"
            raise self.refuse("query.self_crossing_line", message, hint, first, self._prev)
        return line

    def _parse_side(self, word: str, first: Token) -> OutlineShape:
        """LEFT OF LINE, RIGHT OF LINE, ON LINE, ON LINE WITHIN; the first word has been read."""
        if word != "ON":
            self._match_text_seq("OF")
            return OutlineShape(side(SIDES[word], self._border()))
        before = self._curr
        line = self._line()
        if not self._match_text_seq("WITHIN"):
            if crosses_itself(line):
                hint = "or add WITHIN and a distance: a corridor may cross itself"
                message = "this line crosses itself, or would where its ends go on"
                raise self.refuse("query.self_crossing_line", message, hint, before, self._prev)
            return OutlineShape(side(ON, line))
        start = self._curr
        value = self._distance_value()
        self._not_negative("length", float(value.value), start)
        return OutlineShape(corridor(line, float(value.value)), value.unit)

    def _parse_band(self, first: Token) -> OutlineShape:
        """BAND (LINE (…), LINE (…)): the angle between two straight lines, or what is between two that
        never meet."""
        one = self._border()
        if not self._match(TokenType.COMMA):
            self.raise_error("Expected a second line")
        other = self._border()
        self._match_r_paren()
        return OutlineShape(band(one, *self._sides(one, other, first)))

    def _sides(self, one: Line, other: Line, first: Token) -> tuple[float, Line, float]:
        """Which side of the one, and the other with its side."""
        turn = _turn(one, other) if len(one) == len(other) == 2 else 0.0
        if turn:
            return (LEFT, other, RIGHT) if turn > 0 else (RIGHT, other, LEFT)
        if lines_meet(one, other):
            is_straight = len(one) + len(other) == 4
            message = "this is one line" if is_straight else "these two lines have points in common"
            hint = "a band is between two straight lines, or between two lines that never meet"
            raise self.refuse("query.bad_coverage", message, hint, first, self._prev)
        return side_of_place(one, other[0]), other, side_of_place(other, one[0])

    def _parse_exterior(self, first: Token) -> Coverage:
        """EXTERIOR OF a coverage or a region; the two words have been read."""
        if not self._is_coverage():
            return ExteriorShape(self._name("a region's name or a coverage"))
        inner = self._parse_coverage()
        if isinstance(inner, ExteriorShape):
            return ExteriorShape(inner.name, not inner.is_inner)
        found = exterior_of(inner)
        if found is None:
            message, hint = no_exterior()
            raise self.refuse("query.bad_coverage", message, hint, first, self._prev)
        return found


def exterior_of(coverage: Coverage) -> Coverage | None:
    """All but its inside; None of what has none."""
    found, focal = own_outline(coverage), focal_of(coverage)
    outer = None if found is None else exterior(found)
    if outer is None:
        return None
    unit = unit_in(coverage)
    return OutlineShape(outer, unit) if focal is None else FollowingShape(focal, outer, unit)


def unit_in(coverage: Coverage) -> Span | None:
    """Where a unit of distance is written in it."""
    return getattr(coverage, "unit", None)


def no_exterior() -> tuple[str, str]:
    """Why there is none, and what to do."""
    return "what is only points or lines has no inside", "EXTERIOR OF takes an area or a side of a line"


def own_outline(coverage: Coverage) -> bytes | None:
    """A coverage as an outline; of what follows an object, around 0, 0."""
    match coverage:
        case MovingRectShape(_, xdist, ydist):
            return rectangle(-xdist / 2, -ydist / 2, xdist / 2, ydist / 2)
        case MovingCircleShape(_, radius):
            return circle(0.0, 0.0, radius)
        case FollowingShape(_, outline):
            return outline
    return outline_of(coverage)


def outline_of(coverage: Coverage) -> bytes | None:
    """The same of what follows nobody."""
    match coverage:
        case RectShape(x1, y1, x2, y2):
            return rectangle(x1, y1, x2, y2)
        case CircleShape(x, y, radius):
            return circle(x, y, radius)
        case OutlineShape(outline):
            return outline
    return None


def _turn(one: Line, other: Line) -> float:
    """Positive where the other line turns to the left of the one."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = *one, *other
    return (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
