"""Text to statements, one at a time; what sqlglot refuses is told in our words and place."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.errors import ODD_CHARACTER, Place, QueryError
from sanderling.language.forms import form_of
from sanderling.language.grammar.dialect import Sanderling
from sanderling.language.grammar.pattern.named_steps import STEP_ENDS
from sanderling.language.grammar.sql.elsewhere import hint_of
from sanderling.language.statements import RegisterPattern, RegisterQuery, Statement

# Frames for brackets in brackets; sqlglot takes about twenty for each.
DEEP = 20_000


def parse_script(text: str) -> Iterator[Statement]:
    """The statements of a script, in order; spans count from the script's first character."""
    for tokens in split(tokens_of(text)):
        yield parse_tokens(text, tokens)


def parse_statement(text: str) -> Statement:
    """The one statement of a text."""
    return _the_one(list(parse_script(text)), text)


def parse_template(text: str) -> RegisterQuery | RegisterPattern:
    """The SELECT that a text is, as if REGISTER QUERY stood before it; or the pattern, behind PATTERN."""
    statement = _the_one([parse_tokens(text, t, "_parse_template") for t in split(tokens_of(text))], text)
    return cast(RegisterQuery | RegisterPattern, statement)


def _the_one(statements: list[Statement], text: str) -> Statement:
    if len(statements) != 1:
        place = Place.in_text(text, 0, len(text))
        hint = "write one statement at a time"
        raise QueryError("query.syntax", f"expected one statement, found {len(statements)}", hint, place)
    return statements[0]


def tokens_of(text: str) -> list[Token]:
    """Its words; refuses what cannot be cut into words, and numbers that are none."""
    refuse_odd_characters(text)
    try:
        tokens = list(Sanderling().tokenize(text))
    except TokenError as e:
        # sqlglot names no token here: the text ended inside a quote or a comment.
        start = _unclosed_quote(text)
        place = Place.in_text(text, start, start + 1)
        hint = "close the quote or the comment"
        raise QueryError("query.syntax", "the text ends inside a quote or a comment", hint, place) from e
    check_numbers(text, tokens)
    return tokens


def check_numbers(text: str, tokens: list[Token]) -> None:
    """Refuses the first that is none, or too large."""
    for token in tokens:
        if token.token_type == TokenType.NUMBER:
            _check_number(text, token)


def refuse_odd_characters(text: str) -> None:
    """What no engine below takes."""
    odd = ODD_CHARACTER.search(text)
    if odd is not None:
        at = odd.start()
        place = Place.in_text(text, at, at + 1)
        raise QueryError(
            "query.syntax", f"the character {text[at]!r} cannot stand in a statement", "remove it", place
        )


def _check_number(text: str, token: Token) -> None:
    try:
        number = float(token.text)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return
    # Only now: finding a place costs a look at all the text before it.
    place = Place.in_text(text, token.start, token.end + 1)
    if math.isnan(number):
        raise QueryError("query.syntax", f"{token.text} is not a number", "write 10, 2.5 or 1e3", place)
    raise QueryError("query.not_finite", "this number is too large", "numbers go up to 1.7e308", place)


def _unclosed_quote(text: str) -> int:
    """Where the quote or comment begins that swallows the rest of the text."""
    low, high = 0, len(text)
    # The longest prefix that still tokenizes ends just before it.
    while low < high:
        middle = (low + high + 1) // 2
        try:
            Sanderling().tokenize(text[:middle])
            low = middle
        except TokenError:
            high = middle - 1
    # A comment opens with two characters, of which the first alone is an operator.
    return low - 1 if text[low - 1 : low + 1] == "/*" else low


def split(tokens: list[Token]) -> Iterator[list[Token]]:
    """Statement by statement. Inside a pattern of named steps a semicolon ends a step, up to END."""
    for start, stop in _spans(tokens):
        for token in tokens[start:stop]:
            if token.token_type == TokenType.SEMICOLON:
                token.token_type = STEP_ENDS  # sqlglot would begin another statement there
        if stop > start:
            yield tokens[start:stop]


def is_open(tokens: list[Token]) -> bool:
    """Whether the last of the statements is a pattern whose END is yet to come."""
    starts = (start for start, _ in _spans(tokens) if _has_named_steps(tokens, start))
    return any(_end_of_steps(tokens, start) is None for start in starts)


def _spans(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(tokens):
        stop = _end_of_steps(tokens, start) if _has_named_steps(tokens, start) else None
        if stop is None:  # one that never ends is told where it is read
            ends = (i for i in range(start, len(tokens)) if tokens[i].token_type == TokenType.SEMICOLON)
            stop = next(ends, len(tokens))
        yield start, stop
        start = stop + 1


def _has_named_steps(tokens: list[Token], start: int) -> bool:
    """[AT time] REGISTER PATTERN name AS step = …"""
    words = [token.text.upper() for token in tokens[start : start + 8]]
    words = words[2:] if words[:1] == ["AT"] else words
    is_begun = words[:1] in (["REGISTER"], ["REPLACE"])
    return is_begun and [words[i] for i in (1, 3, 5) if i < len(words)] == ["PATTERN", "AS", "="]


def _end_of_steps(tokens: list[Token], start: int) -> int | None:
    """Behind the END that is no CASE's, and that nothing of the statement follows."""
    cases = 0
    for at in range(start, len(tokens)):
        kind = tokens[at].token_type
        is_last = at + 1 == len(tokens) or tokens[at + 1].token_type == TokenType.SEMICOLON
        is_column = tokens[at - 1].token_type == TokenType.DOT
        if kind == TokenType.END and is_last and not cases and not is_column:
            return at + 1
        cases += (kind == TokenType.CASE) - (kind == TokenType.END and cases > 0)
    return None


def parse_tokens(text: str, tokens: list[Token], rule: str = "_parse_our_statement") -> Statement:
    parser: Any = Sanderling().parser()
    try:
        with deep_recursion():
            found: list[Any] = parser._parse(getattr(Sanderling.Parser, rule), tokens, text)
    except ParseError as e:
        refusal = getattr(e, "refusal", None)
        if refusal is not None:
            raise refusal from e
        token = getattr(parser, "failed_at", None) or tokens[-1]
        place = Place.in_text(text, token.start, token.end + 1)
        message = e.errors[0]["description"] if e.errors else str(e)
        hint = hint_of(tokens, token) or form_of(tokens)
        raise QueryError("query.syntax", _in_our_words(message), hint, place) from e
    except RecursionError as e:
        raise too_deep(text, tokens[0].start, tokens[0].end + 1) from e
    except (ValueError, LookupError, TypeError, AttributeError) as e:
        # sqlglot builds some functions without looking whether their arguments are there.
        raise _unreadable(text, parser._curr or tokens[-1], tokens) from e
    if len(found) != 1 or found[0] is None:
        raise _unreadable(text, tokens[0], tokens)
    return cast(Statement, found[0])


def _unreadable(text: str, at: Token, tokens: list[Token]) -> QueryError:
    place = Place.in_text(text, at.start, at.end + 1)
    return QueryError("query.syntax", "this cannot be read", form_of(tokens), place)


def too_deep(text: str, start: int, end: int) -> QueryError:
    place = Place.in_text(text, start, end)
    return QueryError(
        "query.too_deep", "this statement nests too deeply", "split it into several queries", place
    )


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for deeply nested expressions; Python's own limit is reached by fifty brackets."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _in_our_words(message: str) -> str:
    if message == "Invalid expression / Unexpected token":
        return "this was not expected here"
    message = message.replace("Expecting ", "Expected ")
    return message[:1].lower() + message[1:]
