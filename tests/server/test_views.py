"""Where everybody is, for operators: as the rows say, thinned where there are many, and slots given again."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.catalog import Stream
from sanderling.server.hub.views import MOST_SHOWN, Shot, View, Whereabouts, thinned
from sanderling.session.connect import connect
from tests.server.town import SCRIPT

ALL = (-1e9, -1e9, 1e9, 1e9)
KEYS = st.sampled_from([f"k{n}" for n in range(6)])
PLACES = st.tuples(st.integers(0, 9), st.integers(0, 9))
STEPS = st.lists(st.dictionaries(KEYS, st.none() | PLACES), max_size=8)
Step = dict[str, tuple[int, int] | None]


@pytest.fixture(scope="module")
def taxis() -> Stream:
    with connect() as session:
        session.execute(SCRIPT)
        return session.streams[0]


def rows_of(tick: int, changes: list[tuple[int, str, float, float]]) -> pa.Table:
    """As the query over a stream tells it: − before +."""
    ordered = sorted(changes)
    columns = [pa.array(column) for column in zip(*ordered, strict=True)] or [[]] * 4
    sign, key, x, y = (pa.array(c, t) for c, t in zip(columns, SCHEMA[1:5], strict=True))
    n = len(ordered)
    arrays = [[tick] * n, sign, key, x, y, ["bus"] * n, [90.0] * n]
    return pa.table([pa.array(c, t) for c, t in zip(arrays, SCHEMA, strict=True)], names=NAMES)


SCHEMA = [pa.int64(), pa.int8(), pa.string(), pa.float64(), pa.float64(), pa.string(), pa.float64()]
NAMES = ["tick", "sign", "c0", "c1", "c2", "c3", "c4"]


def view_of(box: tuple[float, float, float, float] = ALL, pixel: float = 0.0) -> View:
    return View("taxis", box, pixel, MOST_SHOWN, lambda: None)


def read(shot: Shot) -> tuple[list[int], list[tuple[float, float]]]:
    table = pa.ipc.open_stream(shot.body).read_all()
    about = json.loads(table.schema.metadata[b"sanderling"])
    x0, y0 = about["origin"]
    places = zip(table.column("x").to_pylist(), table.column("y").to_pylist(), strict=True)
    assert about["shown"] == table.num_rows <= about["in_view"]
    return table.column("slot").to_pylist(), [(x + x0, y + y0) for x, y in places]


@given(STEPS)
def test_a_view_shows_what_the_rows_add_up_to(taxis: Stream, steps: list[Step]) -> None:
    """Whoever reads the frames and the names of slots knows who is where, whoever came and went."""
    where, view = Whereabouts(taxis), view_of()
    there: dict[str, tuple[int, int]] = {}
    names: dict[int, object] = {}
    for tick, step in enumerate(steps):
        changes: list[tuple[int, str, float, float]] = []
        for key, place in step.items():
            if (before := there.pop(key, None)) is not None:
                changes.append((-1, key, *before))
            if place is not None:
                changes.append((1, key, *place))
                there[key] = place
        where.take(rows_of(tick, changes), is_whole=False)
        shot = where.shot(view)
        names |= dict(zip(shot.slots, shot.keys, strict=True))
        slots, places = read(shot)
        assert {str(names[s]): p for s, p in zip(slots, places, strict=True)} == there


def test_only_a_box_is_shown_and_the_whole_answer_begins_anew(taxis: Stream) -> None:
    where = Whereabouts(taxis)
    where.take(rows_of(1, [(1, f"k{n}", n, 0.0) for n in range(3000)]), is_whole=True)
    _, places = read(where.shot(view_of((10, -1, 12, 1))))
    assert sorted(places) == [(10, 0), (11, 0), (12, 0)]
    where.take(rows_of(2, [(1, "one", 5.0, 5.0)]), is_whole=True)
    assert read(where.shot(view_of()))[1] == [(5, 5)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 400))
def test_one_object_a_cell_is_shown_and_none_flickers(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    x, y, slots = random.uniform(0, 20, n), random.uniform(0, 20, n), np.arange(n)
    shown = thinned(x, y, slots, 1.0, MOST_SHOWN)
    cells = {(int(a // 2), int(b // 2)) for a, b in zip(x, y, strict=True)}
    assert len(shown) == len(cells) == len({(int(x[s] // 2), int(y[s] // 2)) for s in shown})
    order = random.permutation(n)
    again = thinned(x[order], y[order], slots[order], 1.0, MOST_SHOWN)
    assert (again == shown).all(), "whatever the order in which they are looked at"
    fewer = thinned(x, y, slots, 1.0, 7)
    assert len(fewer) == min(7, len(shown)) and set(fewer) <= set(shown)
