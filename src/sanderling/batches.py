"""The columnar batches that travel between stages.

readings ──► signed rows, candidates, sightings ──► signed rows
(ingest)     (operate)                              (merge, deliver)
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

# Columns that a reading carries beside its own.
TS = "__ts"
ROW = "__row"
LATE = "__late"

# Of a reading among the last of all: whether its region was where not every shard would know.
HIDDEN = "is_hidden"

# The column of a sighting that lists who takes it.
QUERIES = "queries"

# Which composed queries begin (1) and end (-1) at which tick, as a shard of one stream tells it, and whether
# there were readings before that tick.
TURNS = pa.schema(
    [
        ("query", pa.int32()), ("tick", pa.int64()), ("sign", pa.int8()),
        ("stream", pa.string()), ("has_past", pa.bool_()),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of one file: bytes of a text, rows of a parquet file."""

    number: int  # from 0, in order of arrival
    file: str
    path: str
    start: int
    stop: int
    first_row: int  # what an editor would call the first line: a csv's first reading is in row 2
    is_last: bool  # the stream ends with this slice


@dataclass(frozen=True, slots=True)
class DeltaBatch:
    """Signed rows of one template: query, tick, sign, then the select list as c0, c1, …"""

    template: int
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """A shard's nearest, of the kNN queries of one template whose lists are new.

    A row for each object of a list: query, tick, d2 (the square of its distance), key, then the select
    list as c0, c1, …; an empty list is one row of NULLs.
    """

    template: int
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class ListingBatch:
    """Readings of a shard, for the order of all: ts, key, and their numbers in the shard.

    `is_anew`: they are all that matters of what was listed before. Then `is_own` says whether the shard shows
    them to everybody; of the others those count that are among the last `reach` of all.
    """

    rows: pa.Table
    is_anew: bool = False
    reach: int = 0


@dataclass(frozen=True, slots=True)
class LatestBatch:
    """Readings of a shard that may be among the last of all, of the n ROWS queries of one template.

    A row for each reading that a query takes: query, tick, its number in the shard, then the select list
    as c0, c1, … A number n below 0 takes back what the reading ~n gave: the region is gone.
    `is_hidden`, where it stands, marks rows that count only if their reading has been among the last all the
    time.
    """

    template: int
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class SightingBatch:
    """Readings that triggers take, of the branches of one template, each with all queries that take it.

    A row for each reading: tick, queries (a list), then the select list as c0, c1, …, which depends on the
    reading alone. Nothing is ever taken back.
    """

    template: int
    rows: pa.Table
