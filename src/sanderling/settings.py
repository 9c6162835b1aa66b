"""Every knob: type, unit, default, one line of why."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run is cut and kept; none of it shows in the output."""

    # Text read in one piece: large enough that a batch is worth its overhead, small beside memory.
    slice_bytes: int = 8 << 20
    # The same for Parquet, in rows.
    slice_rows: int = 250_000
    # Pieces in a micro-batch, for each shard; bounds memory whatever the size of the input.
    slices_per_shard: int = 2
    # Deltas that pile up before a state is saved whole, in bytes, at least; small states are not worth less.
    least_snapshot_bytes: int = 1 << 20
    # How long a program's own state of a pattern may take for a call before the pattern ends.
    state_seconds: float = 10.0
    # Whether each such call is made twice, on what was saved, to compare (SANDERLING_CHECK_STATES=1).
    are_states_checked: bool = field(default_factory=lambda: os.environ.get("SANDERLING_CHECK_STATES") == "1")
    # Whether every worker says where its time went; for benchmarks.
    is_timed: bool = False
    # Whether every operator says what it did, for EXPLAIN ANALYZE.
    is_counted: bool = False
