"""Which time a relation of FROM is of: cars AS OF 't', cars BETWEEN 't1' AND 't2', LAST cars.

A mix-in of the dialect's parser, behind `BracketParser`: the time comes first, then the brackets.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import Times

# Ways to say AS OF that other systems have, longest first.
AS_OF = (
    ("FOR", "SYSTEM_TIME", "AS", "OF"), ("FOR", "TIMESTAMP", "AS", "OF"), ("TIMESTAMP", "AS", "OF"),
    ("AS", "OF", "SNAPSHOT"), ("AS", "OF"),
)  # fmt: skip
CONSTANTS = (TokenType.STRING, TokenType.NUMBER, TokenType.DASH)
NAMES = (TokenType.VAR, TokenType.IDENTIFIER)


class TimesParser(Mixin):
    """Reads the times of relations, where a SELECT is asked once; to be mixed into a sqlglot parser."""

    asked_at = -1  # where a SELECT begins that is not registered, if it is one

    @property
    def is_asking(self) -> bool:
        return self.asked_at >= 0

    def _parse_table_parts(self, *args: Any, **named: Any) -> Any:
        first = self._curr
        is_last = self.is_asking and self._is_last(first)
        if is_last:
            self._advance()
        table = super()._parse_table_parts(*args, **named)  # type: ignore[misc]
        times = Times(None, None, self._span_from(first), is_last=True) if is_last else self._times()
        if times is not None and isinstance(table, exp.Table):
            table.set("our_time", times)
        return table

    def _is_last(self, first: Token | None) -> bool:
        """LAST before a name; a stream of this name has no alias without AS."""
        is_word = first is not None and first.text.upper() == "LAST" and first.token_type == TokenType.VAR
        following = self._next
        return is_word and following is not None and following.token_type in NAMES

    def _times(self) -> Times | None:
        first = self._curr
        if first is None:
            return None
        if first.token_type == TokenType.BETWEEN:
            return self._between(first)
        words = next((words for words in AS_OF if self._stand_here(words)), None)
        if words is None:
            return None
        self._refuse_registered(first)
        self._advance(len(words))
        time = self._value("a timestamp in quotes")
        return Times(time, time, self._span_from(first), is_snapshot=words[-1] == "SNAPSHOT")

    def _between(self, first: Token) -> Times:
        self._refuse_registered(first)
        self._advance()
        begin = self._value("a timestamp in quotes")
        self._expect(self._match(TokenType.AND), "AND and a second time")
        end = None if self._match_text_seq("NOW") else self._value("a timestamp in quotes, or NOW")
        return Times(begin, end, self._span_from(first), is_between=True)

    def _stand_here(self, words: tuple[str, ...]) -> bool:
        """These words, and a constant behind them: an alias may be one of them."""
        tokens = self._tokens[self._index : self._index + len(words) + 1]
        said = tuple(token.text.upper() for token in tokens[: len(words)])
        return said == words and len(tokens) > len(words) and tokens[-1].token_type in CONSTANTS

    def _refuse_registered(self, first: Token) -> None:
        if not self.is_asking:
            message = "a query that stays is of now, from when it is registered on"
            hint = "write the SELECT by itself; one that is to come begins with AT '2024-05-01 08:00'"
            raise self.refuse("query.unsupported", message, hint, first)
