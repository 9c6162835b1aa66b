"""Events dealt to triggers: by trigger those that it takes, in event order, and as what.

sightings in event order ──► how many each trigger takes ──► where they stand
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I32, I64, U64
from sanderling.kernels.jit import jit
from sanderling.kernels.trigger.solve import GUEST
from sanderling.kernels.trigger.tracts import Sides, cell_of, dealt_first

NOBODY = -1


class Sighted(NamedTuple):
    """Sightings of all branches, in event order; their queries stand where they came."""

    event: I64  # which one, from 0 on
    branch: I64
    begin: I64  # of its queries
    end: I64
    query: I32


@jit
def deal(
    some: Sighted, mask: U64, taker: I64, triggers: int, place: F64, sides: Sides, number: int, of: int
) -> tuple[I64, I64, U64, int]:  # fmt: skip
    """Where the events of each trigger start, which they are, and what they are: a bit for each variable.

    `mask` has the bits of a branch, and `taker` the trigger of each query, or NOBODY. An event that comes by
    several branches is one. Beside the last bit, guests are counted, by branch and query; this is the merge
    partition `number` of so many.
    """
    start, last = np.zeros(triggers + 1, np.int64), np.full(triggers, -1, np.int64)
    for r in range(len(some.event)):
        event = some.event[r]
        for k in range(some.begin[r], some.end[r]):
            trigger = taker[some.query[k]]
            if trigger != NOBODY and last[trigger] != event:
                last[trigger] = event
                start[trigger + 1] += 1
    for trigger in range(triggers):
        start[trigger + 1] += start[trigger]
    out, is_of = np.empty(start[triggers], np.int64), np.empty(start[triggers], np.uint64)
    at, guests = start[:triggers] - 1, np.uint64(0)
    last[:] = -1
    known, home = np.full(len(sides.side), -1, np.int64), np.zeros(len(sides.side), np.int64)
    # By query where the tract that it would begin with has its home, if the event's is here.
    wanted = (number - np.arange(len(sides.which))) % of
    for r in range(len(some.event)):
        event, own = some.event[r], mask[some.branch[r]]
        for k in range(some.begin[r], some.end[r]):
            query = some.query[k]
            trigger = taker[query]
            if trigger == NOBODY:
                continue
            bits = own
            if of > 1:
                s = sides.which[query]
                if known[s] != event:
                    known[s], side = event, sides.side[s]
                    cell_x, cell_y = cell_of(place[event, 0], side), cell_of(place[event, 1], side)
                    home[s] = dealt_first(cell_x, cell_y, of)
                # Half of them may be guests: the processor is not to guess which.
                is_guest = np.uint64(home[s] != wanted[query])
                bits |= is_guest << np.uint64(GUEST)
                guests += is_guest
            if last[trigger] == event:
                is_of[at[trigger]] |= bits
            else:
                last[trigger] = event
                at[trigger] += 1
                out[at[trigger]], is_of[at[trigger]] = event, bits
    return start, out, is_of, int(guests)
