"""A run under way, on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from sanderling.deliver.status import PLANNING, WRITING, Status

Show = Callable[[Status], None]
# What is done sooner needs no word.
SECONDS_OF_SILENCE = 1.0
# Between two lines of the same phase.
SECONDS_BETWEEN_LINES = 10.0


class Shown(Protocol):
    def __call__(self, status: Status) -> None: ...

    def end(self) -> None: ...


@contextmanager
def shown(console: Console, is_bar: bool = True) -> Iterator[Show]:
    """What is shown begins with planning, which most often takes no time."""
    page: Shown = Bar(console) if is_bar and console.is_terminal else Lines(console)
    late = threading.Timer(SECONDS_OF_SILENCE, lambda: say(console, PLANNING))
    late.daemon = True
    late.start()

    def show(status: Status) -> None:
        late.cancel()
        page(status)

    try:
        yield show
    finally:
        late.cancel()
        page.end()


def say(console: Console, words: str) -> None:
    console.print(Text(f"sanderling: {words}"), soft_wrap=True)


class Lines:
    """A line where the phase is another one, and now and then while it lasts, if something has happened."""

    def __init__(self, console: Console):
        self.console = console
        self._last, self._at = Status(""), 0.0

    def __call__(self, status: Status) -> None:
        if status.note:
            say(self.console, status.note)
            return
        is_new = status.phase != self._last.phase
        is_time = time.monotonic() - self._at >= SECONDS_BETWEEN_LINES
        if is_new or (is_time and str(status) != str(self._last)):
            self._last, self._at = status, time.monotonic()
            say(self.console, str(status))

    def end(self) -> None:
        """A line stays."""


class Bar:
    """It is gone when it is over."""

    def __init__(self, console: Console):
        self.console = console
        columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=console, transient=True)
        self._task: TaskID | None = None

    def __call__(self, status: Status) -> None:
        if status.note:
            say(self.console, status.note)
        elif status.phase == WRITING:
            self.end()  # what is written may go to this terminal
        else:
            if self._task is None:
                self._bar.start()
                self._task = self._bar.add_task("", total=None)
            self._bar.update(
                self._task, description=str(status), completed=status.done, total=status.whole or None
            )

    def end(self) -> None:
        if self._task is not None:
            self._bar.stop()
