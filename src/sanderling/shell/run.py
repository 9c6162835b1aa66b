"""`sanderling shell`: at a terminal, or over what is piped in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output
from rich.console import Console

from sanderling.shell.behind import Behind
from sanderling.shell.loop import Left, Loop
from sanderling.shell.prompt import history_in, prompt_of
from sanderling.shell.remote import Remote
from sanderling.shell.shown import Screen
from sanderling.shell.words import is_whole

TOKEN = "SANDERLING_TOKEN"


def run_shell(
    address: str | None, script: str, master: str, checkpoint: Path | None, data: Path | None,
    console: Console,
) -> bool:  # fmt: skip
    """Whether all that was piped in could be done."""
    screen = Screen(console)
    with behind(address, master, checkpoint, data, screen) as found:
        loop = Loop(found, screen)
        if script and not loop.take(script):
            return False
        if not sys.stdin.isatty():
            return run_lines(loop, sys.stdin)
        screen.say(f"{found.name}; \\? lists commands, Ctrl-D leaves")
        talk(loop)
        return True


@contextmanager
def behind(
    address: str | None, master: str, checkpoint: Path | None, data: Path | None, screen: Screen
) -> Iterator[Behind]:
    found: Behind
    if address is not None:
        found = Remote(address, os.environ.get(TOKEN))
    else:
        from sanderling.session.connect import connect
        from sanderling.shell.embedded import Embedded

        found = Embedded(connect(master=master, checkpoint=checkpoint, data=data), screen.say)
    try:
        yield found
    finally:
        found.close()


def talk(
    loop: Loop, history: Path | None = None, source: Input | None = None, target: Output | None = None
) -> None:
    """Until somebody leaves. Ctrl-C forgets a line."""
    path = history or history_path()
    asked = prompt_of(lambda: loop.relations, history_in(path), source, target)
    while True:
        try:
            loop.take(asked.prompt())
        except KeyboardInterrupt:
            continue
        except (EOFError, Left):
            return


def run_lines(loop: Loop, lines: Iterable[str]) -> bool:
    """What is piped in, statement by statement; it ends at the first that cannot be done."""
    text = ""
    for line in lines:
        text += line
        if text.strip() and is_whole(text):
            try:
                if not loop.take(text):
                    return False
            except Left:
                return True
            text = ""
    return loop.take(text) if text.strip() else True


def history_path() -> Path:
    root = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(root) / "sanderling" / "history"
