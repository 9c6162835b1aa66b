"""The shell at a server and over a session of its own: by a pipe, at a terminal, and as its page shows it."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from pyspark.sql import SparkSession
from rich.console import Console

import sanderling
from sanderling.errors import ServerError
from sanderling.shell.embedded import Embedded
from sanderling.shell.loop import Loop
from sanderling.shell.remote import Remote
from sanderling.shell.run import run_lines, talk
from sanderling.shell.shown import Screen
from tests.architecture.examples import ROOT, blocks_of
from tests.server.test_postgres import named
from tests.server.town import Town

WIDTH = 100


def screen() -> tuple[Screen, io.StringIO]:
    page = io.StringIO()
    return Screen(Console(file=page, width=WIDTH, highlight=False)), page


def test_a_server_by_its_address(town: Town, tmp_path: Path) -> None:
    with named(town, "SELECT id, x FROM taxis INSIDE (0, 780, 10, 790)") as name:
        town.tell([("a", 1.5, 781)])
        shown, page = screen()
        loop = Loop(Remote(town.server.link, None), shown, pause=stop_at_once)
        typed = [
            f"SELECT *\nFROM {name};\n", f"TABLE {name} LIMIT 0;\n", "\\d\n", f"\\d {name}\n", "\\dt\n",
            "\\x\n", "\\?\n", f"select * from {name};\n", "\\watch 1\n", "SHOW no;\n", "\\no\n",
            "\\d nothing\n", f"REGISTER QUERY {name}s AS SELECT id FROM taxi;\n", "\\watch never\n",
            "forgotten \x03",
            f"REGISTER QUERY {name}s AS SELECT id FROM taxis; DROP QUERY {name}s;\n", "\\q\n",
        ]  # fmt: skip
        with create_pipe_input() as keys:
            keys.send_text("".join(typed))
            talk(loop, tmp_path / "history", keys, DummyOutput())
        said = page.getvalue()
        assert "id    x\na   1.5\n(1 row, at 2024-" in said and f"{name}" in said and "(0 rows" in said
        assert "─ 1\nid  a\nx   1.5\n" in said
        assert "stopped" in said and "query.syntax" in said and "done\n" in said
        assert "    REGISTER QUERY" not in said and "                               ^^^^" in said
        assert 'did you mean "taxis"?' in said and 'no command is called "\\no"' in said
        assert "query.unknown_name" in said and "nothing to repeat" in said
        assert f"+FROM {name};" in (tmp_path / "history").read_text()
        client = Loop(Remote(town.server.address, town.token("anna")), shown)
        assert not client.take("DROP STREAM taxis;") and "auth.forbidden" in page.getvalue()
    with pytest.raises(ServerError) as e:
        Remote(town.server.address, "wrong")
    assert e.value.code == "auth.missing"


def stop_at_once(seconds: float) -> None:
    raise KeyboardInterrupt


def test_what_changes_is_told(town: Town) -> None:
    with named(town, "SELECT id, x FROM taxis INSIDE (0, 790, 10, 800)") as name:
        town.tell([("a", 1, 791)])
        updates = Remote(town.server.link, None).updates(name)
        first = next(updates)
        assert first is not None and (first.sign, first.row) == (1, ("a", "1"))
        town.tell([("a", 2, 791)])
        told = (
            [u for _, u in zip(range(4), (u for u in updates if u is not None), strict=False) if u][:2]
            if 0
            else []
        )
        while len(told) < 2:
            update = next(updates)
            told += [] if update is None else [update]
        assert [(u.sign, u.row) for u in told] == [(-1, ("a", "1")), (1, ("a", "2"))]
        updates.close()  # type: ignore[attr-defined]


def test_the_page_of_the_shell_is_true(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session of its own: what stands behind a prompt is typed, the rest is what is said."""
    monkeypatch.chdir(tmp_path)
    shown, page = screen()
    with sanderling.connect(spark, shards=1) as session:
        loop = Loop(Embedded(session, shown.say), shown)
        for block in blocks_of(ROOT / "docs" / "shell.md"):
            if block.language == "csv":
                Path(block.name).write_text(block.text)
            if block.language != "console":
                continue
            for typed, expected in exchanges(block.text):
                page.truncate(0)
                page.seek(0)
                run_lines(loop, io.StringIO(typed))
                told = "\n".join(line.rstrip() for line in page.getvalue().splitlines())
                assert told == expected, f"shell.md:{block.line}: {typed}"
        updates = Embedded(session, shown.say).updates("in_depot")
        first = next(update for update in islice(updates, 600) if update is not None)  # None: it waits
        assert first.sign == 1
        updates.close()  # type: ignore[attr-defined]


