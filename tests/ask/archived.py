"""Archives of readings in files, as a run over them would have left them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from sanderling.arrays import int64_of
from sanderling.ask.archive import ArchivePast
from sanderling.ask.files import FilesPast, accepted, counting
from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.clock import tick_end
from sanderling.plan.planner import Planner
from sanderling.storage.archive import Archive
from sanderling.storage.last import LastStore
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer

HOUR_US = 3_600_000_000


def archived(
    planner: Planner, name: str, folder: Path, flushes: Iterable[int] = (), options: str = "",
    hours: bool = False,
) -> Archive | None:  # fmt: skip
    """Of a stream of a script: all its readings, flushed at these ticks and at the end; None: of none.

    `hours`: as long as blocks and periods are where nothing is said, with keyframes.
    """
    stream = planner.streams.get(name)
    assert stream is not None
    readings = counted(stream, folder / "work")
    if not readings.num_rows:
        return None
    tick_s = stream.tick_us / 1_000_000
    past = folder / f"past of {name}"
    cut = "" if hours else f", flush = '{tick_s} seconds', snapshot = '{5 * tick_s} seconds'"
    planner.run_script(f"CREATE ARCHIVE past_{name} OF {name} WITH (path = '{past}'{cut}{options})")
    archiving = planner.archive_of(name)
    assert archiving is not None
    writer = Writer(past, archiving)
    store, tending, ts = LastStore(writer), Tending(writer), int64_of(readings, TS)
    if hours:
        flushes = range(tick_end(int(ts.min()), HOUR_US), int(ts.max()), HOUR_US)
    last, before = tick_end(int(ts.max()), stream.tick_us), None
    for tick in [*sorted(t for t in flushes if t < last), last]:
        is_new = ts <= tick if before is None else (ts > before) & (ts <= tick)
        new = readings.filter(pa.array(is_new))
        writer.append([new], tick)
        store.add([new], tick)
        if hours:
            tending.tend()
        before = tick
    return Archive.open(past)


def counted(stream: Stream, work: Path) -> pa.Table:
    work.mkdir(exist_ok=True)
    found, pieces = FilesPast(work).pieces(stream)
    readings = counting(stream, pa.concat_tables(accepted(found, pieces)))
    return readings.select([*(column.name for column in stream.columns), TS])


def past_of(*archives: Archive | None) -> ArchivePast:
    return ArchivePast({a.stream.name.casefold(): a for a in archives if a is not None})
