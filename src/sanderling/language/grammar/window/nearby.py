"""NEARBY in brackets: NEARBY (SELECT location FROM sites) ROWS 5, NEARBY SPOT (x y, …) WITHIN 100 NOW.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sanderling.errors import QueryError
from sanderling.language.grammar.mixin import Mixin
from sanderling.language.grammar.nearest import LARGEST_K, is_count
from sanderling.language.statements import FocalPoints, NearbyWindow, Span, Value


class NearbyParser(Mixin):
    """Reads what follows NEARBY, up to its scope; to be mixed into a parser beside `CoverageParser`."""

    def _nearby(self, forms: str) -> NearbyWindow:
        points = self._focal_points(forms)
        if self._match_text_seq("WITHIN"):
            first = self._curr
            distance: Value = self._distance_value()
            self._not_negative("radius", float(distance.value), first)
            return NearbyWindow(points, None, distance)
        if not self._match_text_seq("ROWS"):
            raise self._not_nearby("NEARBY needs ROWS and how many, or WITHIN and how far", forms)
        first = self._curr
        k: Value = self._value("how many")
        if not is_count(k.value):
            message, hint = f"NEARBY cannot give {k.value!r} rows", f"write 1 to {LARGEST_K} ROWS"
            raise self.refuse("query.bad_k", message, hint, first, self._prev)
        return NearbyWindow(points, k, None)

    def _focal_points(self, forms: str) -> FocalPoints:
        first = self._curr
        if self._match_text_seq("SPOT"):
            self._match_l_paren()
            places = tuple(self._points())
            return FocalPoints(places, None, Span(first.start, self._prev.end + 1))
        if not self._match(TokenType.L_PAREN):
            raise self._not_nearby("NEARBY needs places", forms)
        select = self._parse_select_here()
        self._match_r_paren()
        span = Span(first.start, self._prev.end + 1)
        if not isinstance(select, exp.Select):
            raise self._not_nearby("NEARBY takes one SELECT", forms)
        return FocalPoints((), select, span)

    def _not_nearby(self, message: str, hint: str) -> QueryError:
        error: QueryError = self.refuse("query.bad_window", message, hint, self._curr or self._prev)
        return error
