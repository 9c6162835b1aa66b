"""Parcels: batches as bytes, so that a reading never becomes a row of the JVM."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from sanderling.batches import Batch, Kind, Slice
from sanderling.clock import Furthest, Rise, Rises


def parcel_of(batch: Batch) -> bytes:
    return b"".join(pieces_of({"table": batch.table}, _header_of(batch)))


def put_parcel(batch: Batch, file: pa.NativeFile) -> None:
    """Where it is read from the file itself: nothing is compressed, and no column copied on its way there."""
    measured = pa.MockOutputStream()
    _stream(measured, batch.table, PLAIN)
    for piece in _head({"table": measured.size()}, _header_of(batch)):
        file.write(piece)
    _stream(file, batch.table, PLAIN)


def _header_of(batch: Batch) -> dict[str, Any]:
    header = {name: getattr(batch, name) for name in batch.kind.fields}
    if "slice" in header:
        header["slice"] = asdict(batch.slice)
    return {"kind": batch.kind, **header}


def batch_in(parcel: bytes | memoryview | pa.Buffer) -> Batch:
    tables, header = tables_from_bytes(parcel)
    if "slice" in header:
        header["slice"] = Slice(**header["slice"])
    if "rises" in header:
        header["rises"] = {
            name: Rises(first, [Rise(*rise) for rise in readings])
            for name, (first, readings) in header["rises"].items()
        }
    if header.get("furthest"):
        header["furthest"] = Furthest(*header["furthest"])
    return Batch(Kind(header.pop("kind")), tables["table"], **header)


PLAIN, COMPRESSED = pa.ipc.IpcWriteOptions(), pa.ipc.IpcWriteOptions(compression="lz4")
LONGEST_PLAIN = 1024  # bytes
# Columns may be looked at where they lie: Arrow copies those that begin elsewhere, and warns.
ALIGNED = 8


def pieces_of(tables: dict[str, pa.Table], header: dict[str, Any]) -> list[bytes | pa.Buffer]:
    """A JSON header and Arrow IPC streams, one behind the other. What is copied several times is better
    compressed, if it is long.
    """
    bodies = {}
    for name, table in tables.items():
        sink = pa.BufferOutputStream()
        # 8 µs and 8 µs to read again; compressed 42 and 42, and longer than before.
        _stream(sink, table, COMPRESSED if table.nbytes > LONGEST_PLAIN else PLAIN)
        bodies[name] = sink.getvalue()
    return [*_head({name: body.size for name, body in bodies.items()}, header), *bodies.values()]


def _head(sizes: dict[str, int], header: dict[str, Any]) -> list[bytes]:
    head = json.dumps({"header": header, "sizes": sizes}).encode()
    padded = head + b" " * (-(len(head) + 4) % ALIGNED)
    return [struct.pack("<I", len(padded)), padded]


def _stream(sink: pa.NativeFile, table: pa.Table, options: pa.ipc.IpcWriteOptions) -> None:
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)


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
