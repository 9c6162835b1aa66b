"""What triggers see of a stream: each event once, with those whose conditions on one variable it satisfies.

ticks close ──► events ──► in the region, as it was in the event's own tick? WHERE? ──► sightings

Where no place is asked for, conditions say it all, and each event is told with a list of queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sanderling.arrays import I64, Bools
from sanderling.batches import Batch
from sanderling.figures.figures import Figures
from sanderling.kernels.trigger.sightings import listed
from sanderling.operate.inside.meet import Live, Meet, Passage
from sanderling.operate.inside.tell import Tell
from sanderling.operate.operator import Turned
from sanderling.operate.shard.now import Moved, Now
from sanderling.operate.trigger.events import Events
from sanderling.operate.where.asks import Asks, alike
from sanderling.operate.where.orders import Ordered, Orders
from sanderling.operate.window.past import Past
from sanderling.plans import operator_ids
from sanderling.plans.plan import Over, StreamPlan, Template
from sanderling.space.outlines.polygons import Polygons


@dataclass(frozen=True, slots=True)
class SightedState:
    """Which regions live now; rebuilt rather than saved."""

    live: Live
    anywhere: list[tuple[Template, I64]]  # regions that ask for no place, by template


class Sighted:
    """Joins events with regions, for the branches of all triggers over a stream at once.

    Promises (tests/properties/test_trigger.py):
      exact     a query has seen what satisfies its conditions since it began, each event once
      chunking  cutting the input elsewhere gives the same events per tick
    """

    def __init__(
        self, plan: StreamPlan, polygons: Polygons, figures: Figures, orders: Orders
    ):  # fmt: skip
        self.plan = plan
        self.asks = Asks(plan, Over.EVENTS, figures=figures, orders=orders)
        self.tell = Tell(plan, self.asks, polygons)
        self.meet = Meet(plan, self.asks.condition_of, polygons, alike(np.bool_(False), len(plan.regions)))
        self.is_mine = plan.is_over(Over.EVENTS)
        self.name = operator_ids.sightings_all(plan.stream.name)

    # ----- which regions live

    def new_state(self, at: Now) -> SightedState:
        """As that of INSIDE."""
        return self._with_live(self._lives(at.closed_to, at.ready))

    def _lives(self, tick: int, ready: int) -> Bools:
        return self.is_mine & self.plan.regions.lives(tick, ready)

    def _with_live(self, is_live: Bools) -> SightedState:
        """Those of which conditions say it all, judged by the reading, stand by themselves."""
        live = Live.of(self.plan.regions, is_live, self.tell.polygons.poses)
        template_of = self.plan.regions.template[live.everywhere]
        templates = [t for t in self.plan.templates if t.is_sighted and t.id not in self.asks.by_pair]
        found = [(t, live.everywhere[template_of == t.id]) for t in templates]
        others = live.everywhere[~np.isin(template_of, [t.id for t in templates])]
        return SightedState(replace(live, everywhere=others), [(t, ids) for t, ids in found if len(ids)])

    def end(self, state: SightedState, tick: int, now: Now) -> Turned:
        """What a trigger has seen stays seen."""
        regions, is_live = self.plan.regions, state.live.is_live
        is_ending = is_live & ((regions.end <= tick) | regions.is_gone(tick, now.ready))
        return Turned(self._with_live(is_live & ~is_ending) if is_ending.any() else state, [])

    def begin(self, state: SightedState, tick: int, now: Now) -> Turned:
        """With the events of the tick in which it begins."""
        is_beginning = ~state.live.is_live & self._lives(tick, now.ready)
        if not is_beginning.any():
            return Turned(state, [])
        told = self._told(self._with_live(is_beginning), now.past)
        return Turned(self._with_live(state.live.is_live | is_beginning), told)

    # ----- what is seen

    def apply(self, state: SightedState, given: Moved) -> list[Batch]:
        """The events of the ticks that have just closed."""
        past = given.now.past
        if past.events is None or not state.live.is_live.any():
            return []
        self.asks.figures.add(operator_ids.events(self.plan.stream.name), len(past.events))
        with self.asks.figures.timed(self.name):
            return self._told(state, past, [o for o in given.due if o.template.is_sighted])

    def _told(self, state: SightedState, past: Past, due: Sequence[Ordered] = ()) -> list[Batch]:
        events = past.events
        if events is None or not len(events):
            return []
        self.asks.figures.add(self.name, len(events))
        row, comes = np.arange(len(events)), np.ones(len(events), np.bool_)
        for ordered in due:
            self.meet.probe(state.live, ordered, row, comes, events, past.focals)
        truth = self.asks.judged(events, row)
        told = [told for t, ids in state.anywhere for told in self._listed(t, ids, truth, events)]
        if len(state.live):
            passage = Passage(row, events.ticks(row), comes, truth)
            for pairs in self.meet.pairs(state.live, passage, events, past):
                told += self.tell.rows(pairs, events, row)
        return told

    def _listed(self, template: Template, ids: I64, truth: Bools, events: Events) -> list[Batch]:
        """Events with the queries of one template that take them, wherever they are."""
        is_there, row = ~np.isnan(events.x), np.arange(len(events))
        if template.id in self.asks.slots:
            at, start, queries = self.asks.listed(template, events, row, is_there, ids)
        else:
            query = self.plan.regions.query[ids]
            at, start, queries = listed(truth, self.asks.condition_of[ids], query, is_there)
        if len(queries):
            self.asks.figures.add(operator_ids.inside(template.id), rows_out=len(queries))
        return self.tell.sightings(at, events.ticks(at), start, queries, template, events)
