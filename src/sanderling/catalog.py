"""Which streams, tables, regions and queries exist now.

Names are compared without regard to case, as in SQL, and shown as their author wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.clock import ALWAYS, NEVER
from sanderling.types import SqlType

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: SqlType


@dataclass(frozen=True, slots=True)
class BroughtState:
    """A state of patterns that a program brings: what it takes, tells and remembers. Its code is elsewhere.

    `left` is None of one that begins runs. It takes from `least` to `most` constants.
    """

    name: str
    left: tuple[Column, ...] | None
    right: tuple[Column, ...]
    output: tuple[Column, ...]
    kept: tuple[tuple[str, tuple[Column, ...]], ...]
    shares: bool
    least: int
    most: int

    @property
    def schema(self) -> tuple[object, ...]:
        """What is to be the same after a restart."""
        return self.left, self.right, self.output, self.kept, self.shares


@dataclass(frozen=True, slots=True)
class Written:
    """How a text writes its rows and values."""

    delimiter: str = ","
    null_tokens: tuple[str, ...] = ()  # what stands for nothing
    time_format: str | None = None  # of timestamps; None is ISO 8601


PLAIN = Written()


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
    partition: str | None = None  # the column that says from which partition of its source a reading came
    idle_after_us: int | None = None  # where there is such a column
    ahead_us: int | None = None  # how far ahead of the clock a reading may be
    is_globe: bool = False  # places are longitude and latitude, distances metres
    written: Written = PLAIN

    @property
    def key_type(self) -> SqlType:
        return next(c.type for c in self.columns if c.name == self.key)

    def column(self, name: str) -> Column | None:
        folded = name.casefold()
        return next((c for c in self.columns if c.name.casefold() == folded), None)


@dataclass(frozen=True, slots=True)
class Archiving:
    """A declared archive: of which stream, where, and how it is cut and kept."""

    name: str
    stream: Stream
    path: str
    flush_us: int  # a multiple of the tick: so long are blocks
    snapshot_us: int  # a multiple of the flush: keyframes are so far apart
    sample: int = 1  # of the last store: of each object every so many-th reading
    keep_us: int | None = None  # None: for ever
    detail: str = "readings"  # or snapshots: keyframes alone
    late: str = "drop"  # or keep: apart


@dataclass(frozen=True, slots=True)
class History:
    """Every row that a table has had, in the order they came. Times are in microseconds.

    A row is there from `came` on and not any more from `gone` on; one that went before it came never was.
    """

    rows: pa.Table
    came: I64
    gone: I64

    @classmethod
    def of(cls, rows: pa.Table) -> History:
        """Rows that are there from the beginning."""
        return cls(rows, np.full(rows.num_rows, ALWAYS), np.full(rows.num_rows, NEVER))

    @property
    def left(self) -> I64:
        """The rows that nobody has deleted, by number."""
        return np.flatnonzero(self.gone == NEVER)

    def without(self, rows: I64, at: int) -> History:
        gone = self.gone.copy()
        gone[rows] = at
        return replace(self, gone=gone)

    def with_(self, rows: pa.Table, at: int, key: str) -> History:
        """These rows come; one whose key another has for some time to come, after that one."""
        came = np.full(rows.num_rows, at)
        later = np.flatnonzero((self.gone != NEVER) & (self.gone > at))
        if len(later):
            keys = self.rows.column(key).take(pa.array(later))
            last = (
                pa.table({"key": keys, "gone": self.gone[later]}).group_by("key").aggregate([("gone", "max")])
            )
            place = pc.index_in(rows.column(key), value_set=last.column("key").combine_chunks())
            until = last.column("gone_max").take(place).fill_null(at)
            came = np.maximum(came, np.asarray(until.to_numpy(), np.int64))
        return History(
            pa.concat_tables([self.rows, rows]).combine_chunks(), np.concatenate([self.came, came]),
            np.concatenate([self.gone, np.full(rows.num_rows, NEVER)]),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableForm:
    """How the file of a table is read, and what is done about rows that cannot be as they are."""

    written: Written = PLAIN
    within: float | None = None  # how far around lines and points its regions go
    repairs: bool = False  # borders that cross themselves
    skips: bool = False  # what cannot be a row
    row_key: str | None = None  # a column that counts the rows, and is the key


AS_IS = TableForm()


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table: what its file held, and what was changed since; `region` holds outlines as bytes."""

    name: str
    columns: tuple[Column, ...]
    key: str
    history: History
    region: str | None
    path: str
    format: str | None
    place: tuple[str, str] | None = None  # the columns of its LOCATION
    form: TableForm = AS_IS
    is_globe: bool = False  # as of a stream
    notes: tuple[str, ...] = ()  # what was done to its file's rows

    @property
    def rows(self) -> pa.Table:
        """Those that are there once all that was told has come about."""
        return self.history.rows.take(pa.array(self.history.left))

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
