"""A session's checkpoint with a damaged file is refused, by name, or comes back as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sanderling.errors import StateError
from sanderling.session.connect import connect
from tests.session.test_versions import STREAM, moving

TABLE = "CREATE TABLE sites (name STRING, level BIGINT) KEY name WITH (path = '{path}')"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a session with a table and three versions has left."""
    folder = tmp_path_factory.mktemp("left")
    (folder / "sites.csv").write_text("name,level\na,1\nb,2\n")
    with connect(checkpoint=folder / "checkpoint") as session:
        session.execute(STREAM)
        session.execute(TABLE.format(path=folder / "sites.csv"))
        session._note_start()
        session._desk.announce(0)
        session.execute(moving("one", "a"))
        session.execute(moving("two", "b"))
        session._desk.deliver(3, [])
    return folder / "checkpoint"


def told(checkpoint: Path) -> tuple[list[str], list[object]]:
    with connect(checkpoint=checkpoint) as session:
        sites = session._living.tables.get("sites")
        assert sites is not None
        return session.queries, sites.rows.to_pylist()


def test_each_file_of_a_session(left: Path, tmp_path: Path) -> None:
    right = told(shutil.copytree(left, tmp_path / "right"))
    assert right[0] == ["one", "two"] and len(right[1]) == 2
    files = sorted(p.relative_to(left) for p in left.rglob("*") if p.is_file())
    refused = set()
    for number, name in enumerate(files):
        data = (left / name).read_bytes()
        middle = len(data) * 3 // 4
        flipped = data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :] if data else b"x"
        for how, damaged in (("flip", flipped), ("cut", data[: len(data) // 2]), ("empty", b"")):
            place = shutil.copytree(left, tmp_path / f"{number} {how}")
            (place / name).write_bytes(damaged)
            try:
                assert told(place) == right, name
            except StateError as e:
                assert (
                    e.code == "state.broken_ledger"
                    and e.hint
                    and str(place / name).split(".end")[0] in e.message
                )
                refused.add(str(name))
    assert refused == {"delivered.json", "journal.jsonl", "journal.jsonl.end", "tables/0.table"}
