"""When composed queries begin and end, of what the shards of all their streams tell.

registered from the start     begins with the first reading of any stream: before it there is nothing
registered while streams run  begins when all have begun with it: a stream behind waits for those ahead
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import I64, Bools
from sanderling.batches import TURNS
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.state.frame import Frame


@dataclass(frozen=True, slots=True)
class Turned:
    """Which queries begin now, and at which tick; those that were waited for among them; those that end."""

    begun: I64
    begin: I64
    is_joined: Bools
    ended: I64
    end: I64


NOBODY = np.empty(0, np.int64)
NO_TURNS = Turned(NOBODY, NOBODY, np.empty(0, np.bool_), NOBODY, NOBODY)


class Turns:
    """The turns of the queries of one tree.

    Promise (tests/engine/test_joining.py): in whichever batches streams come, a query begins at the same
    tick.
    """

    def __init__(self) -> None:
        self.told = TURNS.empty_table()
        self.begun: I64 = np.empty(0, np.int64)
        self.joining: I64 = np.empty(0, np.int64)  # registered while streams run, and not begun

    def join(self, queries: I64) -> None:
        """These have been registered while streams run."""
        self.joining = np.union1d(self.joining, queries).astype(np.int64)

    def forget(self, queries: I64) -> None:
        is_left = ~np.isin(self.told.column("query").to_numpy(), queries)
        self.told = self.told.filter(pa.array(is_left))
        self.begun = np.setdiff1d(self.begun, queries)
        self.joining = np.setdiff1d(self.joining, queries)

    def saved(self) -> Frame:
        queries = {"begun": self.begun, "joining": self.joining}
        return Frame({"told": self.told, **{n: pa.table({"query": q}) for n, q in queries.items()}})

    def restore(self, frame: Frame) -> None:
        self.told = frame.tables["told"]
        self.begun, self.joining = (
            np.asarray(frame.tables[name].column("query").to_numpy(), np.int64)
            for name in ("begun", "joining")
        )

    def take(self, told: pa.Table, ready: int, running: Sequence[str]) -> Turned:
        """After a batch: `ready` is the tick that all streams have closed, `running` those that go on."""
        if not (self.told.num_rows or told.num_rows or len(self.joining)):
            return NO_TURNS  # as in most batches, however many queries there are
        self.told = pa.concat_tables([self.told, told])
        query, tick, sign = (self.told.column(c).to_numpy() for c in ("query", "tick", "sign"))
        is_joining = np.isin(query, self.joining)
        is_now = (tick <= ready) & ~(is_joining & (sign > 0))
        begun, begin = _firsts(query[is_now & (sign > 0)], tick[is_now & (sign > 0)])
        is_new = ~np.isin(begun, self.begun)
        ended, end = _firsts(query[is_now & (sign < 0)], tick[is_now & (sign < 0)])
        joined, at = self._joined(ready, running)
        joined, at = joined[~np.isin(joined, ended)], at[~np.isin(joined, ended)]
        is_joined = np.repeat([False, True], [int(is_new.sum()), len(joined)])
        queries, ticks = np.concatenate([begun[is_new], joined]), np.concatenate([begin[is_new], at])
        turned = Turned(queries, ticks, is_joined, ended, end)
        # In one piece: of every batch there would be one, mostly an empty one, for ever.
        self.told = self.told.filter(pa.array(~is_now & ~np.isin(query, joined))).combine_chunks()
        self.joining = np.setdiff1d(self.joining, np.concatenate([joined, ended]))
        self.begun = np.setdiff1d(np.union1d(self.begun, turned.begun), ended)
        return turned

    def _joined(self, ready: int, running: Sequence[str]) -> tuple[I64, I64]:
        """Those of the joining that all running streams have begun with, up to the tick that is ready."""
        queries = self.joining
        begins = self.told.filter(pa.array(self.told.column("sign").to_numpy() > 0))
        latest, earliest = np.full(len(queries), NOTHING_YET), np.full(len(queries), NEVER)
        is_told_by_all = np.ones(len(queries), np.bool_)
        for stream in begins.column("stream").unique().to_pylist():
            mine = begins.filter(pc.equal(begins.column("stream"), stream))
            has_past = mine.column("has_past").to_numpy(zero_copy_only=False).astype(np.bool_)
            query, tick = mine.column("query").to_numpy(), mine.column("tick").to_numpy()
            # A stream that had readings before begins with all of them; one that had none misses nothing.
            latest = np.maximum(latest, _at(queries, *_firsts(query[has_past], tick[has_past]), NOTHING_YET))
            earliest = np.minimum(earliest, _at(queries, *_firsts(query, tick), NEVER))
            if stream in running:
                is_told_by_all &= np.isin(queries, query)
        if not set(running) <= set(begins.column("stream").unique().to_pylist()):
            is_told_by_all[:] = False
        at = np.where(latest == NOTHING_YET, earliest, latest)
        is_joined = is_told_by_all & (at <= ready)
        return queries[is_joined], at[is_joined]


def _firsts(queries: I64, ticks: I64) -> tuple[I64, I64]:
    """Each query once, with its first tick."""
    order = np.lexsort((ticks, queries))
    found, row = np.unique(queries[order], return_index=True)
    return found.astype(np.int64), ticks[order][row].astype(np.int64)


def _at(queries: I64, known: I64, ticks: I64, otherwise: int) -> I64:
    found = np.full(len(queries), otherwise)
    is_known = np.isin(queries, known)
    found[is_known] = ticks[np.searchsorted(known, queries[is_known])]
    return found
