"""A flipped byte, a cut and a planted pickle in each kind of file of a checkpoint.

Whoever reads it next gets what was written, or an error with a code that names the file; nothing runs.
"""

from __future__ import annotations

import gzip
import os
import pickle
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sanderling.batches import NOTHING, Batch, Kind
from sanderling.deliver.ledger import Ledger
from sanderling.deliver.log import Log, put_part
from sanderling.deliver.sinks.files import Delivery
from sanderling.deliver.targets import Targets
from sanderling.errors import StateError
from sanderling.ingest.files import find_files, unpack
from sanderling.merge.partition import Merge
from sanderling.operate.shard.shard import Shard
from sanderling.plan.grow.living import LivingPlan
from sanderling.plans.growth import Growth
from sanderling.plans.parts import for_shards, for_source
from sanderling.plans.plan import Plan
from sanderling.route.parcels import batch_in, parcel_of
from sanderling.session.desk import Desk
from sanderling.session.journal import SAID, Journal, Line
from sanderling.session.kept_tables import KeptTables
from sanderling.settings import Settings
from sanderling.spark.checkpoint import agree, session_note
from sanderling.spark.merging import Merging
from sanderling.spark.plans import PlanFolder
from sanderling.spark.sources.files import SourceSpec, StreamFiles, load_spec
from sanderling.spark.sources.source import Packing
from sanderling.spark.sums import refuse_damaged
from sanderling.state import saved
from tests.long import so_many
from tests.state.test_encoding import STREAM, differ

CODES = {"state.broken_ledger", "state.other_format", "state.output_gone"}
# Of a file, every so manieth byte is changed, and it is cut at as many places.
PLACES = so_many(40, 100_000)


@dataclass(frozen=True)
class FileKind:
    """A kind of file: `make` leaves one in a folder, and `read` is what reads it next."""

    name: str
    make: Callable[[Path], Path]
    read: Callable[[Path], Any]


def living() -> LivingPlan:
    plan = LivingPlan()
    plan.execute(
        STREAM
        + "REGISTER QUERY a AS SELECT id FROM cars WHERE x > 3 INSIDE ('M', 'x', 3);"
        + "REGISTER QUERY n AS SELECT count(*) AS n FROM cars WINDOW 5 SECONDS"
    )
    return plan


@cache
def first_plan() -> Plan:
    return living().start().plan


def make_note(folder: Path) -> Path:
    agree(folder, session_note({}, 2), None)
    return folder / "run.json"


def make_ledger(folder: Path) -> Path:
    ledger = Ledger(folder / "delivered.json", batch=3, rows={"cars": 12345}, letters={"late": 2})
    ledger.count(np.array([0, 1]), np.array([1, -1], np.int8), 2)
    ledger.save()
    return ledger.path


def read_ledger(folder: Path) -> Any:
    ledger = Ledger.load(folder / "delivered.json")
    return ledger.batch, ledger.totals(["a", "b"])


def make_counts(folder: Path) -> Path:
    make_ledger(folder)
    return folder / "counts-0"


def delivery(folder: Path) -> Delivery:
    return Delivery(first_plan(), Targets(None, False, None), folder)


def make_output(folder: Path) -> Path:
    """What a run that was killed had written of its output."""
    ours = delivery(folder)
    ours.prepare()
    assert ours.lines is not None
    ours.lines.append("cars", [pa.array(['{"query": "a"}\n', '{"query": "b"}\n'])])
    size = {"updates:cars": ours.lines.sizes()["cars"]}
    Ledger(
        folder / "delivered.json", batch=0, sizes=size, sums={"updates:cars": ours.lines.sums["cars"]}
    ).save()
    ours.close()
    return folder / "updates" / "0.jsonl"


def read_output(folder: Path) -> Any:
    ours = delivery(folder)
    ours.prepare()
    ours.close()
    return [p.read_bytes() for p in sorted((folder / "updates").iterdir())]


def make_whole(folder: Path) -> Path:
    """What a finished run says again, to standard output."""
    ours = delivery(folder)
    ours.prepare()
    ours.deliver(0, [])
    (folder / "updates" / "0.jsonl").write_text('{"tick": "2024-05-01T00:00:00Z", "query": "a"}\n')
    ours.finish()
    ours.close()
    return folder / "updates.jsonl"


def read_whole(folder: Path) -> Any:
    ours = delivery(folder)
    ours.prepare()
    ours.say_again()
    ours.close()
    return (folder / "updates.jsonl").read_bytes()


