"""Where the processor's time goes for a reading, without Spark: part by part, in one process."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.nearest_on_spark import write_queries
from benchmarks.peers.squares import TEMPLATE
from benchmarks.report import report
from benchmarks.squares import STREAM, plan_of
from benchmarks.worlds import random_boxes, write_walk
from sanderling.batches import Batch, Slice
from sanderling.deliver.log import PARTS, put_part
from sanderling.ingest.read import read_slice
from sanderling.ingest.slices import Slicer
from sanderling.pipeline import Engine
from sanderling.plans.plan import Plan
from sanderling.route.pack import pack
from sanderling.settings import Settings
from sanderling.spark.engines.inbox import Inbox, batch_of
from sanderling.spark.sources.find import find_input
from sanderling.state import saved

REASON = (
    "microseconds of the processor for a reading, by part; no Spark, one process, batches as a run has them"
)
SHARDS = 2
READ, PACKED, WRITTEN = "reading Parquet, types, judging rows", "packing by key", "writing parcels to files"
SHARD, PASSED, MERGED = (
    "a shard: clock, last readings, operators",
    "what goes on to merge partitions",
    "merge partitions",
)
TOLD, ALL = "what is saved and told", "all of it"


def run(
    objects: int = 100_000, queries: int = 10_000, k: int = 10, side: float = 0.01, step: float = 0.0005,
    ticks: int = 40, settings: Settings | None = None,
) -> dict[str, dict[str, float]]:  # fmt: skip
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())  # as workers have it
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            stream = STREAM.format(path=write_walk(folder / "walk.parquet", objects, ticks, step))
            texts = {
                "echo": stream,
                "squares": f"{stream};\nREGISTER QUERIES FROM '{write_squares(folder, queries, side)}'",
                "nearest": f"{stream};\nREGISTER QUERIES FROM '{write_queries(folder, queries, k)}'",
            }
            found = {
                label: Profile(plan_of(text), folder / label).run(settings or Settings())
                for label, text in texts.items()
            }
    finally:
        pa.set_memory_pool(before)
    parts = (READ, PACKED, WRITTEN, SHARD, PASSED, MERGED, TOLD, ALL)
    rows = [{"part": part} | {label: found[label].get(part, 0.0) for label in texts} for part in parts]
    report("processor", REASON, rows, {"objects": objects, "queries": queries, "k": k, "ticks": ticks})
    return found


def write_squares(folder: Path, queries: int, side: float) -> Path:
    """A query table of squares that stand still."""
    boxes = random_boxes(queries, side)
    table = {
        "name": pa.array([f"q{i}" for i in range(queries)]),
        "template": pa.array([TEMPLATE] * queries),
        "parameters": pa.StructArray.from_arrays(list(map(pa.array, boxes.T)), ["x1", "y1", "x2", "y2"]),
    }
    pq.write_table(pa.table(table), folder / "squares.parquet")
    return folder / "squares.parquet"


class Profile:
    """A plan over its files; what is in the first batch, which tells every answer whole, is not counted."""

    def __init__(self, plan: Plan, work: Path):
        (work / "said" / PARTS).mkdir(parents=True)
        self.plan, self.files = find_input(plan, work)
        self.engine = Engine.of(self.plan, SHARDS, SHARDS if self.plan.is_merged else 0)
        self.inbox, self.said = Inbox(str(work / "inbox")), str(work / "said")
        self.seconds: dict[str, float] = defaultdict(float)

    def run(self, settings: Settings) -> dict[str, float]:
        """Microseconds for a reading."""
        rows = whole = 0
        for number, pieces in enumerate(self._batches(settings)):
            if number == 1:
                self.seconds.clear()
                rows = 0
            read = self._batch(number, pieces)
            rows, whole = rows + read, whole + read
            self.inbox.clear(number)
        ((files,),) = [self.files.by_stream.values()]
        assert whole == sum(pq.read_metadata(file.path).num_rows for file in files), "not all was read"
        found = {part: 1e6 * seconds / rows for part, seconds in self.seconds.items()}
        return found | {ALL: sum(found.values())}

    def _batches(self, settings: Settings) -> Iterator[list[Slice]]:
        """So many slices at once as a run takes."""
        ((name, files),) = self.files.by_stream.items()
        slicer = Slicer(files, self.files.streams[name].format, settings.slice_bytes, settings.slice_rows)
        pieces, following = [], slicer.next(slicer.first())
        while following is not None:
            piece, offset = following
            pieces.append(piece)
            following = slicer.next(offset)
            if following is None or len(pieces) == settings.slices_per_shard * SHARDS:
                yield pieces
                pieces = []

    def _batch(self, number: int, pieces: list[Slice]) -> int:
        parcels: list[list[bytes]] = [[] for _ in range(SHARDS)]
        (stream,) = self.plan.streams
        rows = 0
        for piece in pieces:
            with self._timed(READ):
                read = read_slice(stream.stream, piece)
            rows += read.rows
            with self._timed(PACKED):
                packed = list(pack(stream, piece, read, SHARDS))
            with self._timed(WRITTEN):
                for shard, batch in packed:
                    parcels[shard].append(self.inbox.put(batch, number))
        merging: list[list[bytes]] = [[] for _ in self.engine.partitions]
        for shard, mine in zip(self.engine.shards, parcels, strict=True):
            with self._timed(SHARD):
                said = shard.advance([batch_of(blob) for blob in mine])
            with self._timed(PASSED):
                finished, sent = self.engine.exchange.split(said) if merging else (said, [])
                for partition, batch in sent:
                    merging[partition].append(self.inbox.put(batch, number))
            self._tell(shard, f"shard-{shard.number}-{number}", finished)
        for merge, mine in zip(self.engine.partitions, merging, strict=True):
            with self._timed(PASSED):
                batches = [batch_of(blob) for blob in mine]
            with self._timed(MERGED):
                said = merge.advance(batches)
            self._tell(merge, f"merge-{merge.number}-{number}", said)
        return rows

    def _tell(self, part: Any, name: str, batches: list[Batch]) -> None:
        with self._timed(TOLD):
            saved.delta(part)
            list(put_part(self.said, f"{name}.arrow", batches))

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        began = time.process_time()
        yield
        self.seconds[part] += time.process_time() - began
