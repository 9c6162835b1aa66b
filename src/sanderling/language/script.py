"""A script to statements; plain ones that repeat are not read again.

Promise (tests/language/test_repeats.py): the statements are those of `parse_script`, and so are the
errors, in the same order: first what cannot be cut into words, then numbers, then what cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.dialect import Sanderling
from sanderling.language.moulds import Moulds, Plain, Repeat, plain_at
from sanderling.language.parse import check_numbers, parse_script, parse_tokens, refuse_odd_characters, split
from sanderling.language.statements import At, CreateTrigger, RegisterQuery, Statement


def read_script(text: str) -> list[Statement | Repeat]:
    """The statements of a script, in order."""
    refuse_odd_characters(text)
    try:
        pieces = list(_pieces(text))
    except TokenError:
        return list(parse_script(text))  # which says where
    for piece in pieces:
        if isinstance(piece, list):
            check_numbers(text, piece)
    moulds = Moulds()
    statements: list[Statement | Repeat] = []
    for piece in pieces:
        if isinstance(piece, list):
            statements += [parse_tokens(text, tokens) for tokens in split(piece)]
        else:
            statements.append(_read(text, piece, moulds))
    return statements


def read_repeat(text: str, repeat: Repeat) -> Statement:
    """The same statement, read after all."""
    return _read_between(text, repeat.start, repeat.end)


def _read(text: str, plain: Plain, moulds: Moulds) -> Statement | Repeat:
    form = moulds.form_of(plain)
    if form is None:
        statement = _read_between(text, plain.start, plain.end)
        register = statement.statement if isinstance(statement, At) else statement
        if not isinstance(register, RegisterQuery | CreateTrigger):
            return statement
        form = moulds.learn(plain, register)
    return Repeat(form, plain.name, plain.at, plain.literals, plain.sql, plain.start, plain.end)


def _read_between(text: str, start: int, end: int) -> Statement:
    (tokens,) = split(_tokens_between(text, start, end))
    return parse_tokens(text, tokens)


def _pieces(text: str) -> Iterator[Plain | list[Token]]:
    at = 0
    while at < len(text):
        plain = plain_at(text, at)
        if plain is not None:
            yield plain
            at = plain.end
        else:
            tokens, at = _odd(text, at)
            yield tokens


def _odd(text: str, start: int) -> tuple[list[Token], int]:
    """The words of what is not plain, up to a semicolon that ends a statement; and where that is."""
    end, ahead = start, 1
    while True:
        for _ in range(ahead):
            end = text.find(";", end) + 1
            if not end:
                return _tokens_between(text, start, len(text)), len(text)
        try:
            tokens = _tokens_between(text, start, end)
        except TokenError:  # the semicolon is inside a quote
            tokens = []
        # Inside a comment it is no word.
        if tokens and tokens[-1].token_type == TokenType.SEMICOLON and tokens[-1].end == end - 1:
            return tokens, end
        ahead *= 2


def _tokens_between(text: str, start: int, end: int) -> list[Token]:
    """The words of a part of the text; they count from the beginning of the text."""
    tokens: list[Token] = list(Sanderling().tokenize(text[start:end]))
    for token in tokens:
        token.start += start
        token.end += start
    return tokens
