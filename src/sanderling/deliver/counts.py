"""How many rows came and went, by query; on disk as what each batch added.

So a batch writes as much as it changed, however many queries are registered. Once that has grown
well beyond the sums, the sums take its place in a new file.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sanderling.arrays import I64
from sanderling.state.sealed import named

ROW = np.dtype([("query", "<i8"), ("came", "<i8"), ("went", "<i8")])
# Below this nobody minds how long the file is.
SMALL_BYTES = 1 << 20


@dataclass(slots=True)
class Counts:
    """The sums, and a file of rows that add up to them; `write` and `tidy` go around the ledger's save."""

    folder: Path
    number: int = 0  # of the file
    size: int = 0  # what the ledger knows to be in it
    sum: int = 0  # the checksum of that
    came: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    went: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    _new: list[npt.NDArray[np.void]] = field(default_factory=list)

    @classmethod
    def load(cls, folder: Path, number: int, size: int, sum: int) -> Counts:
        counts = cls(folder, number, size, sum)
        if size:
            data = counts._path(number).read_bytes()[:size]
            if len(data) < size:
                raise ValueError("the counts are cut off")
            if zlib.crc32(data) != sum:
                raise ValueError("the checksum of the counts does not fit: a byte has changed")
            rows = np.frombuffer(data, ROW)
            counts._sum(rows, int(rows["query"].max()) + 1)
        return counts

    def add(self, query: npt.NDArray[np.signedinteger], sign: npt.NDArray[np.int8], n_queries: int) -> None:
        came, went = (np.bincount(query[sign == wanted], minlength=n_queries) for wanted in (1, -1))
        changed = np.flatnonzero(came + went)
        rows = np.empty(len(changed), ROW)
        rows["query"], rows["came"], rows["went"] = changed, came[changed], went[changed]
        self._sum(rows, n_queries)
        self._new.append(rows)

    def _sum(self, rows: npt.NDArray[np.void], n: int) -> None:
        for name in ("came", "went"):
            before = getattr(self, name)
            sums = np.zeros(max(n, len(before)), np.int64)
            sums[: len(before)] = before
            np.add.at(sums, rows["query"], rows[name])
            setattr(self, name, sums)

    def write(self) -> None:
        """What was added since the last time, to disk."""
        data = b"".join(rows.tobytes() for rows in self._new)
        self._new.clear()
        if not data:
            return
        if self.size + len(data) > SMALL_BYTES + 2 * ROW.itemsize * len(self.came):
            data, self.size, self.sum, self.number = self._sums(), 0, 0, self.number + 1
        path = self._path(self.number)
        with named(path), open(path, "r+b" if self.size else "wb") as file:
            file.truncate(self.size)  # what a killed run left behind
            file.seek(self.size)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.size += len(data)
        self.sum = zlib.crc32(data, self.sum)

    def tidy(self) -> None:
        """The file before is of no use once the ledger names this one."""
        self._path(self.number - 1).unlink(missing_ok=True)

    def _sums(self) -> bytes:
        seen = np.flatnonzero(self.came + self.went)
        rows = np.empty(len(seen), ROW)
        rows["query"], rows["came"], rows["went"] = seen, self.came[seen], self.went[seen]
        return rows.tobytes()

    def _path(self, number: int) -> Path:
        return self.folder / f"counts-{number}"
