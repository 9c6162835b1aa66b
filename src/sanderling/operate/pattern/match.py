"""REGISTER PATTERN in a tree: rows of its steps in, a row for each run that is told out, for ever.

signed rows of each step ──► who is there, since when ─┐
time that passes ──────────────────────────────────────┴─► runs, tick by tick ──► WHERE ──► REPORT ──► rows
                              who is waited for ◄──────────────┘
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.operate.inside.waited import Wanted
from sanderling.operate.operator import Pace, over, under
from sanderling.operate.pattern.known import Known
from sanderling.operate.pattern.own_state import States
from sanderling.operate.pattern.own_steps import Fault, Forwarded, OwnStates, OwnSteps
from sanderling.operate.pattern.presence import Event, Here, Key, Presence, PresenceState, Values
from sanderling.operate.pattern.runs import (
    ASKS,
    BROKEN,
    MATCHED,
    TIMED_OUT,
    UNKNOWN,
    Automaton,
    Durations,
    Reached,
    Run,
)
from sanderling.operate.pattern.saved import key_of, runs_restored, runs_saved
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.select import evaluated
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import by_places
from sanderling.plans.expression import Expression

Due = tuple[int, int, Run]
# What is no end of a run.
WAITING = ("", UNKNOWN, ASKS)


class Ahead:
    """What changes in the ticks of a batch, and at which tick next; more may come to be known on the way."""

    def __init__(self, given: Changes):
        self.given = given
        self._events: dict[int, list[tuple[int, Event]]] = {}
        self._ticks: list[int] = []

    def add(self, number: int, events: Iterable[Event]) -> None:
        for event in events:
            if event.tick not in self._events:
                heappush(self._ticks, event.tick)
            self._events.setdefault(event.tick, []).append((number, event))

    @property
    def next_tick(self) -> int:
        return self._ticks[0] if self._ticks else NEVER

    def taken(self, tick: int) -> list[tuple[int, Event]]:
        if self.next_tick == tick:
            heappop(self._ticks)
        return self._events.pop(tick, [])


@dataclass(slots=True)
class Passed:
    """By position, the first step being 0: runs that came to wait there, and how they left."""

    came: Counter[int] = field(default_factory=Counter)
    left: Counter[tuple[int, str]] = field(default_factory=Counter)

    def note(self, first: int, last: int, outcome: str) -> None:
        """A run that waited at one position waits at another now, or has ended there."""
        for at in range(first, last):
            self.left[at, MATCHED] += 1
            self.came[at + 1] += at + 1 < last or outcome != MATCHED
        if outcome in (BROKEN, TIMED_OUT) or (outcome == MATCHED and first == last):
            self.left[last, outcome] += 1


class Ended(NamedTuple):
    run: Run
    outcome: str
    tick: int


@dataclass(slots=True)
class MatchState:
    """Who is in each step, and the runs that wait; by key those that wait for it, by time those that are due.

    Of a pattern that skips: keys whose present stay in the first step is to begin no run.
    """

    presences: list[PresenceState]
    begun: dict[int, int] = field(default_factory=dict)  # by query its first tick
    runs: dict[int, Run] = field(default_factory=dict)
    waiting: dict[tuple[int, Key], dict[int, Run]] = field(default_factory=dict)  # by presence and key
    of_key: dict[Key, dict[int, Run]] = field(default_factory=dict)
    due: list[Due] = field(default_factory=list)
    skipped: set[Key] = field(default_factory=set)
    next_number: int = 0
    # Of steps that wait: the keys that are asked for, and those that nobody may wait for any more.
    known: dict[int, Known] = field(default_factory=dict)
    idle: set[tuple[int, Key]] = field(default_factory=set)
    closed_to: int = NOTHING_YET
    own: OwnStates = field(default_factory=OwnStates)
    passed: Passed = field(default_factory=Passed)
    automaton: Automaton | None = None  # over these presences


class Match:
    """All patterns of one shape.

    Promises (tests/operate/test_match.py, tests/scripts/pattern): runs are those of the definition, with
    their outcomes and ticks, whatever came in which batch, also where nothing comes; none is told twice or
    taken back; runs that have ended are forgotten. Of a step that may wait nothing is known but of the keys
    that runs wait for.
    """

    def __init__(self, node: nodes.Match, constants: Constants, states: States | None = None):
        self.node, self.constants = node, constants
        self.own = OwnSteps(node, states or States())
        self.has_own = bool(self.own)
        self.presences = [
            Presence(presence, kept, constants)
            for presence, kept in zip(node.presences, node.kept, strict=True)
        ]
        self._durations_of: dict[int, Durations] = {}  # of queries, until they are replaced
        self.branches = {
            i: presence.child.number
            for i, presence in enumerate(node.presences)
            if isinstance(presence.child, nodes.Branch) and presence.child.is_waited
        }

    def new_state(self, at: None) -> MatchState:
        found = MatchState([presence.new_state() for presence in self.presences])
        found.known = {number: Known(self.presences[number].key_type) for number in self.branches}
        return found

    def apply(self, state: MatchState, given: Changes) -> Signed:
        state.begun |= zip(given.begun.query.tolist(), given.begun.tick.tolist(), strict=True)
        ahead, ended = Ahead(given), list[Ended]()
        for number, changes in enumerate(given.inputs):
            rows = (
                self._looked_at(state, number, state.known[number], given)
                if number in self.branches
                else changes
            )
            ahead.add(number, self.presences[number].events(state.presences[number], rows, given.closed_to))
        while True:
            tick = min(ahead.next_tick, state.due[0][0] if state.due else NEVER, state.own.next_wake)
            if tick == NEVER or tick > given.closed_to:
                state.closed_to = max(state.closed_to, given.closed_to)
                return self._told(ended)
            ended += self._pass(state, tick, ahead)

    # ----- who is waited for

    def _looked_at(
        self, state: MatchState, number: int, keys: Known, given: Changes, is_new: bool = False
    ) -> Signed:
        """What a step says of keys in these ticks; of new ones also what it said before."""
        presence, branch = self.presences[number], self.branches[number]
        nothing = Signed.none([t.arrow for t in presence.node.types])
        if not len(keys) or given.look is None:
            return nothing
        query, key = keys.columns()
        new = np.full(len(query), is_new)
        wanted = Wanted(branch, query, key, new, state.closed_to, given.closed_to)
        rows = given.look(wanted, presence.node.keys[0])
        types = [t.arrow for t in presence.node.types]
        return nothing if rows is None else Signed.of(rows, by_places(len(types)), types)

    def _ask(self, state: MatchState, runs: Iterable[Run], tick: int, ahead: Ahead) -> None:
        """From now on something is known of whom these runs wait for."""
        automaton, wanted = self._automaton(state), dict[int, Known]()
        for run in runs:
            for number, key in automaton.places(run):
                if not automaton.is_known(number, key):
                    if number not in wanted:
                        wanted[number] = Known(self.presences[number].key_type)
                    wanted[number].add(key)
        for number, keys in wanted.items():
            presence, own = self.presences[number], state.presences[number]
            state.known[number].update(keys)
            rows = self._looked_at(state, number, keys, ahead.given, is_new=True)
            later = []
            for event in presence.events(own, rows, ahead.given.closed_to):
                if event.tick > tick:
                    later.append(event)
                else:
                    presence.take(own, event)
            ahead.add(number, later)

    def is_waiting(self, state: MatchState) -> bool:
        return any(len(known) for known in state.known.values())

    # ----- one tick

    def _pass(self, state: MatchState, tick: int, ahead: Ahead) -> list[Ended]:
        """First all that changes at a tick, then how runs get on: what is reached at one tick is together."""
        events = ahead.taken(tick)
        touched: dict[int, Run] = {}
        began = []
        for number, event in events:
            if self.has_own:
                self.own.note(state.own, number, event, state.presences[number])
            self.presences[number].take(state.presences[number], event)
            touched |= state.waiting.get((number, event.key), {})
            if number == 0 and self.node.steps[0].own is None:
                is_anew = event.since == tick or event.since == NEVER
                state.passed.came[0] += event.since == tick
                state.skipped -= {event.key} if is_anew else set()
                began += [event] if event.is_long and self._may_begin(state, event) else []
        while state.due and state.due[0][0] <= tick:
            due, _, run = heappop(state.due)
            if run.due == due and run.number in state.runs:
                touched[run.number] = run
        for event in began:
            run = self._begun(state, event)
            touched[run.number] = run
        ended, left = [], list(touched.values())
        asking: list[Run] = []
        answered: list[int] = []
        for step in (*self.own.steps, None):
            while left:
                unknown = []
                for run in left:
                    outcome = self._looked(state, run, tick, answered)
                    unknown += [run] if outcome == UNKNOWN else []
                    asking += [run] if outcome == ASKS else []
                    ended += [Ended(run, outcome, tick)] if outcome not in WAITING else []
                left = unknown
                self._ask(state, left, tick, ahead)
            if step is not None:
                answered.append(step)
                left = self._gone_on(state, step, tick, asking)
        self.own.settle(state.own, tick)
        return self._skipped(state, ended) if self.node.is_skipping else ended

    def _gone_on(self, state: MatchState, step: int, tick: int, asking: list[Run]) -> list[Run]:
        """Asks the state of a step; runs that have to be looked at then. A pattern that fails has none."""
        found = {run.number: run for run in asking if self.own.step_of(run) == step}
        for one in list(self.own.called(state.own, step, tick, state.presences, state.begun)):
            run = self._forwarded(state, step, tick, one)
            found[run.number] = run
        for run in [run for run in state.runs.values() if run.query in state.own.failed]:
            self._leave(state, run)
        return [run for number, run in found.items() if number in state.runs]

    def _forwarded(self, state: MatchState, step: int, tick: int, one: Forwarded) -> Run:
        if one.run is None:
            return self._entered(state, one.query, Reached(tick, tick, one.values))
        (watch,) = (watch for watch in one.run.watches if watch.step == step)
        watch.done = Reached(tick, watch.u, one.values)
        return one.run

    def _may_begin(self, state: MatchState, event: Event) -> bool:
        if event.key[0] in state.own.failed:
            return False
        is_old = event.since <= state.begun[event.key[0]]
        return not (self.node.steps[0].is_entering and is_old) and event.key not in state.skipped

    def _begun(self, state: MatchState, event: Event) -> Run:
        assert event.values is not None
        return self._entered(state, event.key[0], Reached(event.tick, event.since, event.values))

    def _entered(self, state: MatchState, query: int, reached: Reached) -> Run:
        assert reached.values is not None
        run = Run(
            state.next_number, query, key_of(self.node, reached.values), [reached.tick], {0: reached}
        )  # fmt: skip
        state.next_number += 1
        state.passed.left[0, MATCHED] += 1
        state.passed.came[1] += len(self.node.positions) > 0
        self._enter(state, run)
        return run

    def _looked(self, state: MatchState, run: Run, tick: int, answered: Sequence[int]) -> str:
        """Most wait on for what they waited for: nothing is written down anew for these."""
        before, watches, is_in, at = run.due, run.watches, run.number in state.runs, len(run.ticks)
        outcome = self._automaton(state).look(run, tick, self._durations(run.query), answered)
        if len(run.ticks) > at or outcome not in WAITING:
            state.passed.note(at, len(run.ticks), outcome)
        is_waiting = outcome in ("", ASKS)
        if is_in and not (is_waiting and run.watches is watches):
            now, run.watches = run.watches, watches
            self._leave(state, run)
            run.watches, is_in = now, False
        if is_waiting and not is_in:
            self._enter(state, run)
        if is_waiting and run.due != before:
            heappush(state.due, (run.due, run.number, run))
        return outcome

    def _enter(self, state: MatchState, run: Run) -> None:
        state.runs[run.number] = run
        state.of_key.setdefault((run.query, run.key), {})[run.number] = run
        if self.has_own:
            self.own.enter(state.own, run)
        for place in self._automaton(state).places(run):
            state.waiting.setdefault(place, {})[run.number] = run

    def _leave(self, state: MatchState, run: Run) -> None:
        state.runs.pop(run.number, None)
        _take_out(state.of_key, (run.query, run.key), run)
        if self.has_own:
            self.own.leave(state.own, run)
        for place in self._automaton(state).places(run):
            _take_out(state.waiting, place, run)
            if place[0] in self.branches:
                state.idle.add(place)

    def _automaton(self, state: MatchState) -> Automaton:
        if state.automaton is None:
            state.automaton = self._automaton_of(state)
        return state.automaton

    def _automaton_of(self, state: MatchState) -> Automaton:
        def here_of(presence: int, key: Key) -> Here | None:
            return state.presences[presence].here.get(key)

        def is_known(presence: int, key: Key) -> bool:
            return presence not in state.known or key in state.known[presence]

        return Automaton(self.node, here_of, is_known)

    def _durations(self, query: int) -> Durations:
        """Who asks for a part of a tick waits for the whole."""
        known = self._durations_of
        if query not in known:
            tick = self.node.tick_us
            stays = [-(-self._us(step.stay, query) // tick) * tick for step in self.node.steps]
            bounds = [[self._us(b.within, query) for b in p.bounds] for p in self.node.positions]
            known[query] = Durations(stays, bounds)
        return known[query]

    def _us(self, what: Expression, query: int) -> int:
        (value,) = self.constants.computed(what, np.array([query])).to_pylist()
        return int(value or 0)

    # ----- what is told

    def _skipped(self, state: MatchState, ended: list[Ended]) -> list[Ended]:
        """A match drops all runs of its key that began up to its tick, and the stay that would begin one."""
        matched: dict[Key, Ended] = {}
        for one in sorted((e for e in ended if e.outcome == MATCHED), key=lambda e: e.run.order):
            matched.setdefault((one.run.query, one.run.key), one)
        for key in matched:
            for run in list(state.of_key.get(key, {}).values()):
                self._leave(state, run)
            if key in state.presences[0].here:
                state.skipped.add(key)
        return [e for e in ended if matched.get((e.run.query, e.run.key), e) is e]

    def _told(self, ended: list[Ended]) -> Signed:
        told = [e for e in ended if e.outcome == MATCHED or self.node.has_timeouts]
        told.sort(key=lambda e: (e.tick, e.run.query, e.run.order))
        rows = self._rows(told)
        if self.node.where is not None and told:
            (verdict,) = evaluated([self.node.where], rows, self.constants)
            holds = np.flatnonzero(np.asarray(verdict.fill_null(False).to_numpy(), np.bool_))
            rows, told = rows.take(holds), [told[i] for i in holds.tolist()]
        return rows.take(self._firsts(told)) if self.node.is_first else rows

    def _firsts(self, told: Sequence[Ended]) -> I64:
        """Of matches of one tick with the same last key that which began first; they stand in that order."""
        seen: set[object] = set()
        found = []
        for row, (run, outcome, tick) in enumerate(told):
            what = (run.query, tick, self._last_key(run))
            if outcome != MATCHED or what not in seen:
                found.append(row)
            if outcome == MATCHED:
                seen.add(what)
        return np.array(found, np.int64)

    def _last_key(self, run: Run) -> Values | None:
        automaton = Automaton(self.node, lambda presence, key: None)
        for position in reversed(self.node.positions):
            for step in position.steps:
                if step in run.reached and self.node.steps[step].own is None:
                    return automaton.key_for(step, run)
        return run.key

    def _rows(self, told: Sequence[Ended]) -> Signed:
        query, tick = (
            np.array(column, np.int64) for column in ([e.run.query for e in told], [e.tick for e in told])
        )
        columns = [pa.array([_shown(e, shown) for e in told], shown.type.arrow) for shown in self.node.shown]
        return Signed(query, tick, np.ones(len(told), np.int64), columns)

    # ----- what is remembered

    def due(self, state: MatchState) -> int | None:
        """Of a step only stays in the first are waited for."""
        soonest = min(state.presences[0].stays.next_due, state.due[0][0] if state.due else NEVER)
        soonest = min(soonest, state.own.next_wake)
        return None if soonest == NEVER else soonest

    def replan(self, state: MatchState, queries: I64, tick: int) -> None:
        """Runs go on, and are looked at when that holds."""
        for presence, own in zip(self.presences, state.presences, strict=True):
            presence.replan(own, queries, tick)
        for query in queries.tolist():
            self._durations_of.pop(query, None)
        for run in [run for run in state.runs.values() if run.query in queries]:
            self._automaton(state).bind(run, self._durations(run.query))
            run.due = tick
            heappush(state.due, (run.due, run.number, run))

    def forget(self, state: MatchState, queries: I64) -> None:
        gone = set(queries.tolist())
        for query in gone:
            self._durations_of.pop(query, None)
        for run in [run for run in state.runs.values() if run.query in gone]:
            self._leave(state, run)
        self.own.forget(state.own, gone, state.presences, state.closed_to)
        for presence, own in zip(self.presences, state.presences, strict=True):
            presence.forget(own, queries)
        state.begun = {query: tick for query, tick in state.begun.items() if query not in gone}
        state.skipped = {key for key in state.skipped if key[0] not in gone}
        self._plan_dues(state)

    def _plan_dues(self, state: MatchState) -> None:
        state.due = [(run.due, run.number, run) for run in state.runs.values()]
        heapify(state.due)

    def pass_time(self, state: MatchState, tick: int) -> None:
        """Nobody is known whom no run waits for any more. Runs that have ended may be due still: most of what
        is planned is to be of those that live.
        """
        for number, known in state.known.items():
            gone = [k for n, k in state.idle if n == number and k in known and (n, k) not in state.waiting]
            if gone:
                self.presences[number].drop(state.presences[number], gone)
                for key in gone:
                    known.discard(key)
        state.idle = set()
        if len(state.due) > 2 * len(state.runs) + 64:
            self._plan_dues(state)

    def count_anew(self, state: MatchState) -> None:
        state.passed = Passed()

    def paces(self, state: MatchState) -> list[Pace]:
        """In the first step wait the stays that are not long enough yet."""
        passed = state.passed
        waiting = Counter(len(run.ticks) for run in state.runs.values())
        stays = state.presences[0].stays
        known = stays.stays.since[: len(stays.keys)] != NEVER
        waiting[0] = int(np.count_nonzero(known & ~stays.stays.is_long[: len(stays.keys)]))
        return [
            Pace(
                passed.came[at], passed.left[at, MATCHED], passed.left[at, BROKEN],
                passed.left[at, TIMED_OUT], waiting[at],
            )
            for at in range(len(self.node.positions) + 1)
        ]  # fmt: skip

    def held(self, state: MatchState) -> int:
        """Runs, and the rows of steps."""
        return len(state.runs) + sum(len(own.stays.alive) for own in state.presences)

    def saved(self, state: MatchState) -> dict[str, pa.Table]:
        first = self.node.presences[0]
        names = {f"key{i}": first.types[place].arrow for i, place in enumerate(first.keys)}
        skipped = [{"query": query, **dict(zip(names, key, strict=True))} for query, key in state.skipped]
        tables = {
            "begun": pa.table({"query": list(state.begun), "tick": list(state.begun.values())},
                              schema=pa.schema({"query": pa.int64(), "tick": pa.int64()})),
            "skipped": pa.Table.from_pylist(skipped, schema=pa.schema({"query": pa.int64(), **names})),
            "next": pa.table({"number": [state.next_number], "closed_to": [state.closed_to]}),
        }  # fmt: skip
        for number, (presence, own) in enumerate(zip(self.presences, state.presences, strict=True)):
            tables |= over(f"presence{number} ", presence.saved(own))
        return tables | runs_saved(self.node, state.runs.values()) | self.own.saved(state.own)

    def is_saved_whole(self) -> bool:
        """What a program's own states did is not done again: they are as they were saved."""
        return bool(self.own)

    def faults(self, state: MatchState) -> list[Fault]:
        faults, state.own.faults = state.own.faults, []
        return faults

    def restore(self, state: MatchState, tables: dict[str, pa.Table]) -> None:
        for number, (presence, own) in enumerate(zip(self.presences, state.presences, strict=True)):
            presence.restore(own, under(f"presence{number} ", tables))
        begun = tables["begun"]
        state.begun = dict(zip(*(begun.column(name).to_pylist() for name in begun.column_names), strict=True))
        state.skipped = {(row.pop("query"), tuple(row.values())) for row in tables["skipped"].to_pylist()}
        state.next_number, state.closed_to = (tables["next"].column(i)[0].as_py() for i in range(2))
        for run in runs_restored(self._automaton(state), tables):
            self._enter(state, run)
        self.own.restore(state.own, tables, state.begun)
        state.own.touched.clear()
        for number, key in state.waiting:
            if number in state.known:
                state.known[number].add(key)
        self._plan_dues(state)


def _take_out(index: dict[object, dict[int, Run]] | dict, key: object, run: Run) -> None:  # type: ignore[type-arg]
    """What nobody stands at is not there."""
    mine = index.get(key)
    if mine is not None:
        mine.pop(run.number, None)
        if not mine:
            del index[key]


def _shown(ended: Ended, shown: nodes.ShownOfRun) -> object:
    """What a run shows of a step; of one that it has not reached, nothing."""
    if shown.what == nodes.OUTCOME:
        return ended.outcome
    reached = ended.run.reached.get(shown.step)
    if reached is None:
        return None
    if shown.what == nodes.REACHED:
        return reached.tick
    if shown.what == nodes.ENTERED:
        return reached.since
    return None if reached.values is None else reached.values[shown.place]
