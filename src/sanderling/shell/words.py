"""The words of a text, by the tokens of our own dialect: for colours, and to see where a statement ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.forms import FORMS
from sanderling.language.grammar.dialect import Sanderling
from sanderling.language.parse import is_open, split, tokens_of

OF_SQL = {word for keyword in Sanderling.Tokenizer.KEYWORDS for word in keyword.split() if word.isalpha()}
OF_OURS = {word for form in FORMS.values() for word in re.findall(r"\b[A-Z][A-Z]+\b", form)} | {"SUBSCRIBE"}
WORDS = OF_SQL | OF_OURS
REMARK = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    end: int
    kind: str  # word, text, number, remark, name


def words_in(text: str) -> Iterator[Word]:
    """In order; what cannot be cut into words yet is a text."""
    known, tokens = _cut(text)
    at = 0
    for token in tokens:
        yield from _remarks(text, at, token.start)
        at = token.end + 1
        if (kind := _kind(token)) is not None:
            yield Word(token.start, at, kind)
    yield from _remarks(text, at, known)
    if known < len(text):
        yield Word(known, len(text), "text")


def _cut(text: str) -> tuple[int, list[Token]]:
    """How much of a text can be cut, and its tokens."""
    try:
        return len(text), list(Sanderling().tokenize(text))
    except TokenError:  # inside a quote, which begins at the last place where all before it is whole
        for at in range(len(text) - 1, -1, -1):
            if text[at] in "'\"`/" and (tokens := _tokens(text[:at])) is not None:
                return at, tokens
        return 0, []


def _tokens(text: str) -> list[Token] | None:
    try:
        return list(Sanderling().tokenize(text))
    except TokenError:
        return None


def _remarks(text: str, start: int, end: int) -> Iterator[Word]:
    for found in REMARK.finditer(text, start, end):
        yield Word(found.start(), found.end(), "remark")


def _kind(token: Token) -> str | None:
    if token.token_type == TokenType.STRING:
        return "text"
    if token.token_type == TokenType.NUMBER:
        return "number"
    if token.text.upper() in WORDS and token.token_type != TokenType.IDENTIFIER:
        return "word"
    return "name" if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER) else None


def is_whole(text: str) -> bool:
    """Whether Enter ends it: a command, or statements up to a semicolon."""
    if not text.strip() or text.lstrip().startswith("\\"):
        return True
    tokens = _tokens(text)
    if not tokens:
        return False
    return tokens[-1].token_type == TokenType.SEMICOLON and not is_open(tokens)


def statements_in(text: str) -> list[str]:
    """Each with its semicolon gone."""
    return [text[tokens[0].start : tokens[-1].end + 1] for tokens in split(tokens_of(text))]
