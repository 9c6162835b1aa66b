"""A text, statement by statement, and whose business each of them is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from sqlglot.errors import TokenError

from sanderling.errors import Place, QueryError
from sanderling.language.forms import STATEMENTS
from sanderling.language.grammar.dialect import PLURALS, Sanderling
from sanderling.language.parse import is_open


class Kind(Enum):
    EMPTY = "nothing at all"
    SESSION = "a statement of ours"
    SELECT = "a question to tables"
    COPY = "rows as lines"
    SHOW = "a setting"
    MEANT_WELL = "what clients say, and what means nothing here"


@dataclass(frozen=True, slots=True)
class Piece:
    kind: Kind
    sql: str
    start: int  # where it stands in the text
    words: tuple[str, ...]  # the first ones, in capitals

    @property
    def tag(self) -> str:
        """What a client is told that has been done."""
        count = 2 if self.words[:1] in (("REGISTER",), ("CREATE",), ("DROP",), ("REPLACE",)) else 1
        return " ".join(self.words[:count])


OF_SESSION = (
    "REGISTER", "REPLACE", "CREATE", "DROP", "AT", "INSERT", "DELETE", "REFRESH", "DESCRIBE", "DESC",
    "EXPLAIN",
)  # fmt: skip
SELECTS = ("SELECT", "WITH", "VALUES", "TABLE", "(")
NOTHINGS = (
    "SET", "RESET", "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE",
    "DEALLOCATE", "DISCARD", "CLOSE", "UNLISTEN",
)  # fmt: skip

REMARK = r"--[^\n]*|/\*.*?\*/"
LEAD = re.compile(rf"(?:\s|{REMARK})*", re.DOTALL)
# In our statements a backslash escapes, in PostgreSQL's it does not.
OURS = re.compile(rf"{REMARK}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|;", re.DOTALL)
THEIRS = re.compile(rf"{REMARK}|\b[eE]'(?:[^'\\]|\\.)*'|'[^']*'|\"[^\"]*\"|\$(\w*)\$.*?\$\1\$|;", re.DOTALL)
WORD = re.compile(r"\w+|\S")


def pieces_of(text: str) -> list[Piece]:
    """In order; one that is empty alone if there is nothing else."""
    found, at = [], 0
    while at < len(text):
        start = at + len(LEAD.match(text, at)[0])  # type: ignore[index]
        words = tuple(WORD.findall(text[start : start + 400].upper())[:8])
        kind = _kind(words)
        at = _end(text, start, kind)
        sql = text[start:at].rstrip().removesuffix(";")
        if sql.strip():
            found.append(Piece(kind, sql, start, words))
    return found or [Piece(Kind.EMPTY, "", 0, ())]


def _kind(words: tuple[str, ...]) -> Kind:
    first = words[0] if words else ""
    if first in OF_SESSION or (first == "SHOW" and words[1:2] and words[1] in PLURALS):
        return Kind.SESSION
    if first in SELECTS:
        return Kind.SELECT
    return {"COPY": Kind.COPY, "SHOW": Kind.SHOW, "SUBSCRIBE": Kind.COPY}.get(
        first, Kind.MEANT_WELL if first in NOTHINGS else Kind.EMPTY if first in ("", ";") else Kind.SESSION
    )


def _end(text: str, start: int, kind: Kind) -> int:
    """Behind its semicolon. Those inside a pattern of named steps end nothing."""
    at, form = start, OURS if kind == Kind.SESSION else THEIRS
    while True:
        found = next((m for m in form.finditer(text, at) if m[0] == ";"), None)
        if found is None:
            return len(text)
        at = found.end()
        if kind != Kind.SESSION or not _goes_on(text[start:at]):
            return at


def _goes_on(sql: str) -> bool:
    if "PATTERN" not in sql[:400].upper():
        return False
    try:
        return is_open(list(Sanderling().tokenize(sql)))
    except TokenError:
        return False


def refusal(piece: Piece, message: str, hint: str = STATEMENTS) -> QueryError:
    return QueryError("query.syntax", message, hint, Place.in_text(piece.sql, 0, len(piece.words[0])))
