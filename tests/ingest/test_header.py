"""Every declared column is there before anything runs."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sanderling.errors import ConfigError
from sanderling.ingest.files import find_files
from sanderling.ingest.formats import header

from .streams import ingest_text, make_stream, rows


def check(tmp_path, *texts: str | bytes, format="csv") -> None:
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.{format}"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    header.check_header(make_stream(format=format), find_files(str(tmp_path)))


def refused(tmp_path, *texts: str | bytes, format="csv") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        check(tmp_path, *texts, format=format)
    return caught.value


def test_columns_may_come_in_any_order_and_case_with_others_between(tmp_path):
    check(tmp_path, "Y,other,X,TS,Id\n")


def test_the_first_byte_order_mark_and_spaces_are_not_part_of_a_name(tmp_path):
    check(tmp_path, b"\xef\xbb\xbfid, ts ,x,y\r\n")


def test_a_missing_column_names_column_file_and_the_nearest_name(tmp_path):
    error = refused(tmp_path, "id,ts,x,y\n", "id,tss,x,y\n")
    assert error.code == "config.missing_column"
    assert '"ts"' in error.message
    assert "1.csv" in error.message
    assert "tss" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        "PATH=/bin\0KEY=hush,me,too\0A=b", "id,ts,x,\0hush", "root:x:0:0:hush:/root:/bin/sh",
        "-----BEGIN hush-----", "id,ts,x," + "hush" * 9, "hush='me',ts,x", b"id,ts,x,hush,\xff",
        "id,ts,x,hush\x1b[2J",
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_column_is_not_shown(tmp_path, text):
    error = refused(tmp_path, text if isinstance(text, bytes) else text + "\n")
    assert error.code == "config.missing_column" and "hush" not in str(error)


def test_names_of_columns_are_shown(tmp_path):
    assert refused(tmp_path, "id,ts,x,speed (km/h)\n").hint == "known here: id, speed (km/h), ts, x"


def test_other_separators_are_hinted_at(tmp_path):
    assert "delimiter = ';'" in refused(tmp_path, "id;ts;x;y\n").hint
    assert "delimiter = 'tab'" in refused(tmp_path, "id\tts\tx\ty\n").hint


def test_a_column_twice_is_ambiguous_only_if_needed(tmp_path):
    check(tmp_path, "id,ts,x,y,other,other\n")
    assert refused(tmp_path, "id,ts,x,y,x\n").code == "config.ambiguous_column"
    assert refused(tmp_path, "id,ts,X,y,X\n").code == "config.ambiguous_column"


def test_the_exact_name_is_preferred(tmp_path):
    found = ingest_text(tmp_path, "id,ts,X,x,y\na,1,100,2,3\n")
    assert rows(found, "x") == [(2.0,)]


def test_all_files_empty_is_an_error_one_of_them_is_not(tmp_path):
    check(tmp_path, "", "id,ts,x,y\n")
    (tmp_path / "1.csv").unlink()
    assert refused(tmp_path, "", b"\xef\xbb\xbf").code == "config.empty_file"


def test_a_blank_first_line_has_no_columns(tmp_path):
    assert refused(tmp_path, "\nid,ts,x,y\n").code == "config.missing_column"


def test_utf_16_is_said_by_name(tmp_path):
    assert refused(tmp_path, "id,ts,x,y\n".encode("utf-16")).code == "config.not_utf8"


def test_an_endless_first_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(header, "LONGEST_HEADER", 1000)
    assert refused(tmp_path, "id,ts,x,y," + "z" * 2000).code == "config.broken_header"
    assert refused(tmp_path, "id,ts,x,y," + "z" * 200_000).code == "config.broken_header"


def test_a_column_name_too_long_for_the_reader_is_refused(tmp_path):
    assert refused(tmp_path, "id,ts,x,y," + "z" * 200_000 + "\n").code == "config.broken_header"


def test_json_has_no_header_to_check(tmp_path):
    check(tmp_path, "", format="json")


def test_parquet_columns_are_checked_too(tmp_path):
    pq.write_table(pa.table({"id": ["a"], "ts": [1], "X": [1.0]}), tmp_path / "a.parquet")
    with pytest.raises(ConfigError) as caught:
        header.check_header(make_stream(format="parquet"), find_files(str(tmp_path)))
    assert caught.value.code == "config.missing_column"


def test_what_is_not_parquet_is_said(tmp_path):
    assert refused(tmp_path, "id,ts", format="parquet").code == "config.broken_parquet"
