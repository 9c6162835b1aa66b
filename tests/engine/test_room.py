"""What nobody asks for takes no room, however many queries there are."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.engine import Engine
from benchmarks.growth import held_bytes
from benchmarks.squares import plan_of
from sanderling.operate.trigger.sighted import Sighted
from sanderling.operate.window.window import Windowed

STREAM = (
    "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE)"
    " KEY id TIME ts LOCATION (x, y) WITH (path = 'made.parquet');"
)
QUERIES = 3_000


@pytest.mark.parametrize("region", ["('M', {n}, 2)", "({n}, 0, 5)"])
def test_queries_without_a_window_take_no_room_among_windows(region: str) -> None:
    queries = (
        f"REGISTER QUERY q{n} AS SELECT id FROM cars INSIDE {region.format(n=n)};" for n in range(QUERIES)
    )
    engine = Engine(plan_of(STREAM + "".join(queries)), shards=1)
    engine.shards_say(engine.readings({"id": np.arange(9), "x": np.zeros(9), "y": np.zeros(9)}))
    (shard,) = engine.shards[0].streams.values()
    seen = {id(shard.plan)}
    assert not any(isinstance(o, Windowed | Sighted) for o in shard.working.operators)
    assert held_bytes(shard.past, seen | {id(shard.objects), id(shard.focals)}) <= 2 * QUERIES
    assert held_bytes(shard.asks, seen) <= 4 * 8 * QUERIES
    assert held_bytes(shard.polygons, seen) <= 8
