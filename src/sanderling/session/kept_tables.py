"""What a session has read of the files of its tables: a restart tells the same again, though files change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from sanderling.ingest.tables import Loaded
from sanderling.plan.grow.table_changes import Read, read_now
from sanderling.state.plans import read_thing, write_thing
from sanderling.state.sealed import broken

KIND = "table"


class KeptTables:
    """Reads files, and keeps what they held, a file for each time, numbered in the order of reading.

    Promise (tests/session/test_kept_tables.py): told the same again, it gives the same again.
    """

    def __init__(self, folder: Path, read: Read = read_now):
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._read, self._next = folder, read, 0

    def __call__(self, *asked: Any) -> Loaded:
        path = self._path(self._next)
        if not path.exists():
            write_thing(path, KIND, self._read(*asked))
        self._next += 1
        return _loaded(path)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """What a call has read that was refused is read again another time."""
        before = self._next
        try:
            yield
        except BaseException:
            self._next = before
            self.forget_rest()
            raise

    def forget_rest(self) -> None:
        """What nobody has been told of: a process that was killed may have left it."""
        number = self._next
        while (path := self._path(number)).exists():
            path.unlink()
            number += 1

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.table"


def _loaded(path: Path) -> Loaded:
    found = read_thing(path, KIND, tuple)
    if len(found) != 4 or not isinstance(found[1], pa.Table):
        raise broken(str(path), "it holds no table")
    return cast(Loaded, found)
