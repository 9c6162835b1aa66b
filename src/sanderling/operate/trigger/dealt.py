"""Sightings of all branches to events: put in their order, numbered, and dealt to triggers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import I32, I64, Bools, key_ranks
from sanderling.kernels.order import ordered_by
from sanderling.kernels.trigger.deal import NOBODY, Sighted
from sanderling.operate.sql.rows.codes import Column
from sanderling.operate.trigger.sightings import Sightings


class Arrived(NamedTuple):
    """Sightings of all branches behind each other, by event; `rows` says where each came."""

    rows: I64
    event: I64  # from 0 on
    branch: I64
    is_first: Bools  # of its event
    once: list[tuple[I64, I64]]  # by branch: its events, and a row of each in the branch

    @property
    def events(self) -> int:
        return int(self.event[-1]) + 1

    def of_events(self, columns: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """A column of all branches, by event."""
        return np.concatenate(list(columns))[self.rows[self.is_first]]

    def sighted(self, came: Sequence[Sightings]) -> Sighted:
        first = np.cumsum([0, *(len(some) for some in came)]).tolist()
        begin = np.concatenate([some.start[:-1] + at for some, at in zip(came, first, strict=False)])
        end = np.concatenate([some.start[1:] + at for some, at in zip(came, first, strict=False)])
        query = np.concatenate([some.query for some in came])
        return Sighted(self.event, self.branch, begin[self.rows], end[self.rows], query)


def arrived(came: Sequence[Sightings], stream_of: Sequence[int]) -> Arrived:
    """In order of time, stream and key, over all shards and branches."""
    sizes = [len(some.tick) for some in came]
    branch = np.repeat(np.arange(len(came)), sizes)
    stream = np.asarray(stream_of)[branch]
    ts = np.concatenate([int64(some.columns[0]) for some in came])
    key = np.empty(len(ts), np.int64)
    for which in np.flatnonzero(np.bincount(stream)):
        keys = [some.columns[1] for some, s in zip(came, stream_of, strict=True) if s == which]
        key[stream == which] = key_ranks(pa.chunked_array([c for some in keys for c in _chunks(some)]))
    rows = np.arange(len(ts))
    for column in (key, stream, ts):  # the last one counts most
        rows = ordered_by(rows, column)
    is_first = begins(ts[rows]) | begins(stream[rows]) | begins(key[rows])
    event, branch = np.cumsum(is_first) - 1, branch[rows]
    once = []
    for number, before in enumerate(np.cumsum([0, *sizes[:-1]]).tolist()):
        mine = np.flatnonzero(branch == number)
        mine = mine[begins(event[mine])]
        once.append((event[mine], rows[mine] - before))
    return Arrived(rows, event, branch, is_first, once)


def taker_of(triggers: I64, query: I32) -> I64:
    """By number of a query which of the triggers it is, or NOBODY."""
    taker = np.full(1 + max(int(query.max(initial=0)), int(triggers.max(initial=0))), NOBODY)
    taker[triggers] = np.arange(len(triggers))
    return taker


def begins(values: I64) -> Bools:
    """Where a value differs from the one before."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def int64(column: Column) -> I64:
    return np.asarray(column.to_numpy(), np.int64)


def _chunks(column: Column) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]
