"""Parcels: Arrow tables with a small header as bytes, so that a reading never becomes a row of the JVM."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

READINGS, FOCALS, LETTERS, LATE_ROWS, DELTAS, CANDIDATES, LISTING, COUNTS, SECONDS = (
    "readings",
    "focals",
    "letters",
    "late",
    "deltas",
    "candidates",
    "listing",
    "counts",
    "seconds",
)
# Readings for triggers, each with the queries that take it.
SIGHTINGS = "sightings"
# What operators did in a batch, for EXPLAIN ANALYZE.
FIGURES = "figures"
# From shards to merge partitions: how far a stream has come, and which composed queries begin and end.
CLOCK = "clock"
# The name of a file that holds parcels (deliver/log.py).
PART = "part"
# While a plan lives (route/controls.py).
PLAN, SAID, ACTIVATE, ASK, ANSWER, MARK = "plan", "said", "activate", "ask", "answer", "mark"


@dataclass(frozen=True, slots=True)
class Parcel:
    """A table and what it is: `kind`, the stream or template it belongs to, and a few numbers."""

    kind: str
    table: pa.Table
    header: dict[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        return tables_to_bytes({"table": self.table}, {**self.header, "kind": self.kind})

    @classmethod
    def from_bytes(cls, data: bytes | memoryview | pa.Buffer) -> Parcel:
        tables, header = tables_from_bytes(data)
        return cls(header.pop("kind"), tables["table"], header)


def tables_to_bytes(tables: dict[str, pa.Table], header: dict[str, Any]) -> bytes:
    """A JSON header and Arrow IPC streams, one behind the other, compressed: copying costs more than that."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    bodies = {}
    for name, table in tables.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        bodies[name] = sink.getvalue()
    head = json.dumps({"header": header, "sizes": {n: b.size for n, b in bodies.items()}}).encode()
    return b"".join([struct.pack("<I", len(head)), head, *bodies.values()])


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
