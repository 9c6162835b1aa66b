"""Readings that are sent to a session: on disk before they are answered for, then taken by Spark.

rows of a file ──► looked at as Spark will ──► accepted, refused ──► N.jsonl ──► spark/sources/posted.py
"""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pyarrow as pa

from sanderling.catalog import Stream
from sanderling.errors import DataError, SanderlingError
from sanderling.ingest.read import read_slice
from sanderling.spark.sources.posted import FORMATS, Posted, file_of, piece_of
from sanderling.state.sealed import named, write_atomically

KEYS_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is answered for."""

    accepted: int
    refused: int
    sequence: int


class Posting:
    """The readings that are sent for one stream.

    N.jsonl …      taken by Spark in order of N      new/N.jsonl      not answered for yet
    last           the last N                        receipts.jsonl   by key, so that the same counts once

    Promises (tests/session/test_posting.py): what was answered for is read once, also after a restart; the
    same key counts once.
    """

    def __init__(self, stream: Stream, folder: Path):
        self.stream, self.folder, self._new = stream, folder, folder / "new"
        self._new.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._last = _number_in(folder / "last")
        self._receipts = _receipts_in(folder / "receipts.jsonl", self._last)
        self._settle()

    def _settle(self) -> None:
        """We may have been killed between any two steps of a sending: it is finished, or undone."""
        for path in self._new.iterdir():
            if path.stem == str(self._last):
                os.replace(path, self.folder / path.name)
            else:
                path.unlink()
        if self._last >= 0 and file_of(self.folder, self._last) is None:  # taken already, or else a gap
            (self.folder / f"{self._last}.jsonl").touch()

    @property
    def source(self) -> Posted:
        return Posted(self.stream.name, self.folder)

    def post(self, end: str, data: bytes, key: str | None = None) -> Receipt:
        """Rows of a file whose name ends so: .jsonl, .csv or .parquet."""
        digest = None if key is None else hashlib.sha256(key.encode()).hexdigest()
        with self._lock, named(self.folder):
            if digest is not None and (known := self._receipts.get(digest)) is not None:
                return known
            number = self._last + 1
            path = self._new / f"{number}{end}"
            write_atomically(path, data)
            receipt = self._looked_at(number, path)
            if digest is not None:
                self._note(digest, receipt)
            write_atomically(self.folder / "last", str(number).encode())
            self._last = number
            os.replace(path, self.folder / path.name)
            return receipt

    def _looked_at(self, number: int, path: Path) -> Receipt:
        """As Spark will read it."""
        stream = replace(self.stream, format=FORMATS[path.suffix])
        try:
            found = read_slice(stream, piece_of(number, path), int(os.stat(path).st_mtime * 1e6))
        except (SanderlingError, pa.ArrowException) as e:
            path.unlink()
            ours = e if isinstance(e, SanderlingError) else None
            message, hint = (ours.message, ours.hint) if ours else (str(e), "")
            raise DataError("data.unreadable", message, hint) from e
        return Receipt(found.readings.num_rows, found.letters.num_rows, number)

    def _note(self, digest: str, receipt: Receipt) -> None:
        _append(self.folder / "receipts.jsonl", digest, receipt)
        self._receipts[digest] = receipt
        while len(self._receipts) > KEYS_KEPT:
            del self._receipts[next(iter(self._receipts))]


def folder_of(work: Path, stream: str) -> Path:
    """A name that any file system takes."""
    return work / "posted" / hashlib.sha256(stream.casefold().encode()).hexdigest()[:16]


def _number_in(path: Path) -> int:
    return int(path.read_text()) if path.exists() else -1


def _append(path: Path, digest: str, receipt: Receipt) -> None:
    with open(path, "ab", buffering=0) as file:
        file.write(orjson.dumps([digest, receipt.accepted, receipt.refused, receipt.sequence]) + b"\n")
        os.fsync(file.fileno())


def _receipts_in(path: Path, last: int) -> dict[str, Receipt]:
    """Those of sendings that came to be; what is cut off was never said."""
    if not path.exists():
        return {}
    whole = path.read_bytes().rpartition(b"\n")[0]
    said = [orjson.loads(line) for line in whole.splitlines()[-KEYS_KEPT:]]
    found = {digest: Receipt(*numbers) for digest, *numbers in said if numbers[2] <= last}
    lines = (orjson.dumps([d, r.accepted, r.refused, r.sequence]) + b"\n" for d, r in found.items())
    write_atomically(path, b"".join(lines))
    return found
