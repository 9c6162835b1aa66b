"""Spark's own notes in a checkpoint, looked at before it starts: what is damaged is told at once, by name.

Hadoop leaves a file of checksums beside each file: offsets/7 and offsets/.7.crc.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from sanderling.state.sealed import broken

MAGIC = b"crc\x00"
NOTES = ("metadata", "offsets/*", "commits/*", "sources/**/*")


def refuse_damaged(folder: Path) -> None:
    """Every note of Spark's is as it was written."""
    for path in chain.from_iterable(folder.glob(notes) for notes in NOTES):
        sums = path.with_name(f".{path.name}.crc")
        is_note = not path.name.startswith(".") and path.is_file() and sums.exists()
        if is_note and not _fit(path.read_bytes(), sums.read_bytes()):
            raise broken(str(path), "its checksum does not fit: it was cut off, or a byte has changed")


def _fit(data: bytes, sums: bytes) -> bool:
    """Whether the sums, one for each so many bytes, are those of the data."""
    if sums[:4] != MAGIC or len(sums) < 8:
        return False
    (size,) = struct.unpack(">I", sums[4:8])
    return size > 0 and sums[8:] == b"".join(_sums(data, size))


def _sums(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield struct.pack(">I", zlib.crc32(data[at : at + size]))
