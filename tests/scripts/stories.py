"""A script's steps with their times: which statement holds from which tick, which rows are fed when.

What is fed is known beforehand, so the whole plan is made first; a statement after a feed takes
effect from the next tick to close.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sanderling.clock import show_time, tick_end, timestamp_us
from sanderling.errors import SanderlingError
from sanderling.language import parse_statement
from sanderling.language.statements import At, Span, Statement, Value
from sanderling.plan.listing import Listing
from sanderling.plan.logical import Rule
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plans.plan import Plan
from tests.engine.own_states import bring
from tests.scripts.steps import Script, Step


class StoryError(AssertionError):
    """A script does not say what happens."""


@dataclass
class Feed:
    step: Step
    stream: str
    rows: list[list[str]]
    is_closing: bool
    last: int | None  # the highest time in it, or the time advanced to


@dataclass
class Story:
    """What to plan, what to feed, and what is said at planning time."""

    plan: Plan
    feeds: list[Feed] = field(default_factory=list)
    said: dict[int, list[str]] = field(default_factory=dict)  # by line of its step


def tell(script: Script, rules: Sequence[Rule] = RULES) -> Story:
    # Tables are read whole when they are declared: nobody needs their files afterwards.
    with tempfile.TemporaryDirectory() as folder:
        return _tell(script, Path(folder), rules)


def _tell(script: Script, folder: Path, rules: Sequence[Rule]) -> Story:
    planner = Planner(rules=rules)
    bring(planner)
    closed: dict[str, int] = {}
    feeds: list[Feed] = []
    said: dict[int, list[str]] = {}
    for step in script.steps:
        match step.kind:
            case "file":
                (folder / step.words[0]).write_text("\n".join(step.body) + "\n")
            case "statement":
                _statement(step, planner, closed, said, folder)
            case "same":
                for statement in sides_of(step):
                    _run(statement, planner, closed)
            case "feed" | "advance":
                feed = feed_of(step, planner)
                feeds.append(feed)
                stream = planner.streams.get(feed.stream)
                assert stream is not None
                if feed.is_closing and feed.last is not None:
                    end = tick_end(feed.last, stream.tick_us)
                    closed[stream.name] = max(end, closed.get(stream.name, end))
            case "explain":
                listing = planner.run(parse_statement(f"EXPLAIN {step.words[0]}"), f"EXPLAIN {step.words[0]}")
                assert listing is not None
                said[step.line] = [line for (line,) in listing.rows]
    return Story(planner.plan(), feeds, said)


def _statement(
    step: Step, planner: Planner, closed: dict[str, int], said: dict[int, list[str]], folder: Path
) -> None:
    text = "\n".join(step.body).replace("{folder}", str(folder))
    wanted = step.words[1] if step.words[0] == "error" else None
    try:
        listing = _run(text, planner, closed)
    except SanderlingError as e:
        if e.code != wanted:
            raise StoryError(f"line {step.line}: expected {wanted or 'ok'}, got\n{e}") from e
        said[step.line] = said_by(e, text, folder)
        return
    if wanted is not None:
        raise StoryError(f"line {step.line}: expected {wanted}, but it was accepted")
    if listing is not None:
        rows = (" | ".join(row) for row in (listing.columns, *listing.rows))
        said[step.line] = [line for row in rows for line in row.splitlines()]


def said_by(error: SanderlingError, text: str, folder: Path) -> list[str]:
    """What an error says, the same wherever the script's folder happens to be."""
    if error.code.startswith("query.") and error.place is None:
        raise StoryError(f"{error.code} says no place") from error
    lines = str(error).splitlines()
    if str(folder) in text and len(lines) > 2 and str(folder) in lines[1]:
        lines = [
            line for line in lines if set(line.strip()) != {"^"}
        ]  # its caret depends on the length of the path
    return [line.replace(str(folder), "{folder}") for line in lines]


def _run(text: str, planner: Planner, closed: dict[str, int]) -> Listing | None:
    statement: Statement = parse_statement(text)
    if closed and not isinstance(statement, At):
        # After the last tick that closed: all streams of a story share their clock.
        statement = At(Value((max(closed.values()) + 1) / 1_000_000, Span(0, 1)), statement, Span(0, 1))
    return planner.run(statement, text)


def sides_of(step: Step) -> list[str]:
    """The statements that register both sides of a `same` step: queries, or patterns that say so."""
    left, right = "\n".join(step.body).split("\n====\n")
    sides = (("left", left), ("right", right))
    kind = "PATTERN" if step.words == ["PATTERN"] else "QUERY"
    return [f"REGISTER {kind} same_{step.line}_{side} AS {text}" for side, text in sides]


def feed_of(step: Step, planner: Planner) -> Feed:
    stream = planner.streams.get(step.words[0])
    if stream is None:
        raise StoryError(f"line {step.line}: no stream {step.words[0]}")
    if step.kind == "advance":
        time = step.words[1]
        return Feed(
            step,
            stream.name,
            [],
            True,
            timestamp_us(float(time) if _is_number(time) else " ".join(step.words[1:])),
        )
    rows = [shlex.split(line) for line in step.body]
    names = [c.name for c in stream.columns]
    times = []
    for row in rows:
        if len(row) == len(names):
            text = row[names.index(stream.time)]
            time_us = timestamp_us(float(text) if _is_number(text) else text)
            if time_us is not None:
                times.append(time_us)
    return Feed(step, stream.name, rows, "open" not in step.words, max(times, default=None))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def csv_text(plan: Plan, feed: Feed) -> str:
    """A feed as a csv file; NULL is an empty field."""
    stream = next(s.stream for s in plan.streams if s.stream.name == feed.stream)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([c.name for c in stream.columns])
    for row in feed.rows:
        writer.writerow(["" if v == "NULL" else v for v in row])
    return out.getvalue()


def show_updates(lines: list[str]) -> list[str]:
    """Updates as a script shows them: `+ query value value`, ticks named where there are several."""
    updates = [json.loads(line) for line in lines]
    ticks = sorted({u["tick"] for u in updates})
    shown: list[str] = []
    for tick in ticks:
        if len(ticks) > 1:
            shown.append(f"@ {tick}")
        for u in (u for u in updates if u["tick"] == tick):
            values = [_shown(v) for v in u["row"].values()]
            shown.append(" ".join(["+" if u["sign"] > 0 else "-", u["query"], *values]))
    return shown


def _shown(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}" if value == float(f"{value:g}") else repr(value)
    text = str(value)
    return f"'{text}'" if " " in text or not text else text


def show_answer(lines: list[str], query: str) -> list[str]:
    """The rows a query holds after all these updates."""
    held: dict[str, int] = {}
    for line in lines:
        u = json.loads(line)
        if u["query"] == query:
            row = " ".join(_shown(v) for v in u["row"].values())
            held[row] = held.get(row, 0) + u["sign"]
    if any(n < 0 for n in held.values()):
        raise StoryError(f"{query} lost a row it never had")
    return sorted(row for row, n in held.items() for _ in range(n))


__all__ = [
    "Feed", "Story", "StoryError", "csv_text", "feed_of", "said_by", "show_answer", "show_time",
    "show_updates", "sides_of", "tell",
]  # fmt: skip
