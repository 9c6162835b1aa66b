"""Files that are followed: what has come to them since the last look, written down before it is read.

look ──► new names, longer files ──► pieces, a line each in a journal ──► an offset is a number of lines

So how far a file had been read does not depend on how long it is by now, and a batch that is read again
after a crash has the same slices.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.batches import Slice
from sanderling.catalog import Column
from sanderling.errors import ConfigError
from sanderling.ingest.files import SourceFile, is_packed, names_now, readable, unpack
from sanderling.ingest.formats.header import LONGEST_HEADER, check_columns
from sanderling.ingest.slices import CHUNK_BYTES, cut_text


@dataclass(frozen=True, slots=True)
class Known:
    """Of a file: how far it has been read, and by which version of it."""

    file: str
    path: str  # where it is read; nowhere as long as it is not complete
    inode: int
    start: int = 0  # of the last piece
    stop: int = 0
    row: int = 0
    next_row: int = 0
    size: int = -1  # of what can be taken only as a whole
    mtime_ns: int = -1

    def slice(self, number: int) -> Slice:
        return Slice(number, self.file, self.path, self.start, self.stop, self.row, is_last=False)

    def further(self, stop: int, rows: int) -> Known:
        """The next piece."""
        return replace(self, start=self.stop, stop=stop, row=self.next_row, next_row=self.next_row + rows)


class Follower:
    """The files of one stream, look after look.

    Promises (tests/ingest/test_followed.py):
      whole   a line is read when its newline has come, Parquet and gzip when the file is complete
      once    a row is read once, however its file grows, and however often we are killed
      again   a file that is shorter than before, or another one, is read from its beginning; `notes` say so
    """

    def __init__(
        self, path: str, format: str, columns: Sequence[Column], journal: Path, piece_size: int,
        data: Path | None = None, delimiter: str = ",",
    ) -> None:  # fmt: skip
        """`piece_size`: of a slice, in bytes of text or rows of Parquet."""
        self.delimiter = delimiter
        self.path, self.format, self.columns, self.data = path, format, columns, data
        self.journal, self.piece_size = journal, piece_size
        self._known: dict[str, Known] = {}
        self._slices: list[Slice] = []
        self._notes: list[str] = []
        self._read = 0  # bytes of the journal

    # ----- what is known

    def slices(self, start: int, end: int) -> list[Slice]:
        """Those with these numbers."""
        self._catch_up()
        return self._slices[start:end]

    def notes(self) -> list[str]:
        """What whoever watches should hear, since the last call."""
        self._catch_up()
        said, self._notes = self._notes, []
        return said

    def _catch_up(self) -> None:
        """With the journal; a line that was not finished was told to nobody."""
        if not self.journal.exists():
            return
        with open(self.journal, "rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            said = json.loads(line)
            if "note" in said:
                self._notes.append(said["note"])
            else:
                known = Known(**said)
                self._known[known.file] = known
                self._slices.append(known.slice(len(self._slices)))

    # ----- what has come

    def look(self, end: int) -> int:
        """Looks whether more has come, as long as there are fewer than so many slices; how many there are."""
        self._catch_up()
        found: list[Known | str] = []
        for name in names_now(self.path, self.data) if len(self._slices) < end else ():
            room = end - len(self._slices) - sum(isinstance(piece, Known) for piece in found)
            try:
                found += self._come(name, max(0, room))
            except FileNotFoundError:
                continue  # gone between two looks
        if found:
            self._write_down(found)
            self._catch_up()
        return min(end, len(self._slices))

    def _write_down(self, found: Sequence[Known | str]) -> None:
        lines = ({"note": one} if isinstance(one, str) else asdict(one) for one in found)
        with open(self.journal, "ab") as file:
            file.truncate(self._read)  # half a line of one who was killed
            file.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())

    def _come(self, name: str, room: int) -> list[Known | str]:
        """Pieces of one file that can be read now, and what is to be said of it."""
        if not room:
            return []
        known = self._known.get(name)
        if self.format == "parquet" or is_packed(name):
            return self._come_whole(name, known, room)
        status, said = os.stat(name), list[Known | str]()
        if known is not None and (status.st_ino != known.inode or status.st_size < known.stop):
            how = "is another file by now" if status.st_ino != known.inode else "has become shorter"
            said, known = [f'"{name}" {how}: it is read from its beginning'], None
        if known is None:
            known = self._begun(name, readable(name, self.data), status.st_ino, is_whole=False)
        if known is None:
            return []
        return [*said, *self._pieces(known, last_newline(known.path, known.stop, status.st_size), room)]

    def _begun(self, name: str, file: SourceFile, inode: int, is_whole: bool) -> Known | None:
        """Before the first row of a text; None as long as its first line has not come."""
        with open(file.path, "rb") as text:
            line = text.readline(LONGEST_HEADER)
        if not is_whole and not line.endswith(b"\n") and len(line) < LONGEST_HEADER:
            return None
        if self.format == "csv":
            check_columns(self.columns, self.format, [SourceFile(name, file.path)], self.delimiter)
            return Known(name, file.path, inode, stop=len(line), next_row=2)
        mark = len(codecs.BOM_UTF8) if line.startswith(codecs.BOM_UTF8) else 0
        return Known(name, file.path, inode, stop=mark, next_row=1)

    def _pieces(self, known: Known, end: int, room: int) -> list[Known]:
        found: list[Known] = []
        while known.stop < end and len(found) < room:
            stop = min(known.stop + self.piece_size, end)
            rows = stop - known.stop
            if self.format != "parquet":
                stop, rows = cut_text(known.path, known.stop, stop, end)
            known = known.further(stop, rows)
            found.append(known)
        return found

    def _come_whole(self, name: str, known: Known | None, room: int) -> list[Known | str]:
        """Of a file that can be read only as a whole: when it is complete."""
        status, said = os.stat(name), list[Known | str]()
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        if known is None or (known.inode, known.size, known.mtime_ns) != version:
            if known is not None and known.path:
                said = [f'"{name}" is another file by now: it is read from its beginning']
            begun = self._complete(name, status.st_ino)
            if begun is None and (known is None or known.path):
                said = [f'"{name}" is not complete yet']
            known = replace(begun or Known(name, "", status.st_ino), size=version[1], mtime_ns=version[2])
            self._known[name] = known  # it need not be looked into again until it changes
        if not known.path:
            return said
        is_parquet = self.format == "parquet"
        end = pq.read_metadata(known.path).num_rows if is_parquet else os.path.getsize(known.path)
        return [*said, *self._pieces(known, end, room)]

    def _complete(self, name: str, inode: int) -> Known | None:
        """Before its first row; None while it is still being written."""
        file = readable(name, self.data)
        try:
            if self.format == "parquet":
                pq.read_metadata(file.path)
                check_columns(self.columns, self.format, [file])
                return Known(name, file.path, inode, next_row=1)
            (unpacked,) = unpack([file], self.journal.parent / "unpacked")
            return self._begun(name, unpacked, inode, is_whole=True)
        except (pa.ArrowInvalid, ConfigError) as e:
            if isinstance(e, ConfigError) and e.code not in ("config.broken_gzip", "config.broken_parquet"):
                raise
            return None


def last_newline(path: str, start: int, end: int) -> int:
    """Behind the last newline between the two; `start` where there is none."""
    with open(path, "rb") as file:
        while start < end:
            at = max(start, end - CHUNK_BYTES)
            file.seek(at)
            found = file.read(end - at).rfind(b"\n")
            if found >= 0:
                return at + found + 1
            end = at
    return start
