"""Periods: as long as keyframes are apart, named by when they begin, in names of folders."""

from __future__ import annotations

import numpy as np

from sanderling.clock import tick_end

UNITS = (("D", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("us", 1))


def name_of(time_us: int) -> str:
    """As short as the time allows; without colons, which not every file system takes."""
    unit = next(unit for unit, us in UNITS if time_us % us == 0)
    return str(np.datetime64(time_us, "us").astype(f"datetime64[{unit}]")).replace(":", "-")


def time_in(name: str) -> int:
    """What `name_of` was given."""
    day, _, clock = name.partition("T")
    moment = np.datetime64(f"{day}T{clock.replace('-', ':')}" if clock else day, "us")
    return int(moment.astype(np.int64))


def begin_of(time_us: int, length_us: int) -> int:
    """When the period begins that a time belongs to; as a tick, it has its end and not its begin."""
    return tick_end(time_us, length_us) - length_us
