"""States that a program brings: when they are called, what they see, what is kept, and how they fail."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.errors import SessionError
from sanderling.operate.pattern.own_state import States
from sanderling.operate.sql.constants import Constants
from sanderling.operate.tree.tree import Tree
from sanderling.plan.planner import Planner
from sanderling.plans import nodes
from sanderling.session.state import State, as_data, brought, of_data
from tests.engine.own_states import KINDS
from tests.operate.histories import THOROUGH

STREAM = "CREATE STREAM p (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"
SECOND, TICKS = 1_000_000, 16
FIRST = "WITH a AS (SELECT id FROM p INSIDE (0, 0, 1, 1)) SELECT id FROM a USING {}"
LATER = (
    "WITH a AS (SELECT id FROM p INSIDE (0, 0, 1, 1)), b AS (SELECT id FROM p INSIDE (5, 0, 6, 1)) "
    "SELECT id, OUTCOME() AS how FROM a THEN b USING {} WITHIN 3 SECONDS REPORT ALL WITH TIMEOUTS"
)

Here = list[set[str]]  # by tick, from the first on


class Trees:
    """The tree of some patterns of one shape, from tick to tick; `restart` goes on with another."""

    def __init__(self, kind: type[State], pattern: str, queries: int = 1, most_s: float = 10):
        planner = Planner()
        planner.states.put("Mine", brought("Mine", kind))
        asked = "; ".join(f"REGISTER PATTERN q{n} AS {pattern}" for n in range(queries))
        planner.run_script(STREAM + asked)
        (self.planned,) = planner.plan().trees
        self.states = States(lambda name: kind, most_s, are_checked=most_s > 1)
        self.tree = self.made()
        self.now, self.faults = 0, list[Any]()

    def made(self) -> Tree:
        constants = Constants(self.planned.queries, self.planned.constants)
        return Tree(self.planned.root, constants, states=self.states)

    @property
    def state(self) -> Any:
        return next(s.state for s in self.tree.stations if isinstance(s.node, nodes.Match))

    def restart(self) -> None:
        tables, self.tree = self.tree.saved(), self.made()
        self.tree.restore(tables)

    def apply(
        self, until: int, *branches: Sequence[tuple[int, int, str]], query: int = 0
    ) -> list[tuple[Any, ...]]:
        """Changes (tick, sign, id) of each step; ticks are seconds. What is told: tick, then the row."""
        begun = {"query": self.planned.queries, "tick": np.full(len(self.planned.queries), SECOND)}
        begin = pa.table(begun).slice(0, 0 if self.now else len(self.planned.queries))
        came = {n: _changes(rows, query) for n, rows in enumerate(branches) if rows}
        out = self.tree.apply(came, {}, begin, until * SECOND)
        self.tree.pass_time(until * SECOND)
        self.now = until
        self.faults += self.tree.faults()
        return [(row["tick"] // SECOND, *list(row.values())[3:]) for row in out.to_pylist()]


def _changes(rows: Sequence[tuple[int, int, str]], query: int) -> pa.Table:
    tick, sign, key = zip(*rows, strict=True)
    columns = {"query": [query] * len(rows), "tick": [t * SECOND for t in tick], "sign": list(sign)}
    return pa.table({**{n: pa.array(c, pa.int64()) for n, c in columns.items()}, "c0": pa.array(key)})


def changes_of(here: Here, after: int, until: int) -> list[tuple[int, int, str]]:
    """Ticks count from 1."""
    told = []
    for tick in range(after + 1, until + 1):
        before, now = here[tick - 2] if tick > 1 else set(), here[tick - 1]
        told += [(tick, -1, key) for key in sorted(before - now)]
        told += [(tick, 1, key) for key in sorted(now - before)]
    return told


@THOROUGH
@given(
    st.lists(st.sets(st.sampled_from("ab")), min_size=TICKS, max_size=TICKS), st.integers(1, 4),
    st.sets(st.integers(1, TICKS - 1)), st.sets(st.integers(1, TICKS)),
)  # fmt: skip
def test_the_papers_example_is_a_stay_told_again_and_again(
    here: Here, stay: int, cuts: set[int], restarts: set[int]
) -> None:
    """Counted by hand: at each multiple of the stay behind the first tick of those without a break."""
    run, told, wanted = Trees(KINDS["Speeding"], FIRST.format(f"Mine({stay})")), list[Any](), list[Any]()
    for first, last in pairwise([0, *sorted(cuts), TICKS]):
        told += run.apply(last, changes_of(here, first, last))
        if last in restarts:
            run.restart()
    for key in "ab":
        since = 0
        for tick in range(1, TICKS + 1):
            since = 0 if key not in here[tick - 1] else since or tick
            if since and tick > since and not (tick - since) % stay:
                wanted.append((tick, key))
    assert sorted(told) == sorted(wanted) and not run.faults


class Called(State):
    """Notes what it is called for."""

    left, right = {"id": "STRING"}, {"id": "STRING"}
    output: ClassVar[dict[str, str]] = {}
    kept: ClassVar[dict[str, dict[str, str]]] = {"calls": {"what": "STRING"}}
    calls: pa.Table

    def initialize(self, metadata: pa.Table | None = None) -> None:
        assert metadata is not None
        self.note(f"made with {metadata.column('id').to_pylist()}")

    def note(self, what: str) -> None:
        self.calls = pa.concat_tables([self.calls, pa.table({"what": [what]})])

    def right_status_update(self, events: Any) -> None:
        came, went, rows = (t.column("id").to_pylist() for t in (events.came, events.went, events.rows))
        self.note(f"{events.tick.second} right +{came} -{went} ={sorted(rows)}")

    def left_status_update(self, events: Any) -> None:
        came, went = events.came.column("id").to_pylist(), events.went.column("run").to_pylist()
        self.note(f"{events.tick.second} left +{came} -{went} ={events.rows.column('run').to_pylist()}")

    def forward_condition(self) -> bool:
        return False

    def wake_at(self) -> datetime | None:
        self.note("asked")
        return datetime(1970, 1, 1, 0, 0, 9, 1) if self.tick.second == 8 else None


def test_it_is_called_when_something_came_or_went_and_when_it_asked() -> None:
    run = Trees(Called, LATER.format("Mine"))
    assert run.apply(1, [], [(1, 1, "x")]) == []
    run.apply(3, [(2, 1, "a")])
    run.restart()
    told = run.apply(20, [(4, 1, "b")], [(4, 1, "y"), (6, -1, "x"), (6, 1, "z")])
    assert told == [(5, "a", "timed out"), (7, "b", "timed out")]
    (own,) = run.state.own.instances.values()
    calls = [call for call in own.thing.calls.column("what").to_pylist() if call != "asked"]
    assert calls == [
        "made with ['a']", "2 right +['x'] -[] =['x']", "2 left +['a'] -[] =[0]",
        "4 right +['y'] -[] =['x', 'y']", "4 left +['b'] -[] =[0, 1]",
        "6 right +['z'] -['x'] =['y', 'z']", "6 left +[] -[0] =[1]", "8 left +[] -[1] =[]",
    ]  # fmt: skip
    # At 10 it was awake, since it had said so at 8, and nothing had happened.
    assert own.thing.calls.num_rows - len(calls) == 5


class Faulty(KINDS["Speeding"]):  # type: ignore[misc]
    """One fault, whichever is asked for."""

    fault: ClassVar[str] = ""

    def forward_action(self) -> Any:
        match self.fault:
            case "other schema":
                return pa.table({"who": ["a"]})
            case "no table":
                return ["a"]
            case "other type":
                return pa.table({"id": [pa.array([1.5])]})
            case "for ever":
                while True:
                    pass
            case "other kept":
                self.table = pa.table({"id": ["a"]})
        return super().forward_action()


@pytest.mark.parametrize("fault", ["other schema", "no table", "other type", "for ever", "other kept"])
def test_a_fault_ends_its_pattern_and_no_other(fault: str) -> None:
    kind = type("Mine", (Faulty,), {"fault": fault})
    run = Trees(kind, FIRST.format("Mine(2)"), queries=2, most_s=0.2 if fault == "for ever" else 10)
    started = time.monotonic()
    assert run.apply(4, [(1, 1, "a")]) == []
    assert time.monotonic() - started < 5
    (failed,) = run.faults
    assert (failed.query, failed.tick) == (0, 3 * SECOND) and failed.message.startswith("Mine: ")
    run.restart()
    assert run.apply(9, [(5, 1, "b")]) == [] and len(run.faults) == 1
    assert not run.tree.is_due(10**12) and not run.state.runs


class Forgetful(KINDS["Speeding"]):  # type: ignore[misc]
    """What it counts is in no table."""

    calls = 0

    def forward_condition(self) -> bool:
        self.calls += 1
        return self.calls > 2

    def forward_action(self) -> pa.Table:
        return self.table.select(["id"])


def test_what_is_remembered_elsewhere_is_found_out() -> None:
    run = Trees(Forgetful, FIRST.format("Mine(1)"))
    run.apply(6, [(1, 1, "a")])
    assert "not in kept" in run.faults[0].message


def test_a_shared_one_hears_of_patterns_that_go() -> None:
    run = Trees(KINDS["Shared"], FIRST.format("Mine(3)"), queries=2)
    run.apply(1, [(1, 1, "a")])
    run.apply(2, [(2, 1, "b")], query=1)
    (own,) = run.state.own.instances.values()
    assert own.thing.table.num_rows == 2
    run.tree.forget(np.array([0]))
    run.restart()
    assert run.apply(5) == [(5, "b")]
    (own,) = run.state.own.instances.values()
    assert own.thing.table.column("query").to_pylist() == [1]


def test_what_is_declared() -> None:
    for kind in KINDS.values():
        state = brought("x", kind)
        assert of_data(as_data(state)) == state
    assert brought("x", KINDS["Seen"]).least == 0 and brought("x", KINDS["Speeding"]).most == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"right": {}}, {"right": {"id": "TEXTS"}}, {"right": ["id"]}, {"output": {}}, {"kept": ["table"]},
        {"right": {"run": "BIGINT"}}, {"kept": {"table": {"id": 3}}},
    ],
)  # fmt: skip
def test_what_cannot_be_one_is_refused(wrong: dict[str, Any]) -> None:
    kind = type("Mine", (KINDS["Speeding"],), wrong)
    with pytest.raises(SessionError) as e:
        brought("Mine", kind)
    assert e.value.code == "session.bad_state" and '"Mine"' in e.value.message
    with pytest.raises(SessionError):
        brought("Mine", timedelta)
