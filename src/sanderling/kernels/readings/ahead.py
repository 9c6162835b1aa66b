"""Which readings are ahead, and which late, if the clock before them is not known yet.

A reading is ahead of the clock if it is later by more than a bound; then it does not move it. So all that
follows depends on the clock before the first. But the later that is, the later is the clock ever after: each
reading asks for a least clock before all of them, below which it is ahead, and there is another from which on
it is late.
"""

from __future__ import annotations

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.kernels.jit import jit


@jit
def clocks_asked(ts: I64, late_at: I64, ahead: int) -> tuple[I64, I64, I64]:
    """Of readings in order: the clock before all of them below which each is ahead, and that from which on it
    is late, which is when the clock before it has come to `late_at`. And the readings that the clock may
    stand at after all of them, by their numbers: the later one is, the more it asks of the clock.
    """
    n = len(ts)
    ahead_below, late_from = np.empty(n, np.int64), np.empty(n, np.int64)
    # Readings so far that nothing is both later than and asks less: times and what they ask go up together.
    front = np.empty(n, np.int64)
    size = 0
    for i in range(n):
        # The clock has come to a time if it was there before, or some reading that is as late is not ahead.
        at = first_from(ts, front, size, ts[i] - ahead)
        asked = ts[i] - ahead
        if at < size:
            asked = min(asked, ahead_below[front[at]])
        ahead_below[i] = asked
        at = first_from(ts, front, size, late_at[i])
        late_from[i] = late_at[i]
        if at < size:
            late_from[i] = min(late_at[i], ahead_below[front[at]])
        end = first_from(ts, front, size, ts[i])
        if end < size and ahead_below[front[end]] <= asked:
            continue
        start = end
        while start > 0 and ahead_below[front[start - 1]] >= asked:
            start -= 1
        if end < size and ts[front[end]] == ts[i]:
            end += 1
        front[start + 1 : start + 1 + size - end] = front[end:size].copy()
        front[start] = i
        size += start + 1 - end
    return ahead_below, late_from, front[:size]


@jit
def first_from(ts: I64, front: I64, size: int, time: int) -> int:
    """The first of the front that is as late, or its size."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if ts[front[middle]] < time:
            low = middle + 1
        else:
            high = middle
    return low


def plain_ahead(ts: I64, late_at: I64, ahead: int, clock: int) -> tuple[Bools, Bools, int]:
    """Row by row, with the clock before them: who is ahead, who is late, and the clock after them."""
    is_ahead, is_late = np.zeros(len(ts), np.bool_), np.zeros(len(ts), np.bool_)
    for i, time in enumerate(ts.tolist()):
        is_ahead[i], is_late[i] = time > clock + ahead, clock >= late_at[i]
        if not is_ahead[i]:
            clock = max(clock, time)
    return is_ahead, is_late, clock
