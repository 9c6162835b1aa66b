"""What PASS_WITHIN remembers: places where objects are or were not long ago, and pairs that have passed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I64, int64_of, most_kept
from sanderling.clock import NEVER
from sanderling.kernels.trajectory.company import Moves
from sanderling.kernels.trajectory.passing import no_pairs, pair_all, walk_passing
from sanderling.kernels.trajectory.trails import Asked, Trails, begin_all
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.trajectory.held import ROUNDING, SIDES, Held

NOBODY = -1


class Trodden(Held):
    """Promises (tests/operate/test_passing.py): saved and restored it goes on the same; what is gone is
    freed.
    """

    def __init__(
        self, key_types: tuple[pa.DataType, pa.DataType], is_self: bool, is_globe: bool, tick_us: int
    ):
        self.tick_us = tick_us
        super().__init__(key_types, is_self, is_globe)

    def begin(self) -> None:
        super().begin()
        self._standing, self._seen, self._last, self._met = (Grown(NOBODY, np.int64) for _ in range(4))
        self._places_begin()
        self.told_pairs = no_pairs()

    def _places_begin(self, room: int = 16) -> None:
        self._one, self._end = np.empty(room, np.int32), np.empty(room, np.int64)
        self._where, self._cell = np.empty((room, 3)), np.empty((room, 2), np.int64)
        self._following = np.empty(room, np.int32)
        self._heads = np.full(1 << (2 * room - 1).bit_length(), NOBODY, np.int32)
        self._looks = np.zeros(2, np.int64)

    def _reached(self, radius: F64) -> F64:
        """How wide cells are."""
        return np.asarray(radius * (1 + ROUNDING))

    def _trails(self, more: int) -> Trails:
        """With room for so many places more; those that are over go when they are the most."""
        used = int(self._looks[1])
        if used + more > len(self._one):
            self._place_anew(more)
        n = len(self.objects)
        self._party.up_to(n)[:n] = self.objects.rows[:, 0]
        standing, seen, last, met = (
            kept.up_to(n) for kept in (self._standing, self._seen, self._last, self._met)
        )
        return Trails(
            self._one, self._where, self._cell, self._end, self._following, self._heads, self._party.all,
            standing, seen, last, met, self._looks,
        )  # fmt: skip

    def _place_anew(self, more: int) -> None:
        rows = self.alive_places
        one, at, cell, end = self._one[rows], self._where[rows], self._cell[rows], self._end[rows]
        looks = self._looks[0]
        self._places_begin(most_kept(len(rows)) + 2 * more)
        self._looks[0] = looks
        self._enter(one.astype(np.int64), at, cell, end)

    def _enter(self, one: I64, at: F64, cell: I64, end: I64) -> None:
        begin_all(self._trails(0), one, at, cell, end)

    @property
    def alive_places(self) -> I64:
        used = int(self._looks[1])
        end, one = self._end[:used], self._one[:used]
        is_there = end == NEVER
        stay = self.stay_of(one.astype(np.int64))
        return np.flatnonzero(is_there | (np.where(is_there, 0, end) + stay >= self.walked_to))

    @property
    def alive(self) -> I64:
        """Objects that have such a place."""
        return np.unique(self._one[self.alive_places]).astype(np.int64)

    def _asked(self) -> Asked:
        n = len(self.queries)
        return Asked(self._by_query[1].up_to(n), self._stay.up_to(n))

    # ----- ticks

    def pass_by(self, moves: Moves, closed_to: int) -> I64:
        """What is told: left, right, tick, sign."""
        trails = self._trails(len(moves.tick))
        told, self.told_pairs = walk_passing(
            trails, self.told_pairs, self._asked(), self.is_self, moves, self.tick_us, closed_to
        )
        self.walked_to = max(self.walked_to, closed_to)
        self.looked += told.looked
        return told.rows

    @property
    def next_due(self) -> int:
        return int(self.told_pairs.due[0]) if self.told_pairs.counts[2] else NEVER

    def passed(self) -> tuple[I64, I64]:
        """All pairs that are told."""
        pairs = self.told_pairs
        rows = np.flatnonzero(pairs.one[: pairs.counts[0]] >= 0)
        return pairs.one[rows].astype(np.int64), pairs.other[rows].astype(np.int64)

    # ----- saved and restored

    def saved(self, without: I64 | None = None) -> dict[str, pa.Table]:
        """But for some queries. Pairs follow from places."""
        rows = self.alive_places
        one = self._one[rows].astype(np.int64)
        if without is not None:
            is_kept = ~np.isin(self.query_of(one), without)
            rows, one = rows[is_kept], one[is_kept]
        side = self.objects.rows[one, 0] % SIDES
        tables: dict[str, pa.Table] = {"walked": pa.table({"to": [self.walked_to]})}
        for number, name in enumerate(("left", "right")):
            mine, who = rows[side == number], one[side == number]
            axes = dict(zip("xyz", self._where[mine].T, strict=True))
            fixed = {"query": self.query_of(who), "key": self.keys(who, number), "end": self._end[mine]}
            tables[name] = pa.table(fixed | axes)
        return tables

    def restore(self, tables: dict[str, pa.Table], asked: Any) -> None:
        self.begin()
        (self.walked_to,) = tables["walked"].column("to").to_pylist()
        parts = [self._restored(tables[name], side, asked) for side, name in enumerate(("left", "right"))]
        one, at, cell = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        end = np.concatenate([int64_of(tables[name], "end") for name in ("left", "right")])
        self._trails(len(one))
        self._enter(one, at, cell, end)
        places = np.arange(len(one))
        tick = self.walked_to
        self.told_pairs = pair_all(
            self._trails(0), self.told_pairs, self._asked(), self.is_self, places, self.tick_us, tick
        )
