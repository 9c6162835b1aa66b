"""CREATE TRIGGER, and the forms that only its conditions have: durations, IN [a, b], BEFORE, AFTER, WITHIN.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.clock import UNITS_US
from sanderling.language.grammar.mixin import Mixin
from sanderling.language.grammar.window.window import LONGEST_US
from sanderling.language.statements import CreateTrigger, Name, OnceClause, TriggerVariable

MOST_MEMBERS = 16
REPORTS = ("ALL", "FIRST", "ONCE")


class Duration(exp.Expression, exp.Condition):
    """`5 MINUTES`: as it was written, and in microseconds."""

    arg_types: ClassVar = {"this": True, "us": True}


class Before(exp.Expression, exp.Predicate):
    """`V1 BEFORE V2`: its time is smaller."""

    arg_types: ClassVar = {"this": True, "expression": True}


class Within(exp.Expression, exp.Predicate):
    """`WITHIN 5 MINUTES`: all events are no further apart in time."""

    arg_types: ClassVar = {"this": True}


class TriggerParser(Mixin):
    """Reads what follows CREATE TRIGGER; to be mixed into a sqlglot parser beside `WindowParser`."""

    is_in_trigger = False  # in WHEN
    is_in_items = False  # in SELECT

    def _parse_trigger(self, name: Name, first: Token) -> CreateTrigger:
        body = self._curr
        self._expect(self._match_text_seq("FOR"), "FOR and a stream AS a variable")
        variables = [self._trigger_variable()]
        while self._match(TokenType.COMMA):
            variables.append(self._trigger_variable())
        self._expect(self._match_text_seq("WHEN"), "WHEN and a condition")
        self.is_in_trigger = True
        when = self._parse_disjunction()
        self.is_in_trigger = False
        self._expect(when, "a condition after WHEN")
        items = self._trigger_items() if self._match(TokenType.SELECT) else []
        report = self._one_of(REPORTS) if self._match_text_seq("REPORT") else "ALL"
        once = self._once() if report == "ONCE" else None
        options = self._options() if self._match_text_seq("WITH") else {}
        span = self._span_from(first)
        sql = self.sql[body.start : span.end]
        return CreateTrigger(
            name, tuple(variables), when, tuple(items), report == "FIRST", options, sql, span, once
        )

    def _once(self) -> OnceClause:
        """PER (column, …) [EVERY duration], behind REPORT ONCE."""
        first = self._prev
        self._expect(self._match_text_seq("PER"), "PER and columns of the alert: PER (one, other)")
        self._expect(self._match(TokenType.L_PAREN), "(")
        per: list[Name] = [self._name("a column's name")]
        while self._match(TokenType.COMMA):
            per.append(self._name("a column's name"))
        self._match_r_paren()
        every_us = None
        if self._match_text_seq("EVERY"):
            if not self._is_duration_here():
                hint = "write EVERY 10 MINUTES, or nothing: once for ever"
                raise self.refuse("query.bad_trigger", "EVERY needs a duration", hint, self._prev)
            every_us = self._duration_here()
        return OnceClause(tuple(per), every_us, self._span_from(first))

    def _trigger_items(self) -> list[Any]:
        self.is_in_items = True
        items: list[Any] = self._parse_expressions()
        self.is_in_items = False
        self._expect(items, "what to show of an alert")
        return items

    def _parse_alias(self, this: Any, *args: Any, **named: Any) -> Any:
        """REPORT is no name for a column where a report is asked for."""
        is_report = self.is_in_items and self._is_word("REPORT") and self._next.text.upper() in REPORTS
        return this if is_report else super()._parse_alias(this, *args, **named)  # type: ignore[misc]

    def _trigger_variable(self) -> TriggerVariable:
        count = None
        if self._curr and self._curr.token_type == TokenType.NUMBER:
            token = self._curr
            count = self._value("how many")
            self._expect(self._match_text_seq("OF"), "OF and a stream")
            if not isinstance(count.value, int) or not 2 <= count.value <= MOST_MEMBERS:
                hint = f"write 2 to {MOST_MEMBERS}, as in FOR 5 OF stream AS V"
                raise self.refuse("query.bad_trigger", f"{count.value} OF is no set", hint, token)
        stream = self._name("a stream's name")
        self._match_text_seq("AS")
        return TriggerVariable(stream, self._name("a variable's name"), count)

    # ----- conditions

    def _parse_range(self, this: Any = None, **named: Any) -> Any:
        if not self.is_in_trigger:
            return super()._parse_range(this, **named)  # type: ignore[misc]
        numbers = (TokenType.NUMBER, TokenType.INTERVAL, TokenType.DASH)
        if this is None and self._is_word("WITHIN") and self._next.token_type in numbers:
            self._advance()
            return Within(this=self._parse_unary())
        left = super()._parse_range(this, **named)  # type: ignore[misc]
        if left is not None and (self._is_word("BEFORE") or self._is_word("AFTER")):
            is_before = self._curr.text.upper() == "BEFORE"
            self._advance()
            right = self._parse_bitwise()
            self._expect(right, "the other event")
            return Before(this=left, expression=right) if is_before else Before(this=right, expression=left)
        return left

    def _is_word(self, word: str) -> bool:
        return bool(self._curr and self._next) and self._curr.text.upper() == word

    def _parse_in(self, this: Any, *args: Any, **named: Any) -> Any:
        if not (self.is_in_trigger and self._match(TokenType.L_BRACKET)):
            return super()._parse_in(this, *args, **named)  # type: ignore[misc]
        low = self._parse_bitwise()
        self._expect(low and self._match(TokenType.COMMA), "two bounds: IN [a, b]")
        high = self._parse_bitwise()
        self._expect(high and self._match(TokenType.R_BRACKET), "]")
        return exp.Between(this=this, low=low, high=high)

    def _parse_type(self, *args: Any, **named: Any) -> Any:
        """A number with a unit behind it is a duration, here."""
        if not (self.is_in_trigger and self._is_duration_here()):
            return super()._parse_type(*args, **named)  # type: ignore[misc]
        first, us = self._curr, self._duration_here()
        words = exp.Literal.number(self.sql[first.start : self._prev.end + 1])
        words.update_positions(start=first.start, end=self._prev.end)
        return Duration(this=words, us=us)

    def _duration_here(self) -> int:
        """Of one number with its unit, or several."""
        first, us = self._curr, 0.0
        while self._is_duration_here():
            us += float(self._curr.text) * self._unit(self._next)
            self._advance()
            self._advance()
        if us > LONGEST_US:
            raise self.refuse("query.bad_trigger", "this is too long", "up to 1000 years", first, self._prev)
        return round(us)

    def _parse_interval(self, *args: Any, **named: Any) -> Any:
        """INTERVAL reads its number and unit itself."""
        was, self.is_in_trigger = self.is_in_trigger, False
        interval = super()._parse_interval(*args, **named)  # type: ignore[misc]
        self.is_in_trigger = was
        return interval

    def _is_duration_here(self) -> bool:
        return bool(self._curr) and self._curr.token_type == TokenType.NUMBER and self._unit(self._next) > 0

    def _unit(self, token: Token | None) -> int:
        """Microseconds of the unit that a word is, 0 if it is none."""
        unit = token.text.lower() if token and token.token_type != TokenType.STRING else ""
        return UNITS_US.get(unit) or UNITS_US.get(unit.removesuffix("s")) or 0