def exchanges(text: str) -> list[tuple[str, str]]:
    """What is typed, and what is said to it."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("sanderling> "):
            found.append((line.removeprefix("sanderling> ") + "\n", []))
        elif line.startswith("        ... "):
            typed, said = found.pop()
            found.append((typed + line.removeprefix("        ... ") + "\n", said))
        else:
            found[-1][1].append(line)
    return [(typed, "\n".join(said).rstrip()) for typed, said in found]


def test_at_a_terminal(town: Town, tmp_path: Path) -> None:
    """The command itself: keys come in, colours go out; Ctrl-C ends what is told, Ctrl-D all."""
    with named(town, "SELECT id FROM taxis WHERE id = 'anna' INSIDE (0, 800, 10, 810)") as name:
        town.tell([("anna", 1, 801)])
        program = [
            sys.executable,
            "-c",
            "from sanderling.command import main; main()",
            "shell",
            town.server.address,
        ]
        environment = {
            **os.environ, "SANDERLING_TOKEN": town.server.token, "TERM": "xterm-256color", "COLUMNS": "90",
            "LINES": "30", "XDG_STATE_HOME": str(tmp_path),
        }  # fmt: skip
        ours, theirs = pty.openpty()
        shell = subprocess.Popen(
            program, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        try:
            assert "Ctrl-D leaves" in until(ours, "sanderling>")
            os.write(ours, f"SELECT * FROM {name};\r".encode())
            assert "anna" in until(ours, "(1 row")
            os.write(ours, f"SUBSCRIBE {name};\r".encode())
            assert "+ anna" in until(ours, "+ anna")
            shell.send_signal(signal.SIGINT)
            until(ours, "stopped")
            os.write(ours, b"\x04")
            assert shell.wait(30) == 0
        finally:
            shell.kill()
            shell.wait()
            os.close(ours)


def until(terminal: int, words: str, seconds: float = 60.0) -> str:
    """What is written up to these words, without colours."""
    end, found = time.monotonic() + seconds, ""
    while words not in found:
        assert time.monotonic() < end, f"no {words!r} in {found!r}"
        if select.select([terminal], [], [], 0.2)[0]:
            found += plain(os.read(terminal, 65_536).decode(errors="replace"))
        if "\x1b[6n" in found:  # it asks where the cursor is
            os.write(terminal, b"\x1b[1;1R")
            found = found.replace("\x1b[6n", "")
    return found


def plain(text: str) -> str:
    return re.sub(r"\x1b\[(?!6n)[0-9;?]*[a-zA-Z]", "", text)


def test_what_is_piped_in_ends_at_the_first_error(town: Town) -> None:
    shown, page = screen()
    loop = Loop(Remote(town.server.link, None), shown)
    assert run_lines(loop, io.StringIO("SHOW\nSTREAMS;\n\n")) and "taxis" in page.getvalue()
    assert (
        not run_lines(loop, io.StringIO("SHOW STREAM;\nSHOW REGIONS;\n")) and "center" not in page.getvalue()
    )
    assert run_lines(loop, io.StringIO("\\q\nSHOW NOTHING;\n"))
