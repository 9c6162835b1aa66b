"""Statements that repeat: those of one mould are read once.

REGISTER QUERY q17 AS SELECT id FROM taxis WHERE speed > 50 INSIDE ('M', 17, 0.5)
mould:                SELECT id FROM taxis WHERE speed > i  INSIDE (s, i, d)

A mould is a plain REGISTER QUERY or CREATE TRIGGER without its name and literals. Of the first statement
of a mould we learn which literals the reader only passes on; the others are held fast. A statement that
differs from one that was read in nothing but its name and such literals would be read the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from sanderling.language.grammar.dialect import LocationInside, Sanderling
from sanderling.language.grammar.nearest import is_count
from sanderling.language.statements import (
    CircleShape,
    CreateTrigger,
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
SIGNS = r" \t\r\n,()<>=+*%!|&^~."
WORDS_AND_LITERALS = rf"{WORD}|{NUMBER}|{TEXT}|-(?!-)|/(?![*/])"
PLAIN = rf"(?:[{SIGNS}]++|{WORDS_AND_LITERALS})*+"
PLAIN_WITH_BOUNDS = rf"(?:[{SIGNS}\[\]]++|{WORDS_AND_LITERALS})*+"
STATEMENT = re.compile(
    rf"{BEFORE}(?:(?i:AT){GAP}({NUMBER}|{TEXT}){GAP})?+(?i:REGISTER){GAP}(?i:QUERY){GAP}({WORD}){GAP}(?i:AS){GAP}"
    rf"((?i:SELECT)(?!\w){PLAIN})(?:;|\Z)",
    re.ASCII,
)
TRIGGER = re.compile(
    rf"{BEFORE}(?:(?i:AT){GAP}({NUMBER}|{TEXT}){GAP})?+(?i:CREATE){GAP}(?i:TRIGGER){GAP}({WORD}){GAP}"
    rf"((?i:FOR)(?!\w){PLAIN_WITH_BOUNDS})(?:;|\Z)",
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
    is_trigger: bool = False


class Repeat(NamedTuple):
    """A plain statement that needs no reading; `start` and `end` are those of its text."""

    form: Form
    name: str
    at: str | None  # the literal after AT
    literals: tuple[str, ...]
    sql: str
    start: int
    end: int


class Plain(NamedTuple):
    """A plain REGISTER QUERY or CREATE TRIGGER, taken apart."""

    mould: str
    kinds: str
    name: str
    at: str | None
    literals: tuple[str, ...]
    sql: str
    start: int
    end: int
    body: int  # where what follows the name begins


def plain_at(text: str, at: int) -> Plain | None:
    """The plain statement that stands here, if there is one."""
    found, is_trigger = STATEMENT.match(text, at), False
    if found is None:
        found, is_trigger = TRIGGER.match(text, at), True
    if found is None or found[2].upper() in WORDS:
        return None
    time, name, sql = found.groups()
    sql = sql.rstrip()
    parts = LITERAL.split(sql)
    literals = tuple(parts[1::2])
    kinds = "".join(["s" if t[0] == "'" else "i" if t.isdigit() else "d" for t in literals])
    # No plain text holds a question mark, but in quotes. Variables that ask the same share a branch, so
    # which of a trigger's literals are equal belongs to its mould.
    equal = [str(literals.index(one)) for one in literals] if is_trigger else []
    mould = "?".join([*parts[::2], *equal])
    return Plain(mould, kinds, name, time, literals, sql, at, found.end(), found.start(3))


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

    def learn(self, plain: Plain, statement: RegisterQuery | CreateTrigger) -> Form:
        ends = literal_ends(plain.sql, plain.body)
        free = free_literals(statement, ends)
        fast = tuple(i for i in range(len(plain.literals)) if i not in free)
        forms = self._forms.setdefault((plain.mould, plain.kinds), {}).setdefault(fast, {})
        form = forms[tuple([plain.literals[i] for i in fast])] = Form(
            plain.kinds, free, tuple(i for i in free if ends[i] == _count_end(statement)),
            isinstance(statement, CreateTrigger),
        )  # fmt: skip
        return form


def free_literals(statement: RegisterQuery | CreateTrigger, ends: Sequence[int]) -> frozenset[int]:
    """Which of the literals that end there the reader has passed on without a look at their value."""
    number_of = {end: number for number, end in enumerate(ends)}
    found = Counter(spot.end for spot in _passed_on(statement))
    # A literal that stands in the tree twice has been looked at by somebody.
    seen = Counter(n.meta["end"] + 1 for n in _conditions(statement).find_all(exp.Literal) if "end" in n.meta)
    once = (end for end, times in found.items() if times == 1 and seen[end] <= 1)
    return frozenset(number_of[end] for end in once if end in number_of)


def _conditions(statement: RegisterQuery | CreateTrigger) -> exp.Expr:
    """Where literals are that may be passed on; what a trigger shows of an alert is always looked at."""
    return statement.when if isinstance(statement, CreateTrigger) else statement.select


def _count_end(statement: RegisterQuery | CreateTrigger) -> int | None:
    """Where the k of a kNN ends."""
    nearest = None if isinstance(statement, CreateTrigger) else statement.nearest
    return nearest.k.spot.end if nearest is not None and nearest.k.spot is not None else None


def _passed_on(statement: RegisterQuery | CreateTrigger) -> Iterator[Spot]:
    conditions = _conditions(statement)
    for literal in conditions.find_all(exp.Literal):
        parent = literal.parent
        above = parent.parent if isinstance(parent, exp.Neg) else parent
        is_item = isinstance(above, exp.Alias) and isinstance(above.parent, exp.Select)
        if "end" in literal.meta and (is_item or isinstance(above, COMPARISONS)):
            yield Spot(literal.meta["end"] + 1, 1)
    for operator in conditions.find_all(LocationInside):
        yield from _spots_of(operator.args["expression"])
    if isinstance(statement, CreateTrigger):
        return
    yield from _spots_of(statement.inside)
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
