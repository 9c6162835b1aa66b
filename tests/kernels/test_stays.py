"""The stays of a key against the oracle: whatever it shows, and wherever batches end."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.persistency.stays import NEVER, Asked, Stays, rows_before, walk_stays
from tests.oracle.persistency import Persistency, persistent

TICK = 10
# What a key shows at each tick: a row by its number, or nothing.
shown = st.lists(st.sampled_from([-1, -1, 0, 0, 0, 1, 2]), min_size=1, max_size=12)


def nobody(keys: int) -> Stays:
    never = np.full(keys, NEVER)
    return Stays(np.full(keys, -1), never, never.copy(), np.zeros(keys, np.bool_), never.copy())


@given(shown, st.integers(0, 4), st.integers(0, 3), st.booleans(), st.sets(st.integers(0, 11)))
def test_as_the_oracle_has_it(rows: list[int], stay: int, grace: int, is_while: bool, ends: set[int]) -> None:
    goes_on = (lambda before, row: row[1] > before[1]) if is_while else None  # type: ignore[operator]
    asked = Persistency(stay * TICK, (0,), grace * TICK, goes_on)
    answers = {TICK * t: [("key", row)] if row >= 0 else [] for t, row in enumerate(rows)}
    wanted = [persistent(asked, {t: answers[t] for t in answers if t <= last}, TICK) for last in answers]
    stays, held, told = nobody(1), -1, list[tuple[int, int, int]]()
    steps: list[tuple[int, int]] = []
    for t, row in enumerate(rows):
        before = rows[t - 1] if t else -1
        steps += [(TICK * t, row)] if row != before else []
        if t in ends or t == len(rows) - 1:
            told += walked(
                stays, steps, Asked(np.array([stay * TICK]), np.array([grace * TICK])), goes_on, TICK * t
            )
            steps = []
    for t, now in zip(answers, wanted, strict=True):
        mine = sorted((sign, row) for row, tick, sign in told if tick == t)
        after = now[0][1] if now else -1
        assert mine == (
            [] if after == held else sorted([(-1, held)] * (held >= 0) + [(1, after)] * (after >= 0))
        )
        held = after  # type: ignore[assignment]


def walked(stays: Stays, steps: list[tuple[int, int]], asked: Asked, goes_on: object, closed_to: int) -> list:
    tick = np.array([t for t, _ in steps], np.int64)
    after = np.array([row for _, row in steps], np.int64)
    key = np.zeros(len(steps), np.int64)
    before = rows_before(key, after, stays.row)
    may = np.array([goes_on is None or row > was for was, row in zip(before, after, strict=True)], np.bool_)
    starts = np.array([0, len(steps)])
    told = walk_stays(stays, np.array([0]), asked, starts, tick, after, may, closed_to)
    return [tuple(map(int, row)) for row in told]
