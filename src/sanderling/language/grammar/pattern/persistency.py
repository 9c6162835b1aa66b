"""PERSISTENCY duration [PER (column, …)] [WHILE condition] [GRACE duration]: last of all clauses.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from typing import Any

from sqlglot.tokenizer_core import Token, TokenType

from sanderling.clock import UNITS_US
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.grammar.mixin import Mixin
from sanderling.language.grammar.window.window import LONGEST_US
from sanderling.language.statements import Name, PersistencyClause

FORMS = (
    "write PERSISTENCY 5 MINUTES, then PER (column, …), WHILE and a condition, GRACE 10 SECONDS, as needed"
)
OPTIONS = ("PER", "WHILE", "GRACE")
SETS = ("UNION", "INTERSECT", "EXCEPT", "MINUS")


class PersistencyParser(Mixin):
    """Reads what follows PERSISTENCY; to be mixed into a sqlglot parser beside `WindowParser`."""

    def _parse_persistency(self) -> PersistencyClause:
        first = self._prev
        found: dict[str, Any] = {"stay": self._stay(first)}
        while self._curr and (word := self._curr.text.upper()) in OPTIONS:
            if word.lower() in found:
                hint = f"keep one {word}"
                raise self.refuse("query.duplicate_clause", f"{word} stands twice", hint, self._curr)
            self._advance()
            found[word.lower()] = self._option(word, first)
        self._refuse_what_follows()
        return PersistencyClause(
            found["stay"], found.get("per"), found.get("while"), found.get("grace", 0), self._span_from(first)
        )

    def _option(self, word: str, first: Token) -> object:
        if word == "GRACE":
            return self._stay(first)
        if word == "WHILE":
            condition = self._parse_disjunction()
            self._expect(condition, "a condition")
            return condition
        self._match_l_paren()
        columns: list[Name] = [self._name("a column's name")]
        while self._match(TokenType.COMMA):
            columns.append(self._name("a column's name"))
        self._match_r_paren()
        return tuple(columns)

    def _stay(self, first: Token) -> int:
        """One number with its unit, or several: 1 HOUR 30 MINUTES."""
        self._match_text_seq("INTERVAL")
        if not self._is_number():
            raise self._not_persistent(first, f"{self._prev.text.upper()} needs a duration")
        total, is_more = 0, True
        while is_more:
            value, unit = self._value("how long").value, self._curr.text.lower() if self._curr else ""
            scale = UNITS_US.get(unit) or UNITS_US.get(unit.removesuffix("s"))
            try:
                count = float(value)
            except ValueError:
                raise self._not_persistent(first, f'"{value}" is no number') from None
            if scale is None:
                hint = did_you_mean(unit, ["second", "minute", "hour", "day", "week"]) if unit else None
                raise self._not_persistent(first, "a duration needs a unit behind its number", hint or FORMS)
            self._advance()
            is_more = self._is_number() and not self._is_before_times()
            total += round(count * scale) if abs(count * scale) <= LONGEST_US else -LONGEST_US
        if not 0 <= total <= LONGEST_US:
            raise self._not_persistent(first, "a duration is from nothing up to 1000 years")
        return total

    def _is_before_times(self) -> bool:
        """FOR 20 SECONDS 3 TIMES: of a pattern's step, how often."""
        return bool(self._next and self._next.text.upper() == "TIMES")

    def _refuse_what_follows(self) -> None:
        """It is about the whole answer."""
        following = self._curr
        if following and following.text.upper() == "PERSISTENCY":
            hint = "keep one PERSISTENCY clause"
            raise self.refuse("query.duplicate_clause", "PERSISTENCY stands twice", hint, following)
        if following and following.text.upper() in SETS:
            hint = "put brackets around this SELECT, or let PERSISTENCY stand last, about all of them"
            raise self.refuse("query.bad_persistency", "PERSISTENCY stands last", hint, following)
        if following and following.token_type in self.QUERY_MODIFIER_PARSERS:
            message, hint = "PERSISTENCY stands last", f"write {following.text.upper()} before it"
            raise self.refuse("query.bad_persistency", message, hint, following)

    def _not_persistent(self, first: Token, message: str, hint: str = FORMS) -> QueryError:
        error: QueryError = self.refuse("query.bad_persistency", message, hint, first, self._prev)
        return error