def make_batch(folder: Path) -> Path:
    log = Log(folder)
    blobs = [parcel_of(Batch(Kind.COUNTS, pa.table({"n": [4]}), "cars"))]
    log.write(7, pa.table({"blob": pa.array(blobs, pa.binary())}))
    return folder / "7.arrow"


def make_part(folder: Path) -> Path:
    log = Log(folder)
    blobs = list(
        put_part(str(folder), "shard-0-1.arrow", [Batch(Kind.DELTAS, pa.table({"n": [4, 5]}))], least=0)
    )
    assert batch_in(blobs[0]).kind == Kind.PART
    log.write(7, pa.table({"blob": pa.array(blobs, pa.binary())}))
    return folder / "parts" / "shard-0-1.arrow"


def read_log(folder: Path) -> Any:
    return [(replace(b, table=NOTHING), b.table.to_pydict()) for b in Log(folder).read(7)]


def make_journal(folder: Path) -> Path:
    journal = Journal(folder / "journal.jsonl")
    for text in ("a", "b", "c"):
        journal.append(Line(SAID, text, "digest"))
    return journal.path


def read_journal(folder: Path) -> Any:
    return Journal(folder / "journal.jsonl").lines


def make_end(folder: Path) -> Path:
    return make_journal(folder).with_name("journal.jsonl.end")


def make_desk(folder: Path) -> Path:
    Desk(folder).deliver(5, [])
    return folder / "delivered.json"


def make_plan(folder: Path) -> Path:
    PlanFolder.in_(folder).keep(first_plan())
    return folder / "0.plan"


def make_growth(folder: Path) -> Path:
    plan, plans = living(), PlanFolder.in_(folder)
    plans.keep(plan.start().plan)
    change = plan.execute("REGISTER QUERY b AS SELECT id FROM cars INSIDE POLYGON ((0 0, 1 0, 1 1, 0 0))")
    plans.keep(change.plan, change.growth)
    return folder / "1.growth"


def read_plans(folder: Path) -> Any:
    # Another mark each time: nobody has read it before.
    plans = PlanFolder.in_(folder)
    return plans.plan(plans.newest())


def make_source(folder: Path) -> Path:
    plan = for_source(first_plan().streams[0])
    (folder / "cars.csv").write_text("id,ts,x,y\n")
    packing = Packing(plan, (1, 2), PlanFolder(str(folder), "mark"))
    streams = (StreamFiles.now(packing, find_files(str(folder / "cars.csv"))),)
    SourceSpec(streams, Settings(3, 4, 5)).left_in(folder)
    return folder / "source"


def make_table(folder: Path) -> Path:
    rows = pa.table({"name": ["a", None], "level": [1, 2]})
    KeptTables(folder, lambda *asked: ((), rows, None, ()))("sites")
    return folder / "0.table"


def read_table(folder: Path) -> Any:
    def refuse(*asked: Any) -> Any:
        raise AssertionError("it was read before")

    return KeptTables(folder, refuse)("sites")


def make_state(folder: Path) -> Path:
    plan = for_shards(first_plan())
    (folder / "state").write_bytes(saved.snapshot(Shard(plan, 0)))
    return folder / "state"


def read_state(folder: Path) -> Any:
    plan = for_shards(first_plan())
    shard = Shard(plan, 0)
    saved.restore(shard, (folder / "state").read_bytes(), [])
    return shard.version, {name: stream.clock for name, stream in shard.streams.items()}


def make_merged(folder: Path) -> Path:
    (folder / "state").write_bytes(saved.snapshot(Merge(for_shards(first_plan()), 0)))
    return folder / "state"


def read_merged(folder: Path) -> Any:
    merge = Merge(for_shards(first_plan()), 0)
    saved.restore(merge, (folder / "state").read_bytes(), [])
    return [taker.saved(is_whole=True) for taker in merge.takers]


def make_merging(folder: Path) -> Path:
    Merging(folder, lambda: True).since(17)
    return folder / "merging"


def read_merging(folder: Path) -> Any:
    return Merging(folder, lambda: False).since(18)


def make_packed(folder: Path) -> Path:
    (folder / "cars.csv.gz").write_bytes(gzip.compress(b"id,ts\n" + b"a,1\n" * 30))
    (file,) = unpack(find_files(str(folder / "cars.csv.gz")), folder / "unpacked")
    return Path(file.path)


def read_packed(folder: Path) -> Any:
    (file,) = unpack(find_files(str(folder / "cars.csv.gz")), folder / "unpacked")
    return Path(file.path).read_bytes()


