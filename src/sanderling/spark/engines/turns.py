"""A turn of an engine, what comes of it, and how both travel between two processes of a machine."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Blob = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Turn:
    """What one engine is to do in one batch."""

    name: str  # of this turn of this engine, also when it is taken again
    batch: int
    tag: str  # of the state that it leads to
    room: int  # a snapshot is due if the delta has more bytes
    blobs: Sequence[Blob]  # batches

    def send(self, line: socket.socket, missed: Sequence[bytes]) -> None:
        """With the deltas that the other side has missed."""
        known = {"name": self.name, "batch": self.batch, "tag": self.tag, "room": self.room}
        head = {**known, "missed": len(missed)}
        send(line, head, [*missed, *self.blobs])

    @classmethod
    def receive(cls, line: socket.socket) -> tuple[Turn, list[bytes]]:
        head, blobs = receive(line)
        missed = head["missed"]
        turn = cls(head["name"], head["batch"], head["tag"], head["room"], blobs[missed:])
        return turn, [bytes(delta) for delta in blobs[:missed]]


@dataclass(frozen=True, slots=True)
class Said:
    """What came of a turn."""

    keys: list[int]  # of Spark's shuffle, for each blob
    blobs: Sequence[Blob]  # what goes on through Spark
    delta: Blob
    snapshot: Blob | None
    seconds: dict[str, float]

    def send(self, line: socket.socket) -> None:
        saved = [self.delta] if self.snapshot is None else [self.delta, self.snapshot]
        send(line, {"keys": self.keys, "seconds": self.seconds}, [*self.blobs, *saved])

    @classmethod
    def receive(cls, line: socket.socket) -> Said:
        head, blobs = receive(line)
        said, (delta, *snapshot) = blobs[: len(head["keys"])], blobs[len(head["keys"]) :]
        return cls(head["keys"], said, delta, snapshot[0] if snapshot else None, head["seconds"])


def send(line: socket.socket, head: dict[str, Any], blobs: Sequence[Blob] = ()) -> None:
    """A JSON header, then bytes as they are."""
    text = json.dumps({**head, "sizes": [len(b) for b in blobs]}).encode()
    for piece in (struct.pack("<I", len(text)) + text, *blobs):
        line.sendall(piece)


def receive(line: socket.socket) -> tuple[dict[str, Any], list[memoryview]]:
    """The blobs share one buffer. A line that ends in the middle is a ConnectionError."""
    (length,) = struct.unpack("<I", _read(line, 4))
    head = json.loads(bytes(_read(line, length)))
    whole, at, blobs = _read(line, sum(head["sizes"])), 0, []
    for size in head["sizes"]:
        blobs.append(whole[at : at + size])
        at += size
    return head, blobs


def _read(line: socket.socket, size: int) -> memoryview:
    buffer = memoryview(bytearray(size))
    at = 0
    while at < size:
        read = line.recv_into(buffer[at:])
        if not read:
            raise ConnectionError("the other side has ended")
        at += read
    return buffer
