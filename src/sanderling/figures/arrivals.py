"""What came of the rows of a stream; and a warning where most of them were refused by the clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from sanderling.clock import Furthest, show_time


@dataclass(slots=True)
class Arrivals:
    """Of one stream: rows that were read, how many of them were late or ahead, and where its clock stands."""

    rows: int = 0
    late: int = 0
    ahead: int = 0
    furthest: Furthest | None = None
    unreadable: int = 0  # dead letters of other reasons
    sample: str = ""  # one of them
    filled: list[str] = field(default_factory=list)  # columns that have had a value
    met: list[str | int] = field(default_factory=list)  # focal objects of whom there was a reading

    def add(self, other: Arrivals) -> None:
        """What came after this."""
        self.rows += other.rows
        self.late += other.late
        self.ahead += other.ahead
        self.furthest = other.furthest or self.furthest
        self.unreadable += other.unreadable
        self.sample = self.sample or other.sample
        self.filled = sorted({*self.filled, *other.filled})
        self.met = sorted({*self.met, *other.met}, key=str)

    def warning(self, stream: str) -> str | None:
        """Whom to look at where more than half were refused, and what may help."""
        if 2 * self.late > self.rows:
            hint = "ahead = '…' bounds how far one reading may move it, lateness = '…' waits for others"
            return f'{self.late:,} of {self.rows:,} readings of "{stream}" were late: {self._clock}; {hint}'
        if 2 * self.ahead > self.rows:
            hint = "let ahead = '…' be longer than its gaps, and look at the clock on the wall"
            return f'{self.ahead:,} of {self.rows:,} readings of "{stream}" were ahead: {self._clock}; {hint}'
        if 2 * self.unreadable > self.rows:
            return f'{self.unreadable:,} of {self.rows:,} rows of "{stream}" are dead letters: {self.sample}'
        return None

    @property
    def _clock(self) -> str:
        if self.furthest is None:
            return "its clock has not moved"
        ts, key, file, row = self.furthest
        where = f" ({file}, row {row})" if file else ""
        return f"its clock stands at {show_time(ts)}, moved by {key}{where}"
