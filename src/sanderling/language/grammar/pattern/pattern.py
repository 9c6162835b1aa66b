"""REGISTER PATTERN name AS WITH step AS (SELECT …), … SELECT … FROM position THEN position …

A mix-in of the dialect's parser. The words of FROM are read here, so that they stay free as names.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import QueryError
from sanderling.language.grammar.pattern.named_steps import NamedStepParser
from sanderling.language.statements import (
    Name,
    PatternBound,
    PatternGroup,
    PatternStep,
    RegisterPattern,
    Using,
    Value,
)

HOW_LONG = "write a number and a unit: WITHIN 1 HOUR, FOR 90 SECONDS"
MOST_TIMES = 1_000_000
CONSTANTS = {TokenType.TRUE: True, TokenType.FALSE: False, TokenType.NULL: None}


class PatternParser(NamedStepParser):
    """Reads what follows REGISTER PATTERN; to be mixed into a sqlglot parser beside `PersistencyParser`."""

    def _parse_pattern(self, name: Name, first: Token) -> RegisterPattern:
        body = self._curr
        if self._has_named_steps():
            return self._parse_named_steps(name, first)
        self._expect(self._match(TokenType.WITH), "WITH step AS (SELECT …)")
        steps = self.expression(exp.With(expressions=self._parse_given()))
        self._expect(self._match(TokenType.SELECT), "SELECT and what to show of a match")
        items = self._parse_expressions()
        self._expect(items, "what to show of a match")
        self._expect(self._match(TokenType.FROM), "FROM and a step")
        positions = [self._pattern_position()]
        while self._match(TokenType.THEN):
            positions.append(self._pattern_position())
        where = self._parse_where()
        is_first, has_timeouts = self._pattern_report()
        is_skipping = self._pattern_skips()
        options = self._options() if self._match_text_seq("WITH") else {}
        span = self._span_from(first)
        return RegisterPattern(
            name, steps, tuple(items), tuple(positions), where.this if where else None, is_first,
            has_timeouts, is_skipping, options, self.sql[body.start : span.end], span,
        )  # fmt: skip

    # ----- FROM

    def _pattern_position(self) -> PatternGroup:
        first = self._curr
        is_not = bool(self._match(TokenType.NOT))
        if not self._match(TokenType.L_PAREN):
            step = self._pattern_step()
            return PatternGroup((step,), False, is_not, step.within, self._span_from(first))
        if is_not:
            hint = "write NOT of each: THEN NOT a THEN NOT b"
            raise self.refuse("query.unsupported", "NOT takes one step", hint, first, self._prev)
        steps, word = [self._group_step()], None
        while self._curr and self._curr.token_type in (TokenType.OR, TokenType.AND):
            if word is not None and self._curr.token_type != word:
                hint = "write one of them, or a step of its own: UNION, INTERSECT"
                raise self.refuse("query.unsupported", "OR and AND in one group", hint, self._curr)
            word = self._curr.token_type
            self._advance()
            steps.append(self._group_step())
        self._match_r_paren()
        within = self._pattern_within() if self._match_text_seq("WITHIN") else None
        return PatternGroup(tuple(steps), word == TokenType.AND, False, within, self._span_from(first))

    def _group_step(self) -> PatternStep:
        token = self._curr
        if token and token.token_type in (TokenType.NOT, TokenType.L_PAREN):
            hint = "let NOT stand behind THEN, and group steps once"
            raise self.refuse("query.unsupported", "a group takes steps", hint, token)
        step = self._pattern_step()
        if step.within is not None:
            hint = "write it behind the group's bracket"
            raise self.refuse("query.bad_pattern", "WITHIN is of the whole group", hint, token, self._prev)
        return step

    def _pattern_step(self) -> PatternStep:
        how = ""
        for word in ("ENTERING", "LEAVING"):
            if not how and self._is_before_name(word):
                self._advance()
                how = word
        name = self._name("a step's name")
        alias = self._name("a name for this step") if self._match_text_seq("AS") else name
        found: dict[str, Any] = {}
        while (option := self._step_option()) is not None:
            if option in found:
                message, hint = f"{option} stands twice", f"keep one {option}"
                raise self.refuse("query.duplicate_clause", message, hint, self._prev)
            found[option] = self._step_option_body(option)
            if option == "USING" and alias is name and self._match_text_seq("AS"):
                alias = self._name("a name for this step")
        return PatternStep(
            name, alias, how == "ENTERING", how == "LEAVING", found.get("FOR"), found.get("ON", ()),
            found.get("TIMES"), found.get("WITHIN"), found.get("USING"),
        )  # fmt: skip

    def _is_before_name(self, word: str) -> bool:
        """A step may have this very name."""
        following = self._next
        if not self._curr or self._curr.text.upper() != word or not following:
            return False
        is_name = following.token_type == TokenType.IDENTIFIER or following.text.isidentifier()
        others = (TokenType.ALIAS, TokenType.THEN, TokenType.WHERE, TokenType.ON, TokenType.FOR)
        is_option = following.text.upper() in ("WITHIN", "REPORT", "AFTER", "USING", "WITH", "OR", "AND")
        return is_name and following.token_type not in others and not is_option

    def _step_option(self) -> str | None:
        token = self._curr
        if not token:
            return None
        if token.token_type == TokenType.NUMBER and self._next and self._next.text.upper() == "TIMES":
            return "TIMES"
        if token.text.upper() not in ("FOR", "ON", "WITHIN", "USING"):
            return None
        self._advance()
        return str(token.text.upper())

    def _step_option_body(self, word: str) -> object:
        if word == "TIMES":
            return self._pattern_times()
        if word == "FOR":
            return self._pattern_duration()
        if word == "USING":
            return self._pattern_using()
        return self._pattern_within() if word == "WITHIN" else self._pattern_on()

    def _pattern_times(self) -> Value:
        token = self._curr
        times: Value = self._value("how often")
        self._match_text_seq("TIMES")
        if not isinstance(times.value, int) or not 1 <= times.value <= MOST_TIMES:
            hint = "write 2 TIMES, or more"
            raise self.refuse("query.bad_pattern", f"{times.value} TIMES is not often", hint, token)
        return times

    def _pattern_using(self) -> Using:
        """A state's name, and constants for it in brackets."""
        name = self._name("a state that the program brings")
        constants: list[str | int | float | bool | None] = []
        first = self._prev
        if self._match(TokenType.L_PAREN) and not self._match(TokenType.R_PAREN):
            constants.append(self._pattern_constant())
            while self._match(TokenType.COMMA):
                constants.append(self._pattern_constant())
            self._match_r_paren()
        return Using(name, tuple(constants), self._span_from(first))

    def _pattern_constant(self) -> str | int | float | bool | None:
        for kind, constant in CONSTANTS.items():
            if self._match(kind):
                return constant
        found: Value = self._value("a constant for the state")
        return found.value

    def _pattern_within(self) -> PatternBound:
        first = self._prev
        us = self._pattern_duration()
        of = self._name("the step it is counted from") if self._match_text_seq("OF") else None
        return PatternBound(us, of, self._span_from(first))

    def _pattern_duration(self) -> int:
        try:
            us: int = self._stay(self._prev)
        except QueryError as e:
            raise QueryError("query.bad_pattern", e.message, HOW_LONG, e.place) from e
        return us

    def _pattern_on(self) -> tuple[exp.Expr, ...]:
        """Equalities; an AND behind them may be the group's."""
        found = [self._pattern_equality()]
        while self._curr and self._curr.token_type == TokenType.AND and self._is_equality(self._index + 1):
            self._advance()
            found.append(self._pattern_equality())
        return tuple(found)

    def _is_equality(self, at: int) -> bool:
        kinds = [token.token_type for token in self._tokens[at : at + 4]]
        return TokenType.EQ in kinds[1:2] or (TokenType.DOT in kinds[1:2] and TokenType.EQ in kinds[3:])

    def _pattern_equality(self) -> exp.Expr:
        token = self._curr
        left = self._parse_column()
        is_equal = self._match(TokenType.EQ)
        right = self._parse_column() if is_equal else None
        if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            hint = "write ON step.column = earlier.column; for other conditions there is CREATE TRIGGER"
            raise self.refuse("query.bad_pattern", "ON takes columns that are equal", hint, token, self._prev)
        return exp.EQ(this=left, expression=right)

    # ----- behind FROM

    def _pattern_report(self) -> tuple[bool, bool]:
        if not self._match_text_seq("REPORT"):
            return False, False
        is_first = self._one_of(("ALL", "FIRST")) == "FIRST"
        return is_first, bool(self._match_text_seq("WITH", "TIMEOUTS"))

    def _pattern_skips(self) -> bool:
        if not self._match_text_seq("AFTER"):
            return False
        self._expect(self._match_text_seq("MATCH", "SKIP", "PAST", "LAST"), "MATCH SKIP PAST LAST STEP")
        self._one_of(("STEP", "ROW"))
        return True
