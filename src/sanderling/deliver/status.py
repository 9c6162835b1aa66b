"""How far a run is, for whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sanderling.deliver.ledger import Ledger

PLANNING, STARTING = "planning", "starting Spark"
READING, FOLLOWING, WRITING = "reading", "following", "writing"
REASONS_SHOWN = 3


@dataclass(frozen=True, slots=True, repr=False)
class Status:
    """What it does, and what it has done, over all its restarts."""

    phase: str
    done: int = 0
    whole: int = 0  # 0: nobody knows
    rows: int = 0
    ticks: int = 0
    letters: dict[str, int] = field(default_factory=dict)  # by reason
    came: int = 0
    went: int = 0
    note: str = ""  # to be said at once, whatever else is

    def of(self, ledger: Ledger) -> Status:
        """With what a ledger counts; another thread may be counting."""
        counts = ledger.counts
        return replace(
            self, rows=sum(list(ledger.rows.values())), ticks=sum(list(ledger.ticks.values())),
            letters=dict(ledger.letters), came=int(counts.came.sum()), went=int(counts.went.sum()),
        )  # fmt: skip

    def __str__(self) -> str:
        if self.phase not in (READING, FOLLOWING):
            return self.phase
        share = f" {100 * self.done // self.whole} %" if self.whole else ""
        return f"{self.phase}{share}: {self._counts()}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _counts(self) -> str:
        if not self.rows:
            return "waiting for readings"
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)}"
        letters = _letters(self.letters)
        if not self.ticks:
            return f"{rows}{letters}, waiting for the first tick: it closes when a later reading comes"
        ticks = f"{self.ticks:,} tick{'s' * (self.ticks != 1)}"
        return f"{rows}, {ticks}{letters}, +{self.came:,} −{self.went:,}"


def _letters(letters: dict[str, int]) -> str:
    if not letters:
        return ""
    most = sorted(letters.items(), key=lambda item: -item[1])
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in most[:REASONS_SHOWN])
    more = ", …" if len(most) > REASONS_SHOWN else ""
    return f", {sum(letters.values()):,} dead letters ({reasons}{more})"
