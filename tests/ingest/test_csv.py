"""CSV: rows are independent, and a hostile line never damages its neighbours."""

from __future__ import annotations

import pytest

from sanderling.ingest.formats import csv as rows_csv
from sanderling.ingest.formats import lines

from .streams import ingest_text, reasons, rows

HEAD = "id,ts,x,y\n"
GOOD = "good,1,2,3\n"

# A line that cannot be a reading, and why.
HOSTILE = {
    b"a,1,2": "too_few_columns",
    b"a": "too_few_columns",
    b"a,1,2,3,4": "too_many_columns",
    b"," * 100_000: "too_many_columns",
    b'"a,1,2,3': "broken_csv",
    b'a,1,2,"3': "broken_csv",
    b'"': "broken_csv",
    b'a,1,2,"': "broken_csv",
    b'"a"b,1,2,3': "broken_csv",
    b'"5" pipe",1,2,3': "broken_csv",
    b'a"b,"c,1,2,3': "broken_csv",
    b"a,1,2,3\rb,1,2,3": "broken_csv",
    b"\ra,1,2,3": "broken_csv",
    b"\xff,1,2,3": "bad_encoding",
    b"a,1,2\xff": "bad_encoding",
    b"\xff": "bad_encoding",
    b"\xed\xa0\x80,1,2,3": "bad_encoding",
    b",1,2,3": "missing_key",
    b'"",1,2,3': "missing_key",
    b",,,": "missing_key",
    b"a,,2,3": "missing_time",
    b'a,"",2,3': "missing_time",
    b"a, ,2,3": "missing_time",
    b"a,noon,2,3": "unreadable_time",
    b"a,1.5,2,3": "unreadable_time",
    b"a,999999999999999,2,3": "unreadable_time",
    b"a,-62135596801,2,3": "unreadable_time",
    b"a,253402300800,2,3": "unreadable_time",
    b"a,99999999999999999999999,2,3": "unreadable_time",
    b"a,1,,3": "missing_place",
    b"a,1,2,": "missing_place",
    b"a,1,,": "missing_place",
    b"a,1,nan,3": "bad_place",
    b"a,1,2,-inf": "bad_place",
    b"a,1,abc,3": "wrong_type",
    b"a,1,2\0,3": "wrong_type",
    b"a,1,1e999,3": "wrong_type",
    b"a,1,0x10,3": "wrong_type",
    b"a,1,1_0,3": "wrong_type",
}


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: repr(line)[:40])
def test_a_hostile_line_becomes_one_letter_and_leaves_its_neighbours_alone(tmp_path, line):
    found = ingest_text(tmp_path, HEAD.encode() + GOOD.encode() + line + b"\n" + GOOD.encode())
    assert reasons(found) == {3: HOSTILE[line]}
    assert rows(found, "id", "__row") == [("good", 2), ("good", 4)]
    assert found.letters["raw"].to_pylist() == [line.decode("utf-8", "replace")]
    assert found.letters["stream"].to_pylist() == ["Taxis"]
    assert found.letters["file"][0].as_py().endswith("taxis.csv")
    assert found.letters["detail"][0].as_py()


def test_all_hostile_lines_together_stay_apart(tmp_path):
    body = b"".join(line + b"\n" + GOOD.encode() for line in HOSTILE)
    found = ingest_text(tmp_path, HEAD.encode() + body)
    assert list(reasons(found).values()) == list(HOSTILE.values())
    assert found.readings.num_rows == len(HOSTILE)
    assert found.rows == 2 * len(HOSTILE)


def test_a_lone_quote_in_two_lines_does_not_swallow_those_between(tmp_path):
    found = ingest_text(tmp_path, HEAD + 'a,1,2,"3\n' + GOOD * 3 + 'b",1,2,3\n' + 'c,1,2,"3\n')
    assert reasons(found) == {2: "broken_csv", 7: "broken_csv"}
    assert rows(found, "id") == [("good",)] * 3 + [('b"',)]


def test_a_quote_inside_a_plain_field_is_a_character(tmp_path):
    found = ingest_text(tmp_path, HEAD + '5" pipe,1,2,3\n')
    assert rows(found, "id") == [('5" pipe',)]


def test_quoted_fields_hold_commas_quotes_and_carriage_returns(tmp_path):
    found = ingest_text(tmp_path, HEAD + '"a,""b""\r",1,2,3\n"",1,2,3\n' + '"c",1,2,3\n')
    assert rows(found, "id", "__row") == [('a,"b"\r', 2), ("c", 4)]


def test_a_newline_ends_a_row_even_inside_quotes(tmp_path):
    found = ingest_text(tmp_path, HEAD + '"a\nb",1,2,3\n')
    assert reasons(found) == {2: "broken_csv"}
    assert rows(found, "id", "__row") == [('b"', 3)]


def test_a_nul_is_a_character(tmp_path):
    found = ingest_text(tmp_path, HEAD.encode() + b"a\0b,1,2,3\n")
    assert rows(found, "id") == [("a\0b",)]


def test_a_very_long_line_is_an_ordinary_row(tmp_path):
    found = ingest_text(tmp_path, HEAD + GOOD + "z" * 3_000_000 + ",1,2,3\n" + GOOD, size=1000)
    assert [len(key) for (key,) in rows(found, "id")] == [4, 3_000_000, 4]


def test_an_endless_line_is_a_letter_with_its_beginning(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 2000)
    found = ingest_text(tmp_path, HEAD + GOOD + "z" * 3_000 + ",1,2,3\n" + GOOD)
    assert reasons(found) == {3: "broken_csv"}
    assert found.letters["raw"].to_pylist() == ["z" * 1000 + "…"]
    assert found.readings.num_rows == 2


