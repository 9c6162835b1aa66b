"""A script to statements; plain ones that repeat are not read again.

Promise (tests/language/test_repeats.py): the statements are those of `parse_script`, and so are the
errors, in the same order: first what cannot be cut into words, then numbers, then what cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sanderling.language.grammar.dialect import Sanderling
from sanderling.language.parse import (
    check_numbers,
    is_open,
    parse_script,
    parse_tokens,
    refuse_odd_characters,
    split,
)
from sanderling.language.shapes import DECIMAL, TEXT, WHOLE, Column, Reading, Shape, grouped, shaped
from sanderling.language.statements import At, CreateTrigger, RegisterPattern, RegisterQuery, Statement

# A plain statement holds nothing that could be read in two ways: no comments, no odd names, no escapes.
# Possessive throughout, so that a long statement that is not plain is given up at once.
GAP = r"[ \t\r\n]++"
BEFORE = r"(?:[ \t\r\n]|--[^\r\n]*+\r?\n)*+"
# So short that each is finite, and a whole number fits 64 bits.
A_NUMBER = r"(?<![\w.])[0-9]{1,18}+(?:\.[0-9]{1,30}+)?+(?:[eE][+-]?[0-9]{1,2}+)?+(?![\w.])"
A_TEXT = r"(?<![\w'])'(?:[^'\\]++|'')*+'(?!')"
WORD = r"[A-Za-z_]\w*+"
SIGNS = r" \t\r\n,()<>=+*%!|&^~."
WORDS_AND_LITERALS = rf"{WORD}|{A_NUMBER}|{A_TEXT}|-(?!-)|/(?![*/])"
PLAIN = rf"(?:[{SIGNS}]++|{WORDS_AND_LITERALS})*+"
PLAIN_WITH_BOUNDS = rf"(?:[{SIGNS}\[\]]++|{WORDS_AND_LITERALS})*+"
TIME = rf"{BEFORE}(?:(?i:AT){GAP}({A_NUMBER}|{A_TEXT}){GAP})?+"
QUERY = re.compile(
    rf"{TIME}(?i:REGISTER){GAP}(?i:QUERY){GAP}({WORD}){GAP}(?i:AS){GAP}((?i:SELECT)(?!\w){PLAIN})(?:;|\Z)",
    re.ASCII,
)
TRIGGER = re.compile(
    rf"{TIME}(?i:CREATE){GAP}(?i:TRIGGER){GAP}({WORD}){GAP}((?i:FOR)(?!\w){PLAIN_WITH_BOUNDS})(?:;|\Z)",
    re.ASCII,
)
# Only what stands behind WITH is plain: steps with names have semicolons of their own.
PATTERN = re.compile(
    rf"{TIME}(?i:REGISTER){GAP}(?i:PATTERN){GAP}({WORD}){GAP}(?i:AS){GAP}((?i:WITH)(?!\w){PLAIN})(?:;|\Z)",
    re.ASCII,
)
LITERAL = re.compile(f"({A_TEXT}|{A_NUMBER})", re.ASCII)

# Names that are words of SQL are looked at by the reader itself.
WORDS = {word for keyword in Sanderling.Tokenizer.KEYWORDS for word in keyword.split()}


@dataclass(slots=True, eq=False)
class Row:
    """A plain REGISTER QUERY, REGISTER PATTERN or CREATE TRIGGER, taken apart."""

    words: str  # what is left without its name and literals
    kinds: str  # of the literals
    name: str
    at: str | None  # the literal after AT
    literals: tuple[str, ...]
    sql: str
    start: int
    end: int
    body: int  # where what follows the name begins
    shape: Shape | None = None  # None: it is read by itself


def read_script(text: str) -> list[Statement | Row]:
    """The statements of a script, in order; rows have shapes."""
    refuse_odd_characters(text)
    try:
        pieces = list(_pieces(text))
    except TokenError:
        return list(parse_script(text))  # which says where
    for piece in pieces:
        if isinstance(piece, list):
            check_numbers(text, piece)
    _give_shapes(text, [piece for piece in pieces if isinstance(piece, Row)])
    statements: list[Statement | Row] = []
    for piece in pieces:
        if isinstance(piece, list):
            statements += [parse_tokens(text, tokens) for tokens in split(piece)]
        else:
            statements.append(piece if piece.shape else read_row(text, piece))
    return statements


def read_row(text: str, row: Row) -> Statement:
    """The statement that it is."""
    (tokens,) = split(_tokens_between(text, row.start, row.end))
    return parse_tokens(text, tokens)


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """The literals of rows of one text."""
    return list(zip(*(row.literals for row in rows), strict=True))


def reader_of(text: str, rows: Sequence[Row]) -> Callable[[int], Reading]:
    """Reads one of the rows."""

    def read(number: int) -> Reading:
        row = rows[number]
        statement = read_row(text, row)
        register = statement.statement if isinstance(statement, At) else statement
        assert isinstance(register, RegisterQuery | RegisterPattern | CreateTrigger)
        ends = [row.body + found.end() for found in LITERAL.finditer(row.sql)]
        return Reading(register, text, row.literals, ends)

    return read


def _give_shapes(text: str, rows: Sequence[Row]) -> None:
    for (_, kinds), numbers in grouped((row.words, row.kinds) for row in rows).items():
        mine = [rows[number] for number in numbers]
        for shape, some in shaped(kinds, columns_of(mine), len(mine), reader_of(text, mine)):
            for number in some:
                mine[number].shape = shape


def _pieces(text: str) -> Iterator[Row | list[Token]]:
    at = 0
    while at < len(text):
        row = _row_at(text, at)
        if row is not None:
            yield row
            at = row.end
        else:
            tokens, at = _odd(text, at)
            yield tokens


def _row_at(text: str, at: int) -> Row | None:
    """The plain statement that stands here, if there is one."""
    forms = ((QUERY, "query "), (PATTERN, "pattern "), (TRIGGER, "trigger "))
    matches = ((form.match(text, at), kind) for form, kind in forms)
    found, kind = next(((match, kind) for match, kind in matches if match), (None, ""))
    if found is None or found[2].upper() in WORDS:
        return None
    time, name, sql = found.groups()
    sql = sql.rstrip()
    parts = LITERAL.split(sql)
    literals = tuple(parts[1::2])
    kinds = "".join([TEXT if t[0] == "'" else WHOLE if t.isdigit() else DECIMAL for t in literals])
    # No plain text holds a question mark, but in quotes. Variables that ask the same share a branch, so
    # which of a trigger's literals are equal belongs to its words.
    equal = [str(literals.index(one)) for one in literals] if kind == "trigger " else []
    words = kind + "?".join([*parts[::2], *equal])
    return Row(words, kinds, name, time, literals, sql, at, found.end(), found.start(3))


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
        is_end = bool(tokens) and tokens[-1].token_type == TokenType.SEMICOLON and tokens[-1].end == end - 1
        if is_end and not is_open(tokens):
            return tokens, end
        ahead *= 2


def _tokens_between(text: str, start: int, end: int) -> list[Token]:
    """The words of a part of the text; they count from the beginning of the text."""
    tokens: list[Token] = list(Sanderling().tokenize(text[start:end]))
    for token in tokens:
        token.start += start
        token.end += start
    return tokens
