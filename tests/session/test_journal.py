"""What a session was told, on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.errors import StateError
from sanderling.session.journal import SAID, STARTED, Journal, Line


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = [Line(SAID, "a; -- ünï\n\u2028'\"`", "1"), Line(STARTED, "", "2"), Line(SAID, "b")]
    journal = Journal(path)
    assert journal.is_new
    for line in lines:
        journal.append(line)
    again = Journal(path)
    assert again.lines == lines and not again.is_new


def test_a_line_that_is_cut_off_was_never_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.append(Line(SAID, "whole"))
    whole, end = path.read_bytes(), tmp_path / "journal.jsonl.end"
    one = end.read_bytes()
    journal.append(Line(SAID, "cut — off"))
    everything = path.read_bytes()
    for length in range(len(whole), len(everything)):
        path.write_bytes(everything[:length])
        end.write_bytes(one)  # it is written when the line is whole
        again = Journal(path)
        assert [line.text for line in again.lines] == ["whole"]
        again.append(Line(SAID, "next"))
        assert [line.text for line in Journal(path).lines] == ["whole", "next"]


def test_each_time_something_was_said_counts_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for text in ("a", "b", "a"):
        journal.append(Line(SAID, text))
    assert not journal.is_known("a"), "known is what was said before the restart"
    again = Journal(journal.path)
    assert [again.is_known("a") for _ in range(3)] == [True, True, False]
    again.forget_known()
    assert not again.is_known("b")


@pytest.mark.parametrize("text", ["no json\n", '{"kind": "said"}\n[1]\n', '{"what": 1}\n'])
def test_a_damaged_journal_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(text)
    with pytest.raises(StateError) as e:
        Journal(path)
    assert e.value.code == "state.broken_ledger"


def test_a_journal_that_lost_lines_is_refused(tmp_path: Path) -> None:
    """It looks whole, but for the number of its lines."""
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    for text in ("a", "b", "c"):
        journal.append(Line(SAID, text))
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(StateError) as e:
            Journal(path)
        assert e.value.code == "state.broken_ledger"
    path.unlink()
    with pytest.raises(StateError):
        Journal(path)


def test_a_line_whose_number_was_not_written_counts(tmp_path: Path) -> None:
    """Killed between the two, again and again."""
    path, end = tmp_path / "journal.jsonl", tmp_path / "journal.jsonl.end"
    for n in range(3):
        journal = Journal(path)
        assert [line.text for line in journal.lines] == ["a"] * n
        before = end.read_bytes() if n else None
        journal.append(Line(SAID, "a"))
        end.unlink() if before is None else end.write_bytes(before)


def test_a_journal_of_an_older_format_is_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"kind": "said", "text": "SHOW STREAMS", "digest": ""}\n')
    with pytest.raises(StateError) as e:
        Journal(path)
    assert e.value.code == "state.other_format"
