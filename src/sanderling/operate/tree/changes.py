"""What an operator of a tree is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from sanderling.operate.inside.waited import Wanted
from sanderling.operate.sql.signed import Signed


class Look(Protocol):
    """Knows what a stream did in a batch, of who is asked for."""

    def __call__(self, wanted: Wanted, place: int) -> pa.Table | None: ...


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of each input over some ticks, all of which have closed.

    `begun` has no columns: which queries begin, and when. Above branches of triggers, inputs are sightings.
    """

    inputs: Sequence[Any]
    begun: Signed
    closed_to: int
    look: Look | None = None  # by number of a branch
