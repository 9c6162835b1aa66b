"""Readings as GeoParquet 1.1, and back: places are one column of native points, times are UTC.

declared columns, __ts ──► x, y of DOUBLE as struct<x, y> ──► Parquet ──► the same columns again

A place that is no DOUBLE stays as it is and has its point beside it; so has a time that is no TIMESTAMP.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sanderling.arrays import F64, I64, flat
from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.storage.delta import File
from sanderling.storage.place import Place, bytes_of, opened, written

POINT = pa.struct([("x", pa.float64()), ("y", pa.float64())])
TIME = pa.timestamp("us", "UTC")
# A row group is what a reader can leave out: few enough for that, and enough to be worth its footer.
ROW_GROUP = 128 << 10


@dataclass(frozen=True, slots=True)
class Form:
    """How the readings of a stream stand in files."""

    stream: Stream
    geometry: str
    more: tuple[pa.Field, ...] = ()  # columns behind those of readings

    @property
    def has_own_time(self) -> bool:
        """Whether the declared time is one for all who read."""
        return self._type(self.stream.time) == "TIMESTAMP"

    @property
    def is_place_folded(self) -> bool:
        """Whether the declared columns are the point's."""
        return self._type(self.stream.x) == self._type(self.stream.y) == "DOUBLE"

    @property
    def time(self) -> str:
        """The column that a file is in order of, within blocks."""
        return self.stream.time if self.has_own_time else TS

    def _type(self, name: str) -> str:
        column = self.stream.column(name)
        assert column is not None
        return column.type.name

    @property
    def readings(self) -> pa.Schema:
        """What readers get: the declared columns, and the time in microseconds."""
        return pa.schema(
            [*((c.name, c.type.arrow) for c in self.stream.columns), pa.field(TS, pa.int64()), *self.more]
        )

    @property
    def stored(self) -> pa.Schema:
        """What is in the files."""
        folded = {self.stream.x, self.stream.y} if self.is_place_folded else set[str]()
        fields = [
            pa.field(c.name, _stored(c.type.arrow)) for c in self.stream.columns if c.name not in folded
        ]
        if not self.has_own_time:
            fields.append(pa.field(TS, TIME))
        return pa.schema([*fields, pa.field(self.geometry, POINT), *self.more])

    def packed(self, readings: pa.Table) -> pa.Table:
        """As it goes into files."""
        # A reading has a finite place, or it is a dead letter.
        x, y = (
            readings.column(name).cast(pa.float64(), safe=False) for name in (self.stream.x, self.stream.y)
        )
        point = pa.StructArray.from_arrays([flat(x), flat(y)], fields=list(POINT))
        columns: dict[str, pa.ChunkedArray | pa.Array] = {self.geometry: point}
        for field in self.stored:
            if field.name == TS:
                columns[TS] = readings.column(TS).cast(TIME)
            elif field.name != self.geometry:
                columns[field.name] = readings.column(field.name).cast(field.type)
        return pa.table([columns[name] for name in self.stored.names], schema=self.stored)

    def unpacked(self, stored: pa.Table) -> pa.Table:
        """As it was."""
        columns = []
        point = flat(stored.column(self.geometry))
        for field in self.readings:
            if field.name == TS:
                columns.append(stored.column(self.time).cast(TIME).cast(pa.int64()))
            elif self.is_place_folded and field.name in (self.stream.x, self.stream.y):
                columns.append(
                    pa.chunked_array([pc.struct_field(point, 0 if field.name == self.stream.x else 1)])
                )
            else:
                columns.append(_back(stored.column(field.name), field.type))
        return pa.table(columns, schema=self.readings)

    def metadata(self, bounds: tuple[float, float, float, float] | None) -> str:
        """The `geo` of GeoParquet. A plane has no reference system; the globe's is the standard one."""
        column: dict[str, object] = {"encoding": "point", "geometry_types": ["Point"]}
        if not self.stream.is_globe:
            column["crs"] = None
        if bounds is not None:
            column["bbox"] = list(bounds)
        said = {"version": "1.1.0", "primary_column": self.geometry, "columns": {self.geometry: column}}
        return json.dumps(said)

    def read(self, path: Place, groups: list[int] | None = None) -> pa.Table:
        """A file as it was written, or some of its row groups."""
        with opened(path) as source, pq.ParquetFile(source) as file:
            return self.unpacked(file.read() if groups is None else file.read_row_groups(groups))

    def narrow(self, path: Place, groups: list[int]) -> Iterator[tuple[pa.Array, I64, F64, F64]]:
        """Of row groups key, time and place; keys that are texts as a dictionary."""
        key = self.stream.key
        as_dictionary = [key] if self._type(key) == "STRING" else []
        with opened(path) as source, pq.ParquetFile(source, read_dictionary=as_dictionary) as file:
            columns = [key, self.time, self.geometry]
            edges = np.cumsum([0, *(file.metadata.row_group(n).num_rows for n in groups)])
            table = file.read_row_groups(groups, columns=columns)
        for first, end in pairwise(edges.tolist()):
            mine = table.slice(first, end - first)
            keys = mine.column(key)
            point = flat(mine.column(self.geometry))
            x, y = (
                np.asarray(pc.struct_field(point, axis).to_numpy(zero_copy_only=False)) for axis in (0, 1)
            )
            yield (
                keys.chunk(0) if keys.num_chunks == 1 else flat(keys.unify_dictionaries()),
                np.asarray(mine.column(self.time).cast(TIME).cast(pa.int64()).to_numpy(), np.int64), x, y,
            )  # fmt: skip

    def row_groups(self, path: Place) -> Iterator[pa.Table]:
        """A file one row group after the other."""
        with opened(path) as source, pq.ParquetFile(source) as file:
            for number in range(file.metadata.num_row_groups):
                yield self.unpacked(file.read_row_group(number))

    def write(self, folder: Place, path: str, part: str, groups: Iterable[pa.Table]) -> File:
        """Tables of readings, each in row groups of its own; safely on disk when this returns."""
        full = folder / path
        rows, seen = 0, Extent(self.geometry, self.time)
        tables = map(self.packed, groups)
        first = next(tables, self.stored.empty_table())
        with written(full) as file, pq.ParquetWriter(file, self.stored, **self._written_as(first)) as writer:
            for packed in chain([first], tables):
                if packed.num_rows:
                    writer.write_table(packed, row_group_size=ROW_GROUP)
                seen.add(packed)
                rows += packed.num_rows
            writer.add_key_value_metadata({"geo": self.metadata(seen.bounds)})
        return File(path, part, rows, bytes_of(full), seen.first, seen.last, seen.bounds)

    def _written_as(self, first: pa.Table) -> dict[str, object]:
        """Encodings that are short for readings in order of cell and key (tests/storage/test_size.py).

        By the first of them: a dictionary of what is mostly there once is longer, and takes three times
        as long to write.
        """
        plain = {self.time: "DELTA_BINARY_PACKED"}
        dictionaries = [name for name, column in _leaves(first) if name not in plain and _is_repeated(column)]
        return {
            "compression": "zstd", "use_dictionary": dictionaries, "column_encoding": plain,
            "store_schema": False, "write_page_index": False,
        }  # fmt: skip


