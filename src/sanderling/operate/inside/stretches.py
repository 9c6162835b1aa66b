"""When regions change that are posed: ticks of some moves, cut where one of them has taken a step.

moves ──► while all regions stand ──► a tick in which some change ──► while all stand ──► …

A step changes a region though nobody reports. Where nobody has reported for so long that steps are many,
only those are looked at that some object may notice: between two ticks a place is in a box of a region's own
places, and if the region holds all of that box, or nothing of it, the place does not cross its border.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sanderling.arrays import F64, I64, Bools
from sanderling.clock import NOTHING_YET, tick_ends
from sanderling.operate.shard.now import Moved
from sanderling.plans.plan import StreamPlan
from sanderling.space.moving.drift import Motions
from sanderling.space.moving.motion import Places
from sanderling.space.moving.pose import Poses, own_boxes
from sanderling.space.moving.settled import are_settled
from sanderling.space.outlines.outline import still_of

# So many steps between two reports are all looked at.
FEW = 16


class Stretch(NamedTuple):
    """Moves `first` to `last` while regions stand; then, at `tick`, those up to `end` while regions change.

    Last readings by object, and where focal objects are, before that tick and after it. What comes last has
    no tick: nothing changes any more.
    """

    first: int
    last: int
    end: int
    tick: int | None
    before: I64
    after: I64
    places: Places


class Rows:
    """Last readings by object, as moves go by."""

    def __init__(self, given: Moved):
        self.moves, self.done = given.moves, 0
        self.now = np.full(len(given.now.objects.row_of), -1)
        self.now[: len(given.rows_before)] = given.rows_before

    def after(self, end: int) -> I64:
        """After so many moves."""
        found, some = self.now.copy(), slice(self.done, end)
        # Of several moves of one object the last counts: assignment goes from first to last.
        found[self.moves.object[some]] = self.moves.new_row[some]
        self.now, self.done = found, end
        return found


@dataclass(frozen=True, slots=True)
class Stretches:
    """Knows how some regions change."""

    plan: StreamPlan
    poses: Poses
    ids: I64

    def of(self, since: int, places: Places, given: Moved) -> Iterator[Stretch]:
        """From after a tick on, at which focal objects were at these places."""
        moves, rows, done = given.moves, Rows(given), 0
        for tick in self._ticks(since, places, given, rows):
            last, end = np.searchsorted(moves.tick, (tick, tick + 1)).tolist()
            before = rows.after(last)
            places = self._placed(places, given, tick)
            yield Stretch(done, last, end, tick, before, rows.after(end), places)
            done = end
        end = len(moves)
        yield Stretch(done, end, end, None, rows.now, rows.now, places)

    def _placed(self, places: Places, given: Moved, tick: int) -> Places:
        """Where focal objects are after a tick, of all that have moved up to it."""
        moves = given.focal_moves
        end = int(np.searchsorted(moves.tick, tick, side="right"))
        found = tuple(column.copy() for column in places)
        for column, now in zip(found, given.now.focals.places(moves.new_row[:end]), strict=True):
            column[moves.object[:end]] = now
        return found[0], found[1]

    def _ticks(self, since: int, places: Places, given: Moved, rows: Rows) -> Iterator[int]:
        """Ticks in which regions change, in order, but for those that nobody can notice."""
        tick_us, (_, motions) = self.plan.stream.tick_us, self.poses.motions_of(self.ids)
        followed = np.isin(given.focal_moves.object, self.plan.regions.focal[self.ids])
        focal_ticks = given.focal_moves.tick[followed]
        busy = np.unique(np.concatenate([given.moves.tick, focal_ticks]))
        if since == NOTHING_YET:
            if not len(busy):
                return
            since = int(busy[0]) - tick_us
        ends = np.unique(np.append(busy, given.now.closed_to))
        starts = np.concatenate([[since], ends[:-1]])
        has_steps = has_stepped(motions, starts, ends - tick_us)
        changes = has_stepped(motions, ends - tick_us, ends) | np.isin(ends, focal_ticks)
        for i in np.flatnonzero(has_steps | changes).tolist():
            if has_steps[i]:
                start, stop = int(starts[i]), int(ends[i]) - tick_us
                upto = int(np.searchsorted(given.moves.tick, start, side="right"))
                yield from self._between(start, stop, rows.after(upto), places, given)
            if changes[i]:
                yield int(ends[i])

    def _between(self, start: int, stop: int, row: I64, places: Places, given: Moved) -> Iterator[int]:
        """Steps after one tick up to another, while nobody reports."""
        _, motions = self.poses.motions_of(self.ids)
        if count(motions, start, stop) <= FEW:
            yield from step_ticks(motions, start, stop, self.plan.stream.tick_us)
            return
        x, y = given.now.objects.places(row[row >= 0])
        yield from self._noticed(start, stop, x, y, self._placed(places, given, start))

    def _noticed(self, start: int, stop: int, x: F64, y: F64, places: Places) -> Iterator[int]:
        """Those that somebody at one of these places may notice; by halves, so that most are never seen."""
        tick_us, outlines = self.plan.stream.tick_us, self.plan.regions.wkb
        changing, _ = self.poses.motions_of(self.ids)
        left = [(start, stop, [(int(region), np.arange(len(x))) for region in self.ids[changing]])]
        while left:
            begin, end, suspects = left.pop()
            remaining = []
            for region, who in suspects:
                outline, one = outlines[region], np.array([region])
                assert outline is not None
                focal = self.plan.regions.focal[one]
                boxes = own_boxes(self.poses, one, focal, places, begin, end, x[who], y[who])
                if boxes is not None:
                    who = who[~are_settled(still_of(outline), boxes)]
                    if len(who):
                        remaining.append((region, who))
            if not remaining:
                continue
            if end - begin <= tick_us:
                yield end
                continue
            middle = begin + (end - begin) // tick_us // 2 * tick_us
            left += [(middle, end, remaining), (begin, middle, remaining)]


def has_stepped(motions: Motions, starts: I64, ends: I64) -> Bools:
    """By stretch whether any has taken a step in it."""
    each = motions.take(np.arange(len(motions.begin))[:, None])
    found = (each.shifts(starts) != each.shifts(ends)) | (each.scales(starts) != each.scales(ends))
    return np.asarray(found.any(axis=0))


def count(motions: Motions, start: int, stop: int) -> int:
    """How many steps are taken, at most."""
    some = motions.shifts(stop) - motions.shifts(start) + motions.scales(stop) - motions.scales(start)
    return int(some.sum())


def step_ticks(motions: Motions, start: int, stop: int, tick_us: int) -> list[int]:
    """Ticks after one up to another in which any takes a step."""
    found = [
        begin + every * n
        for begin, every, first, last in (
            *zip(motions.begin, motions.shift_us, motions.shifts(start), motions.shifts(stop), strict=True),
            *zip(motions.begin, motions.scale_us, motions.scales(start), motions.scales(stop), strict=True),
        )
        for n in range(int(first) + 1, int(last) + 1)
    ]
    ticks: list[int] = np.unique(tick_ends(np.array(found, np.int64), tick_us)).tolist()
    return ticks
