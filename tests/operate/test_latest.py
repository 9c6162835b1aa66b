"""The last rows of tiles against their plain twin, and DuckDB over all that came."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.kernels.tessellate.rings import NOBODY, Rings, plain_walk_rings, walk_rings
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from tests.operate.histories import LONG, QUERIES, TEXT, THOROUGH, TICKS, cut_anyhow, run
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World

TYPES = (TEXT, LONG, LONG, LONG)  # tile, key, time, anything
NAMES = ("a", "b", "é")


@st.composite
def coming(draw: Any, tiles: Any) -> list[tuple[int, int, Any]]:
    """Readings of ticks, with one time for a key; each is in a few tiles."""
    found = []
    for tick in range(TICKS):
        for key, part in draw(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=5)):
            for query in draw(st.sets(st.sampled_from(QUERIES))):
                for tile in draw(st.sets(tiles, min_size=1, max_size=2)):
                    found.append((tick, 1, (query, tile, key, 3 * tick + part, key % 2)))
    return found


@st.composite
def names_of_tiles(draw: Any) -> list[tuple[int, int, Any]]:
    """Which tiles there are, tick by tick."""
    found, there = [], set[str]()
    for tick in range(TICKS):
        now = draw(st.sets(st.sampled_from(NAMES)))
        found += [(tick, 1 if name in now else -1, (-1, name)) for name in sorted(now ^ there)]
        there = now
    return found


def of_there(rows: Any, tiles: Any) -> Any:
    """A tile that is not there gets no rows."""
    there = {(tick, name) for name in NAMES for tick in range(TICKS) if held(tiles, name, tick)}
    return [(tick, sign, row) for tick, sign, row in rows if (tick, row[1]) in there]


def held(tiles: Any, name: str, tick: int) -> bool:
    return sum(sign for when, sign, row in tiles if when <= tick and row[1] == name) > 0


@THOROUGH
@given(
    coming(st.sampled_from(NAMES)), names_of_tiles(), st.sampled_from([1, 2, 3]), st.booleans(), cut_anyhow()
)
def test_of_regions(rows: Any, tiles: Any, n: int, is_tidy: bool, cut: Any) -> None:
    table = nodes.TableRows("tiles", ("name",), (TEXT,))
    root = nodes.Latest(nodes.Branch(0, TYPES), table, 0, 1, 2, n)
    with pytest.MonkeyPatch.context() as patch:
        if is_tidy:
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        run(root, World({0: of_there(rows, tiles)}, {"tiles": tiles}, {}, {}, {}), *cut)


@THOROUGH
@given(coming(st.just("a")), st.sampled_from([1, 2, 3]), st.sampled_from([3, 1, 2]), cut_anyhow())
def test_of_the_values_of_a_column(rows: Any, n: int, tile: int, cut: Any) -> None:
    rows = [(t, s, (*row[:4], None if row[4] else 7)) for t, s, row in rows]
    run(nodes.Latest(nodes.Branch(0, TYPES), None, tile, 1, 2, n), World({0: rows}, {}, {}, {}, {}), *cut)


def test_duckdb_finds_the_same_in_all_that_came_and_no_more_is_held() -> None:
    chance, n, types = np.random.default_rng(5), 7, (LONG, LONG, LONG)
    engine = Tree(
        nodes.Latest(nodes.Branch(0, types), None, 0, 1, 2, n), Constants(np.array([1]), pa.table({}))
    )
    came: list[pa.Table] = []
    now: set[tuple[int, ...]] = set()
    for tick in range(1, 40):
        size = int(chance.integers(0, 60))
        rows = {"c0": chance.integers(0, 9, size), "c1": chance.permutation(100)[:size]}
        rows |= {"c2": np.full(size, tick)}
        fixed = {
            "query": np.ones(size, np.int32),
            "tick": np.full(size, tick),
            "sign": np.ones(size, np.int64),
        }
        came.append(pa.table(rows))
        told = engine.apply({0: pa.table(fixed | rows)}, {}, NOTHING_BEGUN, tick)
        for sign, *row in zip(*(told.column(c).to_pylist() for c in ("sign", "c0", "c1", "c2")), strict=True):
            (now.add if sign > 0 else now.remove)(tuple(row))
        everything = pa.concat_tables(came)  # noqa: F841, DuckDB reads it
        last = "row_number() OVER (PARTITION BY c0 ORDER BY c2 DESC, c1 DESC)"
        assert now == set(duckdb.sql(f"SELECT c0, c1, c2 FROM everything QUALIFY {last} <= {n}").fetchall())
        assert engine.held() == {"1.Latest": len(now)}
        assert len(now) <= 9 * n
    state = engine.stations[-1].state
    assert len(state.numbered) < 20 * 9 * n  # who is gone is forgotten


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=30), st.integers(1, 4))
def test_the_kernel_against_its_plain_twin(asked: list[tuple[int, bool]], n: int) -> None:
    events = [(tile, NOBODY if is_end else i, i) for i, (tile, is_end) in enumerate(asked)]
    m, k = max(len(events), 1), 3
    rings = Rings(np.full(k, NOBODY), np.full(k, NOBODY), np.zeros(k, np.int64), np.full(m, NOBODY))
    tile, row, tick = (np.array([e[i] for e in events], np.int64) for i in range(3))
    gone, when = walk_rings(rings, n, tile, row, tick)
    assert list(zip(gone.tolist(), when.tolist(), strict=True)) == plain_walk_rings(n, events)
