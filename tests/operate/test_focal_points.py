"""The places of NEARBY for each query, against their plain twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from sanderling import arrays
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from tests.operate.histories import DOUBLE, FEW, LONG, QUERIES, THOROUGH, cut_anyhow, histories, run
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World

PLACE = (DOUBLE, DOUBLE)
WRITTEN = ((0.0, 1.5), (3.0, -1.0), (0.0, 1.5))

begins = st.dictionaries(st.sampled_from(QUERIES), st.integers(0, 5))


@THOROUGH
@given(histories(PLACE, FEW, (-1,)), begins, st.booleans(), cut_anyhow())
def test_rows_of_a_table_for_each_query(changes: Any, begun: Any, is_tidy: bool, cut: Any) -> None:
    table = nodes.TableRows("sites", ("x", "y"), PLACE)
    root = nodes.FocalPoints(table, (), PLACE)
    with pytest.MonkeyPatch.context() as patch:
        if is_tidy:
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        run(root, World({}, {"sites": changes}, begun, {}, {}), *cut)


@THOROUGH
@given(begins, cut_anyhow())
def test_written_places_for_each_query(begun: Any, cut: Any) -> None:
    run(nodes.FocalPoints(None, WRITTEN, PLACE), World({}, {}, begun, {}, {}), *cut)


def sites(tick: int, sign: int, places: Any) -> pa.Table:
    n = len(places)
    fixed = {"query": np.full(n, -1, np.int32), "tick": np.full(n, tick), "sign": np.full(n, sign)}
    return pa.table({**fixed, "x": places[:, 0], "y": places[:, 1]})


def test_the_nearest_to_any_are_those_that_a_tree_of_scipy_finds() -> None:
    """Sites that open and close among objects that all move."""
    chance, n, k, types = np.random.default_rng(3), 300, 4, (LONG, DOUBLE, DOUBLE)
    table = nodes.TableRows("sites", ("x", "y"), PLACE)
    near = nodes.Neighbours(
        nodes.FocalPoints(table, (), PLACE), nodes.Branch(0, types), (0, 1), (1, 2), k, (0,)
    )
    key = Expression.of_column("c2", LONG)
    engine = Tree(nodes.Distinct(nodes.Select(near, None, (key,))), Constants(np.array([1]), pa.table({})))
    begun = pa.table({"query": pa.array([1], pa.int32()), "tick": pa.array([0])})
    open_, there, held = chance.random((12, 2)), np.empty((0, 2)), set[int]()
    changes = [sites(0, 1, open_)]
    for tick in range(5):
        before, there = there, chance.random((n, 2))
        rows = pa.concat_tables([moves(tick, -1, before), moves(tick, 1, there)])
        told = engine.apply({0: rows}, {"sites": pa.concat_tables(changes)}, begun, tick)
        begun = NOTHING_BEGUN
        for one, sign in zip(told.column("c0").to_pylist(), told.column("sign").to_pylist(), strict=True):
            held.symmetric_difference_update({one})
            assert (one in held) == (sign > 0)
        assert held == set(np.unique(cKDTree(there).query(open_, k)[1]).tolist())
        new = chance.random((2, 2))
        changes = [sites(tick + 1, -1, open_[:2]), sites(tick + 1, 1, new)]
        open_ = np.concatenate([open_[2:], new])


def moves(tick: int, sign: int, places: Any) -> pa.Table:
    n = len(places)
    fixed = {"query": np.ones(n, np.int32), "tick": np.full(n, tick), "sign": np.full(n, sign)}
    return pa.table({**fixed, "c0": np.arange(n), "c1": places[:, 0], "c2": places[:, 1]})
