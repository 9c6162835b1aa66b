"""WINDOW: which readings of the past a query looks at; a class a kind.

A kind says here what plans and EXPLAIN ask of it. What a shard does for it, who comes, who leaves when, what
is held and saved, stands in the file of its name in operate/window/.
"""

from __future__ import annotations

from dataclasses import dataclass

from sanderling.arrays import I64
from sanderling.clock import show_duration
from sanderling.plans.columns import name_of
from sanderling.plans.expression import Expression


@dataclass(frozen=True, slots=True)
class Window:
    """What all kinds can be asked."""

    @property
    def words(self) -> str:
        """How EXPLAIN shows it."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What no other window of a stream is called, where rows are counted."""
        return self.words

    @property
    def reads(self) -> frozenset[str]:
        """Columns of readings that say whether one is in it."""
        return frozenset()

    @property
    def reach(self) -> int:
        """So many of the last readings of all shards are in it; 0: each shard knows by itself who is."""
        return 0

    @property
    def is_of_all(self) -> bool:
        """Whether no shard knows by itself what is in it."""
        return self.reach > 0


@dataclass(frozen=True, slots=True)
class Refresh:
    """EVERY dt: a window is looked at in the ticks that contain from + m · dt, and is in between as it was.

    Promise (tests/operate/test_refresh.py): the tick that is found is the first of these that is not before.
    """

    every_us: int
    from_us: int = 0

    def ticks(self, ticks: I64, tick_us: int) -> I64:
        """The ticks at which what happens in these is told."""
        m = (ticks - tick_us - self.from_us) // self.every_us + 1
        return -(-(self.from_us + m * self.every_us) // tick_us) * tick_us

    @property
    def words(self) -> str:
        """How EXPLAIN shows it."""
        return f"every {show_duration(self.every_us)}"


@dataclass(frozen=True, slots=True)
class Coming(Window):
    """Every reading, as it comes: none ever leaves, and none is kept."""

    @property
    def words(self) -> str:
        return "every one as it comes"


@dataclass(frozen=True, slots=True)
class Lasting(Window):
    """WINDOW 1 HOUR: a reading's own time says when it leaves."""

    size_us: int

    @property
    def words(self) -> str:
        return show_duration(self.size_us)


@dataclass(frozen=True, slots=True)
class Rows(Window):
    """WINDOW n ROWS: the last n readings of all objects."""

    size: int

    @property
    def words(self) -> str:
        return f"{self.size} rows"

    @property
    def reach(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True)
class RowsPerKey(Window):
    """WINDOW n ROWS PER KEY: the last n readings of each object."""

    size: int

    @property
    def words(self) -> str:
        return f"{self.size} rows per key"


@dataclass(frozen=True, slots=True)
class UntilNext(Window):
    """WINDOW UNTIL NEXT: each object's last reading, while it is neither gone nor silent."""

    @property
    def words(self) -> str:
        return "until next"


@dataclass(frozen=True, slots=True)
class Until(Window):
    """WINDOW UNTIL a condition over the held reading and a later one of its object."""

    condition: Expression

    @property
    def words(self) -> str:
        return f"until {self.condition.words}"

    @property
    def name(self) -> str:
        return f"until {self.condition.sql}"

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(map(name_of, self.condition.reads))


@dataclass(frozen=True, slots=True)
class There:
    """Whether a place is in a region that stands still: the column that says so, and the region as
    plan/build/areas.py has it."""

    column: str
    kind: int
    numbers: tuple[float, ...]
    wkb: tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True)
class UntilThere(Until):
    """UNTIL a condition that asks about regions, too."""

    there: tuple[There, ...]

    @property
    def name(self) -> str:
        return f"until {self.condition.sql} {self.there}"

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(map(name_of, self.condition.reads - {there.column for there in self.there}))
