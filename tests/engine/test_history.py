"""What windows hold is bounded by what is in them, and when a reading leaves is as the definitions say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.batches import TS
from sanderling.catalog import Stream
from sanderling.kernels.window.history import NEVER, plain_leave
from sanderling.operate.shard.shard import Shard
from sanderling.operate.window.history import History
from sanderling.plan.planner import Planner
from sanderling.plans.expression import Expression
from sanderling.plans.parts import for_shards
from sanderling.plans.window import RowsPerKey, Until, UntilNext
from sanderling.types import TYPES
from tests.long import so_many

SECOND = 1_000_000
HOURS = so_many(6, 24)
CARS = "CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"


def shard_of(*selects: str) -> Shard:
    planner = Planner()
    queries = [f"REGISTER QUERY q{i} AS {select}" for i, select in enumerate(selects)]
    planner.run_script(";".join([f"{CARS} WITH (tick = '1 minute')", *queries]))
    plan = for_shards(planner.plan())
    return Shard(plan, 0)


def a_minute(shard: Shard, minute: int, cars: int) -> int:
    """Everybody reports once; how many readings are held then."""
    stream = shard.streams["cars"]
    ids = np.arange(cars)
    ts = np.full(cars, minute * 60 * SECOND)
    columns = {"id": ids, "x": ids * 1.0, "y": ids * 0.0, TS: ts, "ts": ts // SECOND}
    schema = stream.objects.schema
    stream.objects.accept(pa.table({name: columns[name] for name in schema.names}, schema=schema))
    stream.close_to(minute * 60 * SECOND)
    return len(stream.past.held)


@pytest.mark.parametrize("window", ["1 HOUR", "60 ROWS PER KEY", "6000 ROWS"])
def test_an_hour_of_many_holds_an_hour(window: str) -> None:
    shard = shard_of(f"SELECT id FROM cars INSIDE (0, 0, 10, 10) WINDOW {window}")
    held = [a_minute(shard, minute, cars=100) for minute in range(1, HOURS * 60)]
    history = shard.streams["cars"].past.held
    assert int(history.needed().sum()) == 60 * 100
    assert max(held) <= 3 * 60 * 100 + arrays.WORTH_COMPACTING


def test_nothing_is_held_where_nobody_asks() -> None:
    assert shard_of("SELECT id FROM cars").streams["cars"].past.history is None


@given(
    ticks=st.lists(st.sampled_from([0, 1, 1, 2]), min_size=1, max_size=12),
    gone=st.lists(st.booleans(), min_size=12, max_size=12),
    kind=st.sampled_from(["rows per key", "until next", "until"]),
    size=st.sampled_from([1, 2, 5]), chunk=st.sampled_from([1, 3, 20]),
)  # fmt: skip
def test_a_reading_leaves_as_the_definitions_say(
    ticks: list[int], gone: list[bool], kind: str, size: int, chunk: int
) -> None:
    """One object, with several readings in some ticks; behind some of them it is gone."""
    ends = np.cumsum(ticks) + 1
    moved_on = Expression('"n:x" > "r:x"', TYPES["BOOLEAN"], frozenset({"n:x", "r:x"}))
    windows = {"rows per key": RowsPerKey(size), "until next": UntilNext(), "until": Until(moved_on)}
    window = windows[kind]
    x = [(7 * i) % 5 for i in range(len(ends))]
    # Each reading in the middle of its tick, one behind the other; GONE is a reading of its own.
    rows = [(int(end) * SECOND - SECOND // 2 + 10 * i, i, False) for i, end in enumerate(ends)]
    rows = [r for at, i, _ in rows for r in [(at, i, False), *([(at + 5, i, True)] if gone[i] else [])]]
    history = History(stream(), schema(), {window: int(NEVER)})
    for first in range(0, len(rows), chunk):
        some = rows[first : first + chunk]
        last = first + chunk >= len(rows)
        feed(history, some, x, int(ends[-1]) * SECOND if last else -(-some[-1][0] // SECOND) * SECOND)
    cuts = {i: int(end) * SECOND for i, end in enumerate(ends) if gone[i]}
    wanted = plain_leave(kind, size, [int(e) * SECOND for e in ends], cuts, lambda i, j: x[j] > x[i])
    assert history.leaves(window, np.arange(len(history))).tolist() == wanted


def stream() -> Stream:
    planner = Planner()
    planner.run_script(CARS)
    (found,) = planner.streams.values()
    return found


def schema() -> pa.Schema:
    return pa.schema([("id", pa.int64()), ("x", pa.float64()), ("y", pa.float64()), (TS, pa.int64())])


def feed(history: History, rows: list[tuple[int, int, bool]], x: list[int], closed_to: int) -> None:
    ts = np.array([at for at, _, _ in rows])
    xs = np.array([float(x[i]) for _, i, _ in rows])
    table = pa.table({"id": np.zeros(len(rows), np.int64), "x": xs, "y": xs, TS: ts}, schema=schema())
    is_gone = np.array([gone for _, _, gone in rows])
    history.advance(table, ts, np.arange(len(rows)), is_gone, closed_to)
