"""The live entries that may be in one solution with an entry: of a list, or of the cells around."""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64
from sanderling.kernels.jit import jit_bare
from sanderling.kernels.trigger.agree import (
    AFTER,
    FIRST_OF,
    RADIUS,
    SIZE_OF,
    SQUARED,
    UNTIL,
    Rules,
    agree,
    between,
)
from sanderling.kernels.trigger.live import (
    END,
    EXPIRY,
    OLDER,
    TS,
    Live,
    cell,
    has_cells,
    head_of,
    let_go_first,
)


@jit_bare
def may_meet(rules: Rules, live: Live, t: int, c: int, a: int, d: int, b: int) -> bool:
    """Whether entry a of kind c and entry b of kind d can be in one solution, as far as the two show."""
    gap = live.span[b, TS] - live.span[a, TS]
    if gap < rules.times[t, c, d, AFTER] or gap > rules.times[t, c, d, UNTIL]:
        return False
    reach2 = rules.reach[t, c, d, SQUARED]
    if reach2 < np.inf and not between(live.place, a, b) <= reach2:
        return False
    if rules.kinds[c, SIZE_OF] > 1 or rules.kinds[d, SIZE_OF] > 1:
        return True
    return agree(rules.pairs, live, t, rules.kinds[c, FIRST_OF], a, rules.kinds[d, FIRST_OF], b)


@jit_bare
def look(rules: Rules, live: Live, t: int, c: int, entry: int, d: int, few: int, pool: I64, top: int) -> int:
    """Adds the live entries of kind d that may meet an entry of kind c."""
    number, now = t * len(rules.kinds) + d, live.span[entry, TS]
    begin, end = let_go_first(live, number, now), live.lists[number, END]
    earliest = now + rules.times[t, c, d, AFTER]
    if begin == end or live.span[end - 1, TS] < earliest:
        return top  # what can only come later is not there
    if rules.reach[t, c, d, RADIUS] < np.inf and has_cells(live.lists, number, few):
        return look_into_cells(rules, live, t, c, entry, d, begin, pool, top)
    for other in range(end - 1, begin - 1, -1):
        if live.span[other, TS] < earliest:
            break
        if live.span[other, EXPIRY] >= now and may_meet(rules, live, t, c, entry, d, other):
            pool[top] = other
            top += 1
    return top


@jit_bare
def look_into_cells(
    rules: Rules, live: Live, t: int, c: int, entry: int, d: int, begin: int, pool: I64, top: int
) -> int:
    """The same of those in the cells that are within reach."""
    number, now = t * len(rules.kinds) + d, live.span[entry, TS]
    earliest = now + rules.times[t, c, d, AFTER]
    reach, side = rules.reach[t, c, d, RADIUS], rules.side[t]
    x, y = live.place[entry, 0], live.place[entry, 1]
    for cell_x in range(cell(x - reach, side), cell(x + reach, side) + 1):
        for cell_y in range(cell(y - reach, side), cell(y + reach, side) + 1):
            other = live.heads[head_of(live.lists, number, cell_x, cell_y)]
            # From new to old; what stands before the begin is gone.
            while other >= begin and live.span[other, TS] >= earliest:
                if (
                    live.span[other, EXPIRY] >= now and may_meet(rules, live, t, c, entry, d, other)
                    # Cells may share a head, and then both lead to it.
                    and cell(live.place[other, 0], side) == cell_x
                    and cell(live.place[other, 1], side) == cell_y
                ):  # fmt: skip
                    pool[top] = other
                    top += 1
                other = live.whole[other, OLDER]
    return top
