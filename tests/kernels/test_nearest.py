"""kNN against the plain twin: many ticks, ties, absence, regions that stand and move, odd numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.kernels.nearest.influence import advance, begin_all, end_all
from sanderling.kernels.nearest.nearest import plain_nearest
from sanderling.kernels.nearest.seekers import Changes, FocalPlaces, new_scene, new_seekers, new_sights
from sanderling.space.coverages import BOX, CENTRED, DISC, EVERYWHERE
from tests.long import drawn

usual = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, -1.0, 0.1, 0.3, 100.0])
strange = st.sampled_from([1e-200, -1e-160, 1e16, -1e160, 1e200, 1e308, 5e-324])
number = st.one_of(usual, usual, usual, usual, strange)
place = st.one_of(st.tuples(number, number), st.tuples(number, number), st.just((np.nan, np.nan)))


class World:
    """Objects, focal objects and queries drawn one after the other, and what was told of each query."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.n, self.f = draw(st.integers(0, 7)), draw(st.integers(1, 3))
        q, conditions = draw(st.integers(1, 5)), draw(st.integers(1, 2))
        focals = [draw(st.integers(-1, self.f - 1)) for _ in range(q)]
        regions = [draw(st.integers(-1, self.f - 1)) for _ in range(q)]
        scale = draw(st.sampled_from([0.01, 1.0, 50.0]))
        self.seekers = new_seekers(
            np.array([draw(st.integers(1, 4)) for _ in range(q)], np.int64),
            np.array([draw(st.integers(0, conditions - 1)) for _ in range(q)], np.int32),
            np.array([draw(st.integers(0, 7)) for _ in range(q)], np.uint64),
            np.array(focals, np.int64), np.array(regions, np.int64), self.f,
        )  # fmt: skip
        where = [draw(place) for _ in range(self.f)]
        at, region, kind = np.empty((q, 2)), np.zeros((q, 4)), np.empty(q, np.int8)
        for i in range(q):
            at[i] = where[focals[i]] if focals[i] >= 0 else (draw(number), draw(number))
            kind[i] = draw(
                st.sampled_from([CENTRED, DISC] if regions[i] >= 0 else [EVERYWHERE, EVERYWHERE, BOX, DISC])
            )
            x, y = where[regions[i]] if regions[i] >= 0 else (draw(number), draw(number))
            w, h = abs(draw(number)), abs(draw(number))
            region[i] = (x, y, x + w, y + h) if kind[i] == BOX else (x, y, w, h)
        self.scene = new_scene(self.n, conditions, self.f, scale)
        self.scene.own[:] = [draw(st.integers(-1, self.n - 1)) for _ in range(self.f)]
        self.sights = new_sights(self.seekers, at, kind, region, conditions, scale)
        self.conditions, self.next_row = conditions, 100
        self.object_of = {-1: -1}
        self.told: dict[int, dict[int, tuple[int, float]]] = {}

    def changes(self, tick: int, count: int) -> tuple[Changes, FocalPlaces]:
        draw, rows, focal_rows = self.draw, [], []
        for t in range(tick, tick + count):
            for o in draw(st.lists(st.integers(0, self.n - 1), unique=True)) if self.n else []:
                holds = [draw(st.booleans()) for _ in range(self.conditions)]
                rows.append((t, o, *draw(place), self.next_row, draw(st.integers(0, 7)), holds))
                self.object_of[self.next_row] = o
                self.next_row += 1
            for f in draw(st.lists(st.integers(0, self.f - 1), unique=True)):
                focal_rows.append((t, f, *draw(place)))
        column = lambda i, type_: np.array([r[i] for r in rows], type_)  # noqa: E731
        focal = lambda i, type_: np.array([r[i] for r in focal_rows], type_)  # noqa: E731
        holds = np.array([r[6] for r in rows], np.bool_).reshape(len(rows), self.conditions).T.copy()
        return (
            Changes(
                column(0, np.int64), column(1, np.int64), column(2, float), column(3, float),
                column(4, np.int64), column(5, np.uint64), holds,
            ),
            FocalPlaces(focal(0, np.int64), focal(1, np.int64), focal(2, float), focal(3, float)),
        )  # fmt: skip

    def tell(self, queries: list[int], counts: list[int], rows: list[int], d2: list[float]) -> None:
        ends = np.cumsum(counts)
        for q, first, end in zip(queries, ends - counts, ends, strict=True):
            entries = zip(rows[first:end], d2[first:end], strict=True)
            self.told[q] = {self.object_of[row]: (row, far) for row, far in entries}

    def check(self, tick: Changes, before: dict[int, dict[int, tuple[int, float]]], new: set[int]) -> None:
        bits = dict(zip(tick.object.tolist(), tick.changed.tolist(), strict=True))
        rows = dict(zip(tick.object.tolist(), tick.row.tolist(), strict=True))
        for q in np.flatnonzero(self.sights.is_live).tolist():
            wanted = dict(plain_nearest(q, self.seekers, self.sights, self.scene))
            assert {o: far for o, (_, far) in self.told[q].items()} == wanted
            watched = {o for o in wanted if bits.get(o, 0) & int(self.seekers.watch[q])}
            assert all(self.told[q][o][0] == rows[o] for o in watched)
            if q in new and q in before and len(wanted) <= self.seekers.k[q]:
                old = {o: far for o, (_, far) in before[q].items()}
                assert old != wanted or watched, "nothing is new"


