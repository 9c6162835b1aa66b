"""Statements that repeat: those of one mould are read once.

REGISTER QUERY q17 AS SELECT id FROM taxis WHERE speed > 50 INSIDE ('M', 17, 0.5)
mould:                SELECT id FROM taxis WHERE speed > i  INSIDE (s, i, d)

A mould is a plain statement without its name and literals. Of the first statement of a mould we
learn which literals the reader only passes on; the others are held fast. A statement that differs
from one that was read in nothing but its name and such literals would be read the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from sanderling.language.dialect import LocationInside, Sanderling
from sanderling.language.neighbours import is_count
from sanderling.language.statements import (
    CircleShape,
    InsideTarget,
    MovingCircleShape,
    MovingRectShape,
    RectShape,
    RegisterQuery,
    Spot,
)

# A plain statement holds nothing that could be read in two ways: no comments, no odd names, no escapes.
# Possessive throughout, so that a long statement that is not plain is given up at once.
GAP = r"[ \t\r\n]++"
BEFORE = r"(?:[ \t\r\n]|--[^\r\n]*+\r?\n)*+"
# So short that each is finite, and a whole number fits 64 bits.
NUMBER = r"(?<![\w.])[0-9]{1,18}+(?:\.[0-9]{1,30}+)?+(?:[eE][+-]?[0-9]{1,2}+)?+(?![\w.])"
TEXT = r"(?<![\w'])'(?:[^'\\]++|'')*+'(?!')"
WORD = r"[A-Za-z_]\w*+"
PLAIN = rf"(?:[ \t\r\n,()<>=+*%!|&^~.]++|{WORD}|{NUMBER}|{TEXT}|-(?!-)|/(?![*/]))*+"
STATEMENT = re.compile(
    rf"{BEFORE}(?:(?i:AT){GAP}({NUMBER}|{TEXT}){GAP})?+(?i:REGISTER){GAP}(?i:QUERY){GAP}({WORD}){GAP}(?i:AS){GAP}"
    rf"((?i:SELECT)(?!\w){PLAIN})(?:;|\Z)",
    re.ASCII,
)
LITERAL = re.compile(f"({TEXT}|{NUMBER})", re.ASCII)

# Names that are words of SQL are looked at by the reader itself.
WORDS = {word for keyword in Sanderling.Tokenizer.KEYWORDS for word in keyword.split()}

# What a literal may be an operand of without being looked at.
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)

Constant = str | int | float


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """Statements that are read alike: of one mould, with the same literals wherever the reader looks."""

    kinds: str  # of the literals: i, d, s
    free: frozenset[int]  # which literals may differ
    counts: tuple[int, ...] = ()  # which of them the reader has to look at: how many kNN is to give


class Repeat(NamedTuple):
    """A plain REGISTER QUERY that needs no reading; `start` and `end` are those of its text."""

    form: Form
    name: str
    at: str | None  # the literal after AT
    literals: tuple[str, ...]
    sql: str
    start: int
    end: int


class Plain(NamedTuple):
    """A plain REGISTER QUERY, taken apart."""

    mould: str
    kinds: str
    name: str
    at: str | None
    literals: tuple[str, ...]
    sql: str
    start: int
    end: int
    body: int  # where the SELECT begins


def plain_at(text: str, at: int) -> Plain | None:
    """The plain statement that stands here, if there is one."""
    found = STATEMENT.match(text, at)
    if found is None or found[2].upper() in WORDS:
        return None
    time, name, sql = found.groups()
    sql = sql.rstrip()
    parts = LITERAL.split(sql)
    literals = tuple(parts[1::2])
    kinds = "".join(["s" if t[0] == "'" else "i" if t.isdigit() else "d" for t in literals])
    # No plain text holds a question mark, but in quotes.
    return Plain("?".join(parts[::2]), kinds, name, time, literals, sql, at, found.end(), found.start(3))


def constant_of(literal: str) -> Constant:
    """What a plain literal says."""
    if literal[0] == "'":
        return literal[1:-1].replace("''", "'")
    return int(literal) if literal.isdigit() else float(literal)


def literal_ends(sql: str, start: int) -> list[int]:
    """Where the literals of a plain SELECT end, if it begins at `start`."""
    return [start + found.end() for found in LITERAL.finditer(sql)]


@dataclass(slots=True)
class Moulds:
    """The forms that were met, by mould, then by the literals that are held fast."""

    _forms: dict[object, dict[tuple[int, ...], dict[tuple[str, ...], Form]]] = field(default_factory=dict)

    def form_of(self, plain: Plain) -> Form | None:
        literals = plain.literals
        for fast, forms in self._forms.get((plain.mould, plain.kinds), {}).items():
            form = forms.get(tuple([literals[i] for i in fast]))
            if form is not None and all(is_count(int(literals[i])) for i in form.counts):
                return form
        return None

    def learn(self, plain: Plain, statement: RegisterQuery) -> Form:
        ends = literal_ends(plain.sql, plain.body)
        free = free_literals(statement, ends)
        fast = tuple(i for i in range(len(plain.literals)) if i not in free)
        forms = self._forms.setdefault((plain.mould, plain.kinds), {}).setdefault(fast, {})
        form = forms[tuple([plain.literals[i] for i in fast])] = Form(
            plain.kinds, free, tuple(i for i in free if ends[i] == _count_end(statement))
        )
        return form


def free_literals(statement: RegisterQuery, ends: Sequence[int]) -> frozenset[int]:
    """Which of the literals that end there the reader has passed on without a look at their value."""
    number_of = {end: number for number, end in enumerate(ends)}
    found = Counter(spot.end for spot in _passed_on(statement))
    # A literal that stands in the tree twice has been looked at by somebody.
    seen = Counter(n.meta["end"] + 1 for n in statement.select.find_all(exp.Literal) if "end" in n.meta)
    once = (end for end, times in found.items() if times == 1 and seen[end] <= 1)
    return frozenset(number_of[end] for end in once if end in number_of)


def _count_end(statement: RegisterQuery) -> int | None:
    """Where the k of a kNN ends."""
    nearest = statement.nearest
    return nearest.k.spot.end if nearest is not None and nearest.k.spot is not None else None


def _passed_on(statement: RegisterQuery) -> Iterator[Spot]:
    for literal in statement.select.find_all(exp.Literal):
        parent = literal.parent
        above = parent.parent if isinstance(parent, exp.Neg) else parent
        is_item = isinstance(above, exp.Alias) and isinstance(above.parent, exp.Select)
        if "end" in literal.meta and (is_item or isinstance(above, COMPARISONS)):
            yield Spot(literal.meta["end"] + 1, 1)
    targets = [statement.inside, *(n.args["expression"] for n in statement.select.find_all(LocationInside))]
    for target in targets:
        yield from _spots_of(target)
    nearest = statement.nearest
    if nearest is not None:
        values = (nearest.k, *(nearest.place or ()), *([nearest.focal] if nearest.focal else []))
        yield from (value.spot for value in values if value.spot is not None)


def _spots_of(target: InsideTarget | None) -> Iterator[Spot]:
    """Numbers and focal object of an INSIDE; a size with a minus is looked at, since it may be negative."""
    match target:
        case RectShape():
            sizes = 4
        case CircleShape():
            sizes = 2
        case MovingRectShape() | MovingCircleShape():
            sizes = 0
            if target.focal.spot is not None:
                yield target.focal.spot
        case _:
            return
    for field_, spot in enumerate(target.spots):
        if spot is not None and (field_ < sizes or spot.sign == 1):
            yield spot
