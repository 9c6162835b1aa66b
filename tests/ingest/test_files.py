"""Which files a path means, and unpacking."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from sanderling.errors import ConfigError
from sanderling.ingest.files import STREAM_FORMATS, SourceFile, find_files, format_of, unpack


def code_of(act) -> str:
    with pytest.raises(ConfigError) as caught:
        act()
    assert str(caught.value)
    return caught.value.code


def test_a_file_is_itself(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x")
    assert find_files(str(path)) == (SourceFile(str(path), str(path)),)


def test_a_relative_path_keeps_the_name_its_user_wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x")
    assert find_files("a.csv") == (SourceFile("a.csv", str(tmp_path / "a.csv")),)


def test_a_folder_gives_its_files_by_name_without_hidden_ones(tmp_path):
    for name in ("b.csv", "a.csv", ".hidden", "_SUCCESS"):
        (tmp_path / name).write_text("x")
    assert [os.path.basename(f.name) for f in find_files(str(tmp_path))] == ["a.csv", "b.csv"]


def test_a_glob_is_sorted_and_may_cross_folders(tmp_path):
    for name in ("b/2.csv", "a/9.csv", "a/1.csv", "a/1.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = find_files(f"{tmp_path}/*/*.csv")
    assert [f.name for f in found] == [f"{tmp_path}/{n}" for n in ("a/1.csv", "a/9.csv", "b/2.csv")]


def test_a_file_with_a_glob_in_its_name_is_itself(tmp_path):
    (tmp_path / "a[1].csv").write_text("x")
    assert len(find_files(f"{tmp_path}/a[1].csv")) == 1


@pytest.mark.parametrize("path", ["nothing.csv", "nothing*.csv", "", "a\0b", "x" * 5000])
def test_nothing_found_is_said(tmp_path, path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert code_of(lambda: find_files(path)) == "config.missing_file"


def test_a_folder_of_hidden_files_holds_nothing(tmp_path):
    (tmp_path / "_SUCCESS").write_text("")
    assert code_of(lambda: find_files(str(tmp_path))) == "config.missing_file"


def test_a_folder_inside_a_folder_is_said_not_skipped(tmp_path):
    (tmp_path / "inner").mkdir()
    assert code_of(lambda: find_files(str(tmp_path))) == "config.unreadable_file"
    assert code_of(lambda: find_files(f"{tmp_path}/*")) == "config.unreadable_file"


def test_a_link_to_nowhere_and_a_pipe_are_unreadable(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.csv")
    assert code_of(lambda: find_files(str(tmp_path / "link.csv"))) == "config.unreadable_file"
    assert code_of(lambda: find_files(str(tmp_path / "pipe.csv"))) == "config.unreadable_file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_unreadable(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x")
    path.chmod(0)
    assert code_of(lambda: find_files(str(path))) == "config.unreadable_file"


def packed(path, text: bytes = b"id\n1\n"):
    path.write_bytes(gzip.compress(text))
    return find_files(str(path))


def test_a_packed_file_is_read_from_a_copy_under_its_own_name(tmp_path):
    files = packed(tmp_path / "a.csv.gz")
    (copy,) = unpack(files, tmp_path / "copies")
    assert copy.name == files[0].name
    assert Path(copy.path).read_bytes() == b"id\n1\n"


def test_files_that_are_not_packed_pass_through(tmp_path):
    (tmp_path / "a.csv").write_text("x")
    files = find_files(str(tmp_path / "a.csv"))
    assert unpack(files, tmp_path / "copies") == files
    assert not (tmp_path / "copies").exists()


def test_a_finished_copy_is_used_again(tmp_path):
    files = packed(tmp_path / "a.csv.gz")
    (copy,) = unpack(files, tmp_path / "copies")
    before = os.stat(copy.path)
    assert unpack(files, tmp_path / "copies") == (copy,)
    after = os.stat(copy.path)  # but for when it was read: it is looked at whole
    assert (after.st_ino, after.st_size, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino, before.st_size, before.st_mtime_ns, before.st_ctime_ns,
    )  # fmt: skip


def test_a_changed_source_gets_a_new_copy(tmp_path):
    (old,) = unpack(packed(tmp_path / "a.csv.gz"), tmp_path / "copies")
    (new,) = unpack(packed(tmp_path / "a.csv.gz", b"id\n22222\n"), tmp_path / "copies")
    assert Path(new.path).read_bytes() == b"id\n22222\n"
    assert old.path != new.path


def test_two_sources_of_one_name_have_two_copies(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        packed(tmp_path / folder / "x.csv.gz", folder.encode())
        os.utime(tmp_path / folder / "x.csv.gz", (1, 1))
    copies = unpack(find_files(f"{tmp_path}/*/x.csv.gz"), tmp_path / "copies")
    assert [Path(c.path).read_text() for c in copies] == ["a", "b"]


def test_several_members_of_one_gzip_are_one_file(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    (copy,) = unpack(find_files(str(tmp_path / "a.csv.gz")), tmp_path / "copies")
    assert Path(copy.path).read_text() == "one\ntwo\n"


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "empty", "tail"])
def test_a_broken_gzip_is_named_and_leaves_no_half_copy(tmp_path, damage):
    whole = gzip.compress(os.urandom(100_000))
    flipped = bytearray(whole)
    flipped[50_000] ^= 0xFF
    bodies = {
        "cut": whole[:-20],
        "flipped": flipped,
        "text": b"id,ts\n",
        "empty": b"",
        "tail": whole + b"rubbish",
    }
    path = tmp_path / "a.csv.gz"
    path.write_bytes(bodies[damage])
    with pytest.raises(ConfigError) as caught:
        unpack(find_files(str(path)), tmp_path / "copies")
    assert caught.value.code == "config.broken_gzip"
    assert "a.csv.gz" in caught.value.message
    assert os.listdir(tmp_path / "copies") == []


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "copies").write_text("a file where a folder should be")
    assert (
        code_of(lambda: unpack(packed(tmp_path / "a.csv.gz"), tmp_path / "copies")) == "config.cannot_unpack"
    )


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("a.csv", "csv"),
        ("a.CSV.GZ", "csv"),
        ("a/*.csv.gz", "csv"),
        ("a.json", "json"),
        ("a.jsonl", "json"),
        ("a.ndjson.gz", "json"),
        ("a.parquet", "parquet"),
        ("a.geojson", "geojson"),
    ],
)
def test_the_name_tells_the_format(path, format):
    assert format_of(path, None) == format


def test_a_declared_format_wins_over_the_name():
    assert format_of("a.csv", "JSON") == "json"


def test_a_folder_has_the_format_of_its_files(tmp_path):
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "b.csv.gz").write_text("")
    assert format_of(str(tmp_path), None) == "csv"
    assert format_of(f"{tmp_path}/*", None) == "csv"
    (tmp_path / "c.json").write_text("")
    assert code_of(lambda: format_of(str(tmp_path), None)) == "config.unknown_format"


def test_an_unknown_format_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("")
    assert code_of(lambda: format_of(str(tmp_path / "a.txt"), None)) == "config.unknown_format"
    assert code_of(lambda: format_of("a.csv", "xml")) == "config.unknown_format"
    assert code_of(lambda: format_of("a.geojson", None, STREAM_FORMATS)) == "config.unknown_format"
