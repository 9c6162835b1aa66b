"""What a session was told, call by call, on disk: after a restart it is told the same again.

A program that starts again says again what it said; what the journal knows already is not done twice.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from sanderling.errors import StateError

SAID, STARTED = "said", "started"


@dataclass(frozen=True, slots=True)
class Line:
    """A call: what was said, and a digest of what it came to, since files are read again."""

    kind: str
    text: str = ""
    digest: str = ""


class Journal:
    """Lines in order; a line that is cut off was never said."""

    def __init__(self, path: Path):
        self.path = path
        self.lines = _read(path)
        self._known = Counter(line.text for line in self.lines if line.kind == SAID)

    @property
    def is_new(self) -> bool:
        return not self.lines

    def is_known(self, text: str) -> bool:
        """Whether this was said before the restart; each time counts once."""
        if self._known[text] > 0:
            self._known[text] -= 1
            return True
        return False

    def forget_known(self) -> None:
        """From now on whatever is said is new."""
        self._known.clear()

    def append(self, line: Line) -> None:
        """Safely on disk when this returns."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(line)


def _read(path: Path) -> list[Line]:
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole, newline, rest = text.rpartition("\n")
    if rest:  # killed while writing
        os.truncate(path, len((whole + newline).encode()))
    try:
        return [Line(**json.loads(line)) for line in whole.split("\n") if line]
    except (ValueError, TypeError) as e:
        raise StateError(
            "state.broken_ledger", f"{path.name} cannot be read: {e}", "use a new checkpoint"
        ) from e
