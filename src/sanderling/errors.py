"""Every error, grouped by who can put it right.

The code is stable: tests and callers compare it, never the wording. All arguments go to
`Exception.__init__`, so that an error survives pickling between Spark workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

# Characters that no engine below takes, and no terminal shows: the zero, and halves of characters.
UNSHOWN = "\N{REPLACEMENT CHARACTER}"
ODD_CHARACTER = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a text something is: counted from 1, with the line itself for the caret."""

    line: int
    column: int
    length: int
    text: str

    @classmethod
    def in_text(cls, text: str, start: int, end: int) -> Place:
        """The place of `text[start:end]`; a span over several lines is cut at the first line's end."""
        start = min(max(start, 0), len(text))
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        length = max(1, min(end, line_end) - start)
        number = text.count("\n", 0, start) + 1
        shown = ODD_CHARACTER.sub(UNSHOWN, text[line_start:line_end])
        return cls(number, start - line_start + 1, length, shown)

    def caret(self) -> str:
        # Tabs stay tabs, so that the caret stands under its word in any terminal.
        pad = "".join("\t" if c == "\t" else " " for c in self.text[: self.column - 1])
        return f"  {self.text}\n  {pad}{'^' * self.length}"


class SanderlingError(Exception):
    """What happened, where, and what would work."""

    def __init__(self, code: str, message: str, hint: str = "", place: Place | None = None):
        super().__init__(code, message, hint, place)
        self.code = code
        self.message = message
        self.hint = hint
        self.place = place

    def __str__(self) -> str:
        where = f" (line {self.place.line}, column {self.place.column})" if self.place else ""
        lines = [f"{self.code}: {self.message}{where}"]
        if self.place:
            lines.append(self.place.caret())
        if self.hint:
            lines.append(self.hint)
        return ODD_CHARACTER.sub(UNSHOWN, "\n".join(lines))


class QueryError(SanderlingError):
    """The author of the SQL can put it right; the statement is refused."""


class DataError(SanderlingError):
    """The sender of the data can put it right."""


class ConfigError(SanderlingError):
    """Whoever starts us can put it right; we do not start."""


class StateError(SanderlingError):
    """Whoever runs the system can put it right; we stop before writing."""


class SessionError(SanderlingError):
    """The program that holds the session can put it right."""


class ServerError(SanderlingError):
    """Whoever asks a server can put it right."""


class InternalError(SanderlingError):
    """A fault of ours."""


def with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint with the nearest known name, or the list of them, or nothing."""
    names = sorted(set(known))
    by_fold = {n.casefold(): n for n in names}
    near = get_close_matches(name.casefold(), list(by_fold), n=1, cutoff=0.6)
    if near:
        return f'did you mean "{by_fold[near[0]]}"?'
    if names and len(names) <= 12:
        return "known here: " + ", ".join(names)
    return ""
