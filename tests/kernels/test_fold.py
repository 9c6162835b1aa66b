"""Readings to moves, against a plain walk through the ticks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sanderling.kernels.hashing import hash_integers, hash_keys
from sanderling.kernels.readings.fold import fold, rows_by_object

reading = st.tuples(st.integers(0, 2), st.integers(-4, 12), st.booleans())


def plain_moves(
    readings: list[tuple[int, int, bool]], tick: int, stale: int | None
) -> list[tuple[int, int, int | None, int | None]]:
    """For each tick and object: the time of the reading that counts before and after it."""
    ends = sorted({-(-ts // tick) * tick for _, ts, _ in readings})
    if not ends:
        return []
    moves = []
    for o in sorted({r[0] for r in readings}):
        before = None
        for end in range(ends[0], ends[-1] + 1, tick):
            mine = [(ts, i, gone) for i, (who, ts, gone) in enumerate(readings) if who == o and ts <= end]
            last = max(mine, default=None)
            after = None
            if last is not None and not last[2] and (stale is None or end - last[0] <= stale):
                after = last[1]
            if before != after:
                moves.append((end, o, before, after))
            before = after
    return sorted(moves)


@given(st.lists(reading, max_size=12), st.sampled_from([1, 2, 5]), st.sampled_from([None, 0, 1, 3]))
def test_moves_are_what_a_walk_through_the_ticks_sees(
    readings: list[tuple[int, int, bool]], tick: int, stale: int | None
) -> None:
    objects = np.array([r[0] for r in readings], np.int64)
    ts = np.array([r[1] for r in readings], np.int64)
    gone = np.array([r[2] for r in readings], np.bool_)
    ordered = rows_by_object(objects, 3, np.argsort(ts, kind="stable"))
    closed_to = int((-(-ts // tick) * tick).max()) if len(ts) else 0
    row_of, ts_of = np.full(3, -1), np.full(3, np.iinfo(np.int64).min)
    kept, when, who, old, new = fold(
        ordered, objects, ts, gone, row_of, ts_of, 0, tick, -1 if stale is None else stale, closed_to
    )
    name = [int(k) for k in kept] + [None]  # row -1 is absent
    got = sorted(
        (int(t), int(o), name[a], name[b])
        for t, o, a, b in zip(when, who, old, new, strict=True)
        if name[a] != name[b]
    )
    assert got == plain_moves(readings, tick, stale)


def test_no_readings_no_moves() -> None:
    nothing = np.empty(0, np.int64)
    kept, when, *_ = fold(nothing, nothing, nothing, np.empty(0, np.bool_), nothing, nothing, 0, 1, -1, 0)
    assert len(kept) == len(when) == 0


def test_hashes_of_keys_never_change() -> None:
    """Objects live where their key's hash says, also after an update of Sanderling."""
    import pyarrow as pa

    assert hash_keys(pa.array(["", "a", "taxi7", "é"])).tolist() == HASHES_OF_STRINGS
    assert hash_integers(np.array([0, 1, -1, 2**40])).tolist() == HASHES_OF_INTEGERS


HASHES_OF_STRINGS = [17665956581633026203, 198367012849983736, 1206886219014376147, 2536656207217688990]
HASHES_OF_INTEGERS = [16294208416658607535, 10451216379200822465, 16490336266968443936, 2296115805719413641]
