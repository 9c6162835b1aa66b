"""Descriptions as data: what is small as JSON, columns as Arrow. Nothing in it runs when it is read.

{"classes": ["Plan", …], "objects": [[0, …fields], …], "root": …}   then one Arrow batch of all columns

Only classes that are named beforehand are made, and only with values of the types of their fields.
An object that several others refer to is written once.
"""

from __future__ import annotations

import json
import struct
import types
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from sanderling.state.sealed import NOT_OURS, Data
from sanderling.types import TYPES, SqlType

T = TypeVar("T")

# What a schema may have: our types, regions, and what a query without constants has instead.
_ARROW = {str(t): t for t in (*(t.arrow for t in TYPES.values()), pa.binary(), pa.null())}


class Unreadable(ValueError):
    """The bytes are not what was written."""


class Encoding:
    """Of some dataclasses, which are all that can be written and read.

    Promise (tests/state/test_encoding.py): what is read equals what was written.
    """

    def __init__(self, *classes: type):
        self.classes = {c.__name__: c for c in classes}
        self.fields = {c: tuple(f.name for f in fields(c)) for c in classes}
        self.allowed = {c: [_runtime(get_type_hints(c)[n]) for n in self.fields[c]] for c in classes}

    def encoded(self, thing: Any) -> bytes:
        writer = _Writer(self)
        root = writer.value(thing)
        text = json.dumps({"classes": list(writer.numbers), "objects": writer.objects, "root": root}).encode()
        # Padded, so that Arrow's buffers are aligned as it likes them.
        text = text.ljust(-(-(len(text) + 4) // 64) * 64 - 4)
        return b"".join([struct.pack("<I", len(text)), text, writer.batch()])

    def decoded(self, data: Data, wanted: type[T]) -> T:
        """What was written, or Unreadable."""
        try:
            thing = _read(self, pa.py_buffer(data))
        except NOT_OURS as e:
            raise Unreadable(f"{type(e).__name__}: {e}") from e
        if not isinstance(thing, wanted):
            raise Unreadable(f"it holds no {wanted.__name__}")
        return thing


class _Writer:
    """What has been written so far; objects are known by who they are."""

    def __init__(self, encoding: Encoding):
        self.encoding = encoding
        self.numbers: dict[str, int] = {}  # of classes
        self.objects: list[list[Any]] = []
        self.columns: list[pa.Array] = []
        self._known: dict[int, int] = {}
        self._kinds: dict[type, Callable[[Any], Any]] = {
            tuple: self._tuple,
            frozenset: lambda x: {"s": [self.value(v) for v in sorted(x)]},
            np.ndarray: lambda x: {"n": self._column(pa.array(x))},
            pa.Table: self._table,
            pa.Schema: lambda x: {"m": [[f.name, str(f.type)] for f in x]},
            SqlType: lambda x: {"y": x.name},
        }

    def value(self, thing: Any) -> Any:
        if thing is None or isinstance(thing, (bool, int, float, str)):
            return thing
        found = self._kinds.get(type(thing))
        if found is not None:
            return found(thing)
        if isinstance(thing, pa.Array):
            return {"a": self._column(thing)}
        return {"o": self._object(thing)}

    def _object(self, thing: Any) -> int:
        number = self._known.get(id(thing))
        if number is None:
            names = self.encoding.fields.get(type(thing))
            if names is None:
                raise TypeError(f"{type(thing).__name__} is not among what can be written")
            kind = self.numbers.setdefault(type(thing).__name__, len(self.numbers))
            values = [self.value(getattr(thing, name)) for name in names]
            number = self._known[id(thing)] = len(self.objects)
            self.objects.append([kind, *values])
        return number

    def _tuple(self, thing: tuple[Any, ...]) -> Any:
        if thing and all(v is None or type(v) is bytes for v in thing):
            return {"b": self._column(pa.array(thing, pa.binary()))}
        return {"t": [self.value(v) for v in thing]}

    def _table(self, table: pa.Table) -> Any:
        table = table.combine_chunks()
        # A column that has no rows has no chunk either.
        chunks = [c.chunk(0) if c.num_chunks else pa.nulls(0, c.type) for c in table.columns]
        return {"r": [table.column_names, [self._column(c) for c in chunks]]}

    def _column(self, values: pa.Array) -> int:
        self.columns.append(values)
        return len(self.columns) - 1

    def batch(self) -> pa.Buffer:
        """One row, of a list for each column: they need not be as long as each other."""
        lists = [pa.ListArray.from_arrays(pa.array([0, len(c)], pa.int32()), c) for c in self.columns]
        batch = pa.RecordBatch.from_arrays(lists, names=[str(n) for n in range(len(lists))])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return sink.getvalue()


def _read(encoding: Encoding, data: pa.Buffer) -> Any:
    (length,) = struct.unpack_from("<I", data)
    said = json.loads(data.slice(4, length).to_pybytes())
    with pa.ipc.open_stream(data.slice(4 + length)) as reader:
        batch = reader.read_next_batch()
    batch.validate(full=True)  # what points outside of its column is found here, not by whoever uses it
    columns = [column.flatten() for column in batch.columns]
    classes = [encoding.classes[name] for name in said["classes"]]
    objects: list[Any] = []
    for kind, *values in said["objects"]:
        made = [_value(v, columns, objects) for v in values]
        for value, allowed in zip(made, encoding.allowed[classes[kind]], strict=True):
            if allowed is not None and not isinstance(value, allowed):
                raise Unreadable(f"{classes[kind].__name__} with a {type(value).__name__}")
        objects.append(classes[kind](*made))
    return _value(said["root"], columns, objects)


def _value(said: Any, columns: list[pa.Array], objects: list[Any]) -> Any:
    if not isinstance(said, dict):
        return said
    ((kind, what),) = said.items()
    match kind:
        case "o":
            return objects[what]
        case "t":
            return tuple([_value(v, columns, objects) for v in what])
        case "s":
            return frozenset([_value(v, columns, objects) for v in what])
        case "n":
            # A copy: whoever has a plan may write into its columns, and kernels are compiled for such.
            return np.array(columns[what].to_numpy(zero_copy_only=False))
        case "a":
            return columns[what]
        case "r":
            return pa.Table.from_arrays([columns[n] for n in what[1]], names=what[0])
        case "m":
            return pa.schema([(name, _ARROW[type_]) for name, type_ in what])
        case "y":
            return TYPES[what]
        case "b":
            column = columns[what]
            return (None,) * len(column) if column.null_count == len(column) else tuple(column.to_pylist())
    raise Unreadable(f'"{kind}" is no kind of value')


def _runtime(hint: Any) -> tuple[type, ...] | None:
    """The classes that a value of this annotation can have; None: any."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        parts = [_runtime(part) for part in get_args(hint)]
        return None if None in parts else tuple(c for part in parts if part for c in part)
    if hint is None:
        return (type(None),)
    found = origin or hint
    return (int, float) if found is float else (found,) if isinstance(found, type) else None
