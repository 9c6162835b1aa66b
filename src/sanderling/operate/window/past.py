"""What queries need of the past, beside last readings: held readings, events, and where focal objects were.

Which of it is kept follows from the plan; what is in it, from the readings.
"""

from __future__ import annotations

import pyarrow as pa

from sanderling.batches import Batch
from sanderling.clock import NOTHING_YET
from sanderling.operate.readings.pairs import MoveBatch
from sanderling.operate.readings.readings import LastReadings
from sanderling.operate.readings.shipping import Shipping
from sanderling.operate.trigger.events import Events
from sanderling.operate.window.history import History, ends_of
from sanderling.operate.window.kept import each_once, kept_readings, last_tick
from sanderling.operate.window.whereabouts import Whereabouts
from sanderling.plans.plan import Over, StreamPlan
from sanderling.state.frame import Frame


class Past:
    """The past of one stream in one shard; nothing, where nobody asks for it."""

    def __init__(self, objects: LastReadings, focals: LastReadings, plan: StreamPlan):
        self.objects, self.focals = objects, focals
        self.begin(plan)

    def begin(self, plan: StreamPlan) -> None:
        """With nothing; what there was comes from what was saved."""
        self.history: History | None = None  # for windows
        self.events: Events | None = None  # for triggers
        self.whereabouts = Whereabouts(pa.nulls(0, plan.focals.type))
        self._is_following = False  # whether either asks about regions that move
        # For the archive; which readings a plan ships does not change.
        schema = self.objects.schema
        self.shipping = Shipping(plan.stream.name, schema) if plan.archive is not None else None
        self.turn_to(plan, NOTHING_YET)

    @property
    def held(self) -> History:
        """Of those who look at windows: there is one."""
        assert self.history is not None
        return self.history

    @property
    def reach(self) -> int:
        """How many of the last readings of all are held."""
        return self.history.reach if self.history is not None else 0

    def turn_to(self, plan: StreamPlan, closed_to: int) -> None:
        """Goes on under another plan."""
        self.objects.remember(plan.previous)
        schema = self.objects.store_schema
        if self.history is None and plan.windows:
            self.history = History(plan.stream, schema, {})
            self.history.closed_to = closed_to
        self._forget(closed_to)
        if self.history is not None:
            self.history.turn_to(plan, schema, self.objects.last())
        self.history = self.history if plan.windows else None
        has_events = bool(plan.is_over(Over.EVENTS).any())
        self.events = Events(plan.stream, schema, closed_to) if has_events else None
        self._keep()
        self._follow(plan)

    def _keep(self) -> None:
        keepers = (self.history, self.events, self.shipping)
        self.objects.keepers = tuple(k for k in keepers if k is not None)
        self.objects.is_every_saved = self.history is not None

    def _forget(self, closed_to: int) -> None:
        """What is there then is to follow from the readings, not from when something was last tidied up."""
        oldest = shown = closed_to
        if self.history is not None:
            self.history.tidy()
            oldest, shown = self.history.oldest_tick, self.history.oldest_shown
        self.whereabouts.forget(oldest, is_now=True)
        self.whereabouts.hide(shown)

    def _follow(self, plan: StreamPlan) -> None:
        was_following = self._is_following
        self._is_following = bool((plan.regions.focal[~plan.is_over(Over.NOW)] >= 0).any())
        self.focals.is_every_saved = self._is_following
        if not self._is_following:
            self.whereabouts = Whereabouts(pa.nulls(0, plan.focals.type))
        elif was_following:
            self.whereabouts.turn_to(plan.focals)
        else:
            self.whereabouts = Whereabouts(plan.focals)
            self.whereabouts.note_last(self.focals)

    def fill(self, own: pa.Table, followed: pa.Table, plan: StreamPlan, closed_to: int) -> None:
        """With readings of ticks that have closed: all is held that would be, had they come while windows
        were there. What is known of later ticks stays."""
        if self.history is not None:
            self.history.tidy()
        readings = each_once(plan.stream.key, own, kept_readings(plan.stream, self.objects, self.history))
        whole = LastReadings(plan.stream, self.objects.schema, previous=plan.previous)
        history = History(plan.stream, whole.store_schema, ends_of(plan)) if plan.windows else None
        whole.keepers = () if history is None else (history,)
        whole.accept(readings)
        whole.close(closed_to)
        if plan.previous:
            self.objects.know_before(whole)
        if history is not None:
            history.numbered_as(self.held)
            history.tidy()
            self.history = history
            self._keep()
        if self._is_following:
            focals = LastReadings(plan.stream, self.focals.schema, plan.focals)
            focals.accept(followed.select(self.focals.schema.names))
            self.whereabouts.fill(focals.close(closed_to), focals, last_tick(followed, plan.stream))

    def close_focals(self, closed_to: int) -> MoveBatch:
        """How focal objects moved, which is noted where somebody will ask again."""
        moves = self.focals.close(closed_to)
        if self._is_following:
            self.whereabouts.note(moves, self.focals)
            if self.history is not None:
                self.whereabouts.forget(self.history.oldest_tick)
            elif self.events is not None:
                self.whereabouts.forget(self.events.closed_to)
        return moves

    def archived(self) -> list[Batch]:
        """What the archive gets of this turn."""
        return [] if self.shipping is None else self.shipping.told()

    def saved(self) -> Frame:
        """All of it. What changes from batch to batch follows from the readings."""
        frame = Frame({"whereabouts": self.whereabouts.saved()} if self._is_following else {})
        if self.history is not None:
            frame.tables["history"] = self.history.saved()
            frame.values["next_number"] = self.history.next_number
        return frame

    def restore(self, frame: Frame, closed_to: int) -> None:
        if self.history is not None:
            self.history.restore(frame.tables["history"], closed_to, frame.values["next_number"])
        if self.events is not None:
            self.events.closed_to = closed_to
        if self._is_following:
            self.whereabouts.restore(frame.tables["whereabouts"])