def _leaves(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
    """The columns that Parquet has."""
    for field in table.schema:
        column = table.column(field.name)
        if pa.types.is_struct(field.type):
            whole = flat(column)
            for number, child in enumerate(field.type):
                yield f"{field.name}.{child.name}", pc.struct_field(whole, number)
        else:
            yield field.name, column


SAMPLE = 8192


def _is_repeated(column: pa.ChunkedArray | pa.Array) -> bool:
    """Whether a row group has most values several times: a guess, by how often some of them come."""
    n = min(len(column), ROW_GROUP)
    if not pa.types.is_floating(column.type) and not pa.types.is_integer(column.type):
        return True
    values = column.slice(0, n)
    if n > SAMPLE:
        values = values.take(pa.array(np.linspace(0, n - 1, SAMPLE).astype(np.int64)))
    _, counts = np.unique(values.drop_null().to_numpy(zero_copy_only=False), return_counts=True)
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    if n <= SAMPLE or not once:
        return len(counts) < n / 2
    # How many there are that the sample has not seen (Chao 1984).
    return len(counts) + once * (once - 1) / 2 / (twice + 1) < n / 2


class Extent:
    """From when to when, and from where to where; of nothing None."""

    def __init__(self, geometry: str, time: str):
        self._geometry, self._time = geometry, time
        self.first: int | None = None
        self.last: int | None = None
        self.bounds: tuple[float, float, float, float] | None = None

    def add(self, packed: pa.Table) -> None:
        if not packed.num_rows:
            return
        point = flat(packed.column(self._geometry))
        x, y = (pc.min_max(pc.struct_field(point, axis)).as_py() for axis in (0, 1))
        ts = pc.min_max(packed.column(self._time).cast(pa.int64())).as_py()
        x1, y1, x2, y2 = self.bounds or (x["min"], y["min"], x["max"], y["max"])
        self.bounds = min(x1, x["min"]), min(y1, y["min"]), max(x2, x["max"]), max(y2, y["max"])
        self.first = ts["min"] if self.first is None else min(self.first, ts["min"])
        self.last = ts["max"] if self.last is None else max(self.last, ts["max"])


def _stored(type_: pa.DataType) -> pa.DataType:
    return TIME if pa.types.is_timestamp(type_) else type_


def _back(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    return column.cast(TIME).cast(type_) if pa.types.is_timestamp(type_) else column.cast(type_)
