"""The join kernel against its plain twin: every kind of region, borders, absence, huge and tiny numbers."""

from __future__ import annotations

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.kernels.inside.board import build_board, cross_still, together
from sanderling.kernels.inside.cross import IS, PLACE_BIT, WAS, Moves, Rules, cross, plain_cross
from sanderling.kernels.inside.grid import CELLS_OF_WIDE, build_grid, cell_of, no_grid
from sanderling.space.coverages import BOX, CENTRED, DISC, EVERYWHERE, POLYGON
from sanderling.space.geometry import Geometry
from sanderling.space.outlines.polygons import NO_POLYGONS
from sanderling.space.shapes import polygon
from tests.long import drawn

# Those of the globe need places of the globe: tests/properties/test_globe.py.
ON_A_PLANE = (BOX, DISC, POLYGON, EVERYWHERE, CENTRED)

# Few values, so that places fall on borders; and some that break careless arithmetic.
usual = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, -1.0, 0.1, 0.3])
strange = st.sampled_from([1e-200, -1e-160, 1e16, -1e160, 1e200, 1e308, 5e-324])
number = st.one_of(usual, usual, usual, strange)
place = st.one_of(number, number, number, st.just(float("nan")))


@st.composite
def geometries(draw: st.DrawFn, n: int) -> Geometry:
    kinds, numbers = [], []
    for _ in range(n):
        kind = draw(st.sampled_from(ON_A_PLANE))
        a, b, c, d = (draw(number) for _ in range(4))
        if kind in (BOX, POLYGON):
            a, b, c, d = min(a, c), min(b, d), max(a, c), max(b, d)
        if kind in (DISC, CENTRED):
            c, d = abs(c), abs(d)
        if kind != EVERYWHERE and draw(st.integers(0, 5)) == 0:
            a = b = float("nan")  # nowhere
        kinds.append(kind)
        numbers.append((a, b, c, d))
    columns = np.array(numbers, np.float64).reshape(n, 4)
    return Geometry(np.array(kinds, np.int8), *(np.ascontiguousarray(columns[:, i]) for i in range(4)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Moves, Rules, Geometry, Geometry]:
    n, r, conditions = draw(st.integers(0, 6)), draw(st.integers(0, 6)), draw(st.integers(1, 3))
    places = [[draw(place) for _ in range(n)] for _ in range(4)]
    for i in range(n):  # a place is there whole or not at all
        for x, y in ((0, 1), (2, 3)):
            if np.isnan(places[x][i]) or np.isnan(places[y][i]):
                places[x][i] = places[y][i] = float("nan")
    bits = st.integers(0, 7)
    held, holds = (
        np.array([[draw(st.booleans()) for _ in range(n)] for _ in range(conditions)], np.bool_).reshape(
            conditions, n
        )
        for _ in range(2)
    )
    moves = Moves(
        np.arange(n), *(np.array(p, np.float64) for p in places),
        np.array([draw(bits) for _ in range(n)], np.uint64), held, holds,
    )  # fmt: skip
    rules = Rules(
        np.array([draw(bits) for _ in range(r)], np.uint64),
        np.array([draw(st.integers(0, conditions - 1)) for _ in range(r)], np.int64),
        np.array([draw(st.integers(-1, 3)) for _ in range(r)], np.int64),
    )
    old = draw(geometries(r))
    new = old if draw(st.booleans()) else draw(geometries(r))
    return moves, rules, old, new


@settings(max_examples=drawn(40, 4000))
@given(cases())
def test_cross_finds_what_every_pair_gives(case: tuple[Moves, Rules, Geometry, Geometry]) -> None:
    moves, rules, old, new = case
    with np.errstate(all="ignore"):
        grid = build_grid(old, does_last=True)
        found = cross(moves, rules, old, grid, new, grid if new is old else build_grid(new))
        pairs = [tuple(int(v) for v in row) for row in zip(*found, strict=True)]
        assert len(pairs) == len(set(pairs)), "a pair is told once"
        assert set(pairs) == plain_cross(moves, rules, old, new)
        looked_at = cross(moves, rules, old, no_grid(old), new, no_grid(new))
        assert {tuple(int(v) for v in row) for row in zip(*looked_at, strict=True)} == set(pairs)


@settings(max_examples=drawn(60, 4000))
@given(cases())
def test_on_a_board_the_same_is_found(case: tuple[Moves, Rules, Geometry, Geometry]) -> None:
    moves, rules, regions, _ = case
    with np.errstate(all="ignore"):
        board = build_board(regions)
        if board is None:
            return
        found = cross_still(moves, rules, board)
        pairs = [tuple(int(v) for v in row) for row in zip(*found, strict=True)]
        assert len(pairs) == len(set(pairs)), "a pair is told once"
        assert set(pairs) == plain_cross(moves, rules, regions, regions)


def test_a_board_of_many_squares_tells_what_a_grid_does() -> None:
    rng = np.random.default_rng(3)
    n, squares, objects = 20_000, 2_000, 900
    corner, side = rng.random((squares, 2)), rng.choice([0.001, 0.05, 0.2], squares)
    kind = rng.choice([BOX, DISC, CENTRED], squares).astype(np.int8)
    far = np.where((kind == BOX)[:, None], corner + side[:, None], np.stack([side, side], axis=1))
    regions = Geometry(kind, *np.hstack([corner, far]).T.copy())
    old = rng.random((n, 2)) * 1.5
    new = old + rng.normal(0, 0.01, (n, 2)) * rng.integers(0, 2, (n, 1))
    old[::50], new[1::50] = np.nan, np.nan
    conditions = rng.random((2, n)) < 0.9, rng.random((2, n)) < 0.9
    moves = Moves(
        rng.integers(0, objects, n), *old.T.copy(), *new.T.copy(), rng.integers(0, 3, n).astype(np.uint64),
        *conditions,
    )  # fmt: skip
    watch, condition = rng.integers(0, 2, squares).astype(np.uint64), rng.integers(0, 2, squares)
    rules = Rules(watch, condition, rng.integers(-1, objects, squares))
    board, grid = build_board(regions), build_grid(regions)
    assert board is not None and (together(moves.object) != np.arange(n)).any()
    assert (np.diff(board.starts)[1::2] > 0).any(), "some hold whole cells"
    on_board, in_grid = cross_still(moves, rules, board), cross(moves, rules, regions, grid, regions, grid)
    assert len(on_board[0]) > n
    assert sorted(zip(*map(np.ndarray.tolist, on_board), strict=True)) == sorted(
        zip(*map(np.ndarray.tolist, in_grid), strict=True)
    )


def test_moves_of_an_object_follow_each_other_in_order_of_time() -> None:
    assert together(np.array([1, 0, 1, 0, 1])).tolist() == [1, 3, 0, 2, 4]
    assert together(np.array([2, 0, 1])).tolist() == [0, 1, 2], "not where there is one of each"


POLYGONS = [
    shapely.Polygon([(0, 0), (10, 0), (10, 10), (0, 10)], [[(4, 4), (8, 4), (8, 6), (4, 6)]]),
    shapely.MultiPolygon([shapely.box(1, 1, 3, 3), shapely.box(5, 0, 5.5, 9)]),
    shapely.Point(4, 5).buffer(3),
]


@settings(max_examples=drawn(25, 1000))
@given(st.lists(st.tuples(*[st.one_of(st.floats(0, 10), st.integers(0, 10))] * 4), max_size=20))
def test_with_rasters_nobody_is_lost(places: list[tuple[float, ...]]) -> None:
    n, regions = len(places), len(POLYGONS)
    wkb = [bytes(shapely.to_wkb(shape)) for shape in POLYGONS]
    polygons = NO_POLYGONS.of(wkb)
    geometry = Geometry(np.full(regions, POLYGON, np.int8), *polygon.numbers(wkb))
    old_x, old_y, new_x, new_y = np.array(places, np.float64).reshape(n, 4).T.copy()
    always, changed = np.ones((1, n), np.bool_), np.full(n, PLACE_BIT)
    moves = Moves(np.arange(n), old_x, old_y, new_x, new_y, changed, always, always)
    rules = Rules(np.full(regions, PLACE_BIT), np.zeros(regions, np.int64), np.full(regions, -1))
    grid = build_grid(geometry)
    board = build_board(geometry)
    assert board is not None
    move, region, state = cross(moves, rules, geometry, grid, geometry, grid, polygons.rasters)
    on_board = cross_still(moves, rules, board, polygons.rasters)
    assert sorted(zip(*on_board, strict=True)) == sorted(zip(move, region, state, strict=True))
    crossed = set()
    for i, r, s in zip(move.tolist(), region.tolist(), state.tolist(), strict=True):
        shape = POLYGONS[r]
        was = bool(s & WAS) and shapely.intersects_xy(shape, old_x[i], old_y[i])
        is_ = bool(s & IS) and shapely.intersects_xy(shape, new_x[i], new_y[i])
        if was != is_:
            crossed.add((i, r, was))
    for i, r in ((i, r) for i in range(n) for r in range(regions)):
        was, is_ = (
            shapely.intersects_xy(POLYGONS[r], x, y) for x, y in ((old_x[i], old_y[i]), (new_x[i], new_y[i]))
        )
        assert ((i, r, was) in crossed) == (was != is_)


def test_who_stays_inside_for_sure_is_not_told() -> None:
    wkb = [bytes(shapely.to_wkb(POLYGONS[0]))]
    geometry, rasters = (
        Geometry(np.array([POLYGON], np.int8), *polygon.numbers(wkb)),
        NO_POLYGONS.of(wkb).rasters,
    )
    always, here, there = np.ones((1, 1), np.bool_), np.array([1.5]), np.array([2.5])
    moves = Moves(np.array([0]), here, here, there, there, np.full(1, PLACE_BIT), always, always)
    rules = Rules(np.full(1, PLACE_BIT), np.zeros(1, np.int64), np.full(1, -1))
    grid = build_grid(geometry)
    assert cross(moves, rules, geometry, grid, geometry, grid)[2].tolist() == [WAS | IS], "by bounds"
    assert not len(cross(moves, rules, geometry, grid, geometry, grid, rasters)[0])


@given(st.lists(number, min_size=2, max_size=8), st.sampled_from([1e-300, 1e-3, 0.1, 1.0, 7.0, 1e10]))
def test_cells_never_run_backwards(xs: list[float], cell: float) -> None:
    cells = [cell_of(x, cell) for x in sorted(xs)]
    assert cells == sorted(cells)


def test_a_region_too_wide_for_the_grid_is_still_found() -> None:
    n = 5_000
    small = np.linspace(0, 100, n)
    kind = np.zeros(n + 1, np.int8)
    geometry = Geometry(
        kind,
        np.append(small, 0.0),
        np.append(small, 0.0),
        np.append(small + 0.01, 100.0),
        np.append(small + 0.01, 100.0),
    )
    grid = build_grid(geometry)
    assert grid.wide.tolist() == [n] and n > CELLS_OF_WIDE
    one, nothing = np.array([50.0]), np.array([np.nan])
    holds = np.ones((1, 1), np.bool_)
    moves = Moves(
        np.array([0]), nothing, nothing, one, np.array([90.0]), np.zeros(1, np.uint64), holds, holds
    )
    rules = Rules(np.zeros(n + 1, np.uint64), np.zeros(n + 1, np.int64), np.full(n + 1, -1))
    assert cross(moves, rules, geometry, grid, geometry, grid)[1].tolist() == [n]
