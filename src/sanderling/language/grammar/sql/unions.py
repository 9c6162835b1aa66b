"""Queries in brackets, and UNION, INTERSECT and EXCEPT of them. A mix-in of the dialect's parser."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import QueryError
from sanderling.language.grammar.mixin import Mixin

OF_THE_WHOLE = ("order", "limit", "persistency")
# What sqlglot keeps of each besides the clauses behind it.
OWN_PARTS = ("this", "expression", "distinct", "alias", "pivots", "sample", "with_")


class UnionParser(Mixin):
    """Reads what may stand where a SELECT may; to be mixed into a sqlglot parser."""

    def _parse_whole_query(self) -> Any:
        """A SELECT, or several; brackets around all of it are taken off."""
        query = self._parse_select(nested=True, parse_subquery_alias=False)
        if isinstance(query, exp.Subquery):
            query = self._parse_query_modifiers(self._parse_set_operations(query))
        while isinstance(query, exp.Subquery) and query.is_wrapper:
            query = query.this
        return query

    def parse_set_operation(self, this: Any, *args: Any, **named: Any) -> Any:
        token = self._curr
        found = super().parse_set_operation(this, *args, **named)  # type: ignore[misc]
        if found is not None and any(found.args.get(part) for part in ("by_name", "side", "kind", "on")):
            message = f"{found.key.upper()} goes by the places of columns"
            hint = "leave out the names, and let both list their columns in the same order"
            raise self.refuse("query.unsupported", message, hint, token)
        return found

    def _parse_query_modifiers(self, this: Any) -> Any:
        begin = self._index
        this = super()._parse_query_modifiers(this)  # type: ignore[misc]
        if isinstance(this, (exp.Subquery, exp.SetOperation)):
            stray = [part for part, value in this.args.items() if value and part not in OWN_PARTS]
            if any(part not in OF_THE_WHOLE for part in stray):
                raise self._stray(self._tokens[begin : self._index])
        return this

    def _stray(self, tokens: list[Token]) -> QueryError:
        """Of clauses behind a query in brackets, the first that is about one SELECT."""
        whole = (TokenType.ORDER_BY, TokenType.LIMIT)
        clauses = [t for t in tokens if t.token_type in self.QUERY_MODIFIER_PARSERS]
        clauses = [t for t in clauses if t.text.upper() != "PERSISTENCY"]
        token = next((t for t in clauses if t.token_type not in whole), tokens[0])
        hint = "write it inside the brackets; ORDER BY … LIMIT and PERSISTENCY may stand behind them"
        message = f"{token.text.upper()} belongs to one SELECT"
        return self.refuse("query.unsupported", message, hint, token)  # type: ignore[no-any-return]
