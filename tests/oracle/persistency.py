"""PERSISTENCY, from its definition: a pure function of the answers at every tick.

answers ──► the ticks at which each key is there ──► its stays ──► has the last one been long enough?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .oracle import Row, value_order


@dataclass(frozen=True)
class Persistency:
    """`per`: the columns of the key, by place. `goes_on` is WHILE, of the row before and the row."""

    stay_us: int
    per: tuple[int, ...]
    grace_us: int = 0
    goes_on: Callable[[Row, Row], object] | None = None


def persistent(asked: Persistency, answers: Mapping[int, Sequence[Row]], tick_us: int) -> list[Row]:
    """Those that are in the answer at the last of the ticks, which follow each other without a gap."""
    now = max(answers)
    found = []
    for key in dict.fromkeys(key_of(asked, row) for rows in answers.values() for row in rows):
        there = {
            tick: smallest(mine)
            for tick, rows in answers.items()
            if (mine := [row for row in rows if key_of(asked, row) == key])
        }
        stay = stays(asked, there, tick_us)[-1]  # one that begins ends the one before
        has_been_long = any(tick - stay[0] >= asked.stay_us for tick in stay)
        if has_been_long and now <= stay[-1] + asked.grace_us:
            found.append(there[stay[-1]])
    return found


def stays(asked: Persistency, there: Mapping[int, Row], tick_us: int) -> list[list[int]]:
    """The ticks of each, first to last."""
    found: list[list[int]] = []
    for tick in sorted(there):
        is_on = bool(found) and tick - found[-1][-1] <= tick_us + asked.grace_us
        if is_on and may_go_on(asked, there[found[-1][-1]], there[tick]):
            found[-1].append(tick)
        else:
            found.append([tick])
    return found


def may_go_on(asked: Persistency, before: Row, row: Row) -> bool:
    """A row that stays as it is breaks nothing."""
    return asked.goes_on is None or before == row or asked.goes_on(before, row) is True


def key_of(asked: Persistency, row: Row) -> Row:
    return tuple(row[place] for place in asked.per)


def smallest(rows: Sequence[Row]) -> Row:
    """Column by column; NULL is smaller than all."""
    return min(rows, key=lambda row: [(value is not None, value_order(value)) for value in row])
