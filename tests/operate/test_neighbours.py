"""NN against a loop over all, and against SciPy's tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from sanderling import arrays
from sanderling.kernels.sql import neighbours
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from tests.operate.histories import (
    DOUBLE,
    FEW,
    LONG,
    QUERIES,
    TEXT,
    THOROUGH,
    VALUES,
    cut_anyhow,
    histories,
    run,
)
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World
from tests.oracle.globe import vector

SIDE = (TEXT, LONG, DOUBLE, DOUBLE)


def drawn(data: Any) -> Any:
    return data.draw(histories(SIDE, data.draw(st.sampled_from([FEW, FEW, VALUES])), QUERIES))


@THOROUGH
@given(st.data(), st.sampled_from([1, 2, 3, 10_000]), st.booleans(), st.booleans(), cut_anyhow())
def test_each_with_the_first_by_distance(data: Any, k: int, is_other: bool, is_tidy: bool, cut: Any) -> None:
    root = nodes.Neighbours(
        nodes.Branch(0, SIDE), nodes.Branch(1, SIDE), (2, 3), (2, 3), k, (0, 1, 2, 3),
        (0, 0) if is_other else None,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        if is_tidy:
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        run(root, World({0: drawn(data), 1: drawn(data)}, {}, {}, {}, {}), *cut)


# A pole and the 180th meridian among them: longitudes are twice as much.
DEGREES = FEW | {DOUBLE: st.sampled_from([90.0, -90.0, 89.99, -89.99, 0.0, -0.0, 0.01, 45.0])}


@THOROUGH
@given(st.data(), st.sampled_from([1, 2, 3]), st.booleans(), cut_anyhow())
def test_on_the_globe_too(data: Any, k: int, is_other: bool, cut: Any) -> None:
    root = nodes.Neighbours(
        nodes.Branch(0, SIDE), nodes.Branch(1, SIDE), (2, 3), (2, 3), k, (0, 1, 2, 3),
        (0, 0) if is_other else None, is_globe=True,
    )  # fmt: skip
    sides = []
    for _ in range(2):
        rows = data.draw(histories(SIDE, DEGREES, QUERIES))
        doubled = [(*row[:3], None if row[3] is None else 2 * row[3], row[4]) for _, _, row in rows]
        sides.append([(t, sign, row) for (t, sign, _), row in zip(rows, doubled, strict=True)])
    run(root, World(dict(enumerate(sides)), {}, {}, {}, {}), *cut)


def moved(tick: int, keys: Any, at: Any, sign: int) -> dict[str, Any]:
    n = len(keys)
    fixed = {"query": np.ones(n, np.int32), "tick": np.full(n, tick), "sign": np.full(n, sign)}
    return {**fixed, "c0": keys, "c1": at[:, 0], "c2": at[:, 1]}


@pytest.mark.parametrize("moving", [3, 40, 400])
@pytest.mark.parametrize("spread", [(1.0, 1.0), (1.0, 1e-7), (1e6, 1.0), (0.0, 1.0)])
def test_a_crowd_finds_what_a_tree_of_scipy_finds(moving: int, spread: tuple[float, float]) -> None:
    """Whether few of them move or all do; also along a street."""
    chance, n, k = np.random.default_rng(moving), 400, 5
    types = (LONG, DOUBLE, DOUBLE)
    root = nodes.Neighbours(nodes.Branch(0, types), nodes.Branch(1, types), (1, 2), (1, 2), k, (0,), (0, 0))
    engine = Tree(root, Constants(np.array([1]), pa.table({"none": [0]})))
    places = chance.random((n, 2)) * spread
    held: set[tuple[int, int]] = set()
    for tick in range(6):
        who = np.arange(n) if tick == 0 else np.sort(chance.choice(n, moving, replace=False))
        parts = [] if tick == 0 else [moved(tick, who, places[who], -1)]
        places = places.copy()
        places[who] = chance.random((len(who), 2)) * spread
        parts.append(moved(tick, who, places[who], 1))
        rows = pa.concat_tables([pa.table(part) for part in parts])
        told = engine.apply({0: rows, 1: rows}, {}, NOTHING_BEGUN)
        back = told.filter(pa.compute.less(told.column("sign"), 0))
        came = told.filter(pa.compute.greater(told.column("sign"), 0))
        held -= set(zip(back.column("c0").to_pylist(), back.column("c3").to_pylist(), strict=True))
        held |= set(zip(came.column("c0").to_pylist(), came.column("c3").to_pylist(), strict=True))
        _, nearest = cKDTree(places).query(places, k + 1)
        assert held == {(i, int(j)) for i in range(n) for j in nearest[i] if i != j}


@pytest.mark.parametrize("moving", [3, 400])
@pytest.mark.parametrize(
    "where", [(-180, 180, -90, 90), (179, 181, -1, 1), (-180, 180, 89.9, 90), (44, 46, -0.5, 0.5)]
)
def test_a_crowd_on_the_globe_finds_what_a_tree_of_vectors_finds(
    moving: int, where: tuple[float, float, float, float]
) -> None:
    """All over, across the 180th meridian, at a pole, and where the map is folded."""
    chance, n, k = np.random.default_rng(moving), 400, 4
    types = (LONG, DOUBLE, DOUBLE)
    root = nodes.Neighbours(
        nodes.Branch(0, types), nodes.Branch(1, types), (1, 2), (1, 2), k, (0,), (0, 0), is_globe=True
    )  # fmt: skip
    engine = Tree(root, Constants(np.array([1]), pa.table({"none": [0]})))

    def some(n: int) -> Any:
        lon = chance.uniform(where[0], where[1], n)
        return np.column_stack([np.where(lon > 180, lon - 360, lon), chance.uniform(*where[2:], n)])

    places = some(n)
    held: set[tuple[int, int]] = set()
    for tick in range(4):
        who = np.arange(n) if tick == 0 else np.sort(chance.choice(n, moving, replace=False))
        parts = [] if tick == 0 else [moved(tick, who, places[who], -1)]
        places = places.copy()
        places[who] = some(len(who))
        parts.append(moved(tick, who, places[who], 1))
        rows = pa.concat_tables([pa.table(part) for part in parts])
        told = engine.apply({0: rows, 1: rows}, {}, NOTHING_BEGUN)
        pairs = list(zip(*(told.column(c).to_pylist() for c in ("c0", "c3", "sign")), strict=True))
        held -= {(a, b) for a, b, sign in pairs if sign < 0}
        held |= {(a, b) for a, b, sign in pairs if sign > 0}
        vectors = np.array([vector(*place) for place in places.tolist()])
        _, nearest = cKDTree(vectors).query(vectors, k + 1)
        assert held == {(i, int(j)) for i in range(n) for j in nearest[i] if i != j}


def test_what_changes_far_away_is_not_looked_at() -> None:
    """Cost: one who moves among many is compared with those within whose reach it is."""
    types, n = (LONG, DOUBLE, DOUBLE), 3000
    root = nodes.Neighbours(nodes.Branch(0, types), nodes.Branch(1, types), (1, 2), (1, 2), 2, (0,))
    engine = Tree(root, Constants(np.array([1]), pa.table({"none": [0]})))
    places = np.random.default_rng(1).random((n, 2))
    everybody = pa.table(moved(0, np.arange(n), places, 1))
    engine.apply({0: everybody, 1: everybody}, {}, NOTHING_BEGUN)
    state = engine.stations[-1].state
    at_first = state.looked
    assert at_first < n * 40  # of nine million
    one = np.array([7])
    steps = [pa.table(moved(1, one, places[one], -1)), pa.table(moved(1, one, places[one] + 0.001, 1))]
    rows = pa.concat_tables(steps)
    engine.apply({0: rows, 1: rows}, {}, NOTHING_BEGUN)
    assert state.looked - at_first < neighbours.WORTH_A_GRID * 2 * n
