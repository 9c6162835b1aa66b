"""WINDOW's forms: a duration, n ROWS, n ROWS PER KEY, UNTIL NEXT, UNTIL condition, TUMBLE, HOP.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.clock import UNITS_US
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import Span, Value, WindowClause
from sanderling.plans.window import Lasting, Refresh, Rows, RowsPerKey, UntilNext

# Functions of an object's last two readings; behind them WITHIN WINDOW may stand.
OF_TWO = ("PREVIOUS", "SPEED", "HEADING")
WITHIN = " WITHIN WINDOW"
FORMS = (
    "WINDOW takes 1 HOUR, 100 ROWS, 5 ROWS PER KEY, UNTIL NEXT, UNTIL and a condition on NEXT.column, "
    "TUMBLE 1 HOUR or HOP 1 HOUR EVERY 10 MINUTES"
)
LONGEST_US = 1000 * 366 * UNITS_US["day"]
MOST_ROWS = 1_000_000


def word_of_two(node: object) -> str:
    """PREVIOUS, SPEED or HEADING, if a node calls one of them; else nothing."""
    word = str(node.this).upper().removesuffix(WITHIN) if isinstance(node, exp.Anonymous) else ""
    return word if word in OF_TWO else ""


def is_within(node: object) -> bool:
    """Whether WITHIN WINDOW stands behind it."""
    return bool(word_of_two(node)) and isinstance(node, exp.Anonymous) and str(node.this).endswith(WITHIN)


class WindowParser(Mixin):
    """Reads what follows WINDOW; to be mixed into a sqlglot parser beside `CoverageParser`."""

    def _parse_function_call(self, *args: Any, **named: Any) -> Any:
        found = super()._parse_function_call(*args, **named)  # type: ignore[misc]
        if word_of_two(found) and self._match_text_seq("WITHIN", "WINDOW"):
            found.set("this", word_of_two(found) + WITHIN)
        return found

    def _parse_window_of_ours(self) -> tuple[str, WindowClause]:
        first = self._curr
        self._advance()
        return "our_window", self._window(first)

    def _window(self, first: Token) -> WindowClause:
        if self._match_text_seq("UNTIL"):
            return self._until(first)
        if self._is_repeated():
            return self._repeated(first, FORMS)
        self._match_text_seq("INTERVAL")
        if self._is_number() and self._is_before_rows():
            return self._rows(first)
        return self._lasting(first, FORMS)

    def _is_repeated(self) -> bool:
        return bool(self._curr) and self._curr.text.upper() in ("TUMBLE", "HOP")

    def _repeated(self, first: Token, forms: str) -> WindowClause:
        """TUMBLE 1 HOUR, one behind the other; HOP 1 HOUR EVERY 10 MINUTES, which overlap."""
        word = self._curr.text.upper()
        self._advance()
        size = every = self._long(first, forms)
        if word == "HOP":
            self._expect(self._match_text_seq("EVERY"), "EVERY and a duration: HOP 1 HOUR EVERY 10 MINUTES")
            every = self._long(first, forms)
        return WindowClause(Lasting(size), None, self._span(first), Refresh(every), True)

    def _lasting(self, first: Token, forms: str) -> WindowClause:
        return WindowClause(Lasting(self._long(first, forms)), None, self._span(first))

    def _long(self, first: Token, forms: str) -> int:
        """A duration, of one part or several."""
        self._match_text_seq("INTERVAL")
        if not self._is_number():
            raise self._no_window(first, "this is no window", forms)
        size = self._duration(first, forms)
        while self._is_number():
            size += self._duration(first, forms)
        if not 0 < size <= LONGEST_US:
            raise self._no_window(first, "a window lasts longer than nothing, and up to 1000 years", forms)
        return size

    def _until(self, first: Token) -> WindowClause:
        is_next = self._curr and self._curr.text.upper() == "NEXT"
        if is_next and not (self._next and self._next.token_type == TokenType.DOT):
            self._advance()
            return WindowClause(UntilNext(), None, self._span(first))
        condition = self._parse_disjunction()
        self._expect(condition, "NEXT, or a condition")
        return WindowClause(None, condition, self._span(first))

    def _rows(self, first: Token) -> WindowClause:
        count = self._value("how many rows").value
        self._advance()
        kind: type[Rows | RowsPerKey] = Rows
        if self._match_text_seq("PER"):
            self._expect(self._match_text_seq("KEY"), "KEY")
            kind = RowsPerKey
        if not isinstance(count, int) or not 1 <= count <= MOST_ROWS:
            raise self._no_window(
                first, f"a window cannot hold {count!r} rows", f"write 1 to {MOST_ROWS} ROWS"
            )
        return WindowClause(kind(count), None, self._span(first))

    def _is_before_rows(self) -> bool:
        return bool(self._next) and self._next.text.upper() in ("ROW", "ROWS")

    def _is_number(self) -> bool:
        return bool(self._curr) and self._curr.token_type in (
            TokenType.NUMBER, TokenType.STRING, TokenType.DASH, TokenType.PLUS, TokenType.DOT
        )  # fmt: skip

    def _duration(self, first: Token, forms: str) -> int:
        value: Value = self._value("how long")
        try:
            count = float(value.value)
        except ValueError:
            raise self._no_window(first, f'"{value.value}" is no number', forms) from None
        unit = self._curr.text.lower() if self._curr and self._curr.text.isalpha() else ""
        scale = UNITS_US.get(unit) or UNITS_US.get(unit.removesuffix("s"))
        if scale is None:
            hint = did_you_mean(unit, ["second", "minute", "hour", "day", "week", "rows"]) if unit else None
            raise self._no_window(first, "a window needs a unit behind its number", hint or forms)
        self._advance()
        return round(count * scale) if abs(count * scale) <= LONGEST_US else -1

    def _span(self, first: Token) -> Span:
        return Span(first.start, self._prev.end + 1)

    def _no_window(self, first: Token, message: str, hint: str) -> QueryError:
        error: QueryError = self.refuse("query.bad_window", message, hint, first, self._prev)
        return error
