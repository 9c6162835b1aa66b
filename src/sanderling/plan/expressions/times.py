"""Times that authors write, as microseconds."""

from __future__ import annotations

from sanderling.clock import timestamp_us

# The years 1 to 9999, which every stage can write.
FIRST_US, LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999


def time_of(written: str | int | float) -> int | None:
    """None for what is no time, or none of those years."""
    try:
        time = timestamp_us(written)
    except OverflowError:
        return None
    return time if time is not None and FIRST_US <= time <= LAST_US else None
