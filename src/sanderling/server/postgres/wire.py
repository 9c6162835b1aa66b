"""PostgreSQL's messages, protocol 3.0: bytes to fields, fields to bytes. Knows no SQL and no session."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping, Sequence

from sanderling.errors import ServerError

VERSION_3 = 3 << 16
CANCEL, SSL, GSS = 80877102, 80877103, 80877104
# What comes before a token is known is short.
MOST_START = 10_000
TEXT, BINARY = 0, 1


def bad(what: str) -> ServerError:
    return ServerError("request.bad", f"{what}: this is not PostgreSQL's protocol", "is it a client of it?")


# ----- from a client


async def start_message(reader: asyncio.StreamReader) -> bytes:
    """The first message, which has no kind."""
    length = int.from_bytes(await reader.readexactly(4), "big")
    if not 8 <= length <= MOST_START:
        raise bad(f"a first message of {length:,} bytes")
    return await reader.readexactly(length - 4)


async def message(reader: asyncio.StreamReader, most: int) -> tuple[bytes, Fields]:
    """Its kind, and its fields."""
    kind = await reader.readexactly(1)
    length = int.from_bytes(await reader.readexactly(4), "big", signed=True) - 4
    if not 0 <= length <= most:
        raise bad(f"a message of {length:,} bytes")
    return kind, Fields(await reader.readexactly(length))


class Fields:
    """What a message holds, taken from its beginning on."""

    def __init__(self, body: bytes):
        self._body, self._at = body, 0

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self._body) - self._at:
            raise bad("a message that ends too early")
        self._at += count
        return self._body[self._at - count : self._at]

    def rest(self) -> bytes:
        return self.take(len(self._body) - self._at)

    def text(self) -> str:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise bad("a text without an end")
        raw = self.take(end - self._at)
        self._at += 1
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise bad("a text that is not UTF-8") from None

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def many16(self) -> list[int]:
        return [self.int16() for _ in range(self.int16())]

    def value(self) -> bytes | None:
        """A length, and so many bytes; NULL is below zero."""
        length = self.int32()
        return None if length < 0 else self.take(length)


def settings_in(fields: Fields) -> dict[str, str]:
    """Names and values up to an empty name."""
    found = {}
    while name := fields.text():
        found[name] = fields.text()
    return found


# ----- to a client


def told(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return kind + struct.pack("!i", len(body) + 4) + body


def text(words: str) -> bytes:
    return words.replace("\0", " ").encode(errors="replace") + b"\0"


def int32(number: int) -> bytes:
    return struct.pack("!i", number)


def int16s(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"!h{len(numbers)}h", len(numbers), *numbers)


PASSWORD_WANTED = told(b"R", int32(3))
WELCOME = told(b"R", int32(0))
PARSED, BOUND, CLOSED = told(b"1"), told(b"2"), told(b"3")
NO_ROWS, EMPTY, SUSPENDED = told(b"n"), told(b"I"), told(b"s")
COPY_DONE = told(b"c")


def setting(name: str, value: str) -> bytes:
    return told(b"S", text(name), text(value))


def key_of(process: int, secret: int) -> bytes:
    return told(b"K", struct.pack("!iI", process, secret))


def ready(status: bytes) -> bytes:
    return told(b"Z", status)


def done(tag: str) -> bytes:
    return told(b"C", text(tag))


def columns(names: Sequence[str], oids: Sequence[int], sizes: Sequence[int], forms: Sequence[int]) -> bytes:
    """Of which columns the rows are."""
    each = (
        text(name) + struct.pack("!ihihih", 0, 0, oid, size, -1, form)
        for name, oid, size, form in zip(names, oids, sizes, forms, strict=True)
    )
    return told(b"T", struct.pack("!h", len(names)), *each)


def parameters(oids: Sequence[int]) -> bytes:
    return told(b"t", struct.pack(f"!h{len(oids)}i", len(oids), *oids))


def row(values: Sequence[bytes | None]) -> bytes:
    parts = [b"\xff\xff\xff\xff" if v is None else struct.pack("!i", len(v)) + v for v in values]
    return told(b"D", struct.pack("!h", len(parts)), *parts)


def copy_begins(count: int) -> bytes:
    return told(b"H", b"\0", int16s([TEXT] * count))


def copy_data(lines: bytes) -> bytes:
    return told(b"d", lines)


def fault(fields: Mapping[str, str], is_notice: bool = False) -> bytes:
    """Fields by their letters."""
    body = b"".join(letter.encode() + text(words) for letter, words in fields.items())
    return told(b"N" if is_notice else b"E", body, b"\0")


def other_version(unknown: Sequence[str]) -> bytes:
    """We speak 3.0, and none of these options."""
    return told(b"v", int32(0), int32(len(unknown)), *map(text, unknown))
