"""Words that other systems have: understood where they mean what we have, and else led to our form.

PostGIS's ST_ functions, windows of streaming systems, and what one would write before looking it up.
A mix-in of the dialect's parser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.mixin import Mixin

PLACE = "write INSIDE (x, y, r), who is near a place, kNN (k, x, y), who is nearest, or DISTANCE(a, b) of two"
COLUMNS = "a location is the two columns of LOCATION: write their names"
SHAPE = (
    "write a coverage as it is: INSIDE POLYGON ((0 0, 5 0, 5 5, 0 0)), RECT (0, 0, 5, 5), CIRCLE (0, 0, 5)"
)
WITHIN = "write a.location INSIDE b.region, or INSIDE region behind FROM; who is on its border is in it"
EXTERIOR = "write a.location INSIDE EXTERIOR OF region"
CHANGES = "a query tells what changes by itself: leave it out; WINDOW TUMBLE 1 HOUR is told when an hour ends"
WINDOWS = (
    "write WINDOW 1 HOUR for the last hour at every tick, WINDOW TUMBLE 1 HOUR for windows that follow each "
    "other, WINDOW HOP 1 HOUR EVERY 10 MINUTES for windows that overlap"
)
NEAREST = "write kNN (3, x, y), the 3 nearest to a place, or kNN ('M', 3, key), to an object"
REGION = "write INSIDE and a region behind FROM: FROM taxis INSIDE depot, or INSIDE (x, y, r)"
UNITS = "units of distance are METERS, KM, MILES and NAUTICAL MILES"
VIEW = "write REGISTER QUERY name AS SELECT …"
PATTERN = (
    "who is in one query, then in another, is a pattern: REGISTER PATTERN name AS WITH a AS (SELECT …), "
    "b AS (SELECT …) SELECT … FROM a THEN b WITHIN 1 HOUR"
)

# Functions that are called by these names, and what to write instead.
FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("ST_POINT", "ST_MAKEPOINT", "ST_POINTFROMTEXT", "ST_SETSRID", "ST_TRANSFORM"), PLACE),
    **dict.fromkeys(("ST_X", "ST_Y", "ST_ASTEXT", "ST_ASGEOJSON", "ST_ASBINARY"), COLUMNS),
    **dict.fromkeys(
        ("ST_GEOMFROMTEXT", "ST_GEOGFROMTEXT", "ST_GEOMFROMGEOJSON", "ST_POLYGON", "ST_MAKEPOLYGON",
         "ST_BUFFER", "ST_MAKEENVELOPE"), SHAPE,
    ),
    **dict.fromkeys(("ST_CONTAINS", "ST_WITHIN", "ST_CONTAINSPROPERLY"), WITHIN),
    "ST_DISJOINT": EXTERIOR,
    **dict.fromkeys(("ST_DISTANCESPHERE", "ST_DISTANCESPHEROID", "HAVERSINE"), "write DISTANCE(a, b)"),
    "ST_DFULLYWITHIN": "write DISTANCE(a, b) <= r",
    **dict.fromkeys(("TUMBLE", "HOP", "TUMBLE_START", "TUMBLE_END", "HOP_START", "HOP_END"), WINDOWS),
    "NEAREST": NEAREST,
    **dict.fromkeys(("VELOCITY", "ST_SPEED"), "write SPEED(), from the last two readings"),
    **dict.fromkeys(
        ("BEARING", "AZIMUTH", "ST_AZIMUTH", "DIRECTION"), "write HEADING(), from the last two readings"
    ),
    "LAG": "write PREVIOUS(column), what the column was in the same object's reading before",
    "LEAD": "nobody knows the next reading; when it is there, PREVIOUS(column) is this one",
}  # fmt: skip

# Words in a statement that cannot be read, and what to write instead.
WORDS: dict[str, str] = {
    **dict.fromkeys(("SLIDE", "HOP", "HOPPING", "TUMBLE", "TUMBLING", "SLIDING"), WINDOWS),
    "EMIT": CHANGES,
    **dict.fromkeys(("NEAREST", "CLOSEST"), NEAREST),
    **dict.fromkeys(("WITHIN", "NEAR", "IN_REGION"), REGION),
    "OUTSIDE": "write INSIDE EXTERIOR OF and a region",
    **dict.fromkeys(("KILO", "KMS", "MI", "NM", "NMI", "FT", "FEET", "FOOT", "YARD", "YARDS"), UNITS),
    **dict.fromkeys(("VIEW", "MATERIALIZED", "LIVE"), VIEW),
    "MATCH_RECOGNIZE": PATTERN,
}  # fmt: skip


def hint_of(tokens: Sequence[Token], at: Token) -> str | None:
    """What to write, where the text cannot be read on at `at` because of a word of others."""
    index = next((i for i, token in enumerate(tokens) if token is at), len(tokens) - 1)
    words = {token.text.upper() for token in tokens}
    if at.token_type == TokenType.THEN and not words & {"CASE", "PATTERN"}:
        return PATTERN
    near = [i for i in (index, index - 1, index + 1, index + 2) if 0 <= i < len(tokens)]
    others = [tokens[i].text.upper() for i in near if not _is_ours(tokens, i)]
    return next((WORDS[word] for word in others if word in WORDS), None)


def _is_ours(tokens: Sequence[Token], at: int) -> bool:
    """WITHIN 5, as corridors, patterns and NEARBY have it."""
    is_before_number = at + 1 < len(tokens) and tokens[at + 1].token_type == TokenType.NUMBER
    return tokens[at].text.upper() == "WITHIN" and is_before_number


def hint_of_function(name: str) -> str | None:
    """What to write instead of a function that is not ours."""
    found = FUNCTIONS.get(name.upper())
    if found is None and name.upper().startswith("ST_"):
        return "there are ST_DWithin, ST_Distance, ST_Intersects, ST_Covers and ST_CoveredBy"
    return found


def _distance(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="DISTANCE", expressions=[a, b])


def _within(a: exp.Expr, b: exp.Expr, radius: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.LTE(this=_distance(a, b), expression=radius))


# Functions of PostGIS that mean what we have, and how they are written.
UNDERSTOOD: dict[str, tuple[str, Callable[..., exp.Expr]]] = {
    "ST_DWITHIN": ("ST_DWithin(a.location, b.location, r)", _within),
    "ST_DISTANCE": ("ST_Distance(a.location, b.location)", _distance),
}
# Whether a place is in a region, its border too: whichever of the two stands first.
INSIDE = ("ST_INTERSECTS", "ST_COVERS", "ST_COVEREDBY")
INSIDE_FORM = "write a.location INSIDE b.region, or INSIDE and a region behind FROM"


class ElsewhereParser(Mixin):
    """Stands before the functions of a sqlglot parser."""

    def _parse_function_call(self, *args: Any, **named: Any) -> Any:
        token = self._curr
        is_call = bool(token and self._next) and self._next.token_type == TokenType.L_PAREN
        hint = hint_of_function(token.text) if is_call else None
        if hint is None:
            return super()._parse_function_call(*args, **named)  # type: ignore[misc]
        name = token.text.upper()
        if name not in UNDERSTOOD and name not in INSIDE:
            raise self.refuse("query.unknown_function", f"no function is named {token.text}", hint, token)
        self._advance(2)
        parts = self._parse_csv(self._parse_bitwise)
        self._match_r_paren()
        return self._location_in(token, parts) if name in INSIDE else self._understood(token, parts)

    def _parse_table_alias(self, *args: Any, **named: Any) -> Any:
        """A word of others is no alias where what it would be about stands behind it."""
        token, behind = self._curr, self._next
        is_begun = behind is not None and behind.token_type in (TokenType.L_PAREN, TokenType.NUMBER)
        if token and is_begun and token.token_type == TokenType.VAR and token.text.upper() in WORDS:
            hint = WORDS[token.text.upper()]
            raise self.refuse("query.syntax", f"no clause is named {token.text}", hint, token)
        return super()._parse_table_alias(*args, **named)  # type: ignore[misc]

    def _understood(self, token: Token, parts: list[exp.Expr]) -> exp.Expr:
        form, make = UNDERSTOOD[token.text.upper()]
        if len(parts) != form.count(",") + 1:
            message = f"{token.text} cannot be called with {len(parts)} arguments"
            raise self.refuse("query.wrong_argument_count", message, f"write {form}", token)
        if not all(isinstance(part, exp.Column) for part in parts[:2]):
            message = f"{token.text} is between two of FROM"
            raise self.refuse(
                "query.wrong_type", message, f"write {form}; near a place, INSIDE (x, y, r)", token
            )
        return make(*parts)

    def _location_in(self, token: Token, parts: list[exp.Expr]) -> exp.Expr:
        places = [
            part for part in parts if isinstance(part, exp.Column) and part.name.casefold() == "location"
        ]
        regions = [part for part in parts if isinstance(part, exp.Column) and part not in places]
        if len(parts) != 2 or len(places) != 1 or len(regions) != 1:
            message = f"{token.text} takes a location and a region here"
            raise self.refuse("query.wrong_type", message, INSIDE_FORM, token)
        inside: exp.Expr = self._inside_of(places[0], regions[0])
        return inside
