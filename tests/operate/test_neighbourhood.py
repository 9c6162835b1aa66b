"""Cells of a kNN query's neighbourhood suit the objects, however these arrive."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.engine import TICK_US, Engine
from benchmarks.squares import plan_of
from sanderling.batches import ROW, TS
from sanderling.operate.nearest.nearest import Nearest
from sanderling.operate.nearest.neighbourhood import usual_distance

STREAM = (
    "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE)"
    " KEY id TIME ts LOCATION (x, y) WITH (path = 'made.parquet');"
)
OBJECTS, TICKS, K = 30_000, 6, 5
# About the radius of a circle with so many of them, in the unit square.
EXPECTED = np.sqrt(K / OBJECTS / np.pi)


@pytest.mark.parametrize("focal", [f"'M', {K}, 7", f"{K}, 0.5, 0.5"])
@pytest.mark.parametrize("ticks", [1, TICKS - 1])
def test_cells_fit_however_many_ticks_the_first_batch_has(focal: str, ticks: int) -> None:
    engine = Engine(plan_of(f"{STREAM} REGISTER QUERY q AS SELECT id FROM cars kNN ({focal});"), shards=1)
    chance = np.random.default_rng(1)
    ts = np.repeat(np.arange(1, ticks + 2), OBJECTS)  # the last tick stays open
    places = {name: np.tile(chance.random(OBJECTS), ticks + 1) for name in "xy"}
    ids = np.tile(np.arange(OBJECTS), ticks + 1)
    rows = {TS: ts * TICK_US, ROW: np.arange(1, len(ts) + 1)}
    engine.shards_say(pa.table({"id": ids, "ts": ts} | places | rows))
    (stream,) = engine.shards[0].streams.values()
    pairs = zip(stream.working.operators, stream.working.states, strict=True)
    (state,) = (state for operator, state in pairs if isinstance(operator, Nearest))
    assert state.plain is not None
    assert EXPECTED / 2 < state.plain.scene.objects.cell[0] < 2 * EXPECTED


def test_nobody_is_near_himself() -> None:
    places = np.random.default_rng(2).random((50_000, 2))
    expected = np.sqrt(1 / len(places) / np.pi)
    for at in (places[:100], np.empty((0, 2)), np.full((3, 2), np.nan)):
        assert expected / 2 < usual_distance(at, places, np.array([1])) < 2 * expected
