"""Our SQL as a sqlglot dialect: Spark's, with the papers' clauses and our statements.

`INSIDE` is a keyword with two roles: a clause of SELECT (`FROM taxi INSIDE (0, 0, 10, 10)`) and an
operator in WHERE (`o.location INSIDE t.region`); `kNN` and `PERSISTENCY` are clauses. They borrow a
token type that Spark's dialect does not use, since sqlglot's token types are a closed set.
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, ParseError
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import Place, QueryError, did_you_mean
from sanderling.language.forms import STATEMENTS
from sanderling.language.grammar.archives import ArchiveParser
from sanderling.language.grammar.changes import FIRST_WORDS, ChangeParser
from sanderling.language.grammar.nearest import NearestParser
from sanderling.language.grammar.pattern.pattern import PatternParser
from sanderling.language.grammar.pattern.persistency import PersistencyParser
from sanderling.language.grammar.pattern.synchronize import SynchronizeParser
from sanderling.language.grammar.space.coverages import CoverageParser
from sanderling.language.grammar.space.swelling import SwellingParser
from sanderling.language.grammar.sql.elsewhere import ElsewhereParser
from sanderling.language.grammar.sql.refusals import RefusalParser
from sanderling.language.grammar.sql.unions import UnionParser
from sanderling.language.grammar.sql.with_clause import WithParser
from sanderling.language.grammar.times import TimesParser
from sanderling.language.grammar.trigger import TriggerParser
from sanderling.language.grammar.window.brackets import BracketParser
from sanderling.language.statements import (
    Ask,
    At,
    ColumnDef,
    CreateRegion,
    CreateStream,
    CreateTable,
    DescribeDeclared,
    DescribeQuery,
    DescribeRegion,
    Drop,
    Explain,
    Name,
    RegisterPattern,
    RegisterQueries,
    RegisterQuery,
    Replace,
    Show,
    Span,
    Statement,
    Value,
)
from sanderling.types import ALIASES, TYPES

OUR_CLAUSE = TokenType.PREWHERE
QUERY_BEGINS = (TokenType.SELECT, TokenType.L_PAREN, TokenType.WITH)
KINDS = ("STREAM", "TABLE", "REGION", "ARCHIVE", "QUERY", "TRIGGER", "PATTERN")
NO_TYPES = (TokenType.COMMA, TokenType.L_PAREN, TokenType.R_PAREN, TokenType.STRING, TokenType.NUMBER)
PLURALS = ("STREAMS", "TABLES", "REGIONS", "ARCHIVES", "QUERIES", "TRIGGERS", "PATTERNS")


class LocationInside(exp.Expression, exp.Predicate):
    """`o.location INSIDE …` in a WHERE clause; the target is a column, or an `InsideTarget`."""

    arg_types: ClassVar = {"this": True, "expression": True}


class Sanderling(Spark):
    """Spark's SQL with INSIDE, kNN, WINDOW and our statements."""

    class Tokenizer(Spark.Tokenizer):
        KEYWORDS: ClassVar = {
            **Spark.Tokenizer.KEYWORDS,
            "INSIDE": OUR_CLAUSE,
            "KNN": OUR_CLAUSE,
            "PERSISTENCY": OUR_CLAUSE,
        }
        # As Spark 4 and the standard have it: 'O''Brien' is one text, not two put together.
        STRING_ESCAPES: ClassVar = ["'", "\\"]
        # None of Spark's commands: they would swallow the rest of the line as a string.
        COMMANDS: ClassVar[set[TokenType]] = set()

    class Parser(
        ArchiveParser,
        SwellingParser,
        BracketParser,
        TimesParser,
        CoverageParser,
        NearestParser,
        PersistencyParser,
        ElsewhereParser,
        RefusalParser,
        UnionParser,
        WithParser,
        SynchronizeParser,
        ChangeParser,
        TriggerParser,
        PatternParser,
        Spark.Parser,  # type: ignore[valid-type, misc]
    ):
        # What is not ours is refused where it stands; sqlglot would take it, and nobody would look at it.
        QUERY_MODIFIER_PARSERS: ClassVar = {
            **dict.fromkeys(Spark.Parser.QUERY_MODIFIER_PARSERS, lambda self: self._refuse_clause()),
            **{
                kind: Spark.Parser.QUERY_MODIFIER_PARSERS[kind]
                for kind in (
                    TokenType.WHERE,
                    TokenType.GROUP_BY,
                    TokenType.HAVING,
                    TokenType.ORDER_BY,
                    TokenType.LIMIT,
                )
            },
            OUR_CLAUSE: lambda self: self._parse_our_clause(),
            TokenType.WINDOW: lambda self: self._parse_window_of_ours(),
        }
        QUERY_MODIFIER_TOKENS: ClassVar = set(QUERY_MODIFIER_PARSERS)
        SET_OP_MODIFIERS: ClassVar = {*Spark.Parser.SET_OP_MODIFIERS, "persistency"}
        RANGE_PARSERS: ClassVar = {
            **Spark.Parser.RANGE_PARSERS,
            OUR_CLAUSE: lambda self, this: self._parse_inside_operator(this),
        }

        # ----- positions and errors

        def raise_error(self, message: str, token: Any = None) -> None:
            # Remembered by character, since sqlglot reports only where a token ends.
            self.failed_at = token or self._curr or self._prev
            if message.startswith("Found multiple"):
                word = self.failed_at.text.upper()
                raise self._refusal(
                    "query.duplicate_clause", f"{word} stands twice", f"keep one {word} clause"
                )
            if message.startswith("Expected TYPE") and self._curr:
                raise self._refusal("query.unknown_type", *unknown_type(self._curr.text))
            if message.startswith("Expected table name but got"):  # a token, as Python shows it
                message = "Expected the name of a stream, a table or a query"
            if not self._curr and not token:
                message = f"{message}, but the statement ends"
            super().raise_error(message, self.failed_at)

        def _expect(self, is_there: object, what: str) -> None:
            if not is_there:
                self.raise_error(f"Expected {what}")

        def _refusal(self, code: str, message: str, hint: str) -> ParseError:
            """An error of ours that sqlglot may still catch, where it only tries one reading of the text."""
            error = ParseError(message)
            error.refusal = self.refuse(code, message, hint, self.failed_at)  # type: ignore[attr-defined]
            return error

        def refuse(
            self, code: str, message: str, hint: str, first: Token, last: Token | None = None
        ) -> QueryError:
            end = (last or first).end + 1
            return QueryError(code, message, hint, Place.in_text(self.sql, first.start, end))

        def validate_expression(self, expression: Any, args: list[Any] | None = None) -> Any:
            if self.error_level == ErrorLevel.IGNORE or not expression.error_messages(args):
                return expression
            if args is None:
                self.raise_error("Something is missing")
            self.failed_at = self._name_of_call()
            name = self.failed_at.text
            raise self._refusal(
                "query.wrong_argument_count", f"{name} cannot be called with {len(args or ())} arguments",
                f"look up what {name} takes",
            )  # fmt: skip

        def _name_of_call(self) -> Token:
            """The name before the bracket that is open here."""
            depth, at = 0, self._index - 1
            while at > 0:
                kind = self._tokens[at].token_type
                if kind == TokenType.L_PAREN and depth == 0:
                    return cast(Token, self._tokens[at - 1])
                depth += {TokenType.R_PAREN: 1, TokenType.L_PAREN: -1}.get(kind, 0)
                at -= 1
            return cast(Token, self._prev)

        def _name(self, what: str) -> Name:
            token = self._curr
            identifier = self._parse_id_var(any_token=False)
            if not identifier:
                if token and token.text.isidentifier() and token.token_type != TokenType.STRING:
                    hint = f"choose another name, or write it as `{token.text}`"
                    raise self.refuse(
                        "query.syntax", f"expected {what}, {token.text} is a word of SQL", hint, token
                    )
                self.raise_error(f"Expected {what}")
            if not identifier.name:
                raise self.refuse("query.syntax", f"{what} cannot be empty", "write a name", token)
            return Name(identifier.name, Span(token.start, token.end + 1))

        def _span_from(self, first: Token) -> Span:
            return Span(first.start, self._prev.end + 1)

        def _parse_csv(self, parse_method: Any, sep: TokenType = TokenType.COMMA) -> list[Any]:
            """As sqlglot's, but what a comma announces has to come."""
            item = parse_method()
            items = [] if item is None else [item]
            while self._match(sep):
                comma = self._prev
                following = parse_method()
                if item is None or following is None:
                    self.raise_error("Something is missing beside this comma", comma)
                items.append(following)
                item = following
            return items

        def _parse_join(self, *args: Any, **named: Any) -> Any:
            first = self._curr
            join = super()._parse_join(*args, **named)
            if first and first.token_type == TokenType.COMMA and join is None:
                self.raise_error("Something is missing beside this comma", first)
            return join

        def _parse_table_alias(self, *args: Any, **named: Any) -> Any:
            first = self._curr
            alias = super()._parse_table_alias(*args, **named)
            if first and first.token_type == TokenType.ALIAS and not (alias and alias.this):
                self.raise_error("Expected a name after AS", first)
            return alias

        def _parse_types(self, check_func: bool = False, *args: Any, **named: Any) -> Any:
            token = self._curr
            is_text = bool(token) and token.text.upper() in ("VARCHAR", "CHAR", "CHARACTER")
            if is_text and not check_func and self._next and self._next.token_type == TokenType.L_PAREN:
                # Spark's dialect forgets the length.
                raise self.refuse(
                    "query.unsupported", f"{token.text} with a length is not supported here",
                    "CAST to STRING, and take LEFT of it", token,
                )  # fmt: skip
            return super()._parse_types(check_func, *args, **named)

        # ----- clauses of SELECT

        def _parse_our_clause(self) -> tuple[str, Any]:
            self._advance()
            if self._prev.text.upper() == "KNN":
                return "nearest", self._parse_nearest()
            if self._prev.text.upper() == "PERSISTENCY":
                return "persistency", self._parse_persistency()
            return "inside", self._parse_inside_target()

        def _parse_inside_operator(self, this: exp.Expr | None) -> exp.Expr | None:
            before = self._tokens[self._index - 2]
            is_inside = self._prev.text.upper() == "INSIDE"
            if is_inside and before.token_type == TokenType.NOT:
                raise self.refuse(
                    "query.unsupported",
                    "NOT INSIDE is not supported yet",
                    "write INSIDE EXTERIOR OF and the region",
                    before,
                    self._prev,
                )
            if is_inside and isinstance(this, exp.Column) and this.name.casefold() == "location":
                return self._inside_of(this, self._parse_operator_target())
            # The clause begins here: give the keyword back.
            self._retreat(self._index - 1)
            return None

        def _inside_of(self, location: exp.Expr, target: Any) -> exp.Expr:
            return cast(exp.Expr, self.expression(LocationInside(this=location, expression=target)))

        def _parse_operator_target(self) -> Any:
            if self._match(TokenType.L_PAREN, advance=False) or self._is_coverage():
                return self._parse_inside_target()
            column = self._parse_column()
            self._refuse_motion()
            return column

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
            if first.text.upper() in FIRST_WORDS:
                return self._parse_table_change(first)
            if self._match_text_seq("SHOW"):
                return Show(self._one_of(PLURALS), self._span_from(first))
            if self._match_text_seq("DESCRIBE") or self._match_text_seq("DESC"):
                kind = self._one_of(("QUERY", "TRIGGER", "PATTERN", "REGION", "ARCHIVE", "STREAM", "TABLE"))
                if kind == "REGION":
                    return DescribeRegion(self._name("a region's name"), self._span_from(first))
                if kind == "ARCHIVE":
                    return self._parse_describe_archive(first)
                if kind in ("STREAM", "TABLE"):
                    name = self._name(f"a {kind.lower()}'s name")
                    return DescribeDeclared(kind.lower(), name, self._span_from(first))
                return DescribeQuery(self._name("a query's name"), self._span_from(first))
            if self._match_text_seq("EXPLAIN"):
                # A query may have this name.
                is_analyze = bool(self._next) and self._match_text_seq("ANALYZE")
                return Explain(self._name("a query's name"), self._span_from(first), bool(is_analyze))
            if self._match_text_seq("REGISTER"):
                return self._parse_register(first)
            if self._match_text_seq("REPLACE"):
                return self._parse_replace(first)
            if first.token_type in QUERY_BEGINS or self._is_synchronize():
                return self._parse_ask(first)
            raise self.refuse(
                "query.unknown_statement",
                f'no statement begins with "{first.text}"',
                STATEMENTS,
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
            kind = self._one_of(("STREAM", "TABLE", "REGION", "ARCHIVE", "TRIGGER"))
            name = self._name(f"{'an' if kind == 'ARCHIVE' else 'a'} {kind.lower()}'s name")
            if kind == "ARCHIVE":
                return self._parse_archive(name, first)
            if kind == "TRIGGER":
                return self._parse_trigger(name, first)
            if kind == "REGION":
                self._expect(self._match_text_seq("AS"), "AS")
                return CreateRegion(name, self._parse_region(), self._span_from(first))
            columns = self._column_defs()
            clauses = self._clauses(kind, name)
            if kind == "TABLE":
                return CreateTable(
                    name, columns, clauses["KEY"], clauses.get("LOCATION"), clauses.get("WITH", {}),
                    self._span_from(first), "ON GLOBE" in clauses,
                )  # fmt: skip
            return CreateStream(
                name, columns, clauses["KEY"], clauses["TIME"], clauses["LOCATION"], clauses.get("GONE"),
                clauses.get("WITH", {}), self._span_from(first), "ON GLOBE" in clauses,
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
            if not token or token.token_type in NO_TYPES:
                self.raise_error("Expected a column's type")
            self._advance()
            has_length = token.text.upper() in ("VARCHAR", "CHAR") and self._match(TokenType.L_PAREN)
            if has_length:  # VARCHAR(20): an upper bound that the data keeps by itself
                self._expect(self._match(TokenType.NUMBER), "a length")
                self._match_r_paren()
            return ColumnDef(name, Name(token.text, Span(token.start, token.end + 1)))

        def _clauses(self, kind: str, name: Name) -> dict[str, Any]:
            """KEY, TIME, LOCATION, GONE and WITH in any order, each at most once."""
            allowed = (
                ("KEY", "LOCATION", "WITH")
                if kind == "TABLE"
                else ("KEY", "TIME", "LOCATION", "GONE", "WITH")
            )
            clauses: dict[str, Any] = {}
            while self._curr:
                token = self._curr
                word = self._one_of(allowed)
                if word in clauses:
                    raise self.refuse(
                        "query.duplicate_clause", f"{word} stands twice", f"keep one {word} clause", token
                    )
                clauses[word] = self._clause_body(word)
                if word == "LOCATION" and self._match_text_seq("ON"):
                    self._expect(self._match_text_seq("GLOBE"), "GLOBE")
                    clauses["ON GLOBE"] = True
            for word in ("KEY",) if kind == "TABLE" else ("KEY", "TIME", "LOCATION"):
                if word not in clauses:
                    raise QueryError(
                        "query.missing_clause",
                        f'{kind.lower()} "{name.text}" has no {word} clause',
                        f"add {word} and the column{'s' if word == 'LOCATION' else ''} it names",
                        name.span.place_in(self.sql),
                    )
            return clauses

        def _clause_body(self, word: str) -> Any:
            if word == "WITH":
                return self._options()
            if word != "LOCATION":
                return self._name("a column's name")
            self._match_l_paren()
            x = self._name("a column's name")
            self._expect(self._match(TokenType.COMMA), "a comma and the second column")
            y = self._name("a column's name")
            self._match_r_paren()
            return (x, y)

        def _options(self) -> dict[str, tuple[Name, Value]]:
            self._match_l_paren()
            options: dict[str, tuple[Name, Value]] = {}
            while True:
                token = self._curr
                name = self._name("an option's name")
                self._expect(self._match(TokenType.EQ), "=")
                if name.text.lower() in options:
                    raise self.refuse(
                        "query.duplicate_clause",
                        f'option "{name.text}" stands twice',
                        "keep one of them",
                        token,
                    )
                options[name.text.lower()] = (name, self._option_value())
                if not self._match(TokenType.COMMA):
                    break
            self._match_r_paren()
            return options

        def _option_value(self) -> Value:
            """A number may have a unit."""
            token = self._curr
            if self._match_set((TokenType.TRUE, TokenType.FALSE)):
                span = Span(token.start, token.end + 1)
                return Value(token.token_type == TokenType.TRUE, span)
            return self._with_unit(self._value("a string or a number"))

        def _parse_register(self, first: Token) -> RegisterQuery | RegisterQueries | RegisterPattern:
            kind = self._one_of(("QUERY", "QUERIES", "PATTERN"))
            if kind == "QUERIES":
                return self._parse_register_queries(first)
            name = self._name(f"a {kind.lower()}'s name")
            self._expect(self._match_text_seq("AS"), "AS")
            if kind == "PATTERN":
                return self._parse_pattern(name, first)
            return self._parse_query(name, first)

        def _parse_replace(self, first: Token) -> Replace:
            kind = self._one_of(("QUERY", "PATTERN"))
            name = self._name(f"a {kind.lower()}'s name")
            self._expect(self._match_text_seq("AS"), "AS")
            parse = self._parse_pattern if kind == "PATTERN" else self._parse_query
            return Replace(parse(name, first), self._span_from(first))

        def _parse_register_queries(self, first: Token) -> RegisterQueries:
            self._expect(self._match_text_seq("FROM"), "FROM")
            self._expect(self._curr and self._curr.token_type == TokenType.STRING, "a path in quotes")
            path = self._value("a path in quotes")
            options = self._options() if self._match_text_seq("WITH") else {}
            return RegisterQueries(path, options, self._span_from(first))

        def _parse_template(self) -> RegisterQuery | RegisterPattern:
            """A SELECT by itself, or PATTERN and what it is; its name stands elsewhere."""
            first = self._curr
            if self._match_text_seq("PATTERN"):
                return self._parse_pattern(Name("", Span(first.start, first.end + 1)), first)
            if first.text.upper() == "FOR":
                hint = "write CREATE TRIGGER for each: those of one shape are read once"
                raise self.refuse("query.unsupported", "a query table holds no triggers", hint, first)
            return self._parse_query(Name("", Span(first.start, first.end + 1)), first)

        def _parse_ask(self, first: Token) -> Ask:
            self.asked_at = self._index
            query = self._parse_query(Name("SELECT", Span(first.start, first.end + 1)), first)
            return Ask(query, query.span)

        def _parse_query(self, name: Name, first: Token) -> RegisterQuery:
            body = self._curr
            is_begun = body and body.token_type in QUERY_BEGINS
            if not is_begun and not self._is_synchronize():
                self.raise_error("Expected SELECT")
            if self._next and self._next.token_type == TokenType.HINT:
                self._advance()
                self._refuse_clause()
            if self._next and self._next.token_type == TokenType.ALIAS:
                self.raise_error("Expected a column before AS", self._next)
            select = self._parse_select_here() if self._is_synchronize() else self._parse_whole_query()
            if not isinstance(select, (exp.Select, exp.SetOperation, exp.Subquery)):
                self.raise_error("Expected SELECT", body)
            span = self._span_from(first)
            inside, nearest = select.args.pop("inside", None), select.args.pop("nearest", None)
            window = select.args.pop("our_window", None)
            return RegisterQuery(name, select, inside, self.sql[body.start : span.end], span, nearest, window)


def unknown_type(name: str) -> tuple[str, str]:
    """What is wrong with a type of this name, and what would be right."""
    return f'no type is named "{name}"', did_you_mean(name, [*TYPES, *ALIASES]) or "types: " + ", ".join(
        TYPES
    )
