"""Which readings are late, which ahead, and how far time has come, by the rules for each kind of source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Came(NamedTuple):
    """A reading, as far as clocks care."""

    partition: str
    ts: int


class Judged(NamedTuple):
    late: list[int]  # among all readings of all batches
    closed_to: int | None  # the last tick that closed
    ahead: list[int]  # as `late`; they move no clock


def tick_end(ts: int, tick: int) -> int:
    return -(-ts // tick) * tick


def in_order(readings: Sequence[Came], tick: int, lateness: int, ahead: int | None) -> Judged:
    """Files: row by row, by all that came before and was not ahead itself."""
    judged = Judged([], None, [])
    clock: int | None = None
    for index, (_, ts) in enumerate(readings):
        if clock is not None and ahead is not None and ts > clock + ahead:
            judged.ahead.append(index)
            continue
        if clock is not None and clock - lateness > tick_end(ts, tick):
            judged.late.append(index)
        clock = ts if clock is None else max(clock, ts)
    return judged._replace(closed_to=None if clock is None else tick_end(clock - lateness, tick) - tick)


def by_batch(batches: Sequence[Sequence[Came]], tick: int, lateness: int) -> Judged:
    """Nobody knows the partitions: all of a batch is judged by the clock as it was before it."""
    late: list[int] = []
    clock: int | None = None
    index = 0
    for batch in batches:
        for came in batch:
            if clock is not None and clock - lateness > tick_end(came.ts, tick):
                late.append(index)
            index += 1
        clock = max([*([] if clock is None else [clock]), *(came.ts for came in batch)], default=None)
    return Judged(late, None if clock is None else tick_end(clock - lateness, tick) - tick, [])


def by_partition(
    batches: Sequence[Sequence[Came]], tick: int, lateness: int, idle_after: int, ahead: int | None = None
) -> Judged:
    """Row by row within a partition; the clock is that of the slowest which is not idle, batch by batch."""
    late: list[int] = []
    refused: list[int] = []
    highest: dict[str, int] = {}
    clock: int | None = None
    first_tick: int | None = None
    index = 0
    for batch in batches:
        before = clock
        for came in batch:
            if ahead is not None and came.ts > highest.get(came.partition, came.ts) + ahead:
                refused.append(index)
                index += 1
                continue
            clocks = [c for c in (highest.get(came.partition), before) if c is not None]
            if any(c - lateness > tick_end(came.ts, tick) for c in clocks):
                late.append(index)
            highest[came.partition] = max(came.ts, highest.get(came.partition, came.ts))
            if clock is None:
                end = tick_end(came.ts, tick)
                first_tick = end if first_tick is None else min(end, first_tick)
            index += 1
        if first_tick is not None and max(highest.values()) - idle_after > first_tick:
            now = max(min(highest.values()), max(highest.values()) - idle_after)
            clock = now if clock is None else max(now, clock)
    return Judged(late, None if clock is None else tick_end(clock - lateness, tick) - tick, refused)


def late_in_its_partition(readings: Sequence[Came], tick: int, lateness: int) -> list[int]:
    """What is late though no partition is ever idle: by its own partition alone, however they take turns."""
    highest: dict[str, int] = {}
    late: list[int] = []
    for index, (partition, ts) in enumerate(readings):
        if highest.get(partition, ts) - lateness > tick_end(ts, tick):
            late.append(index)
        highest[partition] = max(ts, highest.get(partition, ts))
    return late
