"""queries.parquet: the queries that read the stream, as at the last flush."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.storage.about import broken
from sanderling.storage.place import Place, read_whole, write_whole

NAME = "queries.parquet"


def write(folder: Place, rows: pa.Table) -> None:
    """Safe on disk when it returns; whoever reads sees the one or the other."""
    file = io.BytesIO()
    pq.write_table(rows, file, compression="zstd")
    write_whole(folder / NAME, file.getvalue())


def read(folder: Place) -> pa.Table | None:
    """None: nobody has told of any."""
    try:
        return pq.read_table(pa.py_buffer(read_whole(folder / NAME)))
    except FileNotFoundError:
        return None
    except (OSError, pa.ArrowInvalid) as e:
        raise broken(folder / NAME, str(e)) from e
