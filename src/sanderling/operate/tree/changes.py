"""What an operator of a tree is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sanderling.operate.sql.signed import Signed


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of each input over some ticks, all of which have closed.

    `begun` has no columns: which queries begin, and when. Above branches of triggers, inputs are sightings.
    """

    inputs: Sequence[Any]
    begun: Signed
    closed_to: int
