"""Which merge partitions search for which events of a trigger: by space where it can be, else by query.

rows of a branch ──► the tract of each, and those that its halo touches ──► their merge partitions, once each

Each tract of a trigger has one merge partition for its home, which tells what events of the tract complete.
Elsewhere they are guests: they only wait for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import F64, I32, I64
from sanderling.batches import QUERIES
from sanderling.kernels.hashing import hash_integers
from sanderling.kernels.trigger.live import EDGE
from sanderling.kernels.trigger.sightings import dealt
from sanderling.kernels.trigger.tracts import UPWARD, Sides
from sanderling.kernels.trigger.tracts import reached as all_reached
from sanderling.plans import nodes
from sanderling.plans.columns import by_place
from sanderling.plans.nodes import solve_of
from sanderling.plans.plan import Plan
from sanderling.plans.trigger_space import WHOLE, side_of
from sanderling.route.sightings import lists_in, lists_of
from sanderling.space.metric import laid_flat

X, Y = by_place(2), by_place(3)  # of a branch's rows (plan/trigger/branches.py)


class Partition(NamedTuple):
    """A merge partition among all."""

    number: int
    of: int


ALONE = Partition(0, 1)


@dataclass(frozen=True, slots=True)
class Tracts:
    """Those of the triggers of one shape, which may differ in their halos.

    Promises (tests/properties/test_trigger_space.py):
      home   an event has one, whichever branch it comes from, and is sent there
      reach  an event is sent to the home of any other that is no further away than its halo
    """

    queries: I64  # in order
    halo: F64  # by trigger and branch
    side: F64
    is_globe: bool = False  # tracts are of the flat map, and so are the places that are asked about

    @classmethod
    def of(cls, node: nodes.Solve, queries: I64, constants: pa.Table) -> Tracts:
        """`queries` are in order, and so are their constants."""
        some = [constants.column(name).to_numpy() for c in node.halos for name in c.reads]
        halo = np.stack(some, axis=1).astype(np.float64)
        # In one tract that holds all, every event is at home.
        return cls(queries, np.where(halo == WHOLE, 0.0, halo), side_of(halo.max(axis=1)), node.is_globe)

    def home(self, query: I64, x: F64, y: F64, partitions: int) -> I64:
        """By event its merge partition."""
        side = self.side[self._trigger(query)]
        return _partition(query, _cell(x, side), _cell(y, side), partitions)

    def reached(self, branch: int, query: I64, x: F64, y: F64, partitions: int) -> I64:
        """By event those of the tracts within its halo: up to four, that of its home among them."""
        trigger = self._trigger(query)
        side, halo = self.side[trigger], self.halo[trigger, branch]
        # No number is too large or too small here: sums, quotients and cells grow with the place.
        xs, ys = ([_cell(at - halo, side), _cell(at + halo, side)] for at in (x, y))
        return np.stack([_partition(query, a, b, partitions) for a in xs for b in ys], axis=1)

    def shared_out(self, branch: int, rows: pa.Table, partitions: int) -> Iterator[tuple[int, pa.Table]]:
        """Sightings of a branch by merge partition."""
        start, query = lists_in(rows)
        x, y = laid_flat(floats(rows.column(X)), floats(rows.column(Y)), self.is_globe)
        to = all_reached(start, query, x, y, self.sides(), self.halos(branch), partitions)
        return _shares(rows, start, query, to, partitions)

    def sides(self) -> Sides:
        """As kernels take them."""
        side, which = np.unique(self.side, return_inverse=True)
        return Sides(which.astype(np.int32)[self._by_query()], side)

    def halos(self, branch: int) -> F64:
        """The same of halos."""
        return np.asarray(self.halo[self._by_query(), branch])

    def _by_query(self) -> I64:
        return self._trigger(np.arange(self.queries[-1] + 1))

    def _trigger(self, query: I64) -> I64:
        """By number; what has been dropped goes anywhere, since nobody takes it."""
        return np.minimum(np.searchsorted(self.queries, query), len(self.queries) - 1)


def by_query(rows: pa.Table, partitions: int) -> Iterator[tuple[int, pa.Table]]:
    """Sightings by merge partition, of triggers that are not routed by space."""
    start, query = lists_in(rows)
    return _shares(rows, start, query, (query % np.int32(partitions))[:, None], partitions)


def _shares(
    rows: pa.Table, start: I32, query: I32, to: I32, partitions: int
) -> Iterator[tuple[int, pa.Table]]:
    first, first_query, row, size, queries = dealt(start, query, to, partitions)
    place, rows = rows.column_names.index(QUERIES), rows.drop_columns(QUERIES)
    for number in np.flatnonzero(np.diff(first)).tolist():
        mine = slice(first[number], first[number + 1])
        some = rows if len(row[mine]) == rows.num_rows else rows.take(pa.array(row[mine]))
        own = queries[first_query[number] : first_query[number + 1]]
        yield number, some.add_column(place, QUERIES, lists_of(np.append(0, np.cumsum(size[mine])), own))


def tracts_of(plan: Plan) -> dict[int, tuple[int, Tracts]]:
    """By template of a branch whose rows are shared out by space: which branch it is, and the tracts."""
    found: dict[int, tuple[int, Tracts]] = {}
    for planned in plan.trees:
        node = solve_of(planned.root)
        if node is not None and node.halos and len(planned.queries):
            order = np.argsort(planned.queries, kind="stable")
            tracts = Tracts.of(node, planned.queries[order], planned.constants.take(pa.array(order)))
            found |= {template: (branch, tracts) for branch, template in enumerate(planned.branches)}
    return found


def floats(column: pa.Array | pa.ChunkedArray) -> F64:
    """Places as they are compared; what is missing is no number."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.asarray(flat.to_numpy(zero_copy_only=False)).astype(np.float64)


def _cell(place: F64, side: F64) -> I64:
    """Grows with the place, however large; no number is below all."""
    with np.errstate(over="ignore", invalid="ignore"):
        at = np.floor(place / side)
    return np.where(np.isnan(at), -EDGE, np.clip(at, -EDGE, EDGE)).astype(np.int64)


def _partition(query: I64, cell_x: I64, cell_y: I64, partitions: int) -> I64:
    """Dealt to one after the other, from left to right, so that few tracts are shared out evenly too.

    Every eight tracts dealing begins with another: what lies along a line is not all in one. The number of
    the query is added, so that many triggers share out even what happens in one tract.
    """
    # Not at 0, around which many have all their places.
    patch_x, patch_y = ((cell + 4) >> 3 for cell in (cell_x, cell_y))
    first = hash_integers(hash_integers(patch_x).view(np.int64) ^ patch_y)
    dealt = cell_x % partitions + UPWARD * (cell_y % partitions) + query
    return ((first % np.uint64(partitions)).astype(np.int64) + dealt) % partitions
