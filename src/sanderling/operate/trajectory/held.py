"""What company remembers: objects of queries where they are, and pairs that are near, with since when."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I32, I64, int64_of
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.kernels.trajectory.company import Asked, Moves, walk_company
from sanderling.kernels.trajectory.crowd import NOWHERE, Crowd, enter_all
from sanderling.kernels.trajectory.partners import Partners, packed, pairs_of, set_since
from sanderling.kernels.trajectory.waiting import Waiting, wait_all
from sanderling.operate.sql.join.cells import cells_of
from sanderling.operate.sql.rows.codes import Column, code, decoded, new_texts
from sanderling.operate.sql.rows.numbered import Grown, Numbered, Waste
from sanderling.space.metric import chords_within, folded, vectors
from sanderling.space.sphere import FOLD_STRETCH

# An object may be so far from its anchor, as a part of the radius; by a little less than what is looked at.
STILL, ROUNDING = 0.25, 1e-9
# The square of a radius that is smaller would be 0, or nearly.
LEAST_RADIUS = 1e-100

SIDES = 2
# Lists of so many are packed, and again when they take twice as much.
LEAST_PACKED = 4096


# Of partners, whom and since when; of lines, both of a pair, since when, and what comes behind.
NO_LISTS: tuple[I32, I64] = (np.empty(0, np.int32), np.empty(0, np.int64))
NO_LINE = (NO_LISTS[0], *NO_LISTS, NO_LISTS[1])


class Placed(NamedTuple):
    """Objects by number, with the vectors and the cells of places."""

    one: I64
    at: F64
    cell: I64


class Held:
    """Promises (tests/operate/test_company.py): saved and restored it goes on the same; what is gone is
    freed.
    """

    def __init__(self, key_types: tuple[pa.DataType, pa.DataType], is_self: bool, is_globe: bool):
        self.key_types, self.is_self, self.is_globe = key_types, is_self, is_globe
        self.waste = Waste()
        self.begin()

    def begin(self) -> None:
        self.texts = new_texts()
        self.queries, self.objects = Numbered(1), Numbered(2)  # of a party, by the code of its key
        self._by_query = [Grown(-1.0, np.float64) for _ in range(4)]  # radius; reach, wide and still
        self._stay = Grown(0, np.int64)
        self._lines = [Grown(-1, np.int64) for _ in range(2)]
        self._at, self._anchor = (np.full((16, 3), np.nan) for _ in range(2))
        self._bucket = Grown(NOWHERE, np.int64)
        self._party, self._next, self._before = (Grown(-1, np.int32) for _ in range(3))
        self._mark, self._marks = Grown(0, np.int64), np.zeros(1, np.int64)
        self._head = np.full(32, -1, np.int32)
        self._span, self._known = Grown(0, np.int64, 3), 0
        self.lists, self.line = NO_LISTS, NO_LINE
        self._used, self._free = np.zeros(1, np.int64), np.array([0, -1])
        self._pack_at = LEAST_PACKED
        self.walked_to = NOTHING_YET
        self.looked = self.near = 0  # how many distances were worked out, how many pairs are near

    # ----- numbers

    def learn(self, queries: I64, radius: F64, stay: I64) -> None:
        """What these queries ask, unless they are known."""
        slots = self.queries.number(queries[:, None])
        n = len(self.queries)
        known, reach, wide, still = (column.up_to(n) for column in self._by_query)
        for line in self._lines:
            line.up_to(n)
        known[slots], self._stay.up_to(n)[slots] = radius, stay
        reach[slots] = self._squares(radius)
        apart, near = self._squares(self._reached(radius)), self._squares(radius * STILL)
        is_exact = (radius >= LEAST_RADIUS) & np.isfinite(apart)  # else each step is looked at
        wide[slots] = np.where(is_exact, apart, reach[slots])
        still[slots] = np.where(is_exact, near * (1 - ROUNDING), -1.0)

    def _reached(self, radius: F64) -> F64:
        """How far from each other anchors may be of two that are near."""
        return np.asarray(radius * (1 + 2 * STILL) * (1 + ROUNDING))

    def _squares(self, radius: F64) -> F64:
        if self.is_globe:
            return np.asarray(chords_within(radius))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(radius >= 0, radius * radius, -1.0)

    def placed(self, query: I64, side: int, keys: Column, x: F64, y: F64) -> Placed:
        """Rows of a side; NaN stands for who is nowhere."""
        at = vectors(x, y) if self.is_globe else np.column_stack([x, y, np.zeros(len(x))])
        return self._numbered(query, side, keys, at)

    def _numbered(self, query: I64, side: int, keys: Column, at: F64) -> Placed:
        """Who comes together is numbered by where it is."""
        slot = self.queries.find(query[:, None])
        flat = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
        codes, _ = code(flat, self.key_types[side], self.texts)
        rows = np.column_stack([SIDES * slot + side, codes])
        at[np.isnan(at).any(axis=1)] = np.nan
        cell = self._cells(at, self._by_query[0].up_to(len(self.queries))[slot])
        new = np.flatnonzero(self.objects.find(rows) < 0)
        self.objects.number(rows[new[np.lexsort((cell[new, 0], cell[new, 1]))]])
        return Placed(self.objects.number(rows), at, cell)

    def _cells(self, at: F64, radius: F64) -> I64:
        reached = self._reached(radius)
        if self.is_globe:
            return np.column_stack([cells_of(axis, reached * FOLD_STRETCH) for axis in folded(at)])
        return np.column_stack([cells_of(at[:, axis], reached) for axis in range(2)])

    # ----- for the kernels

    def crowd(self) -> Crowd:
        """With room for all that are numbered."""
        n = len(self.objects)
        if n > len(self._at):
            more = np.full((2 * n - len(self._at), 3), np.nan)
            self._at, self._anchor = (np.concatenate([at, more]) for at in (self._at, self._anchor))
        self._party.up_to(n)[self._known : n] = self.objects.rows[self._known :, 0]
        self._known = n
        crowd = Crowd(
            self._at, self._anchor, self._party.all, self._bucket.up_to(n), self._next.up_to(n),
            self._before.up_to(n), self._mark.up_to(n), self._head, self._marks,
        )  # fmt: skip
        return crowd if 2 * n <= len(self._head) else self._with_buckets(crowd, n)

    def _with_buckets(self, crowd: Crowd, n: int) -> Crowd:
        """Chains anew, since there are more buckets."""
        self._head = np.full(1 << (4 * n - 1).bit_length(), -1, np.int32)
        crowd = crowd._replace(head=self._head)
        crowd.bucket[:] = NOWHERE
        there = np.flatnonzero(~np.isnan(crowd.anchor[: len(self.objects), 0]))
        radius = self._by_query[0].up_to(len(self.queries))[crowd.party[there] // SIDES]
        enter_all(crowd, there, self._cells(crowd.anchor[there], radius))
        return crowd

    def partners(self) -> Partners:
        n = len(self.objects)
        partners = Partners(self._span.up_to(n), *self.lists, self._used)
        if self._used[0] > self._pack_at:
            partners = packed(partners, n)
            self.lists = (partners.other, partners.since)
            self._pack_at = 2 * int(self._used[0]) + LEAST_PACKED
        return partners

    def waiting(self) -> Waiting:
        first, last = (line.up_to(len(self.queries)) for line in self._lines)
        one, other, since, behind = self.line
        return Waiting(first, last, one, other, since, behind, self._free)

    def asked(self) -> Asked:
        n = len(self.queries)
        _, reach, wide, still = (column.up_to(n) for column in self._by_query)
        return Asked(reach, wide, still, self._stay.up_to(n), self.is_self)

    def walk(self, queries: I64, starts: I64, moves: Moves, closed_to: int) -> I64:
        """What is told: left, right, tick, sign."""
        told, partners, waiting = walk_company(
            self.crowd(), self.partners(), self.waiting(), self.asked(), queries, starts, moves, closed_to
        )
        self.lists = (partners.other, partners.since)
        self._take(waiting)
        self.walked_to = max(self.walked_to, closed_to)
        self.looked += told.looked
        self.near += told.more
        return told.rows

    def _take(self, waiting: Waiting) -> None:
        self.line = (waiting.one, waiting.other, waiting.since, waiting.next)
        self._free = waiting.used

    # ----- when somebody is due

    def _open(self) -> tuple[I64, I64]:
        """The queries, by slot, in whose lines somebody waits; when the first is due. It may have parted."""
        n, since = len(self.queries), self.line[2]
        first = self._lines[0].up_to(n)[:n]
        slots = np.flatnonzero(first >= 0)
        return slots, since[first[slots]] + self._stay.up_to(n)[slots]

    @property
    def next_due(self) -> int:
        return int(self._open()[1].min(initial=NEVER))

    def is_due(self, tick: int) -> I64:
        """The queries, by slot, that have somebody due up to a tick."""
        slots, due = self._open()
        return np.asarray(slots[due <= tick])

    # ----- what is known of pairs and objects

    def pairs(self) -> tuple[I64, I64, I64]:
        """All that are near, by objects, each once; and since when."""
        one, other, since = pairs_of(self.partners(), len(self.objects))
        return one, other, since

    def stay_of(self, objects: I64) -> I64:
        n = len(self.queries)
        return np.asarray(self._stay.up_to(n)[self.objects.rows[objects, 0] // SIDES])

    def query_of(self, objects: I64) -> I64:
        return np.asarray(self.queries.rows[self.objects.rows[objects, 0] // SIDES, 0])

    def keys(self, objects: I64, side: int) -> pa.Array:
        codes = np.ascontiguousarray(self.objects.rows[objects, 1])
        return decoded(codes, None, self.key_types[side], self.texts)

    @property
    def alive(self) -> I64:
        n = len(self.objects)
        return np.flatnonzero(~np.isnan(self._at[:n, 0]))

    def tidy(self, again: Any, is_due: bool = False) -> None:
        """Objects that are nowhere keep their numbers until most are such; then all are numbered anew."""
        if self.waste.is_too_much(len(self.objects), lambda: len(self.alive), is_due):
            again(self.saved())

    # ----- saved and restored

    def saved(self, without: I64 | None = None) -> dict[str, pa.Table]:
        """But for some queries."""
        there, tables = self.alive, dict[str, pa.Table]()
        if without is not None:
            there = there[~np.isin(self.query_of(there), without)]
        side = self.objects.rows[there, 0] % SIDES
        there = there[np.argsort(side, kind="stable")]
        for number, name in enumerate(("left", "right")):
            mine = there[self.objects.rows[there, 0] % SIDES == number]
            axes = dict(zip("xyz", self._at[mine].T, strict=True))
            tables[name] = pa.table({"query": self.query_of(mine), "key": self.keys(mine, number), **axes})
        place = np.full(len(self.objects), -1)
        place[there] = np.arange(len(there))
        one, other, since = self.pairs()
        is_kept = place[one] >= 0
        pairs = {"one": place[one][is_kept], "other": place[other][is_kept], "since": since[is_kept]}
        return {**tables, "pairs": pa.table(pairs), "walked": pa.table({"to": [self.walked_to]})}

    def restore(self, tables: dict[str, pa.Table], asked: Any) -> None:
        """`asked` says what queries ask: their radius, and how long company has to last."""
        self.begin()
        (walked_to,) = tables["walked"].column("to").to_pylist()
        parts = [self._restored(tables[name], side, asked) for side, name in enumerate(("left", "right"))]
        one, at, cell = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        slot = self.objects.rows[one, 0] // SIDES
        order = np.argsort(slot, kind="stable")
        slots = np.unique(slot)
        starts = np.append(np.searchsorted(slot[order], slots), len(order))
        tick = np.full(len(order), walked_to)
        self.walk(slots, starts, Moves(tick, one[order], at[order], cell[order]), walked_to)
        pairs = tables["pairs"]
        self._set_pairs(int64_of(pairs, "one"), int64_of(pairs, "other"), int64_of(pairs, "since"), one)

    def _restored(self, table: pa.Table, side: int, asked: Any) -> Placed:
        query = int64_of(table, "query")
        self.learn(query, *asked(query))
        at = np.column_stack([table.column(axis).to_numpy() for axis in "xyz"]).reshape(-1, 3)
        return self._numbered(query, side, table.column("key"), at)

    def _set_pairs(self, one: I64, other: I64, since: I64, numbers: I64) -> None:
        """They have been near since then; those that are not long enough wait, in their order."""
        one, other = numbers[one], numbers[other]
        set_since(self.partners(), one, other, since)
        is_open = np.flatnonzero(since + self.stay_of(one) > self.walked_to)
        is_open = is_open[np.argsort(since[is_open], kind="stable")]
        for line in self._lines:
            line.up_to(len(self.queries))[:] = -1
        self.line, self._free = NO_LINE, np.array([0, -1])
        slot = self.objects.rows[one[is_open], 0] // SIDES
        self._take(wait_all(self.waiting(), slot, one[is_open], other[is_open], since[is_open]))
