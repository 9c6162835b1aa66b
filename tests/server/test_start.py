"""What can go wrong before anybody asks; tokens, owners and sendings on disk. No Spark is started."""

from __future__ import annotations

import io
import socket
import webbrowser
from pathlib import Path

import pytest
from rich.console import Console

from sanderling.demo.run import Web
from sanderling.demo.run import _serve as serve_demo
from sanderling.errors import ConfigError, DataError, SessionError
from sanderling.server.http.pages import static_folder
from sanderling.server.rights.owners import Owners
from sanderling.server.rights.tokens import OPERATOR, Tokens
from sanderling.server.run import ServeOptions, run_server
from sanderling.server.serve import bound
from sanderling.server.shown.ground import ARCHIVE, Ground
from sanderling.session.connect import connect
from sanderling.session.posting import Posting
from tests.server.test_contract import problem
from tests.server.town import SCRIPT, Town


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError) as e:
        bound("127.0.0.1", taken.getsockname()[1])
    assert e.value.code == "config.no_port"
    with pytest.raises(ConfigError):
        bound("192.0.2.1", 0)


def test_tokens_are_known_again_and_are_not_in_their_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    tokens = Tokens(path)
    word, made = tokens.make("anna", "client")
    passing, _ = tokens.make("operator", OPERATOR, is_passing=True)
    assert word not in path.read_text() and tokens.known(passing) is not None
    again = Tokens(path)
    assert again.known(word) == made and again.known(passing) is None and again.known("") is None
    again.take_away(made.id)
    assert Tokens(path).known(word) is None
    for text in ("{", '[{"id": 1}]', '[{"id": "", "digest": "", "owner": "", "role": "king"}]'):
        path.write_text(text)
        with pytest.raises(ConfigError) as e:
            Tokens(path)
        assert e.value.code == "config.bad_tokens"


def test_owners_are_known_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "owners.jsonl"
    owners = Owners(path)
    owners.claim(["A", "b", "ß"], "anna")
    owners.forget(["B"])
    path.write_bytes(path.read_bytes() + b'["c", "somebo')
    again = Owners(path)
    assert [again.of(n) for n in ("a", "b", "c", "SS")] == ["anna", None, None, "anna"]
    again.keep_only(["a"])
    assert Owners(path).count("anna") == 1


def test_a_sending_is_finished_or_undone(tmp_path: Path) -> None:
    """Killed between any two of its steps."""
    session = connect()
    session.execute(SCRIPT)
    stream, _ = session.streams
    with pytest.raises(SessionError) as e:
        session.receive("taxi")
    assert e.value.code == "session.no_stream" and "taxis" in e.value.hint
    session.stop()
    line = b'{"id": "a", "ts": 1, "x": 1, "y": 1}\n'
    posting = Posting(stream, tmp_path)
    first = posting.post(".jsonl", line + b"nothing\n", "key")
    assert (first.accepted, first.refused, first.sequence) == (1, 1, 0)
    assert posting.post(".jsonl", line, "key") == first, "the same key counts once"
    assert posting.post(".csv", b"id,ts,x,y,type,heading,seen\na,1,1,1,,,\nb,1,1\n").accepted == 1
    with pytest.raises(DataError) as refused:
        posting.post(".parquet", b"PAR1")
    assert refused.value.code == "data.unreadable"
    (tmp_path / "new" / "2.jsonl").write_bytes(line)  # killed before it was noted: it never was
    assert Posting(stream, tmp_path).post(".jsonl", line).sequence == 2
    (tmp_path / "2.jsonl").replace(tmp_path / "new" / "2.jsonl")  # killed after it was noted: it is finished
    again = Posting(stream, tmp_path)
    assert (tmp_path / "2.jsonl").read_bytes() == line
    (tmp_path / "2.jsonl").unlink()  # taken by Spark
    again = Posting(stream, tmp_path)
    assert again.post(".jsonl", line, "key") == first and again.post(".jsonl", line).sequence == 3


def test_the_command_looks_before_it_starts(tmp_path: Path) -> None:
    options = ServeOptions(
        "127.0.0.1", 0, None, Ground(tmp_path / "no.geojson"), (), (), None, "1 hour", "local[1]", None, None
    )
    with pytest.raises(ConfigError) as e:
        run_server(SCRIPT, options, print)
    assert e.value.code == "config.missing_file"


def test_what_lies_beneath_the_map_is_looked_at_before_the_start(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "map.pmtiles").write_bytes(ARCHIVE + bytes(120))
    Ground(tiles=tmp_path / "map.pmtiles", style="https://maps.example/style.json").refuse_what_is_none()
    wrong = [
        (Ground(tiles=tmp_path / "nothing"), "config.missing_file"),
        (Ground(tiles=tmp_path / "picture.png"), "config.unknown_format"),
        (Ground(style="style.json"), "config.bad_option"),
        (Ground(style="https://a.example; script-src *"), "config.bad_option"),
        (Ground(style="https://me:secret@maps.example/"), "config.bad_option"),
    ]
    for ground, code in wrong:
        with pytest.raises(ConfigError) as e:
            ground.refuse_what_is_none()
        assert e.value.code == code


def test_the_demo_opens_its_page_where_there_is_a_desktop(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the reader's own browser, once; elsewhere the address is only said."""
    opened = tmp_path / "opened"
    (tmp_path / "browser").write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    (tmp_path / "browser").chmod(0o755)
    monkeypatch.setenv("BROWSER", str(tmp_path / "browser"))
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # it reads the variable anew
    for display, is_terminal in (("", True), (":0", False), (":0", True)):
        assert not opened.exists()
        monkeypatch.setenv("DISPLAY", display)
        monkeypatch.setenv("WAYLAND_DISPLAY", "")
        words = io.StringIO()
        said = Console(file=words, force_terminal=is_terminal, width=500, color_system=None)
        serve_demo(town.session, Web(port=0), None, said)
        server = town.session._servers.pop()
        assert f"the map is at {server.link}#operator" in words.getvalue()
        server.stop()
    assert opened.read_text() == f"{server.link}#operator\n"


def test_without_a_page_the_server_says_how_to_get_one(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert static_folder().name == "static"
    monkeypatch.setattr("sanderling.server.http.pages.static_folder", lambda: tmp_path)
    assert "config.no_page" in town.operator.get("/").text
    (tmp_path / "index.html").write_text("<p>here</p>")
    (tmp_path / "main.js").write_text("1")
    (tmp_path / "secret.key").write_text("1")
    assert town.client(None).get("/").text == "<p>here</p>"
    assert town.client(None).get("/main.js").headers["content-type"].startswith("text/javascript")
    assert problem(town.operator.get("/secret.key")) == (404, "request.not_found")
    assert problem(town.operator.get("/map/roads.geojson")) == (404, "request.not_found")
