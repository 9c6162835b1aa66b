"""Files that are followed: what comes to them is read once, whole, and again where a file begins anew."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sanderling.catalog import Column
from sanderling.errors import ConfigError
from sanderling.ingest.followed import Follower
from sanderling.ingest.read import read_rows
from sanderling.types import TYPES

COLUMNS = (Column("id", TYPES["STRING"]),)
MANY = 1_000


def follower(folder: Path, path: str = "in", format: str = "csv", size: int = 20) -> Follower:
    return Follower(str(folder / path), format, COLUMNS, folder / "journal", size)


class Reader:
    """Reads on from where it is, as Spark does; another follower may take over at any time."""

    def __init__(self, folder: Path, **how: object):
        self.folder, self.how, self.at = folder, how, 0
        self.follower = follower(folder, **how)  # type: ignore[arg-type]

    def more(self, at_once: int = MANY) -> list[str]:
        end = self.follower.look(self.at + at_once)
        found = ids(self.follower, self.at, end)
        self.at = end
        return found

    def killed(self) -> None:
        self.follower = follower(self.folder, **self.how)  # type: ignore[arg-type]


def ids(follower: Follower, start: int, end: int) -> list[str]:
    rows = [read_rows(COLUMNS, follower.format, piece) for piece in follower.slices(start, end)]
    return [str(v) for r in rows for v in r.columns[0]]


def add(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with open(path, "a") as file:
        file.write(text)


def test_lines_are_read_when_they_are_whole(tmp_path: Path) -> None:
    reader, log = Reader(tmp_path), tmp_path / "in" / "a.csv"
    assert reader.more() == []  # there is not even a folder
    add(log, "i")
    assert reader.more() == []
    add(log, "d\nann")
    assert reader.more() == []
    add(log, "a\nben\nc")
    assert reader.more() == ["anna", "ben"]
    assert reader.more() == []
    add(tmp_path / "in" / ".hidden.csv", "other\nx\n")
    add(tmp_path / "in" / "0.csv", "n,id\n1,zoe\n")
    add(log, "id\n")
    assert reader.more() == ["zoe", "cid"]
    assert reader.follower.notes() == []


def test_rows_have_the_lines_that_an_editor_would_show(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    add(tmp_path / "in" / "a.csv", "id\n" + "x" * 30 + "\ny\n")
    reader.more()
    add(tmp_path / "in" / "a.csv", "z\n")
    reader.more()
    assert [(p.number, p.first_row) for p in reader.follower.slices(0, 9)] == [(0, 2), (1, 3), (2, 4)]


@pytest.mark.parametrize("how", ["shorter", "another"])
def test_a_file_that_begins_anew_is_read_from_its_beginning(tmp_path: Path, how: str) -> None:
    reader, log = Reader(tmp_path), tmp_path / "in" / "a.csv"
    add(log, "id\nanna\nben\n")
    assert reader.more() == ["anna", "ben"]
    if how == "shorter":
        log.write_text("id\nzoe\n")
    else:
        log.rename(tmp_path / "a.csv.1")
        add(log, "id\nzoe\nand\nmany\nmore\n")
    found = reader.more()
    assert found == ["zoe"] if how == "shorter" else found == ["zoe", "and", "many", "more"]
    (note,) = reader.follower.notes()
    assert "a.csv" in note and "read from its beginning" in note
    assert reader.more() == [] and reader.follower.notes() == []


def test_a_file_that_is_gone_is_no_trouble_and_may_come_again(tmp_path: Path) -> None:
    reader, log = Reader(tmp_path), tmp_path / "in" / "a.csv"
    add(log, "id\nanna\n")
    assert reader.more() == ["anna"]
    log.unlink()
    assert reader.more() == []
    add(log, "id\n")
    add(log, "b\n")
    assert reader.more() == ["b"]


def test_parquet_and_gzip_are_read_when_they_are_complete(tmp_path: Path) -> None:
    whole, packed = tmp_path / "whole.parquet", gzip.compress(b"id\nanna\nben")
    pq.write_table(pa.table({"id": ["a", "b", "c"]}), whole)
    data, folder = whole.read_bytes(), tmp_path / "in"
    folder.mkdir()
    (tmp_path / "gz").mkdir()
    tables, texts = Reader(tmp_path / "gz", path="../in", format="parquet", size=2), Reader(tmp_path)
    (folder / "x.parquet").write_bytes(data[:50])
    assert tables.more() == [] and tables.more() == []
    assert [n.split("/")[-1] for n in tables.follower.notes()] == ['x.parquet" is not complete yet']
    (folder / "x.parquet").write_bytes(data)
    assert tables.more() == ["a", "b", "c"] and tables.more() == []
    (folder / "x.parquet").unlink()
    (folder / "a.csv.gz").write_bytes(packed[:20])
    assert texts.more() == []
    (folder / "a.csv.gz").write_bytes(packed)
    assert texts.more() == ["anna", "ben"] and texts.more() == []


def test_a_new_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    add(tmp_path / "in" / "a.csv", "name\nx\n")
    with pytest.raises(ConfigError, match=r"missing_column"):
        reader.more()


def test_what_was_taken_is_the_same_after_a_kill_however_files_have_grown(tmp_path: Path) -> None:
    """Random growth in random order; now and then it is killed, and reads its last batch again."""
    for seed in range(30):
        chance, folder = random.Random(seed), tmp_path / str(seed)
        folder.mkdir()
        reader, told, written = Reader(folder), list[str](), dict[Path, str]()
        for step in range(60):
            path = folder / "in" / f"{chance.randrange(3)}.csv"
            text = f"{path.stem}-{step}" + chance.choice(["", "\n", "\n", f"\n{path.stem}+{step}\n"])
            text = text if path in written else f"id\n{text}"
            add(path, text)
            written[path] = written.get(path, "") + text
            before = reader.at
            some = reader.more(chance.randrange(1, 4))
            if chance.random() < 0.3:
                with open(folder / "journal", "ab") as journal:
                    journal.write(b'{"file": "half a l')
                reader.killed()
                assert ids(reader.follower, before, reader.at) == some
            told += some
        while some := reader.more(1):
            told += some
        right = [line for t in written.values() for line in t[: t.rfind("\n")].split("\n")[1:]]
        assert sorted(told) == sorted(right)
        for path in written:
            mine = [
                line for line in told if line.startswith(path.stem + "-") or line.startswith(path.stem + "+")
            ]
            assert mine == [line for line in right if line in set(mine)]
    assert os.path.getsize(tmp_path / "0" / "journal") > 0
