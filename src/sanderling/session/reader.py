"""Whoever reads a query along: its whole answer, then each update. A subscription is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pyarrow as pa

from sanderling.batches import Batch

# Hears of each batch, by its number, when all readers have what it brings. It must neither wait nor fail.
Listener = Callable[[int, list[Batch]], None]


class Reader(Protocol):
    """Called from the courier's thread, in order: it must neither wait nor fail."""

    @property
    def is_over(self) -> bool:
        """Whether it wants no more."""

    def begin(self, answer: pa.Table | None) -> None:
        """The whole answer, as signed rows; None if there are none."""

    def give(self, rows: pa.Table) -> None:
        """Signed rows of whole ticks, in order."""

    def end(self, failure: BaseException | None = None) -> None:
        """There will be no more."""
