"""The live entries that may be in one solution with an entry: of a list, or of the cells around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sanderling.kernels.agree import (
    AFTER,
    FIRST_OF,
    RADIUS,
    SIZE_OF,
    SQUARED,
    UNTIL,
    Rules,
    agree,
    may_meet,
    squared,
)
from sanderling.kernels.jit import jit_bare
from sanderling.kernels.live import (
    CELL_OLDER,
    CELL_X,
    CELL_Y,
    KIND,
    LISTS,
    NONE,
    OLDER,
    TRIGGER,
    TS,
    Live,
    bucket,
    cell,
)  # fmt: skip

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


@jit_bare
def meet_itself(rules: Rules, whole: I64, place: F64, entry: int, mine: int, pool: I64, top: int) -> int:
    """Adds another entry of the same event, if the event may stand for both."""
    if may_meet(rules, whole, place, whole[entry, KIND], entry, whole[mine, KIND], mine):
        pool[top] = mine
        top += 1
    return top


@jit_bare
def look(rules: Rules, live: Live, entry: int, d: int, is_grid: bool, pool: I64, top: int) -> int:
    """Adds the live entries of kind d that may meet an entry."""
    whole, place, heads, lists = live.whole, live.place, live.heads, live.counts[LISTS]
    t, c, now = whole[entry, TRIGGER], whole[entry, KIND], whole[entry, TS]
    earliest, latest = now + rules.times[t, c, d, AFTER], now + rules.times[t, c, d, UNTIL]
    newest = heads[t * len(rules.kinds) + d]
    if newest == NONE or whole[newest, TS] < earliest:
        return top  # what can only come later is not there: no cell need be looked into
    reach, reach2, side = rules.reach[t, c, d, RADIUS], rules.reach[t, c, d, SQUARED], rules.side[t]
    has_cells = is_grid and reach < np.inf
    is_single = rules.kinds[c, SIZE_OF] == 1 and rules.kinds[d, SIZE_OF] == 1
    u, v, kinds = rules.kinds[c, FIRST_OF], rules.kinds[d, FIRST_OF], len(rules.kinds)
    older = CELL_OLDER if has_cells else OLDER
    west = east = south = north = 0
    if has_cells:
        x, y = place[entry, 0], place[entry, 1]
        west, east = cell(x - reach, side), cell(x + reach, side)
        south, north = cell(y - reach, side), cell(y + reach, side)
    for cell_x in range(west, east + 1):
        for cell_y in range(south, north + 1):
            if has_cells:
                other = heads[lists + bucket(len(heads) - lists, t, d, cell_x, cell_y)]
            else:
                other = heads[t * kinds + d]
            # From new to old, also where cells share a bucket.
            while other != NONE and whole[other, TS] >= earliest:
                is_there = whole[other, TS] <= latest and (
                    not has_cells or (
                        whole[other, CELL_X] == cell_x and whole[other, CELL_Y] == cell_y
                        and whole[other, TRIGGER] == t and whole[other, KIND] == d
                    )
                )  # fmt: skip
                if (
                    is_there and (reach2 == np.inf or squared(place, entry, other) <= reach2)
                    and (not is_single or agree(rules.pairs, whole, place, kinds, u, entry, v, other))
                ):  # fmt: skip
                    pool[top] = other
                    top += 1
                other = whole[other, older]
    return top
