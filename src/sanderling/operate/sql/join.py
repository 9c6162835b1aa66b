"""JOIN: pairs of rows that are equal in their keys, or near; a row without a partner alone, if asked.

changes of the left  ──► the right as it was ─┐
changes of the right ──► the left as it was  ─┼─► pairs, each at the later of its two ticks
changes of the left  ──► those of the right  ─┘

That is all for any number of ticks at once: the sign of a pair is the product of both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.kernels.partners import Chains, Places, find_partners, link_all
from sanderling.kernels.sql.steps import walk_pads
from sanderling.operate.sql.codes import as_doubles, common_type, new_texts
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.numbered import Grown, Numbered, Waste
from sanderling.operate.sql.order import by_row_and_time
from sanderling.operate.sql.side import Coming, Shape, Side
from sanderling.operate.sql.signed import NO_QUERY, Signed
from sanderling.plans import nodes as tree
from sanderling.plans.nodes import is_table

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Pairs = tuple[I64, I64, I64, I64]  # left row, right row (-1: none), tick, sign


class Join:
    """Promises (tests/operate/test_join.py): exact, whatever the order, the cut and the ticks; cost by what
    changes and what it meets.
    """

    def __init__(self, node: tree.Join, constants: Constants):
        self.node = node
        self.constants = constants
        self.has_table = is_table(node.left) or is_table(node.right)
        if node.is_left and is_table(node.left) and not is_table(node.right):
            raise ValueError("rows of a table belong to no query: they cannot stand alone for one")
        self.waste = Waste()
        self._begin()

    def _begin(self) -> None:
        node, texts = self.node, new_texts()
        types = [[t.arrow for t in side.types] for side in (node.left, node.right)]
        key_types = tuple(
            common_type(types[0][i], types[1][j])
            for i, j in zip(node.left_keys, node.right_keys, strict=True)
        )
        near = node.near
        self.left, self.right = (
            Side(Shape(tuple(t), keys, key_types, place, not self.has_table, self.is_in_cells), texts)
            for t, keys, place in (
                (types[0], node.left_keys, near.left if near else None),
                (types[1], node.right_keys, near.right if near else None),
            )
        )
        cells = 2 if self.is_in_cells else 0
        self.keys = Numbered(1 + len(key_types) + cells)
        self._lobby = Grown(-1, np.int64)  # by key, the first of the changes that are coming in

    @property
    def is_in_cells(self) -> bool:
        """The size of cells is a query's, and a table's rows are for all queries: they do without."""
        return self.node.near is not None and not self.has_table

    def apply(self, inputs: Sequence[Signed], begun: Signed) -> Signed:
        left, right = (
            side.number(changes, self._radius(changes.query), self.keys)
            for side, changes in zip((self.left, self.right), inputs, strict=True)
        )
        pairs = self._pairs(left, right)
        self._take_in(left, right)
        told = self._told(*pairs)
        self._tidy(is_due=False)
        return told

    def _take_in(self, left: Coming, right: Coming) -> None:
        self.left.take_in(left.row, left.sign, len(self.keys))
        self.right.take_in(right.row, right.sign, len(self.keys))

    def _radius(self, query: I64) -> F64 | None:
        """How far each query looks; NaN for rows of no query, below 0 if nowhere."""
        if self.node.near is None:
            return None
        radius, is_null = as_doubles(self.constants.computed(self.node.near.radius, query))
        return np.where(query == NO_QUERY, np.nan, np.where(is_null | np.isnan(radius), -1.0, radius))

    def _pairs(self, left: Coming, right: Coming) -> Pairs:
        """Changes of the left against the right as it was, the other way round, and changes with changes."""
        probes_left, probes_right = self._probes(left), self._probes(right)
        keys = len(self.keys)
        i, met_right = self._find(probes_left, self.right.chains(keys), left.places, self.right.places())
        j, met_left = self._find(probes_right, self.left.chains(keys), right.places, self.left.places())
        lobby = self._in_lobby(right)
        i_new, j_new = self._find(probes_left, lobby, left.places, right.places)
        lobby.head[right.key[right.key >= 0]] = -1
        met = (
            (left.row[i], met_right, left.tick[i], left.sign[i] * self.right.count[met_right]),
            (met_left, right.row[j], right.tick[j], self.left.count[met_left] * right.sign[j]),
            (
                left.row[i_new],
                right.row[j_new],
                np.maximum(left.tick[i_new], right.tick[j_new]),
                left.sign[i_new] * right.sign[j_new],
            ),
        )
        alone = self._alone(left, right, (i, met_right), (j, met_left), (i_new, j_new))
        rows, others, ticks, signs = (np.concatenate(c) for c in zip(*met, *alone, strict=True))
        return rows, others, ticks, signs

    def _alone(
        self, left: Coming, right: Coming, old_right: tuple[I64, I64], old_left: tuple[I64, I64],
        new: tuple[I64, I64],
    ) -> list[Pairs]:  # fmt: skip
        """Rows of the left that come to stand alone, or cease to; their number of partners is kept."""
        if not self.node.is_left:
            return []
        # A row that comes now counts its partners once, however many changes it has in this batch.
        _, first = np.unique(left.row, return_index=True)
        is_counting = np.zeros(len(left.row), np.bool_)
        is_counting[first] = True
        is_counting &= self.left.count[left.row] == 0
        matches = self.left.matches
        matches[left.row[is_counting]] = 0
        (i, met), (j, row), (i_new, j_new) = old_right, old_left, new
        np.add.at(matches, left.row[i[is_counting[i]]], self.right.count[met[is_counting[i]]])
        i_new, j_new = i_new[is_counting[i_new]], j_new[is_counting[i_new]]
        rows = np.concatenate([left.row, row, left.row[i_new]])
        ticks = np.concatenate([left.tick, right.tick[j], right.tick[j_new]])
        own = np.concatenate([left.sign, np.zeros(len(j) + len(j_new), np.int64)])
        partners = np.concatenate([np.zeros(len(left.row), np.int64), right.sign[j], right.sign[j_new]])
        order = by_row_and_time(rows, ticks)
        row, tick, sign = walk_pads(order, rows, ticks, own, partners, self.left.count, matches)
        return [(row, np.full(len(row), -1), tick, sign)]

    def _probes(self, coming: Coming) -> I64:
        """The keys under which a row's partners may be: its own, or those of the cells around it."""
        if not self.is_in_cells:
            return coming.key[:, None]
        return self.keys.find_around(coming.key_codes, coming.key >= 0)

    def _find(self, probes: I64, chains: Chains, mine: Places, theirs: Places) -> tuple[I64, I64]:
        near = self.node.near
        is_open = near is not None and near.is_open
        return find_partners(probes, chains, near is not None, is_open, mine, theirs)

    def _in_lobby(self, coming: Coming) -> Chains:
        """The changes that are coming in, in chains of their own."""
        n = len(coming.key)
        chains = Chains(self._lobby.up_to(len(self.keys)), np.empty(n, np.int64), np.empty(n, np.int64))
        link_all(chains, coming.key)
        return chains

    def _told(self, row: I64, other: I64, tick: I64, sign: I64) -> Signed:
        query = self.right.query(other) if is_table(self.node.left) else self.left.query(row)
        return Signed(query, tick, sign, [*self.left.columns(row), *self.right.columns(other)])

    def _tidy(self, is_due: bool) -> None:
        known = len(self.left.numbered) + len(self.right.numbered)
        if self.waste.is_too_much(known, self.held, is_due):
            self.restore(self.saved())

    def forget(self, queries: I64) -> None:
        for side in (self.left, self.right):
            side.forget(queries, len(self.keys))
        self._tidy(is_due=True)

    def held(self) -> int:
        return len(self.left.alive) + len(self.right.alive)

    def saved(self) -> dict[str, pa.Table]:
        return {"left": self.left.saved(), "right": self.right.saved()}

    def restore(self, tables: dict[str, pa.Table]) -> None:
        self._begin()
        for side, table in ((self.left, tables["left"]), (self.right, tables["right"])):
            query, count = table.column("query").to_numpy(), table.column("count").to_numpy()
            rows = Signed(query, np.zeros(len(query), np.int64), count, table.columns[3:])
            coming = side.number(rows, self._radius(query), self.keys)
            side.take_in(coming.row, coming.sign, len(self.keys))
            side.set_matches(coming.row, table.column("matches").to_numpy())
