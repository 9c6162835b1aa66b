"""Regions that follow their focal objects against the plain twin: many ticks, jumps, absence, odd sizes."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.kernels.inside.cross import Moves
from sanderling.kernels.inside.follow import FocalMoves, Followers, Stage, follow, plain_follow
from sanderling.kernels.nearest.cells import no_cells, put_all
from sanderling.operate.inside.moving import levels
from sanderling.space.coverages import CENTRED, DISC
from tests.long import drawn

usual = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, -1.0, 0.1, 0.3, 100.0])
strange = st.sampled_from([1e-200, -1e-160, 1e16, -1e160, 1e200, 1e308, 5e-324])
number = st.one_of(usual, usual, usual, usual, strange)
place = st.one_of(st.tuples(number, number), st.tuples(number, number), st.just((np.nan, np.nan)))


class World:
    """Objects, focal objects and regions at places drawn one after the other."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.n, self.f = draw(st.integers(0, 5)), draw(st.integers(1, 3))
        focal = np.sort(np.array(draw(st.lists(st.integers(0, self.f - 1), max_size=6)), np.int64))
        r = len(focal)
        self.conditions = draw(st.integers(1, 2))
        kind = np.array([draw(st.sampled_from([CENTRED, DISC])) for _ in range(r)], np.int8)
        w, h = (np.array([abs(draw(number)) for _ in range(r)]) for _ in range(2))
        h = np.where(kind == DISC, 0.0, h)
        cell, level, reach_w, reach_h = levels(kind, w, h)
        bits = st.integers(0, 7)
        self.followers = Followers(
            np.searchsorted(focal, np.arange(self.f + 1)), focal, kind,
            np.array([draw(st.integers(0, self.conditions - 1)) for _ in range(r)], np.int32),
            np.array([draw(bits) for _ in range(r)], np.uint64), reach_w, reach_h,
        )  # fmt: skip
        self.where = [draw(place) for _ in range(self.n)]
        self.holds = np.array(
            [[draw(st.booleans()) for _ in range(self.n)] for _ in range(self.conditions)], np.bool_
        )
        self.holds = self.holds.reshape(self.conditions, self.n)
        centres = np.array([draw(place) for _ in range(self.f)], np.float64)[focal].reshape(r, 2)
        regions, objects = no_cells(cell, level), no_cells(np.array([1.0]), np.zeros(self.n, np.int32))
        put_all(regions, np.arange(r), centres)
        put_all(objects, np.arange(self.n), np.array(self.where, np.float64).reshape(self.n, 2))
        present = sum(x == x for x, _ in self.where)
        self.stage = Stage(
            regions, np.column_stack([centres, w, h]), objects,
            np.array([draw(st.integers(-1, self.n - 1)) for _ in range(self.f)], np.int64),
            np.arange(self.n), self.holds.copy(), np.array([present]),
        )  # fmt: skip
        self.next_row = 100

    def batch(self) -> tuple[np.ndarray, Moves, np.ndarray, FocalMoves]:  # type: ignore[type-arg]
        draw, rows, focal_rows = self.draw, [], []
        for tick in range(draw(st.integers(1, 3))):
            for o in draw(st.lists(st.integers(0, self.n - 1), unique=True)) if self.n else []:
                new, holds = draw(place), np.array([draw(st.booleans()) for _ in range(self.conditions)])
                rows.append(
                    (tick, o, *self.where[o], *new, draw(st.integers(0, 7)), self.holds[:, o].copy(), holds)
                )
                self.where[o] = new
                self.holds[:, o] = holds
            for f in draw(st.lists(st.integers(0, self.f - 1), unique=True)):
                focal_rows.append((tick, f, *draw(place)))
        columns = list(zip(*rows, strict=True)) if rows else [[] for _ in range(9)]
        held, holds = (
            np.array(columns[i], np.bool_).reshape(len(rows), self.conditions).T.copy() for i in (7, 8)
        )
        moves = Moves(
            np.array(columns[1], np.int64), *(np.array(columns[i], np.float64) for i in range(2, 6)),
            np.array(columns[6], np.uint64), held, holds,
        )  # fmt: skip
        new_row = np.arange(self.next_row, self.next_row + len(rows))
        self.next_row += len(rows)
        focal = list(zip(*focal_rows, strict=True)) if focal_rows else [[] for _ in range(4)]
        return (
            np.array(columns[0], np.int64), moves, new_row,
            FocalMoves(
                np.array(focal[0], np.int64), np.array(focal[1], np.int64),
                np.array(focal[2], np.float64), np.array(focal[3], np.float64),
            ),
        )  # fmt: skip


@settings(max_examples=drawn(40, 4000))
@given(st.data())
def test_follow_finds_what_every_pair_gives(data: st.DataObject) -> None:
    world = World(data.draw)
    with np.errstate(all="ignore"):
        for _ in range(2):
            batch = world.batch()
            expected = plain_follow(world.followers, world.stage, *batch)
            found = follow(world.followers, world.stage, *batch)
            rows = Counter(zip(*(column.tolist() for column in found), strict=True))
            assert rows == Counter(expected)


def test_a_crowd_in_one_cell_is_followed_like_any_other() -> None:
    rng = np.random.default_rng(5)
    n = 300
    followers = Followers(
        np.arange(n + 1), np.arange(n), np.full(n, CENTRED, np.int8), np.zeros(n, np.int32),
        np.zeros(n, np.uint64), np.array([0.05]), np.array([0.05]),
    )  # fmt: skip
    places = rng.random((n, 2))
    regions, objects = (no_cells(np.array([0.07]), np.zeros(n, np.int32)) for _ in range(2))
    put_all(regions, np.arange(n), places)
    put_all(objects, np.arange(n), places)
    aside = np.column_stack([places, np.full((n, 2), 0.05)])
    holds = np.ones((1, n), np.bool_)
    stage = Stage(regions, aside, objects, np.arange(n), np.arange(n), holds.copy(), np.array([n]))
    new = np.clip(places + rng.normal(0, 0.02, (n, 2)), 0, 1)
    moves = Moves(np.arange(n), *places.T.copy(), *new.T.copy(), np.zeros(n, np.uint64), holds, holds)
    batch = (
        np.ones(n, np.int64),
        moves,
        np.arange(n, 2 * n),
        FocalMoves(np.ones(n, np.int64), np.arange(n), *new.T.copy()),
    )
    expected = plain_follow(followers, stage, *batch)
    found = follow(followers, stage, *batch)
    assert set(zip(*(column.tolist() for column in found), strict=True)) == expected
    assert len(found.tick) == len(expected) > 100
