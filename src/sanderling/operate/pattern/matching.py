"""REGISTER PATTERN in a tree, as columns: rows of its steps in, a row for each run that is told out.

signed rows of each step ──► who is there, since when ──► what happens to whom ─┐
time that passes ───────────────────────────────────────────────────────────────┴─► runs, position by position
                              who is waited for ◄────────────────────────────────────────┘  │
                                                             WHERE ◄── SKIP, REPORT ◄── those that end

All ticks of a batch and all patterns of a shape go through at once: what a run does depends on no other run,
and a position on those before it alone. What a program's own states decide does not: that is match.py's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sanderling.arrays import I8, I64
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.kernels.order import ordered_by
from sanderling.kernels.pattern import runs as kernels
from sanderling.kernels.pattern.runs import DONE, NOBODY, REACHED, WAITS, WHOLE, Asked, Done
from sanderling.operate.inside.waited import Wanted
from sanderling.operate.operator import Pace, over, under
from sanderling.operate.pattern.ended import IS_BROKEN, IS_MATCHED, IS_TIMED_OUT, Ended, Telling
from sanderling.operate.pattern.run_columns import FREE, RunColumns
from sanderling.operate.pattern.standing import Long, Standing, StandingState
from sanderling.operate.persistency.durations import ByQuery
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.rows.codes import Coder
from sanderling.operate.sql.rows.numbered import Grown, Numbered
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes
from sanderling.plans import nodes
from sanderling.plans.columns import by_places

NO_RUNS = np.empty(0, np.int64)


CAME, LEFT_WELL, LEFT_BROKEN, LEFT_LATE = range(4)


class MatchingState:
    """Who is in each step, and the runs that go on; by position, the first step being 0, how they passed."""

    def __init__(self, presences: list[StandingState], runs: RunColumns, positions: int):
        self.presences, self.runs = presences, runs
        self.passed = np.zeros((positions + 1, 4), np.int64)
        self.begun = Grown(NEVER, np.int64)  # by query its first tick
        self.idle: list[list[I64]] = [[] for _ in presences]  # keys that runs have left
        self.closed_to = NOTHING_YET

    @property
    def waiting(self) -> int:
        """How often somebody waits for a key."""
        return int(np.count_nonzero(self.runs.watches.key[self.runs.used] != NOBODY))


class Matching:
    """All patterns of one shape.

    Promises (tests/operate/test_match.py, tests/scripts/pattern): runs are those of the definition, with
    their outcomes and ticks, whatever came in which batch, also where nothing comes; none is told twice or
    taken back; runs that have ended are forgotten. Of a step that may wait nothing is known but of the keys
    that runs wait for. It costs by what changes, and by the runs that are looked at.
    """

    def __init__(self, node: nodes.Match, constants: Constants):
        self.node, self.constants = node, constants
        self.presences = [Standing(presence, constants) for presence in node.presences]
        self.telling = Telling(node, constants)
        self.stays = [ByQuery(step.stay, constants) for step in node.steps]
        self.bounds = [[(ByQuery(b.within, constants), b.of) for b in p.bounds] for p in node.positions]
        self.branches = {
            i: presence.child.number
            for i, presence in enumerate(node.presences)
            if isinstance(presence.child, nodes.Branch) and presence.child.is_waited
        }

    def new_state(self, at: None) -> MatchingState:
        presences = [presence.new_state() for presence in self.presences]
        return MatchingState(presences, RunColumns(self.node), len(self.node.positions))

    def apply(self, state: MatchingState, given: Changes) -> Signed:
        if len(given.begun):
            state.begun.up_to(int(given.begun.query.max()) + 1)[given.begun.query] = given.begun.tick
        long = self._happens(state, given)
        armed = self._begun(state, long)
        walking = self._touched(state, given.closed_to)
        ended: list[Ended] = []
        if not self.node.positions:
            ended, armed = [Ended.of(armed, IS_MATCHED, state.runs.ticks[armed, 0])], NO_RUNS
        while len(armed) or len(walking):
            self._arm(state, armed, given)
            armed, over = self._walk(state, np.concatenate([walking, armed]), given.closed_to)
            walking, ended = NO_RUNS, [*ended, *over]
        told = self._told(state, Ended.all(ended))
        state.closed_to = max(state.closed_to, given.closed_to)
        for presence in state.presences:
            presence.settle()
        return told

    # ----- what happens to keys

    def _happens(self, state: MatchingState, given: Changes) -> Long:
        """Takes in what comes for each step; of the first, who has been there for long enough by it."""
        found = []
        for number, (presence, own) in enumerate(zip(self.presences, state.presences, strict=True)):
            rows = given.inputs[number]
            if number in self.branches:
                rows = self._looked_at(state, number, np.flatnonzero(own.is_known), given, is_new=False)
            found.append(presence.take_in(own, rows, given.closed_to))
        state.passed[0, CAME] += state.presences[0].count_begun()
        return found[0]

    def _looked_at(
        self, state: MatchingState, number: int, keys: I64, given: Changes, is_new: bool
    ) -> Signed:
        """What a step says of keys in these ticks; of new ones also what it said before."""
        presence, branch = self.presences[number], self.branches[number]
        nothing = Signed.none(presence.types)
        if not len(keys) or given.look is None:
            return nothing
        query, (key,) = presence.key_columns(state.presences[number], keys)
        new = np.full(len(query), is_new)
        wanted = Wanted(branch, query, key, new, state.closed_to, given.closed_to)
        rows = given.look(wanted, presence.node.keys[0])
        types = presence.types
        return nothing if rows is None else Signed.of(rows, by_places(len(types)), types)

    def _touched(self, state: MatchingState, closed_to: int) -> I64:
        """Runs to whose keys something happens, or that are due."""
        runs = state.runs
        is_marked, found = runs.is_marked, []
        if len(runs):
            for own in state.presences:
                keys = own.happened_to
                if len(keys):
                    found.append(kernels.touched(keys, own.head, runs.watches, is_marked))
            due = runs.due(closed_to)
            found.append(due[~is_marked[due]])
        touched = np.concatenate([NO_RUNS, *found])
        is_marked[touched] = False
        return touched

    def _begun(self, state: MatchingState, long: Long) -> I64:
        """A run for each stay in the first step, once that is long enough."""
        own, first = state.presences[0], self.node.steps[0]
        query = own.stays.query_of(long.key)
        begins = long.since > own.skipped_to[long.key]
        if first.is_entering and len(query):
            begins &= long.since > state.begun.up_to(int(query.max()) + 1)[query]
        some = np.flatnonzero(begins)
        runs = state.runs.begin(query[some], long.tick[some])
        state.passed[0, LEFT_WELL] += len(runs)
        self._reach(state, 0, runs, long.tick[some], long.since[some], long.row[some])
        state.runs.how[runs, 0] = WHOLE
        return runs

    def _reach(self, state: MatchingState, step: int, runs: I64, tick: I64, since: I64, row: I64) -> None:
        """What they have reached, and the values of then, if somebody was there."""
        columns = state.runs
        columns.tick[runs, step], columns.since[runs, step] = tick, since
        columns.is_there[runs, step] = row >= 0
        number = self.node.steps[step].presence
        there = np.flatnonzero(row >= 0)
        if len(there) and self.node.kept[number]:
            rows = state.presences[number].stays.rows
            values = [rows.column(row[there], place) for place in self.node.kept[number]]
            columns.keep(step, runs[there], values)

    # ----- what runs wait for

    def _arm(self, state: MatchingState, runs: I64, given: Changes) -> None:
        """They begin to wait for their position; of whom they wait for something is known from now on."""
        columns = state.runs
        for position, mine in self._by_position(columns, runs):
            columns.arm(mine, columns.ticks[mine, position])
            state.passed[position + 1, CAME] += len(mine)
            self._bind(columns, position, mine)
        for number, keys in self._link(state, runs).items():
            own = state.presences[number]
            unknown = np.unique(keys[~own.is_known[keys]])
            if len(unknown):
                own.know(unknown)
                rows = self._looked_at(state, number, unknown, given, is_new=True)
                self.presences[number].take_in(own, rows, given.closed_to)

    def _by_position(self, columns: RunColumns, runs: I64) -> list[tuple[int, I64]]:
        position = columns.position[runs]
        return [(int(p), runs[position == p]) for p in np.unique(position)]

    def _bind(self, columns: RunColumns, position: int, runs: I64) -> None:
        """How long they may wait for a position."""
        query, tick = columns.query[runs], self.node.tick_us
        ends = [columns.ticks[runs, of] + within.of(query) for within, of in self.bounds[position]]
        columns.waits.deadline[runs] = np.minimum.reduce(ends) // tick * tick

    def _link(self, state: MatchingState, runs: I64) -> dict[int, I64]:
        """Who is in a step finds those that wait for it; of steps that wait, the keys."""
        columns, found = state.runs, dict[int, list[I64]]()
        for position, mine in self._by_position(columns, runs):
            for place, step in enumerate(self._watched(position)):
                number = self.node.steps[step].presence
                own = state.presences[number]
                keys = self._keys_for(state, step, mine)
                columns.watches.key[mine, place] = keys
                kernels.link(mine, place, columns.watches, own.head, own.stays.holds)
                if number in self.branches:
                    found.setdefault(number, []).append(keys[keys != NOBODY])
        return {number: np.concatenate(keys) for number, keys in found.items()}

    def _watched(self, position: int) -> Sequence[int]:
        """What stands in a position, in order of place."""
        one = self.node.positions[position]
        return (*one.steps, *one.nots)

    def _keys_for(self, state: MatchingState, step: int, runs: I64) -> I64:
        """Whom runs ask of a step, by number; NULL, or a step that was not reached, equals nobody."""
        number, columns = self.node.steps[step].presence, state.runs
        key = [columns.kept(before, runs, place) for before, place in self.node.steps[step].of]
        is_known = np.ones(len(runs), np.bool_)
        for column in key:
            is_known &= np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
        some, found = np.flatnonzero(is_known), np.full(len(runs), NOBODY)
        at = pa.array(some)
        found[some] = state.presences[number].stays.ask_for(
            columns.query[runs[some]], [column.take(at) for column in key]
        )
        return found

    def _unlink(self, state: MatchingState, position: int, runs: I64) -> None:
        columns = state.runs
        for place, step in enumerate(self._watched(position)):
            number = self.node.steps[step].presence
            own = state.presences[number]
            left = kernels.unlink(runs, place, columns.watches, own.head, own.stays.holds)
            own.stays.let_go(left)
            if number in self.branches:
                state.idle[number].append(left)

    # ----- how runs get on

    def _walk(self, state: MatchingState, runs: I64, closed_to: int) -> tuple[I64, list[Ended]]:
        """As far as one position takes them: those that go on to the next, and those that have ended."""
        columns, on, ended = state.runs, [NO_RUNS], list[Ended]()
        for position, mine in self._by_position(columns, runs):
            outcome, at = self._resolved(state, position, mine, closed_to)
            over = mine[outcome != WAITS]
            self._unlink(state, position, over)
            is_on = outcome == REACHED
            reached, tick = mine[is_on], at[is_on]
            columns.ticks[reached, position + 1] = tick
            if position + 1 < len(self.node.positions):
                columns.position[reached] = position + 1
                on.append(reached)
            else:
                ended.append(Ended.of(reached, IS_MATCHED, tick))
            has_steps, passed = bool(self.node.positions[position].steps), state.passed[position + 1]
            passed[LEFT_WELL] += len(reached)
            for which, how, left in (
                (kernels.BROKEN, IS_BROKEN, LEFT_BROKEN),
                (kernels.OVER, *((IS_TIMED_OUT, LEFT_LATE) if has_steps else (IS_MATCHED, LEFT_WELL))),
            ):
                is_it = outcome == which
                ended.append(Ended.of(mine[is_it], how, at[is_it]))
                passed[left] += np.count_nonzero(is_it)
        return np.concatenate(on), ended

    def _resolved(self, state: MatchingState, number: int, runs: I64, closed_to: int) -> tuple[I8, I64]:
        """What comes of a position for runs that wait for it, and when; what they reached is written down."""
        columns, position = state.runs, self.node.positions[number]
        n, width = len(runs), columns.width
        done = Done(np.full((n, width), NEVER), np.zeros((n, width), np.int64), np.full((n, width), -1))
        watched = self._watched(number)
        was_done = columns.how[runs][:, list(watched)] == DONE
        done.tick[:, : len(watched)] = np.where(was_done, columns.tick[runs][:, list(watched)], NEVER)
        armed = columns.ticks[runs, number]
        for place, step in enumerate(watched):
            one = self.node.steps[step]
            own = state.presences[one.presence]
            asked = Asked(one.is_entering, one.is_leaving, one.times, self._stay(step))
            kernels.walk_watches(
                place, asked, runs, columns.query, armed, columns.waits.deadline, columns.watches,
                own.happened, own.stays.stays, closed_to, done,
            )  # fmt: skip
        outcome, at, how = np.zeros(n, np.int8), np.zeros(n, np.int64), np.zeros((n, width), np.int8)
        steps, nots = len(position.steps), len(position.nots)
        kernels.resolve(
            runs, steps, nots, position.is_all, done, columns.waits, columns.watches, closed_to,
            outcome, at, how,
        )  # fmt: skip
        for place, step in enumerate(position.steps):
            new = np.flatnonzero((how[:, place] != 0) & ~was_done[:, place])
            self._reach(
                state, step, runs[new], done.tick[new, place], done.since[new, place], done.row[new, place]
            )
            some = how[:, place] != 0
            columns.how[runs[some], step] = how[some, place]
        return outcome, at

    def _stay(self, step: int) -> I64:
        """By query, in whole ticks: who asks for a part of a tick waits for the whole."""
        tick = self.node.tick_us
        return -(-self.stays[step].all // tick) * tick

    # ----- what is told

    def _told(self, state: MatchingState, ended: Ended) -> Signed:
        gone = ended.run
        if self.node.is_skipping and len(gone):
            ended, dropped = self._skipped(state, ended)
            gone = np.concatenate([gone, dropped])
        told = self.telling.told(state.runs, ended)
        if len(gone):
            state.runs.leave(gone)
        return told

    def _skipped(self, state: MatchingState, ended: Ended) -> tuple[Ended, I64]:
        """A match drops all runs of its key that began up to its tick, and the stay that would begin one.

        What is left of those that have ended, and which that go on are dropped.
        """
        runs, node = state.runs, self.node
        going = np.setdiff1d(runs.used, ended.run)
        both = np.concatenate([ended.run, going])
        own = [runs.kept(0, both, node.kept[0].index(place)) for place in node.presences[0].keys]
        coder = Coder([column.type for column in own])
        numbered = Numbered(1 + coder.width)
        key = numbered.number(coder.codes(own, runs.query[both]))
        order = self.telling.in_order(runs, ended)
        order = order[np.argsort(ended.outcome[order] != IS_MATCHED, kind="stable")]
        order = ordered_by(order, np.ascontiguousarray(ended.tick))
        is_kept, skipped_to = kernels.skip(
            order, key[: len(ended.run)], ended.tick, ended.outcome == IS_MATCHED,
            runs.since[ended.run, 0], len(numbered),
        )  # fmt: skip
        self._skip_stays(state, both, key, skipped_to)
        dropped = going[runs.since[going, 0] <= skipped_to[key[len(ended.run) :]]]
        for position, mine in self._by_position(runs, dropped):
            self._unlink(state, position, mine)
        return ended.take(is_kept), dropped

    def _skip_stays(self, state: MatchingState, runs: I64, key: I64, skipped_to: I64) -> None:
        """A stay in the first step that goes on there, and began by then, is to begin no run."""
        some, own = np.unique(key, return_index=True)[1], state.presences[0]
        some = some[skipped_to[key[some]] != NOTHING_YET]
        columns = [
            state.runs.kept(0, runs[some], self.node.kept[0].index(place))
            for place in self.node.presences[0].keys
        ]
        keys = own.stays.find(state.runs.query[runs[some]], *columns)
        is_there = keys >= 0
        there, to = own.skipped_to, skipped_to[key[some]]
        there[keys[is_there]] = np.maximum(there[keys[is_there]], to[is_there])

    # ----- what is remembered

    def is_waiting(self, state: MatchingState) -> bool:
        return any(own.known for own in state.presences)

    def due(self, state: MatchingState) -> int | None:
        """Of a step only stays in the first are waited for."""
        soonest = min(state.presences[0].stays.next_due, state.runs.next_due)
        return None if soonest == NEVER else soonest

    def replan(self, state: MatchingState, queries: I64, tick: int) -> None:
        """Runs go on, and are looked at when that holds."""
        for presence, own in zip(self.presences, state.presences, strict=True):
            presence.replan(own, queries, tick)
        runs = self._of_queries(state, queries)
        for position, mine in self._by_position(state.runs, runs):
            self._bind(state.runs, position, mine)
        waits = state.runs.waits
        waits.due[runs], waits.looked_from[runs] = tick, tick
        state.runs.watches.due[runs] = tick

    def _of_queries(self, state: MatchingState, queries: I64) -> I64:
        used = state.runs.used
        return used[np.isin(state.runs.query[used], queries)]

    def forget(self, state: MatchingState, queries: I64) -> None:
        runs = self._of_queries(state, queries)
        for position, mine in self._by_position(state.runs, runs):
            self._unlink(state, position, mine)
        state.runs.leave(runs)
        for presence, own in zip(self.presences, state.presences, strict=True):
            presence.forget(own, queries)
        state.begun.up_to(int(queries.max(initial=-1)) + 1)[queries] = NEVER

    def pass_time(self, state: MatchingState, tick: int) -> None:
        """Nobody is known whom no run waits for any more."""
        for number, idle in enumerate(state.idle):
            if idle:
                self.presences[number].drop_idle(state.presences[number], np.concatenate(idle))
                state.idle[number] = []

    def count_anew(self, state: MatchingState) -> None:
        state.passed[:] = 0

    def paces(self, state: MatchingState) -> list[Pace]:
        """In the first step wait the stays that are not long enough yet."""
        runs, n = state.runs, len(state.passed)
        waiting = np.bincount(runs.position[runs.used] + 1, minlength=n)
        waiting[0] = state.presences[0].short
        columns = [column.tolist() for column in (*state.passed.T, waiting)]
        return [Pace(*(column[at] for column in columns)) for at in range(n)]

    def held(self, state: MatchingState) -> int:
        """Runs, and the rows of steps."""
        return len(state.runs) + sum(len(own.stays.alive) for own in state.presences)

    def saved(self, state: MatchingState) -> dict[str, pa.Table]:
        queries = np.flatnonzero(state.begun.all != NEVER)
        tables = {
            "begun": pa.table({"query": queries, "tick": state.begun.all[queries]}),
            "closed": pa.table({"closed_to": [state.closed_to]}),
        }
        for number, own in enumerate(state.presences):
            tables |= over(f"presence{number} ", own.saved())
        return tables | state.runs.saved()

    def restore(self, state: MatchingState, tables: dict[str, pa.Table]) -> None:
        for number, own in enumerate(state.presences):
            own.restore(under(f"presence{number} ", tables))
        query, tick = (tables["begun"].column(name).to_numpy() for name in ("query", "tick"))
        state.begun.up_to(int(query.max(initial=-1)) + 1)[query] = tick
        state.closed_to = tables["closed"].column(0)[0].as_py()
        runs = state.runs.restore(tables)
        assert FREE not in state.runs.position[runs]
        for number, keys in self._link(state, runs).items():
            state.presences[number].know(np.unique(keys))
