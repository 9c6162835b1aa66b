"""kNN where objects are judged one by one: more than k are found, judged, and if too few are left, more.

Tick by tick, since what is judged are the readings of that tick.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sanderling.arrays import F64, I32, I64
from sanderling.kernels.nearest.influence import disturb, keep
from sanderling.kernels.nearest.nearest import find_nearest
from sanderling.kernels.nearest.seekers import Changes, FocalPlaces, Lists
from sanderling.operate.nearest.judges import Judge
from sanderling.operate.nearest.neighbourhood import Neighbourhood
from sanderling.operate.readings.readings import LastReadings

# How many are judged at first, and how many times more in each further round.
AT_FIRST, MORE = 4, 4
NOBODY = np.empty(0, np.int32)


def untouched(which: npt.NDArray[np.integer]) -> I64:
    """As `disturb` says that all of them have to be searched anew."""
    return np.zeros(len(which) + 1, np.int64)


def begin_judged(
    part: Neighbourhood, which: I32, judge: Judge, objects: LastReadings
) -> tuple[I64, I64, F64]:
    """These queries live from now on; gives where their lists begin, the readings, and the distances."""
    part.sights.is_live[which] = True
    part.sights.live[0] += len(which)
    starts, found, d2 = _search(part, which, judge, objects)
    keep(which, starts, found, d2, untouched(which), part.seekers, part.sights, part.scene.changed)
    return starts, part.scene.row[found], d2


def advance_judged(
    part: Neighbourhood, changes: Changes, focal_places: FocalPlaces, judge: Judge, objects: LastReadings
) -> Lists:
    """As `advance`, for queries that judge their objects."""
    scene, seekers = part.scene, part.seekers
    found: list[Lists] = []
    for tick in np.unique(np.concatenate([changes.tick, focal_places.tick])):
        m, m_end = np.searchsorted(changes.tick, (tick, tick + 1))
        f, f_end = np.searchsorted(focal_places.tick, (tick, tick + 1))
        which, _, _ = disturb(m, m_end, f, f_end, seekers, part.sights, scene, changes, focal_places)
        if len(which):
            starts, who, d2 = _search(part, which, judge, objects)
            is_new = keep(which, starts, who, d2, untouched(which), seekers, part.sights, scene.changed)
            is_told = np.repeat(is_new, np.diff(starts))
            told = np.full(int(is_new.sum()), tick)
            found.append(
                Lists(told, which[is_new], np.diff(starts)[is_new], scene.row[who[is_told]], d2[is_told])
            )
        scene.changed[changes.object[m:m_end]] = 0
    return Lists(*(np.concatenate(columns) for columns in zip(no_lists(), *found, strict=True)))


def no_lists() -> Lists:
    nothing = np.empty(0, np.int64)
    return Lists(nothing, nothing.astype(np.int32), nothing, nothing, nothing.astype(np.float64))


def _search(part: Neighbourhood, which: I32, judge: Judge, objects: LastReadings) -> tuple[I64, I32, F64]:
    """As `find_nearest`, of those that the queries take."""
    plan, k = part.asks.plan, part.seekers.k[which]
    left, wanted = np.arange(len(which)), AT_FIRST * k + 16
    parts: list[tuple[I64, I32, F64]] = []
    while len(left):
        starts, who, d2 = find_nearest(
            which[left], wanted[left], untouched(left), NOBODY, part.seekers, part.sights, part.scene
        )
        owner = np.repeat(left, np.diff(starts))
        takes = judge.takes(plan.nearest.region[part.ids[which[owner]]], part.scene.row[who], objects)
        taken = np.bincount(owner[takes], minlength=len(which))[left]
        is_done = (taken >= k[left]) | (np.diff(starts) < wanted[left])
        is_kept = takes & np.repeat(is_done, np.diff(starts))
        parts.append((owner[is_kept], who[is_kept], d2[is_kept]))
        left = left[~is_done]
        wanted = wanted * MORE
    owner, who, d2 = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((who, d2, owner))
    owner, who, d2 = owner[order], who[order], d2[order]
    starts = np.searchsorted(owner, np.arange(len(which) + 1))
    # All up to the distance of the k-th; some of them may be as far as it is.
    last = np.minimum(starts[:-1] + k, starts[1:]) - 1
    kth = d2[last[owner]] if len(d2) else d2
    is_near = d2 <= kth
    return np.searchsorted(owner[is_near], np.arange(len(which) + 1)), who[is_near], d2[is_near]
