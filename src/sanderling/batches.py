"""What travels between stages: batches, each a table with what it is.

source ──► readings ──► shards ──► signed rows, candidates, sightings ──► merge partitions ──► signed rows
                          └──► late readings, counts, answers ──► delivery ◄──────────────────────┘

From one process to another they are bytes (route/parcels.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Flag, StrEnum, auto

import pyarrow as pa

from sanderling.clock import NOTHING_YET, Furthest, Rises

# Columns that a reading carries beside its own.
TS = "__ts"
ROW = "__row"
LATE = "__late"
# Where a stream bounds how far ahead a reading may be, by the clock as it was before the slice: below the
# one a reading is ahead, from the other on it is late.
AHEAD_BELOW = "__ahead_below"
LATE_FROM = "__late_from"
PARTITION = "__partition"  # by number, among those of its slice; only where a stream has partitions

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

# Patterns that a program's own state has ended: since which tick, and why.
FAILED = pa.schema([("query", pa.int64()), ("tick", pa.int64()), ("message", pa.string())])

NOTHING = pa.table({})


class To(Flag):
    """Who takes a batch."""

    SHARDS = auto()
    MERGE = auto()
    DELIVERY = auto()


class Kind(StrEnum):
    """What a batch is: who takes it, columns that its table has, and the fields that say the rest of it.

    Where both merge partitions and delivery take it, its template says which of them.
    """

    to: To
    columns: tuple[str, ...]
    fields: tuple[str, ...]

    def __new__(cls, word: str, to: To = To.DELIVERY, columns: str = "", fields: str = "") -> Kind:
        kind = str.__new__(cls, word)
        kind._value_, kind.to = word, to
        kind.columns, kind.fields = tuple(columns.split()), tuple(fields.split())
        return kind

    # ----- from a source
    READINGS = "readings", To.SHARDS, f"{TS} {ROW} {LATE}", "stream slice rows min_ts rises filled met"
    # Readings of focal objects, for shards in which they do not live.
    FOCALS = "focals", To.SHARDS, f"{TS} {LATE}", "stream slice min_ts rises"
    LETTERS = "letters", To.DELIVERY, "reason file row raw", "stream slice"
    # ----- from shards; behind their columns stands the select list as c0, c1, …
    DELTAS = "deltas", To.MERGE | To.DELIVERY, "query tick sign", "stream template"
    # A shard's nearest, of kNN queries whose lists are new: a row for each list, and in it lists, nearest
    # first, of the squares of distances, of keys, and of what shows more of their objects.
    CANDIDATES = "candidates", To.MERGE, "query tick d2 key", "stream template shard"
    # Readings of a shard that may be among the last of all, with their numbers in the shard. A number n
    # below 0 takes back what the reading ~n gave: the region is gone. HIDDEN, where it stands, marks rows
    # that count only if their reading has been among the last all the time.
    LATEST = "latest", To.MERGE, "query tick number", "stream template shard"
    # Readings of a shard, for the order of all.
    LISTING = "listing", To.MERGE, "ts key number", "stream shard"
    # All that matters of what was listed before. The shard shows everybody those that are its own; of the
    # others those count that are among the last `reach` of all.
    RELISTING = "relisting", To.MERGE, "ts key number is_own", "stream shard reach"
    # Readings that triggers take, each with all queries that take it. Nothing is ever taken back.
    SIGHTINGS = "sightings", To.MERGE, f"tick {QUERIES}", "stream template"
    # How far a stream has come, and which composed queries begin and end.
    CLOCK = "clock", To.MERGE, " ".join(TURNS.names), "stream closed_to is_ended"
    LATE_ROWS = "late", To.DELIVERY, ROW, "stream slice"
    AHEAD_ROWS = "ahead", To.DELIVERY, ROW, "stream slice"
    # Readings of ticks that have closed, for the archive; behind the time stand all declared columns.
    ARCHIVED = "archived", To.DELIVERY, TS, "stream"
    LATE_READINGS = "late readings", To.DELIVERY, TS, "stream"  # where the archive keeps what came too late
    COUNTS = "counts", To.DELIVERY, "", "stream rows ticks closed_to furthest filled met"
    # ----- while a plan lives (route/controls.py); the first shard tells merge partitions what they need
    PLAN = "plan", To.SHARDS | To.MERGE, "", "version"
    ACTIVATE = "activate", To.SHARDS, "", "stream version"
    # What queries of a version need of the past of a stream, from its archive.
    FILL = "fill", To.SHARDS, "", "stream version shards"
    # Signed rows of a query that is told of the past, through one shard; and what it held at the end of that,
    # to be taken back at the tick at which the query begins. What comes of both is PAST.
    RETOLD = "retold", To.SHARDS, "query tick sign", "stream template version"
    HELD = "held", To.SHARDS, "query tick sign", "stream template version"
    PAST = "past", To.DELIVERY, "query tick sign", "stream template"
    RECALL = "recall", To.SHARDS, "", "ask stream"
    ASK = "ask", To.SHARDS | To.MERGE, "query", "ask stream closed_to"
    SAID = "said", To.DELIVERY, TS, "stream version"
    KEPT = "kept", To.DELIVERY, TS, "ask stream closed_to"
    ANSWER = "answer", To.MERGE | To.DELIVERY, "query tick sign", "ask stream template"
    MARK = "mark", To.DELIVERY, "", "ask version"
    # ----- beside all that
    FAILED = "failed", To.DELIVERY, " ".join(FAILED.names)
    FIGURES = "figures", To.DELIVERY, "operator", "shard"  # what operators did, for EXPLAIN ANALYZE
    SECONDS = "seconds", To.DELIVERY, "name seconds"
    PART = "part", To.DELIVERY, "", "file"  # batches in a file (deliver/log.py)


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
    is_ordered: bool = True  # its readings came in this order, and after those of slices with lower numbers
    is_live: bool = False  # they have just been taken: the clock on the wall knows what cannot be


NO_SLICE = Slice(-1, "", "", 0, 0, 0, is_last=False)


@dataclass(frozen=True, slots=True)
class Batch:
    """A table and what it is. Fields that are none of its kind's stay as they are here."""

    kind: Kind
    table: pa.Table = field(default_factory=lambda: NOTHING)
    stream: str = ""
    template: int = -1
    shard: int = -1  # or, of figures, the merge partition
    version: int = -1  # of the plan
    ask: int = -1  # the number of the question
    closed_to: int = NOTHING_YET  # the last tick of the stream that has closed
    is_ended: bool = False
    ticks: int = 0  # that have closed in this turn
    slice: Slice = NO_SLICE
    rows: int = 0  # that were read, those that cannot be readings among them
    min_ts: int = NOTHING_YET  # of all readings of the slice, whichever shard they go to
    rises: dict[str, Rises] = field(default_factory=dict)  # by partition, what they do to its clock
    furthest: Furthest | None = None  # the reading that the clock has moved to
    filled: list[str] = field(default_factory=list)  # columns that had a value in some reading
    # Focal objects of whom there was a reading; where there are very many nobody asks.
    met: list[str | int] = field(default_factory=list)
    reach: int = 0
    shards: int = 0  # that there are: each takes what is its own
    file: str = ""
