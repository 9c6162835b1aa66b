"""What SQL has and we have not: refused at its word, with what to write instead.

A mix-in of the dialect's parser.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import QueryError
from sanderling.language.grammar.mixin import Mixin

ORDER = "write ORDER BY … LIMIT n"
CLAUSES = {
    "CLUSTER BY": ORDER, "DISTRIBUTE BY": ORDER, "FETCH": ORDER, "SORT BY": ORDER,
    "OFFSET": "an answer is the first n; ask for more of them, and pass over some",
    "QUALIFY": "write WHERE, or ORDER BY … LIMIT n",
    "LATERAL": "write FROM (SELECT …) AS name, and join it",
    "INTO": "the query's name stands before AS",
}  # fmt: skip
JOINS = {
    "RIGHT": "swap the sides, and write LEFT JOIN",
    "FULL": "write LEFT JOIN, and UNION ALL who is left over",
    "SEMI": "write JOIN (SELECT DISTINCT …) AS name ON …",
    "ANTI": "write LEFT JOIN … WHERE its key IS NULL",
    "NATURAL": "write JOIN … USING (column, …)",
    "ASOF": "write JOIN … ON an equality",
}
ALLOWED_JOINS = ("LEFT", "OUTER", "INNER", "CROSS")


def instead_of(clause: str) -> str:
    """What to write instead of a clause."""
    return CLAUSES.get(clause, "remove the clause")


class RefusalParser(Mixin):
    """Stands before the parts of a sqlglot parser that would take what nobody looks at."""

    def _refuse_clause(self) -> Any:
        raise self._no_clause(self._curr)

    def _no_clause(self, token: Token) -> QueryError:
        word = token.text.upper()
        return self.refuse(  # type: ignore[no-any-return]
            "query.unsupported", f"{word} is not supported", instead_of(word), token
        )

    def _parse_lateral(self) -> Any:
        if self._curr and self._curr.token_type == TokenType.LATERAL:
            raise self._no_clause(self._curr)
        return super()._parse_lateral()  # type: ignore[misc]

    def _parse_join(self, *args: Any, **named: Any) -> Any:
        words = self._words_before_join()
        for token in words:
            word = token.text.upper()
            if word not in ALLOWED_JOINS:
                message = f"{' '.join(t.text.upper() for t in words)} JOIN is not supported"
                hint = JOINS.get(word, "write JOIN or LEFT JOIN")
                raise self.refuse("query.unsupported", message, hint, words[0], words[-1])
        return super()._parse_join(*args, **named)  # type: ignore[misc]

    def _words_before_join(self) -> list[Token]:
        """Those that say which join it is, if one begins here."""
        kinds = (*self.JOIN_METHODS, *self.JOIN_SIDES, *self.JOIN_KINDS)
        at = self._index
        while at < len(self._tokens) and self._tokens[at].token_type in kinds:
            at += 1
        is_join = at < len(self._tokens) and self._tokens[at].token_type == TokenType.JOIN
        # Side before kind, as a reader takes them: LEFT ANTI is about ANTI.
        return list(self._tokens[self._index : at]) if is_join else []

    def _parse_function_call(self, *args: Any, **named: Any) -> Any:
        """What a function was called stays known: several names may become one node."""
        token = self._curr
        found = super()._parse_function_call(*args, **named)  # type: ignore[misc]
        if found is not None:
            found.meta["called"] = token.text
        return found

    def _parse_window(self, this: Any, alias: bool = False) -> Any:
        token = self._curr
        word = token.text.upper() if token else ""
        has_bracket = self._next is not None and self._next.token_type == TokenType.L_PAREN
        if word == "OVER":
            hint = "GROUP BY, ORDER BY … LIMIT or PREVIOUS(column) may do it"
            raise self.refuse("query.unsupported", "OVER is not supported", hint, token)
        if word == "FILTER" and has_bracket:
            hint = "aggregate CASE WHEN … THEN … END"
            raise self.refuse("query.unsupported", "FILTER is not supported", hint, token)
        if word == "WITHIN" and isinstance(this, exp.PercentileCont) and self._next is not None:
            return self._within_group(this)
        if word == "WITHIN" and self._next is not None and self._next.text.upper() == "GROUP":
            hint = "ORDER BY … LIMIT n may do it"
            raise self.refuse("query.unsupported", "WITHIN GROUP is not supported", hint, token)
        return super()._parse_window(this, alias)  # type: ignore[misc]

    def _within_group(self, called: exp.Expr) -> exp.Expr:
        """PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x) is PERCENTILE(x, 0.9)."""
        self._advance()
        self._expect(self._match_text_seq("GROUP"), "GROUP")
        self._expect(self._match(TokenType.L_PAREN), "(")
        self._expect(self._match(TokenType.ORDER_BY), "ORDER BY")
        value = self._parse_bitwise()
        self._expect(value, "what is ordered")
        part = called.this
        if self._match(TokenType.DESC):
            token = self._prev
            hint = "write ORDER BY x, and the part of the way from the least on"
            raise self.refuse("query.unsupported", "DESC in WITHIN GROUP is not supported", hint, token)
        self._match(TokenType.ASC)
        self._match_r_paren()
        found = exp.Quantile(this=value, quantile=part)
        found.meta.update(called.meta)
        return found
