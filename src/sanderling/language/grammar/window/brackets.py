"""Windows in brackets behind a stream's name: FROM cars [RANGE 1 HOUR] a, vans [EXTENT depot NOW] b.

A mix-in of the dialect's parser. It stands where sqlglot reads the parts of a table's name, on its quick way
as on its slow one: what sqlglot would take for an index of an array is read here, before it comes to that.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.clock import time_of
from sanderling.errors import QueryError
from sanderling.language.grammar.window.nearby import NearbyParser
from sanderling.language.grammar.window.window import MOST_ROWS, WindowParser
from sanderling.language.statements import (
    Bracket,
    InsideTarget,
    NearbyWindow,
    TessellateWindow,
    Value,
    WindowClause,
)
from sanderling.plans.window import Coming, Refresh

FORMS = (
    "write [RANGE 1 HOUR], [TUMBLE 1 HOUR], [HOP 1 HOUR EVERY 10 MINUTES], [NOW], [100 ROWS], "
    "[5 ROWS PER KEY], [UNTIL NEXT], [UNTIL condition], "
    "[SINCE '2024-05-01'], [EXTENT region NOW], [EXTENT region RANGE 1 HOUR], "
    "[NEARBY (SELECT location FROM sites) ROWS 5], [NEARBY (SELECT location FROM sites) WITHIN 100 NOW], "
    "[TESSELLATE BY (SELECT region FROM t) ROWS 10] or [TESSELLATE BY column ROWS 10], "
    "each also with EVERY 10 SECONDS"
)


class BracketParser(NearbyParser, WindowParser):
    """Reads what stands in brackets in FROM; to be mixed into a sqlglot parser beside `CoverageParser`."""

    def _parse_table_parts(self, *args: Any, **named: Any) -> Any:
        table = super()._parse_table_parts(*args, **named)  # type: ignore[misc]
        if isinstance(table, exp.Table) and self._match(TokenType.L_BRACKET):
            table.set("our_window", self._bracket(self._prev))
            if self._curr and self._curr.token_type == TokenType.L_BRACKET:
                message, hint = "a stream has one window", "keep one pair of brackets"
                raise self.refuse("query.duplicate_clause", message, hint, self._curr)
        return table

    def _parse_table_alias(self, *args: Any, **named: Any) -> Any:
        alias = super()._parse_table_alias(*args, **named)  # type: ignore[misc]
        if self._curr and self._curr.token_type == TokenType.L_BRACKET:
            hint = "write stream [window] alias"
            raise self.refuse(
                "query.syntax", "a window stands right behind a stream's name", hint, self._curr
            )
        return alias

    def _bracket(self, first: Token) -> Bracket:
        extent: InsideTarget | None = None
        nearby: NearbyWindow | None = None
        tiles: TessellateWindow | None = None
        if self._match_text_seq("EXTENT"):
            extent = self._parse_inside_target()
            window = self._since() or self._scope("an extent")
        elif self._match_text_seq("NEARBY"):
            nearby = self._nearby(FORMS)
            window = None if nearby.distance is None else self._scope("NEARBY … WITHIN")
        elif self._match_text_seq("TESSELLATE"):
            window, tiles = None, self._tessellate(first)
        else:
            window = self._window_of_stream()
        shift: tuple[float, float] | None = None
        refresh = window.refresh if window is not None else None
        if refresh is None:
            refresh, shift = self._refresh(extent is not None)
        if not self._match(TokenType.R_BRACKET):
            raise self._no_bracket(first, "this window does not end here")
        return Bracket(window, extent, refresh, self._span(first), nearby, tiles, shift)

    def _scope(self, what: str) -> WindowClause | None:
        """Of which readings those in an extent, or near some place, are looked at; None: of NOW."""
        first = self._curr or self._prev
        if self._match_text_seq("NOW"):
            return None
        if self._match_text_seq("RANGE"):
            return self._lasting(first, FORMS)
        raise self._no_bracket(first, f"{what} is NOW, or of a RANGE of time")

    def _tessellate(self, first: Token) -> TessellateWindow:
        """BY regions, or a column, and how many of each."""
        self._expect(self._match_text_seq("BY"), "BY regions of a table, or a column")
        select, column = None, None
        if self._match(TokenType.L_PAREN):
            select = self._parse_select_here()
            self._match_r_paren()
        else:
            column = self._name("a column, or (SELECT region FROM districts)")
        if not self._match_text_seq("ROWS"):
            raise self._no_bracket(first, "TESSELLATE needs how many of each tile: ROWS 1000")
        count = self._value("how many rows").value
        if not isinstance(count, int) or not 1 <= count <= MOST_ROWS:
            message, hint = f"a tile cannot hold {count!r} rows", f"write ROWS 1 to {MOST_ROWS}"
            raise self.refuse("query.bad_window", message, hint, self._prev)
        if not (select is None or isinstance(select, exp.Select)):
            raise self._no_bracket(first, "TESSELLATE takes one SELECT")
        return TessellateWindow(select, column, count, self._span(first))

    def _window_of_stream(self) -> WindowClause | None:
        first = self._curr or self._prev
        if self._match_text_seq("NOW"):
            return None
        if self._match_text_seq("RANGE"):
            return self._lasting(first, FORMS)
        if self._match_text_seq("UNTIL"):
            return self._until(first)
        if (since := self._since()) is not None:
            return since
        if self._is_repeated():
            return self._repeated(first, FORMS)
        if self._is_number() and self._is_before_rows():
            return self._rows(first)
        raise self._no_bracket(first, "this is no window")

    def _refresh(self, has_extent: bool) -> tuple[Refresh | None, tuple[float, float] | None]:
        """EVERY dt, or SHIFT BY (0, 0, dt), which is the same; FROM a time on. How far an extent shifts."""
        first = self._curr or self._prev
        if self._match_text_seq("EVERY"):
            return Refresh(self._long(first, FORMS)), None
        if not self._match_text_seq("SHIFT"):
            return None, None
        self._expect(self._match_text_seq("BY"), "BY (dx, dy, how long)")
        self._match_l_paren()
        far = []
        for _ in range(2):
            far.append(self._finite())
            self._expect(self._match(TokenType.COMMA), "a comma")
        every, shift = self._long(first, FORMS), (far[0], far[1])
        self._match_r_paren()
        last, is_from = self._prev, self._match_text_seq("FROM")
        refresh = Refresh(every, self._time_behind("FROM") if is_from else 0)
        if shift == (0, 0):
            return refresh, None
        if not has_extent:
            message, hint = "only an EXTENT shifts", "write SHIFT BY (0, 0, dt), or EVERY dt"
            raise self.refuse("query.unsupported", message, hint, first, last)
        if not is_from:
            message = "SHIFT BY needs FROM and a time, from which on steps are counted"
            hint = "add FROM '2024-05-01 08:00:00': without it an answer would depend on when it is asked for"
            raise self.refuse("query.missing_clause", message, hint, first, last)
        return refresh, shift

    def _since(self) -> WindowClause | None:
        """All readings that are later than a time."""
        first = self._curr or self._prev
        if not self._match_text_seq("SINCE"):
            return None
        since_us = self._time_behind("SINCE")
        return WindowClause(Coming(), None, self._span(first), since_us=since_us)

    def _time_behind(self, word: str) -> int:
        value: Value = self._value("a timestamp in quotes")
        time = time_of(value.value)
        if time is None:
            hint = f"{word} '2008-05-23 19:00:00' (UTC), or a number of seconds since 1970"
            raise self.refuse("query.bad_time", f"this is not a time: {value.value}", hint, self._prev)
        return time

    def _no_bracket(self, first: Token, message: str) -> QueryError:
        error: QueryError = self.refuse("query.bad_window", message, FORMS, first, self._curr or self._prev)
        return error
