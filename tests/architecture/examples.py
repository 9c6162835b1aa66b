"""The examples in the documents: fenced blocks, named after their language.

```csv taxis.csv        a file (csv, json): written as it stands
```sql depot.sql        a script over the files so far
```text depot.sql       what that script says: its changes, dead letters, listings, or its error
```jsonl depot.sql      the same, as the lines of the output
```sql                  statements that can be read, on their own
```sh                   commands
```py slow.py           a module with states for patterns, which the scripts behind it may name
```python depot.py      a program, on Spark; ```text depot.py what it prints (tests/examples)
```python not-run       one that needs what tests do not have
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("*.md", "docs/**/*.md", "src/**/*.md", "examples/*.md")
DOCUMENTS = sorted(path for folder in FOLDERS for path in ROOT.glob(folder))


@dataclass(frozen=True)
class Block:
    language: str
    name: str
    text: str
    line: int


def blocks_of(path: Path) -> list[Block]:
    found: list[Block] = []
    lines = path.read_text().splitlines()
    at = 0
    while at < len(lines):
        opening = re.fullmatch(r"```(\w*) ?(\S*)", lines[at])
        at += 1
        if opening is None:
            continue
        start = at
        while lines[at] != "```":
            at += 1
        found.append(Block(opening[1], opening[2], "\n".join(lines[start:at]) + "\n", start))
        at += 1
    return found


def document_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
