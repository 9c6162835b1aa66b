"""The automaton: runs, what each waits for, and how a run gets on at a tick.

run: reached ─► reached ─► waiting for the steps of a position, and for NOTs ─► matched, broken, timed out
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from sanderling.clock import NEVER
from sanderling.operate.pattern.presence import Here, Key, Values
from sanderling.plans.nodes import Match, PatternStep

MATCHED, TIMED_OUT, BROKEN = "matched", "timed out", "broken"
# It has begun to wait for keys of which nothing is known: they are asked for, and it is looked at again.
UNKNOWN = "unknown"
# It waits for a state of the program's own, which has yet to be asked at this tick.
ASKS = "asks"


class Reached(NamedTuple):
    """When, since when it was counted, and the values of then; None of who was not there."""

    tick: int
    since: int
    values: Values | None


class Watch:
    """A step that a run waits for, or must not reach: counted from `u` on."""

    __slots__ = ("count", "done", "is_blocked", "key", "since", "step", "u")

    def __init__(self, step: int, key: Values | None, u: int):
        self.step, self.key, self.u = step, key, u
        self.count = 0
        self.since = NEVER
        self.is_blocked = False  # what was counted already is not counted again
        self.done: Reached | None = None


class Run:
    __slots__ = ("deadline", "due", "key", "number", "query", "reached", "ticks", "watches")

    def __init__(self, number: int, query: int, key: Values, ticks: list[int], reached: dict[int, Reached]):
        self.number, self.query, self.key, self.ticks, self.reached = number, query, key, ticks, reached
        self.watches: list[Watch] = []
        self.deadline = self.due = NEVER

    @property
    def order(self) -> tuple[object, ...]:
        """Which began first: its stay, when that was long enough, its key."""
        first = self.reached[0]
        return first.since, first.tick, [(value is not None, value) for value in self.key]


class Durations(NamedTuple):
    """Of one query, in whole ticks: by step how long it has to be, by position and bound how long it may."""

    stays: Sequence[int]
    bounds: Sequence[Sequence[int]]


class Automaton:
    """How runs of one shape of patterns get on; it remembers nothing."""

    def __init__(
        self, node: Match, here_of: Callable[[int, Key], Here | None],
        is_known: Callable[[int, Key], bool] = lambda presence, key: True,
    ):  # fmt: skip
        self.node, self.here_of, self.is_known = node, here_of, is_known
        self.presence_of = [step.presence for step in node.steps]
        self.own_of = [[s for s in p.steps if node.steps[s].own is not None] for p in node.positions]

    def look(self, run: Run, tick: int, asked: Durations, answered: Collection[int] = ()) -> str:
        """As far as it gets at a tick: how it ends, or nothing if it waits.

        `answered` are steps whose own states have been asked at this tick.
        """
        while len(run.ticks) <= len(self.node.positions):
            position = self.node.positions[len(run.ticks) - 1]
            if not run.watches:
                self._arm(run, asked)
            if tick > run.deadline:  # it has been made shorter meanwhile
                return TIMED_OUT if position.steps else MATCHED
            if not all(self.is_known(*place) for place in self.places(run)):
                return UNKNOWN
            dues = [self._looked(run, watch, tick, asked) for watch in run.watches]
            if any(watch.done for watch in run.watches if watch.step in position.nots):
                return BROKEN
            own = self.own_of[len(run.ticks) - 1]
            if own and own[0] not in answered:
                run.due = min([run.deadline, *dues])
                return ASKS
            done = [w for w in run.watches if w.step in position.steps and w.done]
            is_reached = len(done) == len(position.steps) if position.is_all else bool(done)
            if not (position.steps and is_reached):
                if tick >= run.deadline:
                    return TIMED_OUT if position.steps else MATCHED
                run.due = min([run.deadline, *dues])
                return ""
            for watch in done if position.is_all else done[:1]:
                assert watch.done is not None
                run.reached[watch.step] = watch.done
            run.ticks.append(tick)
            run.watches = []
        return MATCHED

    def places(self, run: Run) -> list[tuple[int, Key]]:
        """Whose coming and going it has to be told of, by presence and key."""
        of, query = self.presence_of, run.query
        return [(of[w.step], (query, w.key)) for w in run.watches if w.key is not None]

    def _arm(self, run: Run, asked: Durations) -> None:
        """It waits for the next position, from the tick on at which it reached the one before."""
        number, u = len(run.ticks) - 1, run.ticks[-1]
        position = self.node.positions[number]
        self.bind(run, asked)
        run.watches = [Watch(step, self.key_for(step, run), u) for step in (*position.steps, *position.nots)]

    def bind(self, run: Run, asked: Durations) -> None:
        """How long it may wait for the position that it waits for."""
        number = len(run.ticks) - 1
        bounds = zip(self.node.positions[number].bounds, asked.bounds[number], strict=True)
        ends = [run.ticks[bound.of] + us for bound, us in bounds]
        run.deadline = min(ends) // self.node.tick_us * self.node.tick_us

    def key_for(self, number: int, run: Run) -> Values | None:
        """What a run asks of a step; None: NULL, or a step that was not reached, equals nobody."""
        found = []
        for step, place in self.node.steps[number].of:
            reached = run.reached.get(step)
            value = None if reached is None or reached.values is None else reached.values[place]
            if value is None:
                return None
            found.append(value)
        return tuple(found)

    def _looked(self, run: Run, watch: Watch, tick: int, asked: Durations) -> int:
        """Counts a step, as at a tick; when it will be reached, if nothing changes."""
        if watch.key is None or watch.done is not None:
            return NEVER
        step = self.node.steps[watch.step]
        here = self.here_of(step.presence, (run.query, watch.key))
        is_counted = self._counted(step, watch, here, tick)
        if not is_counted:
            return NEVER
        reached_at = watch.since + asked.stays[watch.step]
        if tick < reached_at:
            return reached_at
        watch.count += 1
        if watch.count == step.times:
            values = None if here is None or step.is_leaving else here.values
            watch.done = Reached(tick, watch.since, values)
        else:
            watch.u, watch.since, watch.is_blocked = tick, NEVER, step.is_leaving
        return NEVER

    def _counted(self, step: PatternStep, watch: Watch, here: Here | None, tick: int) -> bool:
        is_there = here is not None and here.values is not None
        if step.is_leaving:
            if is_there:
                watch.since, watch.is_blocked = NEVER, False
            elif watch.since == NEVER and not watch.is_blocked:
                watch.since = tick
            return not is_there and not watch.is_blocked
        if not is_there:
            return False
        assert here is not None
        if here.since > watch.u:
            watch.since = here.since
        elif step.is_entering or watch.count:
            return False
        elif watch.since == NEVER:
            watch.since = tick  # it is there since before: counted from now on
        return True
