"""Which streams, tables, regions and queries exist now.

Names are compared without regard to case, as in SQL, and shown as their author wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import pyarrow as pa

from sanderling.types import SqlType

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: SqlType


@dataclass(frozen=True, slots=True)
class Stream:
    """A declared stream: readings of objects, each with a key, a time and a place."""

    name: str
    columns: tuple[Column, ...]
    key: str
    time: str
    x: str
    y: str
    gone: str | None
    path: str | None
    format: str
    tick_us: int
    lateness_us: int
    stale_after_us: int | None

    @property
    def key_type(self) -> SqlType:
        return next(c.type for c in self.columns if c.name == self.key)

    def column(self, name: str) -> Column | None:
        folded = name.casefold()
        return next((c for c in self.columns if c.name.casefold() == folded), None)


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table, read whole when it is declared; `region` holds geometry as WKB."""

    name: str
    columns: tuple[Column, ...]
    key: str
    rows: pa.Table
    region: str | None

    def column(self, name: str) -> Column | None:
        folded = name.casefold()
        return next((c for c in self.columns if c.name.casefold() == folded), None)


class Names(Generic[T]):
    """A mapping from names to things that ignores case and remembers order."""

    def __init__(self) -> None:
        self._items: dict[str, tuple[str, T]] = {}

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._items

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def has_any(self, folded: set[str]) -> bool:
        return not self._items.keys().isdisjoint(folded)

    def get(self, name: str) -> T | None:
        item = self._items.get(name.casefold())
        return item[1] if item else None

    def put(self, name: str, thing: T) -> None:
        self._items[name.casefold()] = (name, thing)

    def remove(self, name: str) -> T:
        return self._items.pop(name.casefold())[1]

    def mark(self) -> dict[str, tuple[str, T]]:
        """To come back to, if something is refused."""
        return dict(self._items)

    def back_to(self, mark: dict[str, tuple[str, T]]) -> None:
        self._items = mark

    def values(self) -> list[T]:
        return [thing for _, thing in self._items.values()]
