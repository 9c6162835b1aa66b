"""The order of all readings of a stream, as far as some window of the last of all reaches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64, Bools, key_ranks
from sanderling.clock import tick_ends
from sanderling.plans.plan import NEVER, StreamPlan

# A reading of a shard as one number: no shard holds so many.
SHARD = np.int64(1) << np.int64(44)
NOWHERE = -1


class Order:
    """The last readings of a stream, of all shards, in order of time and key, as far as some window reaches.

    Promise (tests/properties/test_window.py): a reading's place does not depend on shards or batches.
    """

    def __init__(self, plan: StreamPlan):
        self.tick_us = plan.stream.tick_us
        self.total = 0  # readings so far; those that are known are the last of them
        self.code: I64 = np.empty(0, np.int64)
        self.tick: I64 = np.empty(0, np.int64)
        # Not among the last when windows came that reach further, but shown to them by its shard.
        self.is_shown: Bools = np.empty(0, np.bool_)
        self.fresh = 0  # of those that are known, how many came since the last drain
        self.is_anew = False
        self.turn_to(plan)

    def turn_to(self, plan: StreamPlan) -> None:
        self.reach = max((w.reach for w in plan.windows), default=0)

    @property
    def first(self) -> int:
        """The place of the first reading that is known."""
        return self.total - len(self.code)

    def append(self, listings: list[tuple[int, pa.Table]]) -> None:
        """The new readings of a batch, of all shards."""
        if not listings:
            return
        table = pa.concat_tables([listing for _, listing in listings])
        shard = np.repeat([s for s, _ in listings], [t.num_rows for _, t in listings])
        ts = table.column("ts").to_numpy()
        order = np.lexsort((key_ranks(table.column("key")), ts))
        code = shard * SHARD + table.column("number").to_numpy()
        self.code = np.concatenate([self.code, code[order]])
        self.tick = np.concatenate([self.tick, tick_ends(ts[order], self.tick_us)])
        self.is_shown = np.append(self.is_shown, np.zeros(len(order), np.bool_))
        self.total += len(order)
        self.fresh += len(order)

    def begin_anew(self, listings: list[tuple[int, pa.Table]], reach: int) -> None:
        """All that is known now: readings that shards show to everybody, and the last `reach` of all."""
        some = slice(max(len(self.code) - reach, 0), None)
        known, was_shown = self.code[some], self.is_shown[some]
        self.code, self.tick, self.is_shown, self.is_anew = self.code[:0], self.tick[:0], was_shown[:0], True
        self.append([(shard, _that_count(shard, listing, known)) for shard, listing in listings])
        self.is_shown = ~np.isin(self.code, known[~was_shown])

    def forget(self) -> None:
        """What is out of reach."""
        some = slice(-self.reach, None)
        self.code, self.tick, self.is_shown = self.code[some], self.tick[some], self.is_shown[some]
        self.fresh = min(self.fresh, len(self.code))

    def places(self, code: I64) -> I64:
        """Where readings stand; NOWHERE: out of reach."""
        by_code = np.argsort(self.code)
        at = np.searchsorted(self.code[by_code], code)
        found = np.append(by_code, 0)[at]
        is_known = np.append(self.code, -1)[np.where(at < len(by_code), found, -1)] == code
        return np.where(is_known, self.first + found, NOWHERE)

    def shows(self, place: I64) -> Bools:
        """By place, whether a reading is there only because its shard shows it."""
        return np.append(self.is_shown, False)[place - self.first]

    def ticks(self, place: I64) -> I64:
        """The ticks of readings by place; NEVER: it has not come yet."""
        return np.append(self.tick, NEVER)[np.minimum(place - self.first, len(self.tick))]

    def drain(self, is_whole: bool) -> pa.Table:
        some = len(self.code) if is_whole else self.fresh
        self.fresh, self.is_anew = 0, False
        kept = slice(len(self.code) - some, None)
        return pa.table({"code": self.code[kept], "tick": self.tick[kept], "is_shown": self.is_shown[kept]})

    def replay(self, table: pa.Table, total: int, is_whole: bool) -> None:
        known = slice(0) if is_whole else slice(None)
        self.code = np.concatenate([self.code[known], table.column("code").to_numpy()])
        self.tick = np.concatenate([self.tick[known], table.column("tick").to_numpy()])
        self.is_shown = np.append(self.is_shown[known], np.asarray(table.column("is_shown")))
        self.total, self.fresh, self.is_anew = total, 0, False
        self.forget()


def _that_count(shard: int, listing: pa.Table, known: I64) -> pa.Table:
    """A shard holds its own last n readings, which are more than those among the last n of all."""
    is_known = np.isin(shard * SHARD + listing.column("number").to_numpy(), known)
    is_own = listing.column("is_own").to_numpy()
    return listing.drop_columns(["is_own"]).filter(pa.array(is_known | is_own))
