"""Cutting files: the same offset gives the same slice, and the slices hold every row once."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.errors import ConfigError, StateError
from sanderling.ingest import slices
from sanderling.ingest.files import SourceFile, find_files
from sanderling.ingest.read import raw_rows, read_slice
from sanderling.ingest.slices import Slicer, version_of
from tests.long import drawn

from .streams import TAXI, ingest, make_stream, slices_of

# Bytes that are hard to cut and hard to read, more than plain rows.
PIECES = st.sampled_from(
    [
        b"a,1,2,3",
        b"b,2,-0.0,1e3",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b'"',
        b",",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\0",
        b" ",
        b"x",
    ]
)
BODIES = st.lists(PIECES, max_size=40).map(b"".join)
JSON_PIECES = st.sampled_from(
    [
        b'{"id":"a","ts":1,"x":2,"y":3}',
        b'{"id":',
        b"\n",
        b"\n",
        b"\r\n",
        b"{}",
        b"[1]",
        b"\xff",
        b"\xef\xbb\xbf",
        b" ",
        b"\0",
    ]
)


def write(folder, *bodies: bytes, format="csv"):
    for number, body in enumerate(bodies):
        (folder / f"{number}.{format}").write_bytes(body)
    return find_files(str(folder))


@given(bodies=st.lists(BODIES, min_size=1, max_size=3), size=st.integers(1, 60))
@settings(deadline=None, max_examples=drawn(100, 3000))
def test_the_size_of_slices_does_not_show_in_csv(tmp_path_factory, bodies, size):
    folder = tmp_path_factory.mktemp("cut")
    write(folder, *(b"id,ts,x,y\n" + body for body in bodies))
    assert_same(make_stream(), folder, size)


@given(
    bodies=st.lists(st.lists(JSON_PIECES, max_size=20).map(b"".join), min_size=1, max_size=3),
    size=st.integers(1, 60),
)
@settings(deadline=None, max_examples=drawn(40, 1000))
def test_the_size_of_slices_does_not_show_in_json(tmp_path_factory, bodies, size):
    folder = tmp_path_factory.mktemp("cut")
    write(folder, *bodies, format="json")
    assert_same(make_stream(format="json"), folder, size)


def assert_same(stream, folder, size):
    whole, cut = ingest(stream, folder), ingest(stream, folder, size=size)
    assert whole.readings.equals(cut.readings)
    assert whole.letters.equals(cut.letters)
    lines = sum(len(_lines(file.path, stream.format)) for file in find_files(str(folder)))
    assert whole.rows == lines


def _lines(path: str, format: str) -> list[bytes]:
    """The lines that are not blank, without the header."""
    data = Path(path).read_bytes()
    if format == "json":
        data = data.removeprefix(b"\xef\xbb\xbf")
    lines = data.split(b"\n")[1 if format == "csv" else 0 :]
    return [line for line in lines if line.strip(b" \t\r\n")]


@given(body=BODIES, size=st.integers(1, 60))
@settings(deadline=None, max_examples=drawn(40, 1000))
def test_raw_rows_are_the_lines_an_editor_shows(tmp_path_factory, body, size):
    folder = tmp_path_factory.mktemp("raw")
    files = write(folder, b"id,ts,x,y\n" + body)
    lines = (b"id,ts,x,y\n" + body).split(b"\n")
    for piece in slices_of(files, "csv", size):
        found = read_slice(make_stream(), piece)
        numbers = found.letters["row"].to_pylist() + found.readings["__row"].to_pylist()
        shown = [lines[n - 1].removesuffix(b"\r").decode("utf-8", "replace") for n in numbers]
        assert raw_rows(make_stream(), piece, numbers) == shown
        assert found.letters["raw"].to_pylist() == shown[: found.letters.num_rows]


def test_slices_are_numbered_end_at_newlines_and_know_their_first_row(tmp_path):
    files = write(
        tmp_path, b"id,ts,x,y\n" + b"a,1,2,3\n" * 5, b"", b"id,ts,x,y\r\n", b"\xef\xbb\xbfid,ts,x,y\na,1,2,3"
    )
    found = slices_of(files, "csv", 10)
    assert [(s.number, s.file[-5:], s.start, s.stop, s.first_row, s.is_last) for s in found] == [
        (0, "0.csv", 10, 26, 2, False),
        (1, "0.csv", 26, 42, 4, False),
        (2, "0.csv", 42, 50, 6, False),
        (3, "3.csv", 13, 20, 2, True),
    ]


def test_files_of_nothing_but_headers_have_no_slices(tmp_path):
    slicer = Slicer(write(tmp_path, b"id,ts,x,y", b"id,ts,x,y\n"), "csv", 10, 10)
    assert slicer.next(slicer.first()) is None


def test_no_files_have_no_slices():
    slicer = Slicer((), "csv", 10, 10)
    assert slicer.next(slicer.first()) is None


def test_json_begins_at_row_one_after_its_byte_order_mark(tmp_path):
    (piece,) = slices_of(write(tmp_path, b"\xef\xbb\xbf{}\n", format="json"), "json")
    assert (piece.start, piece.stop, piece.first_row) == (3, 6, 1)


def test_parquet_is_cut_by_rows(tmp_path):
    pq.write_table(pa.table({"id": list(range(25))}), tmp_path / "a.parquet", row_group_size=7)
    found = slices_of(find_files(str(tmp_path)), "parquet", 10)
    assert [(s.start, s.stop, s.first_row, s.is_last) for s in found] == [
        (0, 10, 1, False),
        (10, 20, 11, False),
        (20, 25, 21, True),
    ]


def test_the_same_offset_gives_the_same_slice_also_in_a_new_process(tmp_path):
    files = write(tmp_path, b"id,ts,x,y\n" + b"a,1,2,3\n" * 20)
    slicer = Slicer(files, "csv", 30, 10)
    _, offset = slicer.next(slicer.first())
    offset = json.loads(json.dumps(offset))
    expected = slicer.next(offset)
    assert slicer.next(offset) == expected
    assert pickle.loads(pickle.dumps(slicer)).next(offset) == expected
    script = (
        "import sys, json; from sanderling.ingest.slices import Slicer;"
        "from sanderling.ingest.files import find_files;"
        "print(repr(Slicer(find_files(sys.argv[1]), 'csv', 30, 10).next(json.loads(sys.argv[2]))))"
    )
    command = [sys.executable, "-c", script, str(tmp_path), json.dumps(offset)]
    assert subprocess.check_output(command, text=True).strip() == repr(expected)


def test_an_offset_handed_out_may_be_changed_by_its_owner(tmp_path):
    slicer = Slicer(write(tmp_path, b"id,ts,x,y\n" + b"a,1,2,3\n" * 20), "csv", 30, 10)
    _, after = slicer.next(slicer.first())
    kept = dict(after)
    after["start"] = 0
    assert slicer.next(slicer.first())[1] == kept


def test_what_is_remembered_stays_small(tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "REMEMBERED", 3)
    slicer = Slicer(write(tmp_path, b"id,ts,x,y\n" + b"a,1,2,3\n" * 20), "csv", 1, 1)
    offset = slicer.first()
    while (step := slicer.next(offset)) is not None:
        _, offset = step
    assert len(slicer._remembered) == 3


def test_no_more_than_a_chunk_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "CHUNK_BYTES", 7)
    files = write(tmp_path, b"id,ts,x,y\n" + b"a,1,2,3\n" * 20 + b"b,1,2,3")
    assert ingest(make_stream(), files[0].path, size=30).readings["__row"].to_pylist() == list(range(2, 23))


def test_a_file_that_became_shorter_stops_the_run(tmp_path):
    files = write(tmp_path, b"id,ts,x,y\n" + b"a,1,2,3\n" * 20)
    slicer = Slicer(files, "csv", 100, 10)
    _, offset = slicer.next(slicer.first())
    write(tmp_path, b"id,ts,x,y\n")
    with pytest.raises(StateError) as caught:
        Slicer(files, "csv", 100, 10).next(offset)
    assert caught.value.code == "state.source_changed"


def rows_of(slicer) -> list[int]:
    found, offset = [], slicer.first()
    while (step := slicer.next(offset)) is not None:
        piece, offset = step
        found += read_slice(make_stream(), piece).readings["__row"].to_pylist()
    return found


def test_what_is_added_while_it_is_read_is_not_read(tmp_path):
    files = write(tmp_path, b"id,ts,x,y\n" + b"a,1,2,3\n" * 20)
    versions, slicer = [version_of(f) for f in files], Slicer(files, "csv", 30, 10)
    first = slicer.next(slicer.first())
    with open(files[0].path, "ab") as file:
        file.write(b"b,1,2,3\n" * 20)
    assert rows_of(slicer) == list(range(2, 22))
    again = Slicer(files, "csv", 30, 10, versions)
    assert again.next(again.first()) == first
    assert rows_of(again) == list(range(2, 22)), "a process that begins later, too"


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
@pytest.mark.parametrize("how", ["gone", "another", "shorter"])
def test_a_file_that_goes_or_is_replaced_while_it_is_read_stops_the_run(tmp_path, format, how):
    path = tmp_path / f"a.{format}"
    rows = [{"id": "a", "ts": 1, "x": 1.0, "y": 1.0}] * 50

    def fill(path, rows) -> None:
        if format == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        elif format == "csv":
            path.write_text("id,ts,x,y\n" + "a,1,1,1\n" * len(rows))
        else:
            path.write_text("\n".join(map(json.dumps, rows)))

    fill(path, rows)
    slicer = Slicer((SourceFile(path.name, str(path)),), format, 100, 10)
    piece, offset = slicer.next(slicer.first())
    if how == "another":
        fill(tmp_path / "new", rows)
        (tmp_path / "new").replace(path)
    elif how == "gone":
        path.unlink()
    else:
        fill(path, rows[:2])
    acts = [lambda: slicer.next(offset), lambda: read_slice(make_stream(format=format), piece)]
    for act in acts[:1] if how == "another" else acts:  # what has been cut is read as it is now
        with pytest.raises(StateError) as caught:
            act()
        assert caught.value.code == "state.source_changed" and caught.value.hint


@pytest.mark.parametrize(("size", "rows"), [(0, 1), (1, 0), (-5, 1), (1 << 31, 1)])
def test_a_slice_of_no_or_too_great_size_is_refused(size, rows):
    with pytest.raises(ConfigError) as caught:
        Slicer((), "csv", size, rows)
    assert caught.value.code == "config.bad_slice"


def test_what_is_not_parquet_cannot_be_cut(tmp_path):
    (tmp_path / "a.parquet").write_text(TAXI)
    with pytest.raises(ConfigError) as caught:
        Slicer((SourceFile("a", str(tmp_path / "a.parquet")),), "parquet", 10, 10)
    assert caught.value.code == "config.broken_parquet"
