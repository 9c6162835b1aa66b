"""NN: rows with the k nearest of another side.

changes of both sides, query by query and tick by tick, in a kernel ──► pairs that come and go
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import F64, I64, Bools
from sanderling.kernels.sql.neighbours import Changes as Changed
from sanderling.kernels.sql.neighbours import Of, Seekers, Sought, walk_neighbours
from sanderling.operate.sql.rows.codes import Coder, Column, as_doubles, code, new_texts
from sanderling.operate.sql.rows.multiset import Multiset
from sanderling.operate.sql.rows.numbered import Grown
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.route.keys import Keys
from sanderling.space.metric import ON_GLOBE, ON_PLANE, spread

# No object has such a key; NULL equals nothing.
NOBODY = int(np.iinfo(np.int64).min)


class Placed(Multiset):
    """Rows of one side with their places, and codes of their keys, if somebody asks for them.

    How far a row reaches is not known at first: so it looks once more than it has to.
    """

    def __init__(
        self,
        types: list[pa.DataType],
        place: tuple[int, int],
        is_globe: bool,
        key: int | None,
        keys: Keys,
        nobody: int,
    ):
        """`nobody` stands for a key that is NULL, and differs from that of the other side."""
        self.place, self.is_globe = place, is_globe
        self.key, self.keys, self.nobody = key, keys, nobody
        super().__init__(types)

    def _begin(self) -> None:
        super()._begin()
        self._at = Grown(np.nan, np.float64, ON_GLOBE if self.is_globe else ON_PLANE)
        self._reach = Grown(np.inf, np.float64)
        self._own = Grown(-1, np.int64)

    def number(self, owner: I64, columns: list[Column]) -> I64:
        rows = super().number(owner, columns)
        n = len(self.numbered)
        x, y = (np.where(is_null, np.nan, v) for v, is_null in (as_doubles(columns[c]) for c in self.place))
        self._at.up_to(n)[rows] = spread(x, y, self.is_globe)
        if self.key is not None:
            column = columns[self.key]
            flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            codes, has_none = code(flat, self.types[self.key], self.keys)
            self._own.up_to(n)[rows] = codes if has_none is None else np.where(has_none, self.nobody, codes)
        return rows

    @property
    def at(self) -> F64:
        return np.asarray(self._at.up_to(len(self.numbered)))

    @property
    def own(self) -> I64:
        return np.asarray(self._own.up_to(len(self.numbered)))

    @property
    def reach(self) -> F64:
        return np.asarray(self._reach.up_to(len(self.numbered)))

    def somewhere(self, rows: I64) -> Bools:
        """What is nowhere is nobody's neighbour, and has none."""
        return np.asarray(~np.isnan(self.at[rows]).any(axis=1))

    def of(self, queries: I64, coming: I64) -> Of:
        """The rows of these queries that are there or come, and are somewhere."""
        rows = np.union1d(self.alive, coming).astype(np.int64)
        rows = rows[np.isin(self.owner[rows], queries) & self.somewhere(rows)]
        rows = rows[np.argsort(self.owner[rows], kind="stable")]
        ends = np.searchsorted(self.owner[rows], queries, "right")
        return Of(rows, np.append(0, ends).astype(np.int64))


class NeighboursState:
    def __init__(self, node: nodes.Neighbours):
        one, other = node.other or (None, None)
        keys = new_texts()
        self.left = Placed(
            [t.arrow for t in node.left.types], node.left_place, node.is_globe, one, keys, NOBODY
        )
        self.right = Placed(
            [t.arrow for t in node.right.types], node.right_place, node.is_globe, other, keys, NOBODY + 1
        )
        self.looked = 0  # places that were compared, so far


class Neighbours:
    """Promises (tests/operate/test_neighbours.py): exact at every tick, however batches are cut, as SciPy's
    tree finds them; what is gone is freed; a row that nothing changes within its reach is not looked at.
    """

    def __init__(self, node: nodes.Neighbours):
        self.node = node

    def new_state(self, at: None) -> NeighboursState:
        return NeighboursState(self.node)

    def apply(self, state: NeighboursState, given: Changes) -> Signed:
        left, right = given.inputs
        rows = [side.number(c.query, c.columns) for side, c in ((state.left, left), (state.right, right))]
        is_right = np.repeat([False, True], [len(left), len(right)])
        row, query = np.concatenate(rows), np.concatenate([left.query, right.query])
        tick, sign = np.concatenate([left.tick, right.tick]), np.concatenate([left.sign, right.sign])
        order = np.lexsort((tick, query))
        queries = np.unique(query)
        starts = np.append(np.searchsorted(query[order], queries), len(order))
        lefts, rights = state.left.of(queries, rows[0]), state.right.of(queries, rows[1])
        told = walk_neighbours(
            self.node.k, self.node.other is not None, _seekers(state.left),
            _sought(state.right, ranked(state.right, rights.rows, self.node.ties)), lefts, rights,
            Changed(is_right[order], row[order], tick[order], sign[order], starts),
        )  # fmt: skip
        state.looked += told.looked
        one, other, at, times = told.pairs[: told.n].T
        columns = [*state.left.columns(one), *state.right.columns(other)]
        found = Signed(state.left.owner[one], at, times, columns)
        for side in (state.left, state.right):
            side.tidy()
        return found

    def forget(self, state: NeighboursState, queries: I64) -> None:
        for side in (state.left, state.right):
            side.forget(queries)
            side.tidy(is_due=True)

    def held(self, state: NeighboursState) -> int:
        return len(state.left.alive) + len(state.right.alive)

    def saved(self, state: NeighboursState) -> dict[str, pa.Table]:
        return {"left": state.left.saved(), "right": state.right.saved()}

    def restore(self, state: NeighboursState, tables: dict[str, pa.Table]) -> None:
        state.left.restore(tables["left"])
        state.right.restore(tables["right"])


def _seekers(side: Placed) -> Seekers:
    return Seekers(side.at, side.count, side.own, side.reach)


def _sought(side: Placed, rank: I64) -> Sought:
    return Sought(side.at, side.count, side.own, rank)


def ranked(side: Placed, rows: I64, ties: tuple[int, ...]) -> I64:
    """By row its place in the order of these columns, the smaller and NULL before, among some rows."""
    rank = np.zeros(len(side.at), np.int64)
    codes, coder = side.numbered.rows[rows, 1:], side.coder
    keys: list[I64] = []
    for column in ties:
        found = codes[:, coder.place(column)]
        if pa.types.is_string(coder.types[column]):
            found = text_places(coder)[found]
        keys += [(~coder.is_null(codes, column)).astype(np.int64), found]
    order = np.lexsort(tuple(reversed(keys)))
    rank[rows[order]] = np.arange(len(rows))
    return rank


def text_places(coder: Coder) -> I64:
    """By code of a text its place among all, in the order of their bytes."""
    texts = coder.texts.all
    places = np.zeros(max(len(texts), 1), np.int64)
    places[pc.array_sort_indices(texts).to_numpy()] = np.arange(len(texts))
    return places
