"""NOW: order, chunking, memory and recovery of the last readings, without any query."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sanderling.arrays import WORTH_COMPACTING
from sanderling.batches import TS
from sanderling.catalog import Column, Stream
from sanderling.operate.readings.readings import LastReadings
from sanderling.types import TYPES

TYPE_NAMES = ("STRING", "BIGINT", "DOUBLE", "DOUBLE")
STREAM = Stream(
    "objects",
    tuple(Column(n, TYPES[t]) for n, t in zip(("id", "ts", "x", "y"), TYPE_NAMES, strict=True)),
    "id", "ts", "x", "y", None, None, "csv", 2, 0, 5,
)  # fmt: skip
SCHEMA = pa.schema([("id", pa.string()), ("x", pa.float64()), ("y", pa.float64()), (TS, pa.int64())])

reading = st.tuples(st.sampled_from("abc"), st.integers(0, 20), st.integers(0, 3))


def table(readings: list[tuple[str, int, int]]) -> pa.Table:
    columns = {
        "id": [r[0] for r in readings], "x": [float(r[2]) for r in readings],
        "y": [0.0] * len(readings), TS: [r[1] for r in readings],
    }  # fmt: skip
    return pa.table(columns, schema=SCHEMA)


def held(readings: LastReadings) -> dict[str, tuple[int, float]]:
    return {r["id"]: (r[TS], r["x"]) for r in readings.last().to_pylist()}


def expected(readings: list[tuple[str, int, int]], closed_to: int) -> dict[str, tuple[int, float]]:
    last: dict[str, tuple[int, float]] = {}
    for key, ts, x in readings:
        if ts <= closed_to and (key not in last or ts >= last[key][0]):
            last[key] = (ts, float(x))
    return {k: v for k, v in last.items() if closed_to - v[0] <= 5}


@given(st.lists(reading, max_size=20), st.integers(1, 7), st.sampled_from([10, 16, 20]))
def test_the_later_reading_counts_however_they_come_in(
    readings: list[tuple[str, int, int]], piece: int, closed_to: int
) -> None:
    fleet = LastReadings(STREAM, SCHEMA)
    for at in range(0, len(readings), piece):
        fleet.accept(table(readings[at : at + piece]))
    fleet.close(closed_to)
    assert held(fleet) == expected(readings, closed_to)


@given(st.lists(reading, max_size=20), st.integers(0, 20), st.booleans())
def test_what_was_drained_gives_the_state_again(
    readings: list[tuple[str, int, int]], half: int, is_two_steps: bool
) -> None:
    fleet, copy = LastReadings(STREAM, SCHEMA), LastReadings(STREAM, SCHEMA)
    closed_to = 0
    for part, target in ((readings[:half], 8), (readings[half:], 20)):
        fleet.accept(table([r for r in part if r[1] > closed_to]))
        if is_two_steps:
            fleet.close(target - 4)
        fleet.close(target)
        copy.accept(fleet.drain())
        copy.close(target)
        closed_to = target
        assert held(copy) == held(fleet)
        assert copy.pending.num_rows == fleet.pending.num_rows


def test_objects_that_are_gone_and_rows_that_were_replaced_are_forgotten() -> None:
    fleet = LastReadings(STREAM, SCHEMA)
    n = WORTH_COMPACTING
    for second in range(2, 40, 2):
        names = [f"{second}-{i}" for i in range(n // 4)]
        fleet.accept(table([(name, second, 1) for name in names]))
        fleet.close(second)
        fleet.compact()
    # A new quarter every tick, silent ones end after five: three quarters live at once.
    alive = int((fleet.row_of >= 0).sum())
    assert alive <= n
    assert fleet.store.num_rows <= 2 * alive + WORTH_COMPACTING
    assert len(fleet.keys) == len(fleet.row_of) <= 2 * alive + WORTH_COMPACTING
    assert np.isfinite(fleet.x[fleet.row_of[fleet.row_of >= 0]]).all()
