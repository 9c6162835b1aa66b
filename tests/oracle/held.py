"""Which readings a window holds at T, and what stood before a reading, from the definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .oracle import Reading, Values

PREVIOUS = "PREVIOUS"  # under this name a reading's values have those of the reading before, by name


@dataclass(frozen=True)
class Window:
    """One of: the last `last_us`, the last `rows` of all, the last `per_key` of each, until next, `until`."""

    last_us: int | None = None
    rows: int | None = None
    per_key: int | None = None
    until_next: bool = False
    until: Callable[[Values, Values], bool | None] | None = None  # of the held reading and a later one


def counted(readings: Iterable[Reading]) -> list[Reading]:
    """In order of time and key; of two of one object with the same time only the later arrival."""
    last = {(reading.ts, reading.key): reading for reading in readings}
    return [last[at] for at in sorted(last)]  # type: ignore[type-var]


def is_cut(one: Reading, following: Reading, tick_us: int, stale_us: int | None) -> bool:
    """Was the object gone or silent for too long between two of its readings that follow each other?"""
    silent = stale_us is not None and ((one.ts + stale_us) // tick_us + 1) * tick_us < _end(
        following.ts, tick_us
    )
    return one.gone or silent


def with_previous(accepted: list[Reading], tick_us: int, stale_us: int | None) -> list[Reading]:
    """The same readings, knowing what was before them."""
    found = []
    for reading in accepted:
        earlier = [r for r in counted(accepted) if r.key == reading.key and r.ts < reading.ts]
        before = earlier[-1] if earlier and not is_cut(earlier[-1], reading, tick_us, stale_us) else None
        found.append(
            replace(reading, values={**reading.values, PREVIOUS: {} if before is None else before.values})
        )
    return found


def held_at(
    window: Window, tick: int, accepted: list[Reading], tick_us: int, stale_us: int | None
) -> list[Reading]:
    """The readings in the window as at `tick`."""
    so_far = counted(r for r in accepted if r.ts <= tick)
    rows = [r for r in so_far if not r.gone]
    if window.last_us is not None:
        return [r for r in rows if tick - window.last_us < r.ts]
    if window.rows is not None:
        return rows[-window.rows :]
    if window.per_key is not None:
        return [r for r in rows if len([s for s in rows if s.key == r.key and s.ts > r.ts]) < window.per_key]
    return [r for r in rows if _is_held(window, r, so_far, tick, tick_us, stale_us)]


def _is_held(
    window: Window, reading: Reading, so_far: list[Reading], tick: int, tick_us: int, stale_us: int | None
) -> bool:
    before = reading
    for later in (r for r in so_far if r.key == reading.key and r.ts > reading.ts):
        if window.until_next or later.gone or is_cut(before, later, tick_us, stale_us):
            return False
        assert window.until is not None
        if window.until(reading.values, later.values):
            return False
        before = later
    return stale_us is None or tick - before.ts <= stale_us


def _end(ts: int, tick_us: int) -> int:
    return -(-ts // tick_us) * tick_us
