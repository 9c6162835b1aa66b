"""STAY_WITHIN of the oracle against tDwithin of MobilityDB over trajectories that step, where it installs.

Its aDwithin is not asked: of trajectories that step it was seen to say yes where tDwithin says no for a time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from .oracle import Reading
from .past import Stream
from .trajectories import Trail, stays, ticks_of

SECOND = 1_000_000
LAST = 24
BEGIN = datetime(2000, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def meos() -> Any:
    found = pytest.importorskip("pymeos")
    found.pymeos_initialize()
    return found


def readings(chance: Random) -> list[Reading]:
    """Two objects from the first second on, on a grid on which nothing rounds."""
    found = []
    for key in ("a", "b"):
        x, y = 0.0, 0.0
        for second in range(1, LAST + 1):
            if second == 1 or chance.random() < 0.4:
                x, y = x + chance.choice([-1, -0.5, 0.5, 1]), y + chance.choice([-0.5, 0.0, 0.5])
                found.append(Reading(key, second * SECOND, x, y, {}))
    return sorted(found, key=lambda reading: (reading.ts, str(reading.key)))


def sequence(meos: Any, of: list[Reading]) -> Any:
    """Held up to the end."""
    at = [(r.ts // SECOND, r.x, r.y) for r in of]
    at += [] if at[-1][0] == LAST else [(LAST, *at[-1][1:])]
    told = ", ".join(f"Point({x} {y})@{(BEGIN + timedelta(seconds=s)).isoformat()}" for s, x, y in at)
    return meos.TGeomPointSeq(string=f"Interp=Step;[{told}]")


def test_as_tdwithin_has_it(meos: Any) -> None:
    seen = set()
    for seed in range(60):
        told, r, length = readings(Random(seed)), [1.0, 1.5, 2.5][seed % 3], 1 + seed % 5
        trail = Trail(Stream(told, SECOND), lambda reading: True, SECOND)
        one, other = (sequence(meos, [reading for reading in told if reading.key == key]) for key in "ab")
        near = one.within_distance(other, r)
        is_near = [near.value_at_timestamp(BEGIN + timedelta(seconds=s)) for s in range(1, LAST + 1)]
        for second in range(1, LAST + 1):
            ticks = ticks_of(second * SECOND, length * SECOND, SECOND)
            pairs = {(a.key, b.key) for a, b in stays(trail, trail, lambda _, r=r: r, ticks)}
            wanted = second >= length and all(is_near[second - length : second])
            assert (("a", "b") in pairs) == wanted, f"seed {seed} at {second}"
            seen.add(wanted)
    assert seen == {True, False}
