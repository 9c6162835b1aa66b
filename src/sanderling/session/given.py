"""Tables that a program has in memory, as files that a session reads: of pandas, Polars, Arrow, GeoPandas.

a table ──► Arrow, in order of time ──► given/<digest>.parquet ──► CREATE … WITH (path = …)

By the digest of what is in it: after a restart the same table is the same file, and so the same statement.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.catalog import Column
from sanderling.errors import ConfigError, did_you_mean
from sanderling.ingest.infer import type_in_arrow
from sanderling.state.sealed import write_atomically


def is_table(thing: object) -> bool:
    """Whatever can be handed over as Arrow, which is how libraries of tables do it today."""
    return isinstance(thing, pa.Table | pa.RecordBatch) or hasattr(thing, "__arrow_c_stream__")


def has_regions(thing: object) -> bool:
    """Whether it is a frame of features."""
    return hasattr(thing, "__geo_interface__")


def arrow_of(name: str, thing: object) -> pa.Table:
    """Only columns that a column of ours can be."""
    if not is_table(thing):
        hint = "give a frame of pandas or Polars, or a table of Arrow"
        raise ConfigError("config.no_table", f'what "{name}" is to be made of is no table', hint)
    if hasattr(thing, "reset_index") and hasattr(thing, "columns"):  # an index of pandas is no column
        table = pa.Table.from_pandas(thing, preserve_index=False)
    else:
        table = pa.table(thing) if not isinstance(thing, pa.RecordBatch) else pa.Table.from_batches([thing])
    usable = [f.name for f in table.schema if type_in_arrow(f.type) and table.column_names.count(f.name) == 1]
    return table.select(usable).replace_schema_metadata(None)


def columns_in(table: pa.Table) -> list[Column]:
    return [Column(f.name, t) for f in table.schema if (t := type_in_arrow(f.type)) is not None]


def refuse_missing(name: str, table: pa.Table, *wanted: str | None) -> None:
    for column in wanted:
        if column is not None and column not in table.column_names:
            raise ConfigError(
                "config.no_column", f'the table of "{name}" has no usable column "{column}"',
                did_you_mean(column, table.column_names),
            )  # fmt: skip


def kept(folder: Path, table: pa.Table) -> Path:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return _kept(folder, sink.getvalue().to_pybytes(), ".parquet")


def kept_features(folder: Path, thing: Any) -> Path:
    return _kept(folder, json.dumps(thing.__geo_interface__, default=str).encode(), ".geojson")


def _kept(folder: Path, data: bytes, ending: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder.resolve() / (hashlib.sha256(data).hexdigest()[:32] + ending)
    if not path.exists():  # what is there already is not to look changed
        write_atomically(path, data)
    return path
