"""A sink: whoever gets what was said. Files are one, the desk of a session is one, the demo's page is one."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from sanderling.batches import Batch


class Sink(Protocol):
    """Gets batch after batch, in order, from the courier's thread.

    What it did not get before a crash it gets from the next run: so it has to know what it has, for good.
    """

    @property
    def delivered(self) -> int:
        """The last batch that it has; -1 before the first."""

    def deliver(self, number: int, batches: list[Batch]) -> None: ...


@runtime_checkable
class Holds(Protocol):
    """A sink that writes what it has later: until then the log keeps it."""

    @property
    def done_to(self) -> int:
        """The last batch that is safe, with all before it."""
