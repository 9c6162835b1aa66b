"""How far a run is: what is said of it, and when."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from sanderling import progress
from sanderling.deliver.status import FOLLOWING, READING, STARTING, WRITING, Status
from sanderling.progress import Lines, shown


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status(STARTING), "starting Spark"),
        (Status(FOLLOWING), "following: waiting for readings"),
        (Status(READING, 0, 1000), "reading 0 %: waiting for readings"),
        (
            Status(FOLLOWING, rows=1),
            "following: 1 row, waiting for the first tick: it closes when a later reading comes",
        ),
        (
            Status(READING, 450, 1000, 120_000, 33, {"late": 1, "wrong_type": 1200}, 5, 1),
            "reading 45 %: 120,000 rows, 33 ticks, 1,201 dead letters (wrong_type 1,200, late 1), +5 −1",
        ),
        (
            Status(READING, 1, 1, 9, 1, {"a": 5, "b": 4, "c": 3, "d": 1}),
            "reading 100 %: 9 rows, 1 tick, 13 dead letters (a 5, b 4, c 3, …), +0 −0",
        ),
        (Status(WRITING, rows=9), "writing"),
    ],
)
def test_a_status_in_words(status: Status, said: str) -> None:
    assert str(status) == said


def test_lines_come_with_each_phase_and_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    page = io.StringIO()
    lines = Lines(Console(file=page))
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for status, seconds in [
        (Status(STARTING), 0.0), (Status(STARTING), 60.0), (Status(READING, rows=1, ticks=1), 0.5),
        (Status(READING, rows=2, ticks=1), 5.0), (Status(READING, rows=2, ticks=1, note="a [b] is"), 0.0),
        (Status(READING, rows=3, ticks=1), 20.0), (Status(READING, rows=3, ticks=1), 20.0),
    ]:  # fmt: skip
        now += seconds
        lines(status)
    assert page.getvalue().splitlines() == [
        "sanderling: starting Spark", "sanderling: reading: 1 row, 1 tick, +0 −0", "sanderling: a [b] is",
        "sanderling: reading: 3 rows, 1 tick, +0 −0",
    ]  # fmt: skip


def test_a_bar_is_gone_when_it_is_over() -> None:
    page = io.StringIO()
    with shown(Console(file=page, force_terminal=True, width=120)) as show:
        show(Status(STARTING))
        show(Status(READING, 500, 1000, rows=7))
        show(Status(READING, note="a note stays"))
        show(Status(WRITING))
        written = len(page.getvalue())
        show(Status(WRITING))
    assert "sanderling: a note stays\n" in page.getvalue()
    assert page.getvalue()[written:] == "", "nothing more once it writes"


def test_planning_that_takes_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_OF_SILENCE", 0.0)
    page = io.StringIO()
    with shown(Console(file=page)):
        until = time.monotonic() + 60
        while not page.getvalue():
            assert time.monotonic() < until
    assert page.getvalue() == "sanderling: planning\n"
