"""Our SQL as a sqlglot dialect: Spark's, with the papers' clauses and our statements.

`INSIDE` is a keyword with two roles: a clause of SELECT (`FROM taxi INSIDE (0, 0, 10, 10)`) and an
operator in WHERE (`o.location INSIDE t.region`). It borrows a token type that Spark's dialect does
not use, since sqlglot's token types are a closed set.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from sanderling.errors import Place, QueryError
from sanderling.language.coverages import CoverageParser
from sanderling.language.statements import (
    At,
    ColumnDef,
    CreateRegion,
    CreateStream,
    CreateTable,
    DescribeQuery,
    Drop,
    Explain,
    Name,
    RegisterQuery,
    Show,
    Span,
    Statement,
    Value,
)

OUR_CLAUSE = TokenType.PREWHERE
NOT_YET = {"KNN": "kNN", "WINDOW": "WINDOW"}
KINDS = ("STREAM", "TABLE", "REGION", "QUERY")
PLURALS = ("STREAMS", "TABLES", "REGIONS", "QUERIES")


class LocationInside(exp.Expression, exp.Predicate):
    """`o.location INSIDE t.region` in a WHERE clause."""

    arg_types = {"this": True, "expression": True}


class Sanderling(Spark):
    """Spark's SQL with INSIDE and our statements."""

    class Tokenizer(Spark.Tokenizer):
        KEYWORDS = {**Spark.Tokenizer.KEYWORDS, "INSIDE": OUR_CLAUSE, "KNN": OUR_CLAUSE}
        # None of Spark's commands: they would swallow the rest of the line as a string.
        COMMANDS: set[TokenType] = set()

    class Parser(CoverageParser, Spark.Parser):
        QUERY_MODIFIER_PARSERS = {
            **Spark.Parser.QUERY_MODIFIER_PARSERS,
            OUR_CLAUSE: lambda self: self._parse_our_clause(),
            TokenType.WINDOW: lambda self: self._parse_our_clause(),
        }
        QUERY_MODIFIER_TOKENS = set(QUERY_MODIFIER_PARSERS)
        RANGE_PARSERS = {
            **Spark.Parser.RANGE_PARSERS,
            OUR_CLAUSE: lambda self, this: self._parse_inside_operator(this),
        }

        # ----- positions and errors

        def raise_error(self, message: str, token: Any = None) -> None:
            # Remembered by character, since sqlglot reports only where a token ends.
            self.failed_at = token or self._curr or self._prev
            super().raise_error(message, self.failed_at)

        def refuse(self, code: str, message: str, hint: str, first: Token, last: Token | None = None) -> QueryError:
            end = (last or first).end + 1
            return QueryError(code, message, hint, Place.in_text(self.sql, first.start, end))

        def _name(self, what: str) -> Name:
            token = self._curr
            identifier = self._parse_id_var(any_token=False)
            if not identifier:
                self.raise_error(f"Expected {what}")
            return Name(identifier.name, Span(token.start, token.end + 1))

        def _span_from(self, first: Token) -> Span:
            return Span(first.start, self._prev.end + 1)

        # ----- clauses of SELECT

        def _parse_our_clause(self) -> tuple[str, Any]:
            self._advance()
            token = self._prev
            word = token.text.upper()
            if word in NOT_YET:
                raise self.refuse(
                    "query.unsupported", f"{NOT_YET[word]} is not supported yet", "remove the clause", token
                )
            return "inside", self._parse_inside_target()

        def _parse_inside_operator(self, this: exp.Expr | None) -> exp.Expr | None:
            if isinstance(this, exp.Column) and this.name.casefold() == "location":
                return self.expression(LocationInside(this=this, expression=self._parse_column()))
            # The clause begins here: give the keyword back.
            self._retreat(self._index - 1)
            return None

        # ----- statements

        def _parse_our_statement(self) -> Statement | None:
            if not self._curr:
                return None
            first = self._curr
            if self._match_text_seq("AT"):
                return self._parse_at(first)
            if self._match_text_seq("CREATE"):
                return self._parse_our_create(first)
            if self._match_text_seq("DROP"):
                return Drop(self._one_of(KINDS), self._name("a name"), self._span_from(first))
            if self._match_text_seq("SHOW"):
                return Show(self._one_of(PLURALS), self._span_from(first))
            if self._match_text_seq("DESCRIBE") or self._match_text_seq("DESC"):
                self._one_of(("QUERY",))
                return DescribeQuery(self._name("a query's name"), self._span_from(first))
            if self._match_text_seq("EXPLAIN"):
                return Explain(self._name("a query's name"), self._span_from(first))
            if self._match_text_seq("REGISTER"):
                return self._parse_register(first)
            raise self.refuse(
                "query.unknown_statement",
                f'no statement begins with "{first.text}"',
                "statements begin with CREATE, DROP, REGISTER QUERY, SHOW, DESCRIBE QUERY, EXPLAIN or AT",
                first,
            )

        def _one_of(self, words: tuple[str, ...]) -> str:
            for word in words:
                if self._match_text_seq(word):
                    return word
            self.raise_error(f"Expected {' or '.join(words)}")
            raise AssertionError  # raise_error does not return at this error level

        def _parse_at(self, first: Token) -> At:
            time = self._value("a timestamp in quotes")
            inner = self._parse_our_statement()
            if inner is None:
                self.raise_error("Expected a statement after AT and its time")
            assert inner is not None
            return At(time, inner, self._span_from(first))

        def _parse_our_create(self, first: Token) -> Statement:
            kind = self._one_of(("STREAM", "TABLE", "REGION"))
            name = self._name(f"a {kind.lower()}'s name")
            if kind == "REGION":
                self._match_text_seq("AS") or self.raise_error("Expected AS")
                return CreateRegion(name, self._parse_coverage(), self._span_from(first))
            columns = self._column_defs()
            clauses = self._clauses(kind, name)
            if kind == "TABLE":
                return CreateTable(
                    name, columns, clauses["KEY"], clauses.get("LOCATION"), clauses.get("WITH", {}),
                    self._span_from(first),
                )  # fmt: skip
            return CreateStream(
                name, columns, clauses["KEY"], clauses["TIME"], clauses["LOCATION"], clauses.get("GONE"),
                clauses.get("WITH", {}), self._span_from(first),
            )  # fmt: skip

        def _column_defs(self) -> tuple[ColumnDef, ...]:
            if not self._match(TokenType.L_PAREN):
                return ()
            columns = [self._column_def()]
            while self._match(TokenType.COMMA):
                columns.append(self._column_def())
            self._match_r_paren()
            return tuple(columns)

        def _column_def(self) -> ColumnDef:
            name = self._name("a column's name")
            token = self._curr
            if not token or token.token_type in (TokenType.COMMA, TokenType.R_PAREN):
                self.raise_error("Expected a column's type")
            self._advance()
            if self._match(TokenType.L_PAREN):  # VARCHAR(20): the length carries no meaning
                self._parse_number()
                self._match_r_paren()
            return ColumnDef(name, Name(token.text, Span(token.start, token.end + 1)))

        def _clauses(self, kind: str, name: Name) -> dict[str, Any]:
            """KEY, TIME, LOCATION, GONE and WITH in any order, each at most once."""
            allowed = ("KEY", "LOCATION", "WITH") if kind == "TABLE" else ("KEY", "TIME", "LOCATION", "GONE", "WITH")
            clauses: dict[str, Any] = {}
            while self._curr:
                token = self._curr
                word = self._one_of(allowed)
                if word in clauses:
                    raise self.refuse(
                        "query.duplicate_clause", f"{word} stands twice", f"keep one {word} clause", token
                    )
                clauses[word] = self._clause_body(word)
            for word in ("KEY",) if kind == "TABLE" else ("KEY", "TIME", "LOCATION"):
                if word not in clauses:
                    raise QueryError(
                        "query.missing_clause",
                        f'{kind.lower()} "{name.text}" has no {word} clause',
                        f"add {word} and the column{'s' if word == 'LOCATION' else ''} it names",
                        Place.in_text(self.sql, name.span.start, name.span.end),
                    )
            return clauses

        def _clause_body(self, word: str) -> Any:
            if word == "WITH":
                return self._options()
            if word != "LOCATION":
                return self._name("a column's name")
            self._match_l_paren()
            x = self._name("a column's name")
            self._match(TokenType.COMMA) or self.raise_error("Expected a comma and the second column")
            y = self._name("a column's name")
            self._match_r_paren()
            return (x, y)

        def _options(self) -> dict[str, tuple[Name, Value]]:
            self._match_l_paren()
            options: dict[str, tuple[Name, Value]] = {}
            while True:
                token = self._curr
                name = self._name("an option's name")
                self._match(TokenType.EQ) or self.raise_error("Expected =")
                if name.text.lower() in options:
                    raise self.refuse(
                        "query.duplicate_clause", f'option "{name.text}" stands twice', "keep one of them", token
                    )
                options[name.text.lower()] = (name, self._value("a string or a number"))
                if not self._match(TokenType.COMMA):
                    break
            self._match_r_paren()
            return options

        def _parse_register(self, first: Token) -> RegisterQuery:
            self._one_of(("QUERY",))
            name = self._name("a query's name")
            self._match_text_seq("AS") or self.raise_error("Expected AS")
            body = self._curr
            select = self._parse_select()
            if not isinstance(select, exp.Select):
                self.raise_error("Expected SELECT", body)
            span = self._span_from(first)
            inside = select.args.pop("inside", None)
            return RegisterQuery(name, select, inside, self.sql[body.start : span.end], span)