@settings(max_examples=drawn(40, 4000))
@given(st.data())
def test_lists_are_what_every_object_gives(data: st.DataObject) -> None:
    world = World(data.draw)
    with np.errstate(all="ignore"):
        for tick in range(4):
            if tick < 2:
                some = data.draw(st.lists(st.integers(0, len(world.seekers.k) - 1), unique=True))
                which = np.array([q for q in some if not world.sights.is_live[q]], np.int32)
                starts, rows, d2 = begin_all(which, world.seekers, world.sights, world.scene)
                world.tell(which.tolist(), np.diff(starts).tolist(), rows.tolist(), d2.tolist())
            if tick == 3 and world.sights.is_live.any():
                gone = np.flatnonzero(world.sights.is_live)[:1].astype(np.int32)
                end_all(gone, world.seekers, world.sights)
            changes, focals = world.changes(tick, 1)
            before = dict(world.told)
            found = advance(world.seekers, world.sights, world.scene, changes, focals)
            world.tell(*(part.tolist() for part in found[1:]))
            world.check(changes, before, set(found.query.tolist()))
            assert not world.sights.mark.any() and not world.scene.changed.any()


@settings(max_examples=drawn(40, 1000))
@given(st.data())
def test_several_ticks_at_once_are_as_one_by_one(data: st.DataObject) -> None:
    world = World(data.draw)
    with np.errstate(all="ignore"):
        all_ = np.arange(len(world.seekers.k), dtype=np.int32)
        begin_all(all_, world.seekers, world.sights, world.scene)
        changes, focals = world.changes(0, 3)
        found = advance(world.seekers, world.sights, world.scene, changes, focals)
        assert (np.diff(found.tick) >= 0).all()
        world.tell(*(part.tolist() for part in found[1:]))
        for q in set(found.query.tolist()):
            wanted = dict(plain_nearest(q, world.seekers, world.sights, world.scene))
            assert {o: far for o, (_, far) in world.told[q].items()} == wanted


@pytest.mark.parametrize("scale", [1e-4, 0.02, 30.0])
def test_a_crowd_is_searched_like_any_other_whatever_the_cells(scale: float) -> None:
    rng = np.random.default_rng(5)
    n, queries = 3_000, 40
    # Some stand far away, and some on one spot.
    places = np.vstack([rng.random((n - 60, 2)), rng.random((30, 2)) * 1e6, np.full((30, 2), 0.5)])
    seekers = new_seekers(
        rng.integers(1, 50, queries), np.zeros(queries, np.int32), np.zeros(queries, np.uint64),
        np.full(queries, -1), np.full(queries, -1), 0,
    )  # fmt: skip
    scene = new_scene(n, 1, 0, scale)
    at = np.vstack([rng.random((queries - 10, 2)), rng.random((5, 2)) * 1e6, np.full((5, 2), 0.5)])
    kind = np.where(np.arange(queries) % 3 == 0, DISC, EVERYWHERE).astype(np.int8)
    sights = new_sights(seekers, at, kind, np.full((queries, 4), 0.3), 1, scale)
    which = np.arange(queries, dtype=np.int32)
    begin_all(which, seekers, sights, scene)
    told = {}
    for tick in range(3):
        some = rng.choice(n, n if tick == 0 else 20, replace=False)
        new = places[some] + rng.normal(0, 0.01 * tick, (len(some), 2))
        changes = Changes(
            np.full(len(some), tick), some, *new.T.copy(), some, np.zeros(len(some), np.uint64),
            np.ones((1, len(some)), np.bool_),
        )  # fmt: skip
        nobody = FocalPlaces(some[:0], some[:0], new[:0, 0], new[:0, 1])
        found = advance(seekers, sights, scene, changes, nobody)
        ends = np.cumsum(found.length)
        for q, first, end in zip(found.query.tolist(), ends - found.length, ends, strict=True):
            told[q] = sorted(zip(found.row[first:end].tolist(), found.d2[first:end].tolist(), strict=True))
        for q in range(queries):
            assert told.get(q, []) == plain_nearest(q, seekers, sights, scene)


def test_nothing_is_nearest_to_what_is_absent() -> None:
    seekers = new_seekers(
        np.array([1]), np.zeros(1, np.int32), np.zeros(1, np.uint64), np.array([-1]), np.array([-1]), 0
    )
    scene = new_scene(1, 1, 0, 1.0)
    nowhere = np.array([[np.nan, np.nan, 1.0, 1.0]])
    sights = new_sights(seekers, np.zeros((1, 2)), np.full(1, DISC, np.int8), nowhere, 1, 1.0)
    starts, _, _ = begin_all(np.zeros(1, np.int32), seekers, sights, scene)
    assert starts.tolist() == [0, 0] and plain_nearest(0, seekers, sights, scene) == []
