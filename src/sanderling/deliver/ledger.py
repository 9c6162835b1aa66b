"""What has been delivered, so that a batch run again after a crash is delivered once.

The ledger names the last batch and how long each file was after it. A file that is longer was being
written when we were killed: its end is cut off, and the batch is written again.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sanderling.errors import StateError


@dataclass(slots=True)
class Totals:
    """What a run has done so far, over all its restarts."""

    rows: dict[str, int] = field(default_factory=dict)
    ticks: dict[str, int] = field(default_factory=dict)
    letters: dict[str, int] = field(default_factory=dict)
    updates: dict[str, list[int]] = field(default_factory=dict)  # query: [+, −]


@dataclass(slots=True)
class Ledger:
    """The state of delivery on disk; `save` is atomic."""

    path: Path
    batch: int = -1
    sizes: dict[str, int] = field(default_factory=dict)
    totals: Totals = field(default_factory=Totals)
    is_publishing: bool = False
    is_finished: bool = False

    @classmethod
    def load(cls, path: Path) -> Ledger:
        if not path.exists():
            return cls(path)
        try:
            said: dict[str, Any] = json.loads(path.read_text())
            totals = Totals(**said.pop("totals"))
            ledger = cls(path, totals=totals, **said)
            _refuse_other_types(ledger)
            return ledger
        except (ValueError, TypeError, KeyError, AttributeError) as e:
            raise StateError(
                "state.broken_ledger", f"{path.name} cannot be read: {e}", "use a new checkpoint"
            ) from e

    def save(self) -> None:
        said = asdict(self)
        del said["path"]
        write_atomically(self.path, json.dumps(said))


def _refuse_other_types(ledger: Ledger) -> None:
    totals = ledger.totals
    for counts in (ledger.sizes, totals.rows, totals.ticks, totals.letters):
        if not all(isinstance(n, int) for n in counts.values()):
            raise TypeError("a count is not a number")
    if not isinstance(ledger.batch, int) or not all(len(pair) == 2 for pair in totals.updates.values()):
        raise TypeError("it does not say what was delivered")


def write_atomically(path: Path, text: str) -> None:
    """All of the text is in the file, or none of it, whenever we are killed."""
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
