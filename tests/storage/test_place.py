"""An archive at an address is an archive in a folder: the same, through a store's own files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from sanderling import command
from sanderling.errors import StateError
from sanderling.plan.planner import Planner
from sanderling.storage.archive import Archive
from sanderling.storage.erase import erase
from sanderling.storage.flusher import Flusher
from sanderling.storage.place import place_of, read_whole
from sanderling.storage.writer import Writer
from tests.storage.test_archive import plain, told
from tests.storage.test_flusher import batches_of
from tests.storage.test_tend import now_of
from tests.storage.worlds import HOUR, MINUTE, NOON, STREAM, archiving, readings, rows


def test_what_is_written_at_an_address_is_read_there(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Flushes, keyframes, retention, erasing, the last store; and the command."""
    address = f"file://{tmp_path}/bucket/past"
    table, to = readings(2, 700), NOON + 170 * MINUTE
    writer = Writer(place_of(address), archiving(tmp_path / "any", "keep = '1 hour'"))
    flusher = Flusher(writer, "run 1")
    flusher.queries = lambda: pa.table({"name": ["depot"]})
    for number, batch in enumerate(batches_of(table, [NOON + n * 17 * MINUTE for n in range(1, 11)])):
        flusher.deliver(number, batch)
    flusher.finish()
    flusher.close()
    again = Writer(place_of(address), archiving(tmp_path / "any", "keep = '1 hour'"))
    assert (again.archived_to, again.told("run 1")) == (to, 9)
    archive = Archive.open(address)
    begin = archive.kept_from or 0
    assert begin == NOON + HOUR
    assert told(archive, 0, to) == plain(table, begin, to)
    assert rows(archive.now(to)) == rows(archive.last()) == now_of(table, to)
    found = archive.queries()
    assert found is not None and found.to_pydict() == {"name": ["depot"]}
    assert read_whole(place_of(address) / "about.json").startswith(b"{")
    assert erase(again, pa.array(["car 3"])) > 0
    left = [row for row in plain(table, begin, to) if row[0] != "car 3"]
    assert told(Archive.open(address), 0, to) == left
    command.app(["ask", "SELECT COUNT(*) AS n FROM LAST cars", "--archive", address], standalone_mode=False)
    shown = capfdbinary.readouterr().out.decode().split()
    assert shown[2] == str(len([row for row in now_of(table, to) if row[0] != "car 3"]))


def test_a_statement_names_an_address(tmp_path: Path) -> None:
    planner = Planner()
    planner.run_script(f"{STREAM} CREATE ARCHIVE past OF cars WITH (path = 's3://bucket/past/cars')")
    archive = planner.archive_of("cars")
    assert archive is not None and archive.path == "s3://bucket/past/cars"
    with pytest.raises(StateError) as e:
        Archive.open(f"file://{tmp_path}/nowhere")
    assert e.value.code == "history.none"
