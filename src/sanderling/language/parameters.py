"""A SELECT with parameters, `:side`: the text it is when they have values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat

from sqlglot.tokenizer_core import TokenType

from sanderling.language.parse import parse_template, tokens_of
from sanderling.language.shapes import Column, Reading

# Beside these a literal cannot become part of another word.
APART = frozenset(" \t\r\n(),")


@dataclass(frozen=True, slots=True)
class Parametric:
    """`pieces[0] :parameters[0] pieces[1] :parameters[1] … pieces[-1]`."""

    pieces: tuple[str, ...]
    parameters: tuple[str, ...]

    def filled(self, columns: Iterable[Column], n: int) -> list[str]:
        """The text of each of n rows; a column of literals for each place."""
        parts: list[Iterable[str]] = [repeat(self.pieces[0], n)]
        for literals, piece in zip(columns, self.pieces[1:], strict=True):
            parts += [literals, repeat(piece, n)]
        return list(map("".join, zip(*parts, strict=True)))

    def read(self, text: str, literals: Sequence[str]) -> Reading:
        """The text with these literals."""
        pairs = zip(self.pieces, literals, strict=False)
        ends = list(accumulate(len(piece) + len(literal) for piece, literal in pairs))
        return Reading(parse_template(text), text, literals, ends)


def parametric(text: str) -> Parametric:
    """Takes a template apart at its parameters; those in quotes and comments are none."""
    tokens = tokens_of(text)
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    text = text[: tokens[-1].end + 1] if tokens else text
    pieces, parameters, start = [], [], tokens[0].start if tokens else 0
    for colon, name in pairwise(tokens):
        is_parameter = colon.token_type == TokenType.COLON and name.start == colon.end + 1
        if is_parameter and name.token_type != TokenType.STRING and name.text.isidentifier():
            pieces.append(text[start : colon.start])
            parameters.append(name.text)
            start = name.end + 1
    first, *others = [*pieces, text[start:]]
    last = len(others) - 1
    return Parametric(
        (_apart(first, False, bool(others)), *(_apart(p, True, i < last) for i, p in enumerate(others))),
        tuple(parameters),
    )


def _apart(piece: str, is_behind: bool, is_before: bool) -> str:
    """With room for a literal behind which, or before which, it stands."""
    if is_behind and is_before and not piece:
        return " "
    lead = " " if is_behind and piece and piece[0] not in APART else ""
    trail = " " if is_before and piece and piece[-1] not in APART else ""
    return lead + piece + trail


def literal_of(value: object) -> str:
    """A number, a text, a boolean or nothing, as SQL writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return repr(value)
