"""What queries need of the past, beside last readings: held readings, and where focal objects were.

Which of it is kept follows from the plan; what is in it, from the readings.
"""

from __future__ import annotations

import pyarrow as pa

from sanderling.clock import NOTHING_YET
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.window.held import Held
from sanderling.operate.window.history import History
from sanderling.operate.window.whereabouts import Whereabouts
from sanderling.plans.plan import StreamPlan
from sanderling.state.frame import Frame


class Past:
    """The past of one stream in one shard; nothing, where nobody asks for it."""

    held: Held | None = None

    def __init__(self, objects: LastReadings, focals: LastReadings):
        self.objects, self.focals = objects, focals
        self._is_following = False  # whether there are windows over regions that move

    def begin(self, plan: StreamPlan) -> None:
        """With nothing; what there was comes from what was saved."""
        self.held = None
        self._is_following = False
        self.turn_to(plan, NOTHING_YET)

    @property
    def reach(self) -> int:
        """How many of the last readings of all are held."""
        return self.held.history.reach if self.held is not None else 0

    def turn_to(self, plan: StreamPlan, closed_to: int) -> None:
        """Goes on under another plan."""
        self.objects.remember(plan.previous)
        was_following = self._is_following
        self._is_following = bool((plan.regions.focal[plan.is_windowed] >= 0).any())
        if not plan.windows:
            self.held = None
        elif self.held is None:
            history = History(plan.stream, self.objects.store_schema, {})
            history.closed_to = closed_to
            self.held = Held(history, Whereabouts(plan.focals), self.focals)
        self.objects.history = self.held.history if self.held is not None else None
        self.objects.is_every_saved = self.held is not None
        self.focals.is_every_saved = self._is_following
        if self.held is not None:
            # What is there then is to follow from the readings, not from when something was last tidied up.
            self.held.history.tidy()
            self.held.whereabouts.forget(self.held.history.oldest_tick, is_now=True)
            self.held.whereabouts.hide(self.held.history.oldest_shown)
            self.held.history.turn_to(plan, self.objects.store_schema, self.objects.last())
            self._follow(self.held.whereabouts, plan.focals, was_following)

    def _follow(self, whereabouts: Whereabouts, focals: pa.Array, was_following: bool) -> None:
        if not was_following:
            whereabouts.forget_all()
        whereabouts.turn_to(focals)
        if self._is_following and not was_following:
            whereabouts.note_last(self.focals)

    def close_focals(self, closed_to: int) -> MoveBatch:
        """How focal objects moved, which is noted where somebody will ask again."""
        moves = self.focals.close(closed_to)
        if self.held is not None and self._is_following:
            self.held.whereabouts.note(moves, self.focals)
            self.held.whereabouts.forget(self.held.history.oldest_tick)
        return moves

    def saved(self) -> Frame:
        """All of it. What changes from batch to batch follows from the readings."""
        if self.held is None:
            return Frame()
        history, whereabouts = self.held.history, self.held.whereabouts
        tables = {"history": history.saved(), "whereabouts": whereabouts.saved()}
        return Frame(tables, {"next_number": history.next_number})

    def restore(self, frame: Frame, closed_to: int) -> None:
        if self.held is not None:
            number = frame.values["next_number"]
            self.held.history.restore(frame.tables["history"], closed_to, number)
            self.held.whereabouts.restore(frame.tables["whereabouts"])
