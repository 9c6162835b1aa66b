"""TESSELLATE: of each tile the last n rows, by time and key.

rows that come ──► of several tiles the one with the smallest key ─┐
rows of a table that go ──► tiles that go ─────────────────────────┴─► rings, in order of time ──► what comes,
                                                                                   and what it pushes out
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64
from sanderling.kernels.tessellate.rings import NOBODY
from sanderling.operate.sql.rows.codes import Column
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tessellate.rings import ENDLESS, Tiles
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes


class Latest:
    """Promises (tests/operate/test_latest.py): exact at every tick, however batches are cut; what is held are
    n rows of each tile that is there, and no more.
    """

    def __init__(self, node: nodes.Latest):
        self.node = node

    def new_state(self, at: None) -> Tiles:
        return Tiles([t.arrow for t in self.node.types], self.node.tile)

    def apply(self, state: Tiles, given: Changes) -> Signed:
        coming = self._in_order(given.inputs[0])
        row = state.number(coming.query, coming.columns)
        tile = state.tiles_of(row)
        state.came.up_to(len(state.numbered))[row] = coming.tick
        going, end = self._going(state, given.inputs[1]) if len(given.inputs) > 1 else (NONE, NONE)
        tiles, ticks = np.concatenate([going, tile]), np.concatenate([end, coming.tick])
        rows = np.concatenate([np.full(len(going), NOBODY), row])
        # A tile that goes is not there in that tick; what comes in it then comes after.
        order = np.argsort(ticks, kind="stable")
        gone, when = state.walk(self.node.n, tiles[order], rows[order], ticks[order])
        came = state.came.up_to(len(state.numbered))
        is_seen = came[gone] != when
        stays = came[row] != self._left(state, gone, when)[row]
        told = np.concatenate([row[stays], gone[is_seen]])
        tick = np.concatenate([coming.tick[stays], when[is_seen]])
        sign = np.repeat([1, -1], [int(stays.sum()), int(is_seen.sum())])
        found = Signed(state.owner[told], tick, sign, state.columns(told))
        state.tidy()
        return found

    def _left(self, state: Tiles, gone: I64, when: I64) -> I64:
        """By row when it left, if it did so now."""
        left = np.full(len(state.numbered), ENDLESS)
        left[gone] = when
        return left

    def _in_order(self, rows: Signed) -> Signed:
        """What comes, by time and key; what is in several tiles is in the one with the smallest key."""
        node, rows = self.node, rows.take(np.flatnonzero(rows.sign > 0))
        by = [rows.query, *(_ranks(rows.columns[column]) for column in (node.time, node.key))]
        if node.table is None:
            return rows.take(np.lexsort(tuple(reversed(by))))
        order = np.lexsort((_ranks(rows.columns[node.tile]), *reversed(by)))
        same = np.column_stack(by)[order]
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (same[1:] != same[:-1]).any(axis=1)
        return rows.take(order[is_first])

    def _going(self, state: Tiles, table: Signed) -> tuple[I64, I64]:
        """Tiles whose row goes, and when; one that comes in the same tick goes on."""
        changes = table.consolidated()
        goes = np.flatnonzero(changes.sign < 0)
        if not len(goes):
            return NONE, NONE
        tiles, ticks = [], []
        for tick in np.unique(changes.tick[goes]):  # tables change rarely
            some = changes.take(goes[changes.tick[goes] == tick])
            found, _ = state.called(some.columns[0])
            tiles.append(found)
            ticks.append(np.full(len(found), tick))
        return np.concatenate(tiles), np.concatenate(ticks)

    def present(self, state: Tiles, queries: I64, tick: int) -> Signed:
        rows = state.alive
        rows = rows[np.isin(state.owner[rows], queries)]
        n = len(rows)
        return Signed(state.owner[rows], np.full(n, tick), np.ones(n, np.int64), state.columns(rows))

    def forget(self, state: Tiles, queries: I64) -> None:
        state.forget(queries)
        state.tidy(is_due=True)

    def held(self, state: Tiles) -> int:
        return len(state.alive)

    def saved(self, state: Tiles) -> dict[str, pa.Table]:
        return {"rows": state.saved()}

    def restore(self, state: Tiles, tables: dict[str, pa.Table]) -> None:
        state.restore(tables["rows"])


NONE = np.empty(0, np.int64)


def _ranks(column: Column) -> I64:
    """By row the place of its value among all."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    ranks = pc.rank(flat, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy(), np.int64)