def test_windows_line_ends_and_a_missing_last_newline_do_not_show(tmp_path):
    found = ingest_text(tmp_path, (HEAD + GOOD + "\n" + GOOD.strip()).replace("\n", "\r\n"))
    assert rows(found, "id", "y", "__row") == [("good", 3.0, 2), ("good", 3.0, 4)]
    assert found.rows == 2


def test_a_carriage_return_at_the_very_end_is_a_line_end(tmp_path):
    assert rows(ingest_text(tmp_path, HEAD + "a,1,2,3\r"), "y") == [(3.0,)]


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    assert rows(ingest_text(tmp_path, "\ufeff" + HEAD + GOOD), "id") == [("good",)]


def test_a_byte_order_mark_later_on_belongs_to_its_row(tmp_path):
    for size in (1, 1000):
        assert rows(ingest_text(tmp_path, HEAD + "\ufeffa,1,2,3\n", size=size), "id") == [("\ufeffa",)]


def test_blank_lines_are_neither_rows_nor_letters_but_count_as_lines(tmp_path):
    found = ingest_text(tmp_path, HEAD + "\n" + GOOD + "   \t\r\n\r\n" + GOOD + "\n")
    assert rows(found, "__row") == [(3,), (6,)]
    assert (found.rows, found.letters.num_rows) == (2, 0)


def test_a_file_of_blank_lines_has_no_rows(tmp_path):
    assert ingest_text(tmp_path, HEAD + "\n\n\n").rows == 0


def test_undeclared_columns_are_ignored_but_count(tmp_path):
    found = ingest_text(tmp_path, "y,junk,id,ts,x\n3,?,a,1,2\n3,a,1,2\n")
    assert rows(found, "id", "ts", "x", "y") == [("a", 1, 2.0, 3.0)]
    assert reasons(found) == {3: "too_few_columns"}


def test_unquoted_nothing_is_null_quoted_nothing_is_an_empty_text(tmp_path):
    found = ingest_text(
        tmp_path,
        'id,ts,x,y,note,speed\na,1,2,3,,\nb,1,2,3,"",""\n',
        "id STRING, ts BIGINT, x DOUBLE, y DOUBLE, note STRING, speed DOUBLE",
    )
    assert rows(found, "note", "speed") == [(None, None), ("", None)]


def test_a_row_with_several_faults_gets_one_letter_structure_first(tmp_path):
    columns = "id STRING, ts TIMESTAMP, x DOUBLE, y DOUBLE, n INT"
    text = "id,ts,x,y,n\n,,\n,noon,,nan,z\na,noon,,nan,z\na,,,nan,z\n"
    text += "a,2020-01-01,,nan,z\na,2020-01-01,1,nan,z\na,2020-01-01,1,1,z\n"
    assert list(reasons(ingest_text(tmp_path, text, columns)).values()) == [
        "too_few_columns",
        "missing_key",
        "unreadable_time",
        "missing_time",
        "missing_place",
        "bad_place",
        "wrong_type",
    ]


def test_what_does_not_fit_is_named_with_its_column(tmp_path):
    found = ingest_text(
        tmp_path, "id,ts,x,y,n\na,1,2,3,300\n", "id STRING, ts BIGINT, x DOUBLE, y DOUBLE, n TINYINT"
    )
    assert found.letters["detail"].to_pylist() == ['n: "300" is not a TINYINT']


def test_a_long_value_is_cut_in_the_detail_but_not_in_the_raw_row(tmp_path):
    found = ingest_text(tmp_path, HEAD + "a,1,2," + "é" * 5000 + "\n")
    assert len(found.letters["detail"][0].as_py()) < 150
    assert len(found.letters["raw"][0].as_py()) > 5000


def test_a_key_that_is_not_a_number_is_no_key(tmp_path):
    found = ingest_text(tmp_path, HEAD + "nan,1,2,3\n1,1,2,3\n", "id DOUBLE, ts BIGINT, x DOUBLE, y DOUBLE")
    assert reasons(found) == {2: "missing_key"}


def test_a_key_of_the_wrong_type_is_not_missing(tmp_path):
    found = ingest_text(tmp_path, HEAD + "a,1,2,3\n", "id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE")
    assert reasons(found) == {2: "wrong_type"}


def test_places_may_be_integers_and_one_column_may_serve_twice(tmp_path):
    found = ingest_text(tmp_path, "id,ts\n7,5\n", "id BIGINT, ts BIGINT", x="id", y="ts")
    assert rows(found, "id", "ts", "__ts") == [(7, 5, 5_000_000)]


def test_what_arrow_alone_would_misread_is_isolated_by_halving(tmp_path, monkeypatch):
    # As if the pattern let everything through.
    monkeypatch.setattr(rows_csv, "_holds_marks", lambda lines: False)
    found = ingest_text(tmp_path, HEAD + GOOD * 5 + '"a,1,2,3\n' + GOOD * 6)
    assert found.readings.num_rows == 11
    assert found.letters["row"].to_pylist() == [7]


def test_hostile_column_names_do_no_harm(tmp_path):
    columns = "0 STRING, 1 BIGINT, na\"me DOUBLE, y'; DROP TABLE x; -- DOUBLE"
    head = '1,0,"na""me",y\'; DROP TABLE x; --\n'
    found = ingest_text(
        tmp_path, head + "5,a,2,3\n", columns, key="0", time="1", x='na"me', y="y'; DROP TABLE x; --"
    )
    assert found.readings.num_rows == 1
    assert rows(found, "0", "1") == [("a", 5)]
