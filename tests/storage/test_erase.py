"""Of some objects nothing is left in an archive, and of all others everything."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sanderling.batches import TS
from sanderling.storage.archive import Archive
from sanderling.storage.erase import erase
from sanderling.storage.last import LastStore
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer
from tests.storage.test_archive import plain, told
from tests.storage.worlds import HOUR, MINUTE, NOON, archiving, readings, rows

GONE = ["car 3", "car 5"]


def test_nothing_is_left_of_them_and_nobody_else_loses_anything(tmp_path: Path) -> None:
    table, to = readings(1, 700), NOON + 170 * MINUTE
    writer = Writer(tmp_path, archiving(tmp_path))
    store, tending, ts = LastStore(writer), Tending(writer), table.column(TS).to_numpy()
    for before in range(0, 170, 10):
        until = NOON + (before + 10) * MINUTE
        mine = table.filter(pa.array((ts > NOON + before * MINUTE) & (ts <= until)))
        store.add([writer.append([mine], until)], until)
        tending.tend()
    before_it = Archive.open(tmp_path)
    expected = [row for row in plain(table, 0, to) if row[0] not in GONE]
    assert erase(writer, pa.array(GONE)) == len(plain(table, 0, to)) - len(expected) > 0
    assert erase(writer, pa.array(GONE)) == 0
    archive = Archive.open(tmp_path)
    assert told(archive, 0, to) == expected
    assert rows(archive.last()) == [row for row in rows(before_it.last()) if row[0] not in GONE]
    for at in archive.keyframes:
        was = rows(before_it.keyframe_before(at)[1])
        assert rows(archive.keyframe_before(at)[1]) == [row for row in was if row[0] not in GONE]
    assert told(before_it, 0, to) == plain(table, 0, to), "who reads meanwhile goes on with what was there"
    for files in writer.tables.all:
        files.vacuum(0)
    left = [path for path in tmp_path.rglob("*.parquet") if path.parent.name != "_delta_log"]
    assert left and all(not {*pq.read_table(path).column("id").to_pylist()} & {*GONE} for path in left)
    until = NOON + 3 * HOUR
    store.add([writer.append([table], until)], until)
    tending.tend()
    assert told(Archive.open(tmp_path), to, until) == plain(table, to, until), (
        "what comes later is kept again"
    )
