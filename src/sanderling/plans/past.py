"""What a version of a plan needs of the past that shards do not hold; asked of a stream's archive.

Shards and whoever reads the archive both ask here: so both know who waits for whom.
"""

from __future__ import annotations

import numpy as np

from sanderling.plans.plan import ALWAYS, NEVER, StreamPlan
from sanderling.plans.window import Coming, Lasting, Window


def is_kept(part: StreamPlan) -> bool:
    """Whether all readings of the stream are in an archive."""
    return part.archive is not None and part.archive.detail == "readings"


def new_windows(part: StreamPlan) -> frozenset[Window]:
    """Those that nobody looked at before the version that changed this part last."""
    windows = {
        t.id: t.window for t in part.templates if t.window is not None and not isinstance(t.window, Coming)
    }
    regions = part.regions
    is_new = regions.came == part.version
    is_known = ~is_new & (regions.end == NEVER)
    new, known = (
        {windows[t] for t in np.unique(regions.template[some]).tolist() if t in windows}
        for some in (is_new, is_known)
    )
    return frozenset(new - known)


def needs_readings(before: StreamPlan, after: StreamPlan) -> bool:
    """Whether queries of the version `after` has would hold something of what was before them."""
    is_other = after.version != before.version and is_kept(after)
    return is_other and (bool(new_windows(after)) or not set(after.previous) <= set(before.previous))


def reach_of_new(before: StreamPlan, after: StreamPlan) -> int | None:
    """So many microseconds back, beside each object's last reading before; None: nobody knows."""
    windows = new_windows(after)
    if set(after.previous) - set(before.previous) or not all(isinstance(w, Lasting) for w in windows):
        return None
    return max((w.size_us for w in windows if isinstance(w, Lasting)), default=0)


def begins_before(part: StreamPlan, closed_to: int) -> bool:
    """Whether a query of the version is to begin at a tick that has closed."""
    regions = part.regions
    is_new = (regions.came == part.version) & (regions.begin != ALWAYS)
    return is_kept(part) and bool((is_new & (regions.begin <= closed_to)).any())
