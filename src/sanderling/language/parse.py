"""Text to statements, one at a time; what sqlglot refuses is told in our words and place."""

from __future__ import annotations

from typing import Iterator

from sqlglot.errors import ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from sanderling.errors import Place, QueryError
from sanderling.language.dialect import Sanderling
from sanderling.language.statements import Statement


def parse_script(text: str) -> Iterator[Statement]:
    """The statements of a script, in order; spans count from the script's first character."""
    for tokens in _split(_tokens(text)):
        yield _parse_tokens(text, tokens)


def parse_statement(text: str) -> Statement:
    """The one statement of a text."""
    statements = list(parse_script(text))
    if len(statements) != 1:
        place = Place.in_text(text, 0, len(text))
        raise QueryError("query.syntax", f"expected one statement, found {len(statements)}", "", place)
    return statements[0]


def _tokens(text: str) -> list[Token]:
    try:
        return list(Sanderling().tokenize(text))
    except TokenError as e:
        # sqlglot names no token here: the text ended inside a quote or a comment.
        start = _unclosed_quote(text)
        place = Place.in_text(text, start, start + 1)
        hint = "close the quote or the comment"
        raise QueryError("query.syntax", "the text ends inside a quote or a comment", hint, place) from e


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
    return low


def _split(tokens: list[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens:
        if token.token_type != TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _parse_tokens(text: str, tokens: list[Token]) -> Statement:
    parser = Sanderling().parser()
    try:
        (statement,) = parser._parse(type(parser)._parse_our_statement, tokens, text)
    except ParseError as e:
        token = getattr(parser, "failed_at", None) or tokens[-1]
        place = Place.in_text(text, token.start, token.end + 1)
        message = e.errors[0]["description"] if e.errors else str(e)
        raise QueryError("query.syntax", _in_our_words(message), "", place) from e
    except RecursionError as e:
        place = Place.in_text(text, tokens[0].start, tokens[0].end + 1)
        raise QueryError("query.too_deep", "this statement nests too deeply", "", place) from e
    assert statement is not None
    return statement  # type: ignore[no-any-return]


def _in_our_words(message: str) -> str:
    if message == "Invalid expression / Unexpected token":
        return "this was not expected here"
    return message[:1].lower() + message[1:]
