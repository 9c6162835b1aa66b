"""JSON lines: each line for itself."""

from __future__ import annotations

import json

import pytest

from sanderling.ingest.formats import lines

from .streams import TAXI, ingest_text, reasons, rows

GOOD = b'{"id":"good","ts":1,"x":2,"y":3}'

HOSTILE = {
    b"{": "broken_json",
    b'{"id":"a","ts":1,"x":2,"y":3': "broken_json",
    b'{"id":"a","ts":1,"x":2,"y":3} {}': "broken_json",
    b"[1,2]": "broken_json",
    b"3": "broken_json",
    b"null": "broken_json",
    b'"text"': "broken_json",
    b"id,ts,x,y": "broken_json",
    b'{"id":"\\ud800"}': "broken_json",
    b'{"id":"a\0"}': "broken_json",
    b"[" * 100_000: "broken_json",
    b'{"id":"\xff","ts":1,"x":2,"y":3}': "bad_encoding",
    b"{}": "missing_key",
    b'{"id":null,"ts":1,"x":2,"y":3}': "missing_key",
    b'{"id":"","ts":1,"x":2,"y":3}': "missing_key",
    b'{"id":"a","x":2,"y":3}': "missing_time",
    b'{"id":"a","ts":"noon","x":2,"y":3}': "unreadable_time",
    b'{"id":"a","ts":true,"x":2,"y":3}': "unreadable_time",
    b'{"id":"a","ts":1,"x":2}': "missing_place",
    b'{"id":"a","ts":1,"x":NaN,"y":3}': "bad_place",
    b'{"id":"a","ts":1,"x":2,"y":-Infinity}': "bad_place",
    b'{"id":"a","ts":1,"x":2,"y":1e999}': "wrong_type",
    b'{"id":"a","ts":1,"x":"abc","y":3}': "wrong_type",
    b'{"id":"a","ts":1,"x":[2],"y":3}': "wrong_type",
    b'{"id":"a","ts":1,"x":{"x":2},"y":3}': "wrong_type",
}


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: repr(line)[:40])
def test_a_hostile_line_becomes_one_letter_and_leaves_its_neighbours_alone(tmp_path, line):
    found = ingest_text(tmp_path, GOOD + b"\n" + line + b"\n" + GOOD, format="json")
    assert reasons(found) == {2: HOSTILE[line]}
    assert rows(found, "id", "x", "__row") == [("good", 2.0, 1), ("good", 2.0, 3)]
    assert found.letters["raw"].to_pylist() == [line.decode("utf-8", "replace")]


def test_blank_lines_byte_order_marks_and_windows_line_ends_do_not_show(tmp_path):
    found = ingest_text(tmp_path, b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n  \n" + GOOD, format="json")
    assert rows(found, "id", "__row") == [("good", 1), ("good", 4)]
    assert found.rows == 2


def test_a_file_without_a_good_line_has_no_readings(tmp_path):
    assert ingest_text(tmp_path, b"{\n\n", format="json").rows == 1
    assert ingest_text(tmp_path, b"\n\n", format="json").rows == 0


def test_a_text_that_reads_as_the_type_is_taken(tmp_path):
    columns = TAXI + ", b BOOLEAN, n INT, s STRING"
    texts = '{"id":7,"ts":"5","x":" 1.5 ","y":"2","b":"yes","n":"3","s":true}\n'
    plain = '{"id":"7","ts":5,"x":1.5,"y":2.0,"b":true,"n":3.0,"s":"true"}\n'
    found = ingest_text(tmp_path, texts + plain, columns, "json")
    first, second = rows(found, "id", "ts", "x", "y", "b", "n", "s")
    assert first == second == ("7", 5, 1.5, 2.0, True, 3, "true")


def test_nested_values_stay_json_in_a_text_column(tmp_path):
    found = ingest_text(tmp_path, '{"id":{"a":[1,2]},"ts":1,"x":2,"y":3}', format="json")
    assert rows(found, "id") == [('{"a":[1,2]}',)]


@pytest.mark.parametrize(
    "name", ["a/b", "a~b", 'q"x', "it's", "$", "0", "$.id", "[0]", "*", "é", "a b", "~1", "\\", "-"]
)
def test_any_member_name_can_be_asked_for(tmp_path, name):
    line = json.dumps({name: "found", "ts": 1, "x": 2, "y": 3, "id": "wrong"})
    found = ingest_text(tmp_path, line, f"{name} STRING, ts BIGINT, x DOUBLE, y DOUBLE", "json", key=name)
    assert rows(found, name) == [("found",)]


def test_escapes_in_member_names_and_values_are_read(tmp_path):
    found = ingest_text(tmp_path, '{"\\u0069d":"\\u00e9\\n\\u0000","ts":1,"x":2,"y":3}', format="json")
    assert rows(found, "id") == [("é\n\0",)]


def test_large_integers_keep_every_digit(tmp_path):
    line = '{"id":"a","ts":1,"x":2,"y":3,"n":%d}\n'
    found = ingest_text(tmp_path, line % 9007199254740993 + line % (1 << 63), TAXI + ", n BIGINT", "json")
    assert rows(found, "n") == [(9007199254740993,)]
    assert reasons(found) == {2: "wrong_type"}


def test_an_endless_line_is_a_letter(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 2000)
    found = ingest_text(tmp_path, GOOD + b"\n" + b" " * 10 + b"[" * 3000 + b"\n" + GOOD, format="json")
    assert reasons(found) == {2: "broken_json"}
