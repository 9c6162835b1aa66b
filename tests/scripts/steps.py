"""Test scripts: plain text to steps. One story a file, readable without Python.

file NAME                               its lines, written into a folder of the script's own
statement ok | statement error CODE     SQL until a blank line; {folder} is that folder; ---- and what it says
feed STREAM [open]                      rows, then ---- and the changes expected
advance STREAM TIME                     as if time went on without readings
answer QUERY                            ---- and its rows
explain QUERY                           ---- and its plan
same [PATTERN]                          SELECT … ==== SELECT …: both give the same changes
restart                                 save, forget, come back
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("file", "statement", "feed", "advance", "answer", "explain", "same", "restart")


@dataclass
class Step:
    kind: str
    words: list[str]
    body: list[str] = field(default_factory=list)
    expected: list[str] | None = None
    line: int = 0


@dataclass
class Script:
    """Steps, and the comments and blank lines around them as they stood."""

    path: Path
    steps: list[Step]
    layout: list[str | Step]

    def text(self) -> str:
        lines: list[str] = []
        for item in self.layout:
            if isinstance(item, str):
                lines.append(item)
                continue
            lines.append(" ".join([item.kind, *item.words]))
            lines += item.body
            if item.expected is not None:
                lines += ["----", *item.expected]
        return "\n".join(lines) + "\n"


def read_script(path: Path) -> Script:
    steps: list[Step] = []
    layout: list[str | Step] = []
    lines = path.read_text().splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or line.startswith("#"):
            layout.append(line)
            at += 1
            continue
        kind, *words = line.split()
        if kind not in KINDS:
            raise ValueError(f"{path.name}:{at + 1}: no step is called {kind!r}")
        step = Step(kind, words, line=at + 1)
        at += 1
        while at < len(lines) and lines[at].strip() and lines[at] != "----":
            step.body.append(lines[at])
            at += 1
        if at < len(lines) and lines[at] == "----":
            step.expected = []
            at += 1
            while at < len(lines) and lines[at].strip():
                step.expected.append(lines[at])
                at += 1
        steps.append(step)
        layout.append(step)
    return Script(path, steps, layout)
