"""Parcels: Arrow tables with a small header as bytes, so that a reading never becomes a row of the JVM."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from enum import Flag, StrEnum, auto
from typing import Any

import pyarrow as pa


class To(Flag):
    """Who takes a parcel."""

    SHARDS = auto()
    MERGE = auto()
    DELIVERY = auto()


class Kind(StrEnum):
    """What a parcel is, and who takes it; where two do, its template says which of them."""

    to: To

    def __new__(cls, word: str, to: To) -> Kind:
        kind = str.__new__(cls, word)
        kind._value_, kind.to = word, to
        return kind

    # from a source
    READINGS = "readings", To.SHARDS
    FOCALS = "focals", To.SHARDS  # readings of focal objects, for shards in which they do not live
    LETTERS = "letters", To.DELIVERY
    # from shards
    DELTAS = "deltas", To.MERGE | To.DELIVERY
    CANDIDATES = "candidates", To.MERGE
    LISTING = "listing", To.MERGE
    SIGHTINGS = "sightings", To.MERGE  # readings for triggers, each with the queries that take it
    CLOCK = "clock", To.MERGE  # how far a stream has come, and which composed queries begin and end
    LATE_ROWS = "late", To.DELIVERY
    COUNTS = "counts", To.DELIVERY
    # while a plan lives (controls.py); the first shard passes on what merge partitions need to hear
    PLAN = "plan", To.SHARDS | To.MERGE
    ACTIVATE = "activate", To.SHARDS
    ASK = "ask", To.SHARDS | To.MERGE
    SAID = "said", To.DELIVERY
    ANSWER = "answer", To.MERGE | To.DELIVERY
    MARK = "mark", To.DELIVERY
    # beside all that
    FIGURES = "figures", To.DELIVERY  # what operators did in a batch, for EXPLAIN ANALYZE
    SECONDS = "seconds", To.DELIVERY
    PART = "part", To.DELIVERY  # the name of a file that holds parcels (deliver/log.py)


KINDS = {str(kind): kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Parcel:
    """A table and what it is: `kind`, the stream or template it belongs to, and a few numbers."""

    kind: Kind
    table: pa.Table
    header: dict[str, Any] = field(default_factory=dict)

    def pieces(self, is_compressed: bool = True) -> list[bytes | pa.Buffer]:
        return pieces_of({"table": self.table}, {**self.header, "kind": self.kind}, is_compressed)

    def to_bytes(self) -> bytes:
        return b"".join(self.pieces())

    @classmethod
    def from_bytes(cls, data: bytes | memoryview | pa.Buffer) -> Parcel:
        tables, header = tables_from_bytes(data)
        return cls(KINDS[header.pop("kind")], tables["table"], header)


PLAIN, COMPRESSED = pa.ipc.IpcWriteOptions(), pa.ipc.IpcWriteOptions(compression="lz4")
LONGEST_PLAIN = 1024  # bytes


def pieces_of(
    tables: dict[str, pa.Table], header: dict[str, Any], is_compressed: bool = True
) -> list[bytes | pa.Buffer]:
    """A JSON header and Arrow IPC streams, one behind the other. What is copied several times is better
    compressed, if it is long.
    """
    bodies = {}
    for name, table in tables.items():
        sink = pa.BufferOutputStream()
        # 8 µs and 8 µs to read again; compressed 42 and 42, and longer than before.
        options = COMPRESSED if is_compressed and table.nbytes > LONGEST_PLAIN else PLAIN
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        bodies[name] = sink.getvalue()
    head = json.dumps({"header": header, "sizes": {n: b.size for n, b in bodies.items()}}).encode()
    return [struct.pack("<I", len(head)), head, *bodies.values()]


def tables_from_bytes(data: bytes | memoryview | pa.Buffer) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    buffer = pa.py_buffer(data)
    (length,) = struct.unpack_from("<I", buffer)
    head = json.loads(buffer.slice(4, length).to_pybytes())
    at = 4 + length
    tables = {}
    for name, size in head["sizes"].items():
        with pa.ipc.open_stream(buffer.slice(at, size)) as reader:
            tables[name] = reader.read_all()
        at += size
    return tables, head["header"]
