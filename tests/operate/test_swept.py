"""Readings in a coverage that changes by itself, as it is now, against the plain twin at every tick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling import arrays
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plans import nodes
from sanderling.space.moving.drift import FOREVER, Motion
from sanderling.space.outlines.outline import circle, moving, rectangle
from tests.operate.histories import DOUBLE, TEXT, THOROUGH, cut_anyhow, histories, run
from tests.operate.test_simple import NOTHING_BEGUN
from tests.operate.twin import World
from tests.oracle.shapes import Box, Changing, Disc

BRANCH = nodes.Branch(0, (TEXT, DOUBLE, DOUBLE))
VALUES = {
    TEXT: st.sampled_from(["a", "b"]),
    DOUBLE: st.sampled_from([0.0, 0.5, 1.0, 1.25, 2.0, 3.0, -1.0, float("nan"), float("inf"), -1e300]),
}
SHAPES = [
    (rectangle(0.0, 0.0, 1.0, 1.0), Box(0.0, 0.0, 1.0, 1.0), (0.5, 0.5)),
    (circle(1.0, 0.0, 1.0), Disc(1.0, 0.0, 1.0), (1.0, 0.0)),
]


@st.composite
def motions(draw: Any, middle: tuple[float, float]) -> Motion:
    shift, scale = draw(st.sampled_from([(1, 0), (2, 0), (1, 1), (0, 2), (3, 1)]))
    until = draw(st.sampled_from([FOREVER, 3, 5]))
    dx, dy, growth = (
        draw(st.sampled_from(some)) for some in ((-0.5, 0.5, 1.0), (0.0, 0.25), (-0.5, 0.5, 1.0))
    )
    return Motion(draw(st.integers(-3, 2)), until, shift, scale, dx, dy, growth, *middle)


@THOROUGH
@given(data=st.data(), cut=cut_anyhow(), is_tidy=st.booleans())
def test_as_its_twin_at_every_tick(data: Any, cut: Any, is_tidy: bool) -> None:
    outline, shape, middle = data.draw(st.sampled_from(SHAPES))
    motion = data.draw(motions(middle))
    node = nodes.Swept(BRANCH, (1, 2), (moving(outline, motion),), 1)
    means = Changing(
        shape, motion.begin, None if motion.until == FOREVER else motion.until,
        (motion.dx, motion.dy, motion.shift_us) if motion.shift_us else None,
        (motion.growth, motion.scale_us) if motion.scale_us else None,
    )  # fmt: skip
    changes = data.draw(histories(BRANCH.types, VALUES))
    with pytest.MonkeyPatch.context() as patch:
        if is_tidy:
            patch.setattr(arrays, "WORTH_COMPACTING", 0)
        run(node, World({0: changes}, {}, {}, {}, {}, {node.outlines[0]: means}), *cut)


def engine(motion: Motion, tick_us: int = 1) -> Tree:
    outline = moving(rectangle(0.0, 0.0, 1.0, 1.0), motion)
    return Tree(nodes.Swept(BRANCH, (1, 2), (outline,), tick_us), Constants(np.array([1]), pa.table({})))


def told(tree: Tree, tick: int, sign: int, xs: list[float], closed_to: int) -> list[tuple[int, int, float]]:
    n = len(xs)
    fixed = {"query": np.ones(n, np.int32), "tick": np.full(n, tick), "sign": np.full(n, sign)}
    columns = {"c0": pa.array(["a"] * n, pa.string()), "c1": pa.array(xs, pa.float64()), "c2": np.zeros(n)}
    out = tree.apply({0: pa.table(fixed | columns)}, {}, NOTHING_BEGUN, closed_to)
    return [(r["tick"], r["sign"], r["c1"]) for r in out.to_pylist()]


def test_it_speaks_at_the_tick_of_a_step_though_nothing_comes() -> None:
    tree = engine(Motion(100, shift_us=10, dx=2.0))
    assert told(tree, 50, 1, [0.5, 2.5, 6.5], 60) == [(50, 1, 0.5)]
    assert not tree.is_due(109) and tree.is_due(110)
    assert told(tree, 500, 1, [], 115) == [(110, -1, 0.5), (110, 1, 2.5)]
    assert told(tree, 500, 1, [], 135) == [(120, -1, 2.5), (130, 1, 6.5)]
    assert told(tree, 500, -1, [0.5, 2.5, 6.5], 600) == [(140, -1, 6.5)]
    assert not tree.is_due(10**15)


def test_a_step_that_is_no_multiple_of_the_tick_is_taken_in_the_tick_that_has_it() -> None:
    tree = engine(Motion(0, shift_us=15, dx=2.0), tick_us=10)
    assert told(tree, 10, 1, [0.5, 2.5, 4.5], 10) == [(10, 1, 0.5)]
    assert told(tree, 10, 1, [], 40) == [(20, -1, 0.5), (20, 1, 2.5), (30, -1, 2.5), (30, 1, 4.5)]
    several = engine(Motion(0, shift_us=4, dx=2.0), tick_us=10)
    assert told(several, 10, 1, [0.5, 4.5], 20) == [(10, 1, 4.5), (20, -1, 4.5)]


def test_who_is_gone_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WORTH_COMPACTING", 10)
    tree = engine(Motion(0, shift_us=1, dx=0.01))
    for tick in range(200):
        told(tree, tick, 1, [tick / 100], tick)
        told(tree, tick, -1, [(tick - 3) / 100], tick) if tick > 2 else None
        assert tree.held() == {"1.Swept": min(tick + 1, 3)} and len(tree.stations[-1].state.numbered) < 40
