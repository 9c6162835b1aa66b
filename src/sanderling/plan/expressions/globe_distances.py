"""DISTANCE on the globe in SQL: chords between places, as metric.py has them, and metres."""

from __future__ import annotations

from sqlglot import exp, parse_one

from sanderling.space.sphere import DEGREE, HALF_WAY_ROUND, RADIUS

# Of a place: how far its parallel is from the axis, then where on it, and how high.
ACROSS = f"(CASE WHEN ABS({{lat}}) = 90 THEN 0e0 ELSE COS({{lat}} * {DEGREE!r}) END)"
EAST = f"(CASE WHEN {{lon}} = -180 THEN 180e0 ELSE {{lon}} END * {DEGREE!r})"
VECTOR = (f"({ACROSS} * COS({EAST}))", f"({ACROSS} * SIN({EAST}))", f"SIN({{lat}} * {DEGREE!r})")


def chord(*places: exp.Expr) -> exp.Expr:
    """The square of the chord between two places, as longitude, latitude, longitude, latitude."""
    return _filled(_squares("-"), dict(zip("abcd", places, strict=True)))


def metres_between(*places: exp.Expr) -> exp.Expr:
    """How far it is between them: twice the angle whose tangent is the chord by that to the antipode.

    The sine of that angle, half the chord, says little where one place is almost the antipode of the other.
    """
    text = f"({2 * RADIUS!r} * ATAN2(SQRT({_squares('-')}), SQRT({_squares('+')})))"
    return _filled(text, dict(zip("abcd", places, strict=True)))


def _squares(sign: str) -> str:
    """Of two vectors the square of their difference, or of their sum."""
    here, there = {"lon": "a", "lat": "b"}, {"lon": "c", "lat": "d"}
    steps = [f"({part.format(**here)} {sign} {part.format(**there)})" for part in VECTOR]
    return "(" + " + ".join(f"{step} * {step}" for step in steps) + ")"


def chord_within(metres: exp.Expr) -> exp.Expr:
    """The square of the chord that goes with a distance; more than any where nothing is farther."""
    half = f"(2e0 * SIN(r / {2 * RADIUS!r}))"
    return _filled(f"(CASE WHEN r >= {HALF_WAY_ROUND!r} THEN 5e0 ELSE {half} * {half} END)", {"r": metres})


def _filled(text: str, parts: dict[str, exp.Expr]) -> exp.Expr:
    """A formula with expressions for its letters."""
    formula = exp.Paren(this=parse_one(text, read="spark"))
    for column in list(formula.find_all(exp.Column)):
        column.replace(parts[column.name].copy())
    found: exp.Expr = formula.this
    return found