def make_offsets(folder: Path) -> Path:
    """As Hadoop writes it: a sum for each 512 bytes."""
    path = folder / "offsets" / "3"
    path.parent.mkdir()
    data = b'v1\n{"batchWatermarkMs":0}\n{"0":{"file":0,"start":1500}}' * 15
    path.write_bytes(data)
    sums = [struct.pack(">I", zlib.crc32(data[at : at + 512])) for at in range(0, len(data), 512)]
    (path.parent / ".3.crc").write_bytes(b"crc\0" + struct.pack(">I", 512) + b"".join(sums))
    return path


def make_sums(folder: Path) -> Path:
    return make_offsets(folder).with_name(".3.crc")


def read_offsets(folder: Path) -> Any:
    refuse_damaged(folder)
    return (folder / "offsets" / "3").read_bytes()


KINDS = (
    FileKind("the note of a run", make_note, lambda f: agree(f, session_note({}, 2), None)),
    FileKind("ledger", make_ledger, read_ledger),
    FileKind("counts", make_counts, read_ledger),
    FileKind("output under way", make_output, read_output),
    FileKind("output for the terminal", make_whole, read_whole),
    FileKind("batch of the log", make_batch, read_log),
    FileKind("part of the log", make_part, read_log),
    FileKind("journal", make_journal, read_journal),
    FileKind("end of the journal", make_end, read_journal),
    FileKind("what a desk has delivered", make_desk, lambda f: Desk(f).delivered),
    FileKind("plan", make_plan, read_plans),
    FileKind("growth", make_growth, read_plans),
    FileKind("source", make_source, lambda f: load_spec(f"{os.urandom(8).hex()} {f / 'source'}")),
    FileKind("table", make_table, read_table),
    FileKind("state of a shard", make_state, read_state),
    FileKind("state of a merge partition", make_merged, read_merged),
    FileKind("first batch of merge partitions", make_merging, read_merging),
    FileKind("unpacked input", make_packed, read_packed),
    FileKind("offsets of Spark", make_offsets, read_offsets),
    FileKind("checksums of Spark", make_sums, read_offsets),
)
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def damages(data: bytes) -> list[bytes]:
    """A bit flipped here and there, and cut here and there."""
    step = max(1, len(data) // PLACES)
    flipped = [
        data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :] for at in range(0, len(data), step)
    ]
    return [*flipped, *(data[:at] for at in range(0, len(data), step)), data + b"more"]


def left(kind: FileKind, folder: Path, path: Path, data: bytes) -> tuple[str | None, Any]:
    """What becomes of it with this data: the code it is refused with, or what it says."""
    path.write_bytes(data)
    try:
        return None, kind.read(folder)
    except StateError as e:
        assert e.hint and (str(folder) in e.message or "state" in kind.name or e.code == "state.other_format")
        return e.code, None


@kinds
def test_a_flipped_byte_or_a_cut_is_refused_or_does_not_matter(kind: FileKind, tmp_path: Path) -> None:
    path = kind.make(tmp_path)
    files = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    right = kind.read(tmp_path)
    refused = 0
    for damaged in damages(files[path]):
        for other, data in files.items():
            other.write_bytes(data)  # what reading has mended, or cut off
        code, found = left(kind, tmp_path, path, damaged)
        assert code in CODES if code else not differ(right, found)
        refused += code is not None
    assert refused > 10 or kind.name == "unpacked input", "it is to be noticed"


class Planted:
    def __init__(self, trace: Path):
        self.trace = trace

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.trace),))


@kinds
def test_a_planted_pickle_does_not_run(kind: FileKind, tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    path = kind.make(tmp_path / "checkpoint")
    trace = tmp_path / "it ran"
    planted = pickle.dumps(Planted(trace))
    right = kind.read(tmp_path / "checkpoint")
    for data in (planted, path.read_bytes()[:64] + planted, planted.ljust(200, b"\n")):
        code, found = left(kind, tmp_path / "checkpoint", path, data)
        # Behind what a ledger knows of there may be anything: a killed run may have left it.
        assert not trace.exists() and (code in CODES or not differ(right, found))
    pickle.loads(planted)
    assert trace.exists(), "it would have"


def test_a_growth_is_not_taken_for_a_plan(tmp_path: Path) -> None:
    """Whole, but in another's place."""
    growth = make_growth(tmp_path)
    (tmp_path / "0.plan").write_bytes(growth.read_bytes())
    with pytest.raises(StateError) as e:
        read_plans(tmp_path)
    assert e.value.code == "state.broken_ledger" and "0.plan" in e.value.message and Growth.__name__
