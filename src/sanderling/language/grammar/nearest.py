"""kNN's targets: (k, x, y) and ('M', k, id). A mix-in of the dialect's parser."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import QueryError
from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import NearestTarget, Value

FORMS = "kNN takes (k, x, y) or ('M', k, id)"
# A list of so many is kept for each query and shard.
LARGEST_K = 10_000


def is_count(k: object) -> bool:
    """Whether somebody may ask for so many."""
    return isinstance(k, int) and 1 <= k <= LARGEST_K


class NearestParser(Mixin):
    """Reads what follows kNN; to be mixed into a sqlglot parser beside `CoverageParser`."""

    def _parse_nearest(self) -> NearestTarget:
        first = self._curr
        self._match_l_paren()
        is_moving = bool(self._curr and self._curr.token_type == TokenType.STRING)
        if is_moving:
            if self._curr.text.upper() != "M":
                raise self._not_so(first, f"kNN cannot begin with '{self._curr.text}'")
            self._advance()
            if not self._match(TokenType.COMMA):
                raise self._not_so(first, "a moving kNN needs a number and a focal object")
        k = self._count()
        place, focal = None, None
        if is_moving:
            if not self._match(TokenType.COMMA):
                raise self._not_so(first, "a moving kNN needs a focal object")
            focal = self._focal()
        else:
            numbers = []
            while self._match(TokenType.COMMA):
                numbers.append(self._finite_value())
            if len(numbers) != 2:
                raise self._not_so(first, f"kNN got a number and {len(numbers)} coordinates")
            place = (numbers[0], numbers[1])
        if self._match(TokenType.COMMA):
            raise self._not_so(first, "kNN got too much")
        self._match_r_paren()
        return NearestTarget(k, place, focal)

    def _count(self) -> Value:
        first = self._curr
        k: Value = self._value("how many")
        if not is_count(k.value):
            raise self.refuse(
                "query.bad_k", f"kNN cannot give {k.value!r} of them",
                f"k is a whole number from 1 to {LARGEST_K}", first, self._prev,
            )  # fmt: skip
        return k

    def _not_so(self, first: Token, message: str) -> QueryError:
        error: QueryError = self.refuse("query.wrong_argument_count", message, FORMS, first, self._prev)
        return error
