"""A PMTiles archive with one tile: the whole earth in one colour."""

from __future__ import annotations

import io
import struct

from PIL import Image

from sanderling.server.shown.ground import ARCHIVE

HEADER_BYTES = 127
PLAIN, PNG = 1, 2  # how it is compressed, and what its tiles are


def archive_of(colour: tuple[int, int, int]) -> bytes:
    tile, metadata = png_of(colour), b"{}"
    # One entry: its number, how often it comes, how long it is, and where, counted from 1.
    directory = b"".join(varint(n) for n in (1, 0, 1, len(tile), 1))
    parts, offset = [directory, metadata, b"", tile], HEADER_BYTES
    places = b""
    for part in parts:
        places += struct.pack("<QQ", offset, len(part))
        offset += len(part)
    counts = struct.pack("<QQQ", 1, 1, 1)
    kinds = bytes([1, PLAIN, PLAIN, PNG, 0, 0])
    earth = struct.pack("<iiii", *(round(v * 1e7) for v in (-180, -85, 180, 85)))
    head = ARCHIVE + places + counts + kinds + earth + struct.pack("<Bii", 0, 0, 0)
    assert len(head) == HEADER_BYTES
    return head + b"".join(parts)


def png_of(colour: tuple[int, int, int]) -> bytes:
    sink = io.BytesIO()
    Image.new("RGB", (256, 256), colour).save(sink, "PNG")
    return sink.getvalue()


def varint(n: int) -> bytes:
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
