"""What a shell talks to: a session of its own, or a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Rows:
    """What is shown: texts, and None where there is nothing."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    tick: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """A stream, a table, or a query."""

    name: str
    kind: str
    columns: tuple[tuple[str, str], ...]  # names and types
    said: str  # the SQL of a query


@dataclass(frozen=True, slots=True)
class Update:
    tick: str
    sign: int
    row: tuple[str | None, ...]


class Behind(Protocol):
    @property
    def name(self) -> str:
        """Where it is, for the first line."""

    def run(self, statement: str) -> Rows | None:
        """One statement; what it shows."""

    def relations(self) -> list[Relation]: ...

    def updates(self, name: str) -> Iterator[Update | None]:
        """The whole answer, then what changes, without end; None now and then, when there is nothing."""

    def close(self) -> None: ...


def text_of(value: object) -> str | None:
    """A value as it is shown."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)
