"""Where a text ends, which words it has, and what rows look like: no server and no session."""

from __future__ import annotations

import io

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from rich.console import Console

from sanderling.errors import ConfigError
from sanderling.shell.behind import Relation, Rows, Update
from sanderling.shell.prompt import Colours, Completing, history_in
from sanderling.shell.remote import Remote
from sanderling.shell.shown import Screen
from sanderling.shell.words import is_whole, statements_in, words_in

TAXIS = Relation("taxis", "stream", (("id", "STRING"), ("speed", "DOUBLE")), "")
STEPS = "REGISTER PATTERN p AS a = SELECT id FROM s; SELECT id FROM a WHERE id IN a WITHIN 1 HOUR END"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", True), ("SELECT 1", False), ("SELECT 1;", True), ("SELECT ';", False), ("SELECT 'a;';", True),
        ("SELECT 1 -- ;", False),
        (r"\d taxis", True), ("/* ;", False), (STEPS[:44], False), (STEPS + ";", True),
    ],
)  # fmt: skip
def test_enter_ends_what_is_whole(text: str, ends: bool) -> None:
    assert is_whole(text) is ends


def test_statements_are_cut_apart() -> None:
    assert statements_in("SHOW STREAMS; SELECT ';' FROM a;\n") == ["SHOW STREAMS", "SELECT ';' FROM a"]
    assert statements_in(STEPS + ";") == [STEPS]


def test_words_have_kinds_while_they_are_typed() -> None:
    text = "SELECT id FROM taxis INSIDE (0, 1.5) -- here\nWHERE a = 'not yet"
    kinds = {text[word.start : word.end]: word.kind for word in words_in(text)}
    assert kinds == {
        "SELECT": "word", "id": "name", "FROM": "word", "taxis": "name", "INSIDE": "word", "0": "number",
        "1.5": "number", "-- here": "remark", "WHERE": "word", "a": "name", "'not yet": "text",
    }  # fmt: skip
    line = Colours().lex_document(Document("SHOW\nx"))
    assert line(0)[0][0] == "class:word" and line(1)[0] == ("class:name", "x") and line(2) == []


def completed(text: str) -> list[str]:
    found = Completing(lambda: [TAXIS, Relation("two words", "query", (), "")])
    return [c.text for c in found.get_completions(Document(text), CompleteEvent())]


def test_completion_knows_what_there_is() -> None:
    assert completed("SELECT * FROM ta")[0] == "taxis" and "TABLE" in completed("SELECT * FROM ta")
    assert completed("SELECT sp") == [] or "speed" not in completed("SELECT sp")
    assert "speed" in completed("SELECT * FROM taxis WHERE sp")
    assert completed("DROP QUERY tw") == ["`two words`"]
    assert completed(r"\w") == [r"\watch"] and "INSIDE" in completed("insi")


def shown(width: int, *things: Rows | Update, is_tall: bool = False) -> str:
    page = io.StringIO()
    screen = Screen(Console(file=page, width=width, highlight=False))
    screen.is_tall = is_tall
    for thing in things:
        screen.rows(thing) if isinstance(thing, Rows) else screen.update(thing)
    return page.getvalue()


def test_rows_fit_the_screen() -> None:
    rows = Rows(("id", "x", "note"), (("anna", "2.5", "a\nb" * 40), ("[red]ben", "10", None)))
    table = shown(40, rows)
    assert max(map(len, table.splitlines())) <= 40 and "[red]ben" in table and "∅" in table and "…" in table
    assert "  x" in table.splitlines()[0] and table.endswith("(2 rows)\n")
    tall = shown(40, rows, is_tall=True)
    assert tall.splitlines()[:3] == ["─ 1", "id    anna", "x     2.5"]
    many = Rows(tuple(f"c{n}" for n in range(20)), (tuple("1" * 20),))
    assert "─ 1" in shown(40, many) and "─ 1" not in shown(200, many)
    assert "1,500 rows; 500 are not shown" in shown(80, Rows(("a",), (("1",),) * 1500))
    update = shown(30, Update("2024-05-01T08:00:01Z", -1, ("anna" * 9, None)))
    assert update.startswith("2024-05-01T08:00:01Z  − anna") and len(update.splitlines()) == 1


def test_history_is_its_owners(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "state" / "history"
    history_in(path).store_string("SHOW STREAMS;")
    assert "SHOW STREAMS;" in path.read_text() and path.stat().st_mode & 0o77 == 0
    history_in(tmp_path / "state" / "history" / "no folder").append_string("x")  # without a place: in memory


@pytest.mark.parametrize(
    ("address", "code"),
    [("ftp://here", "config.bad_option"), ("", "config.bad_option"), ("127.0.0.1:1", "config.no_server")],
)
def test_addresses_where_nobody_is(address: str, code: str) -> None:
    with pytest.raises(ConfigError) as e:
        Remote(address, None)
    assert e.value.code == code
