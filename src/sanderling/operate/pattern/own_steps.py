"""Steps that have states of a program's own: what each is told at a tick, and what it forwards.

who came and went of a step ─┐
runs that came to wait ──────┼─► one call a pattern ─► runs that begin, runs that go on
a time that it named ────────┘
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from sanderling.clock import NEVER
from sanderling.operate.operator import over, under
from sanderling.operate.pattern.own_state import (
    QUERY,
    RUN,
    Events,
    Failed,
    Instance,
    OwnStateRunner,
    States,
    time_of,
)
from sanderling.operate.pattern.presence import Event, Key, PresenceState, Values
from sanderling.operate.pattern.runs import Run
from sanderling.plans import nodes

Place = tuple[int, int]  # a step, and a query; or all queries of the shape
ALL = -1
FAILED = pa.schema([("query", pa.int64()), ("message", pa.string())])
KNOWN = pa.schema([("run", pa.int64())])
HEAD = pa.schema([("wake", pa.int64()), ("has_metadata", pa.bool_())])


class Forwarded(NamedTuple):
    """A run that goes on, or, without one, a row that begins a run of a query."""

    query: int
    run: Run | None
    values: Values


class Fault(NamedTuple):
    query: int
    tick: int
    message: str


@dataclass(slots=True)
class OwnStates:
    """Those that were made, the runs that wait in each, patterns that failed, and who has yet to be told."""

    instances: dict[Place, Instance] = field(default_factory=dict)
    waiting: dict[Place, dict[int, Run]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    moved: dict[tuple[int, Key], bool] = field(default_factory=dict)  # whether it was there before
    touched: set[Place] = field(default_factory=set)

    @property
    def next_wake(self) -> int:
        return min((own.wake for own in self.instances.values()), default=NEVER)


class OwnSteps:
    """Of one shape of patterns. A step's rows are known by its presence, whose key they are, whole."""

    def __init__(self, node: nodes.Match, states: States):
        self.node, self.steps = node, node.own
        self.presences = {node.steps[step].presence for step in self.steps}
        self.runners = {step: self._runner(step, states) for step in self.steps}

    def __bool__(self) -> bool:
        return bool(self.steps)

    def _own(self, step: int) -> nodes.OwnState:
        own = self.node.steps[step].own
        assert own is not None
        return own

    def _runner(self, step: int, states: States) -> OwnStateRunner:
        own, presence = self._own(step), self.node.presences[self.node.steps[step].presence]
        lead = [(QUERY, pa.int64())] if own.shares else []
        types = [presence.types[place].arrow for place in presence.keys]
        right = pa.schema([*lead, *zip(own.right, types, strict=True)])
        left = [(name, self.node.kept_types(of)[place].arrow) for name, of, place in own.left]
        is_first = step == 0
        schema = None if is_first else pa.schema([*lead, (RUN, pa.int64()), *left])
        return OwnStateRunner(own, right, schema, self.node.tick_us, states)

    def _place(self, step: int, query: int) -> Place:
        return step, ALL if self._own(step).shares else query

    def step_of(self, run: Run) -> int | None:
        """The step in whose state a run waits."""
        return next((w.step for w in run.watches if self.node.steps[w.step].own is not None), None)

    # ----- who waits

    def enter(self, own: OwnStates, run: Run) -> None:
        step = self.step_of(run)
        if step is not None:
            place = self._place(step, run.query)
            own.waiting.setdefault(place, {})[run.number] = run
            own.touched.add(place)

    def leave(self, own: OwnStates, run: Run) -> None:
        step = self.step_of(run)
        if step is not None:
            place = self._place(step, run.query)
            own.waiting.get(place, {}).pop(run.number, None)
            own.touched.add(place)

    def note(self, own: OwnStates, presence: int, event: Event, state: PresenceState) -> None:
        """Before it happens."""
        if presence in self.presences:
            own.moved.setdefault((presence, event.key), event.key in state.here)

    # ----- a tick

    def called(
        self, own: OwnStates, step: int, tick: int, presences: Sequence[PresenceState], queries: Iterable[int]
    ) -> Iterator[Forwarded]:
        """What the state of a step forwards, pattern by pattern; one that fails tells nothing more."""
        presence = self.node.steps[step].presence
        moved = {self._place(step, key[0]) for number, key in own.moved if number == presence}
        awake = {place for place, one in own.instances.items() if place[0] == step and one.wake <= tick}
        waited = {place for place in own.touched if place[0] == step}
        for place in sorted(moved | awake | waited):
            if place[1] in own.failed or (place[1] == ALL and own.failed):
                continue
            try:
                yield from list(self._call(own, place, tick, presences[presence]))
            except Failed as e:
                self._fail(own, place, queries, tick, e)

    def _fail(self, own: OwnStates, place: Place, queries: Iterable[int], tick: int, e: Failed) -> None:
        """It ends its pattern, or all that share it; other states of these have nothing to do any more."""
        mine = [place[1]] if place[1] != ALL else list(queries)
        for query in (query for query in mine if query not in own.failed):
            own.failed[query] = f"{self._own(place[0]).name}: {e}"
            own.faults.append(Fault(query, tick, own.failed[query]))
        left = {of: one for of, one in own.instances.items() if of[1] not in own.failed and of != place}
        own.instances = left

    def _call(self, own: OwnStates, place: Place, tick: int, state: PresenceState) -> Iterator[Forwarded]:
        step = place[0]
        runner, waiting = self.runners[step], own.waiting.get(place, {})
        one, is_new = own.instances.get(place), False
        if one is None:
            if runner.left is not None and not waiting:
                return
            one, is_new = runner.made(self._runs(step, waiting.values())), True
            own.instances[place] = one
        right = self._right(own, place, tick, state, is_new)
        left = None if runner.left is None else self._left(step, one, tick, waiting)
        if right is None and left is None and one.wake > tick:
            return
        one.known = set(waiting)
        yield from self._forwarded(place, one, runner.called(one, tick, right, left), waiting)

    def _right(
        self, own: OwnStates, place: Place, tick: int, state: PresenceState, is_new: bool
    ) -> Events | None:
        """Of one that has just been made, all that are there have come; what was before is not seen."""
        step, query = place
        presence = self.node.steps[step].presence

        def is_mine(key: Key) -> bool:
            return query in (ALL, key[0])

        def whole() -> pa.Table:
            return self._rows(step, [key for key in state.here if is_mine(key)])

        moved = [
            (key, was) for (number, key), was in own.moved.items() if number == presence and is_mine(key)
        ]
        came = [key for key, was in moved if not was and key in state.here]
        went = [key for key, was in moved if was and key not in state.here]
        if is_new:
            came, went = [key for key in state.here if is_mine(key)], []
        if not came and not went:
            return None
        return Events(time_of(tick), self._rows(step, came), self._rows(step, went), whole)

    def _left(self, step: int, one: Instance, tick: int, waiting: dict[int, Run]) -> Events | None:
        """Runs that ended while they waited are known by their numbers alone."""
        came, went = waiting.keys() - one.known, one.known - waiting.keys()
        if not came and not went:
            return None
        gone = pa.table({RUN: pa.array(sorted(went), pa.int64())})
        rows = self._runs(step, [waiting[number] for number in sorted(came)])
        return Events(time_of(tick), rows, gone, lambda: self._runs(step, waiting.values()))

    def _forwarded(
        self, place: Place, one: Instance, told: pa.Table, waiting: dict[int, Run]
    ) -> Iterator[Forwarded]:
        own = self._own(place[0])
        columns = [told.column(column.name).to_pylist() for column in own.output]
        values = list(zip(*columns, strict=True)) if columns else [()] * told.num_rows
        if self.runners[place[0]].left is None:
            queries = told.column(QUERY).to_pylist() if own.shares else [place[1]] * told.num_rows
            yield from (Forwarded(query, None, row) for query, row in zip(queries, values, strict=True))
            return
        for number, row in zip(told.column(RUN).to_pylist(), values, strict=True):
            if number not in waiting:
                raise Failed(f"forward_action: run {number} does not wait here")
            if number in one.known:  # once
                one.known.discard(number)
                yield Forwarded(waiting[number].query, waiting[number], row)

    def settle(self, own: OwnStates, tick: int) -> None:
        """The tick is over: states that runs have left by themselves hear of it at the next."""
        for place in own.touched:
            one = own.instances.get(place)
            if one is not None and one.known - own.waiting.get(place, {}).keys():
                one.wake = min(one.wake, tick + self.node.tick_us)
        own.touched.clear()
        own.moved.clear()

    # ----- as tables

    def _rows(self, step: int, keys: Sequence[Key]) -> pa.Table:
        schema = self.runners[step].right
        lead = [[query for query, _ in keys]] if self._own(step).shares else []
        columns = list(zip(*(values for _, values in keys), strict=True)) or [()] * len(self._own(step).right)
        return _table([*lead, *columns], schema)

    def _runs(self, step: int, runs: Iterable[Run]) -> pa.Table | None:
        schema, mine = self.runners[step].left, sorted(runs, key=lambda run: run.number)
        if schema is None:
            return None
        lead = [[run.query for run in mine]] if self._own(step).shares else []
        left = [[_value(run, of, place) for run in mine] for _, of, place in self._own(step).left]
        return _table([*lead, [run.number for run in mine], *left], schema)

    # ----- what is remembered

    def forget(
        self, own: OwnStates, queries: set[int], presences: Sequence[PresenceState], tick: int
    ) -> None:
        """Of queries that go; a state that others share is told at the next tick that their rows went."""
        for step in self.steps:
            presence = self.node.steps[step].presence
            shared = own.instances.get((step, ALL))
            for key in [key for key in presences[presence].here if shared is not None and key[0] in queries]:
                own.moved[presence, key] = True
            if shared is not None:
                shared.wake = min(shared.wake, tick + self.node.tick_us)
        own.instances = {place: one for place, one in own.instances.items() if place[1] not in queries}
        own.failed = {query: why for query, why in own.failed.items() if query not in queries}

    def saved(self, own: OwnStates) -> dict[str, pa.Table]:
        failed = [{"query": query, "message": message} for query, message in own.failed.items()]
        tables = {"own failed": pa.Table.from_pylist(failed, schema=FAILED)} if self else {}
        for (step, query), one in own.instances.items():
            head = {"wake": one.wake, "has_metadata": one.metadata is not None}
            known = [{"run": number} for number in sorted(one.known)]
            mine = {"head": pa.Table.from_pylist([head], schema=HEAD),
                    "known": pa.Table.from_pylist(known, schema=KNOWN)}  # fmt: skip
            if one.metadata is not None:
                mine["metadata"] = one.metadata
            mine |= over("kept ", self.runners[step].kept_of(one))
            tables |= over(f"own {step} {query} ", mine)
        for presence in self.presences:
            gone = [key for number, key in own.moved if number == presence]
            step = next(step for step in self.steps if self.node.steps[step].presence == presence)
            rows = _table(
                list(zip(*(values for _, values in gone), strict=True)) or [()] * len(self._own(step).right),
                pa.schema([f for f in self.runners[step].right if f.name != QUERY]),
            )
            tables[f"own gone {presence}"] = rows.append_column(
                QUERY, pa.array([query for query, _ in gone], pa.int64())
            )
        return tables

    def restore(self, own: OwnStates, tables: dict[str, pa.Table], queries: Iterable[int]) -> None:
        if not self:
            return
        own.failed = {row["query"]: row["message"] for row in tables["own failed"].to_pylist()}
        for name in [name for name in tables if name.startswith("own ") and name.endswith(" head")]:
            step, query = (int(word) for word in name.split()[1:3])
            mine = under(f"own {step} {query} ", tables)
            (head,) = mine["head"].to_pylist()
            metadata = mine["metadata"] if head["has_metadata"] else None
            try:
                one = self.runners[step].restored(metadata, under("kept ", mine), head["wake"])
            except Failed as e:
                self._fail(own, (step, query), queries, NEVER, e)
                continue
            one.known = set(mine["known"].column("run").to_pylist())
            own.instances[step, query] = one
        for presence in self.presences:
            for row in tables[f"own gone {presence}"].to_pylist():
                query = row.pop(QUERY)
                own.moved[presence, (query, tuple(row.values()))] = True


def _table(columns: Sequence[Sequence[object]], schema: pa.Schema) -> pa.Table:
    arrays = [pa.array(column, of.type) for column, of in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _value(run: Run, step: int, place: int) -> object:
    reached = run.reached.get(step)
    return None if reached is None or reached.values is None else reached.values[place]
