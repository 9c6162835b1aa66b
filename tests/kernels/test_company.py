"""Company against its plain twin, which looks at all pairs: however time is cut."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sanderling.kernels.trajectory.company import Moves
from sanderling.kernels.trajectory.plain import Place, plain_company
from sanderling.operate.trajectory.held import SIDES, Held
from tests.long import so_many

LAST = 40
Steps = dict[int, dict[int, Place | None]]


def walked(held: Held, steps: Steps, side_of: Any, cuts: list[int]) -> set[tuple[int, ...]]:
    """By the names of objects."""
    found: set[tuple[int, ...]] = set()
    for first, end in itertools.pairwise([0, *cuts, LAST + 1]):
        parts = [(t, one, at) for t in range(first, end) for one, at in steps.get(t, {}).items()]
        tick = np.array([t for t, _, _ in parts], np.int64)
        names = np.array([one for _, one, _ in parts], np.int64)
        x, y = np.array([at or (np.nan, np.nan) for _, _, at in parts], np.float64).reshape(-1, 2).T
        numbers, vectors, cells = (
            np.empty(shape) for shape in (len(parts), (len(parts), 3), (len(parts), 2))
        )
        for side in range(SIDES):
            mine = np.array([side_of(one) == side for one in names], np.bool_)
            query = np.full(mine.sum(), 7)
            placed = held.placed(query, side, pa.array(names[mine]), x[mine], y[mine])
            numbers[mine], vectors[mine], cells[mine] = placed
        moves = Moves(tick, numbers.astype(np.int64), vectors, cells.astype(np.int64))
        told = held.walk(np.array([0]), np.array([0, len(parts)]), moves, end - 1)
        keys = held.objects.rows[:, 1]
        found |= {(int(keys[a]), int(keys[b]), int(t), int(s)) for a, b, t, s in told}
    return found


@pytest.mark.parametrize("seed", range(so_many(6, 200)))
@pytest.mark.parametrize("is_self", [True, False])
def test_as_all_pairs_at_every_tick(seed: int, is_self: bool) -> None:
    chance = np.random.default_rng(seed)
    n, reach, stay = (
        int(chance.integers(2, 30)),
        float(chance.choice([0.0, 0.7, 1.5])),
        int(chance.integers(0, 9)),
    )
    steps: Steps = {}
    at: dict[int, Place] = {}
    for tick in range(LAST):
        for one in range(n):
            how = chance.random()
            if how < 0.05 and at.pop(one, None) is not None:
                steps.setdefault(tick, {})[one] = None
            elif how < 0.1 or (how < 0.6 and one in at):
                x, y = at[one] if how >= 0.1 else chance.integers(-2, 3, 2)
                at[one] = (float(x + chance.choice([0, 0.1, -0.3])), float(y + chance.choice([0, 0.2])))
                steps.setdefault(tick, {})[one] = at[one]

    def side_of(one: int) -> int:
        return 0 if is_self else one % 2

    def sides(one: int) -> tuple[bool, bool]:
        return is_self or side_of(one) == 0, is_self or side_of(one) == 1

    cuts = sorted(set(chance.integers(1, LAST, 3).tolist()))
    held = Held((pa.int64(), pa.int64()), is_self, False)
    held.learn(np.array([7]), np.array([reach]), np.array([stay]))
    wanted = plain_company(steps, sides, reach * reach, stay, LAST)
    assert walked(held, steps, side_of, cuts) == wanted
