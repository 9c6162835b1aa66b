"""SYNCHRONIZE a, b (EVERY 5 SECONDS | ON EVENT) AS SELECT …, wherever WITH may stand.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import QueryError
from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import Name, SynchronizeClause
from sanderling.plans.window import Refresh

HOW = "write SYNCHRONIZE a, b EVERY 5 SECONDS AS SELECT … FROM a …, or ON EVENT instead of EVERY"


class SynchronizeParser(Mixin):
    """Reads what follows SYNCHRONIZE; to be mixed into a sqlglot parser beside `PersistencyParser`."""

    def _is_synchronize(self) -> bool:
        return bool(self._curr) and self._curr.text.upper() == "SYNCHRONIZE"

    def _parse_synchronize(self) -> exp.Subquery:
        first = self._curr
        self._advance()
        names = [self._name("the name of a step or a query")]
        while self._match(TokenType.COMMA):
            names.append(self._name("the name of a step or a query"))
        self._refuse_twice(names)
        refresh = self._when(first)
        clause = SynchronizeClause(tuple(names), refresh, self._span_from(first))
        self._expect(self._match(TokenType.ALIAS), "AS SELECT")
        query: Any = self._parse_select_here()
        found: exp.Subquery = self.expression(exp.Subquery(this=query))
        found.set("synchronize", clause)
        return found

    def _when(self, first: Token) -> Refresh | None:
        if self._match(TokenType.ON):
            self._expect(self._match_text_seq("EVENT"), "EVENT")
            return None
        if not self._match_text_seq("EVERY"):
            self.raise_error("Expected EVERY 5 SECONDS or ON EVENT")
        try:
            every_us: int = self._stay(self._prev)
        except QueryError as e:
            raise QueryError("query.bad_synchronize", e.message, HOW, e.place) from e
        if not every_us:
            message = "EVERY needs some time between two looks"
            raise self.refuse("query.bad_synchronize", message, HOW, first, self._prev)
        return Refresh(every_us)

    def _refuse_twice(self, names: list[Name]) -> None:
        seen: set[str] = set()
        for name in names:
            if name.text.casefold() in seen:
                message = f'SYNCHRONIZE names "{name.text}" twice'
                raise QueryError(
                    "query.duplicate_name", message, "name it once", name.span.place_in(self.sql)
                )
            seen.add(name.text.casefold())
