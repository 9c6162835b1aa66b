"""WITH name AS (SELECT …) before a query. A mix-in of the dialect's parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sanderling.language.grammar.mixin import Mixin
from sanderling.language.statements import Name


class WithParser(Mixin):
    """Reads WITH where it may stand: first of all, or in brackets; to be mixed into a sqlglot parser."""

    def _parse_select_query(self, *args: Any, **named: Any) -> Any:
        token = self._curr
        if not token or token.token_type != TokenType.WITH:
            return super()._parse_select_query(*args, **named)  # type: ignore[misc]
        is_first = self._index in (0, self.asked_at)
        if not is_first and self._prev.token_type not in (TokenType.L_PAREN, TokenType.ALIAS):
            hint = "write it before all of them, or put brackets around it: (WITH … SELECT …)"
            raise self.refuse("query.unsupported", "WITH stands before a whole query", hint, token)
        self._advance()
        self._refuse_recursive()
        clause = self.expression(exp.With(expressions=self._parse_given()))
        return self.expression(exp.Subquery(this=self._parse_select_here(), with_=clause))

    def _refuse_recursive(self) -> None:
        token, following = self._curr, self._next
        is_name = following and following.token_type in (TokenType.ALIAS, TokenType.L_PAREN)
        if token and token.text.upper() == "RECURSIVE" and not is_name:
            hint = "a query reads those before it; write as many steps as there are, each by its own name"
            raise self.refuse("query.unsupported", "RECURSIVE is not supported", hint, token)

    def _parse_given(self) -> list[exp.Expr]:
        """name [(column, …)] AS (SELECT …), …"""
        found: dict[str, exp.Expr] = {}
        while True:
            token = self._curr
            name = self._name("a name for a query")
            if name.text.casefold() in found:
                message = f'two queries of WITH are named "{name.text}"'
                raise self.refuse("query.duplicate_name", message, "give one another name", token)
            columns = self._parse_columns()
            self._expect(self._match_text_seq("AS"), "AS (SELECT …)")
            self._match_l_paren()
            query = self._parse_select_here()
            self._match_r_paren()
            found[name.text.casefold()] = self._given(name, query, columns)
            if not self._match(TokenType.COMMA):
                return list(found.values())

    def _given(self, name: Name, query: exp.Query, columns: Sequence[Name] = ()) -> exp.Expr:
        alias = exp.TableAlias(this=_identifier(name), columns=[_identifier(c) for c in columns])
        given: exp.Expr = self.expression(exp.CTE(this=query, alias=alias))
        return given

    def _parse_columns(self) -> list[Name]:
        if not self._match(TokenType.L_PAREN):
            return []
        columns = [self._name("a column's name")]
        while self._match(TokenType.COMMA):
            columns.append(self._name("a column's name"))
        self._match_r_paren()
        return columns

    def _parse_select_here(self) -> Any:
        token = self._curr
        if self._is_synchronize():
            return self._parse_synchronize()
        begins = (TokenType.SELECT, TokenType.L_PAREN, TokenType.WITH)
        self._expect(token and token.token_type in begins, "SELECT")
        query = self._parse_whole_query()
        if not isinstance(query, exp.Query):
            self.raise_error("Expected SELECT", token)
        return query


def _identifier(name: Name) -> exp.Identifier:
    identifier = exp.to_identifier(name.text, quoted=True)
    identifier.meta.update(start=name.span.start, end=name.span.end - 1)
    return identifier
