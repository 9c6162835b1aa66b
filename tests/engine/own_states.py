"""States that tests bring, as a program would. Scripts name them; each call is made twice, to compare."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from sanderling.operate.pattern.own_state import States
from sanderling.plan.planner import Planner
from sanderling.session.state import State, brought

Schemas = dict[str, dict[str, str]]


class Speeding(State):
    """The paper's example: who has been there for so long is told, and then again every time."""

    right, output = {"id": "STRING"}, {"id": "STRING"}
    kept: ClassVar[Schemas] = {"table": {"id": "STRING", "since": "TIMESTAMP"}}
    table: pa.Table

    def initialize(self, seconds: int, metadata: pa.Table | None = None) -> None:
        self.interval = timedelta(seconds=seconds)

    def right_status_update(self, events: Any) -> None:
        self.table = pa.concat_tables(
            [self.without(self.table, events.went, on="id"), self.stamped(events.came, since=events.tick)]
        )

    def forward_condition(self) -> bool:
        return bool(pc.any(self.due()).as_py())

    def forward_action(self) -> pa.Table:
        told, waiting = self.table.filter(self.due()), self.table.filter(pc.invert(self.due()))
        told = told.select(["id"])
        self.table = pa.concat_tables([waiting, self.stamped(told, since=self.tick)])
        return told

    def due(self) -> pa.ChunkedArray:
        return self.is_due(self.table, "since", self.interval)

    def wake_at(self) -> datetime | None:
        first = pc.min(self.table.column("since")).as_py()
        return None if first is None else first + self.interval


class Seen(State):
    """A run goes on when its object has come so many times since it waits, who was there among them."""

    left, right, output = {"id": "STRING"}, {"id": "STRING"}, {"n": "BIGINT", "size": "BIGINT"}
    kept: ClassVar[Schemas] = {"waits": {"run": "BIGINT", "id": "STRING", "n": "BIGINT"}}
    waits: pa.Table

    def initialize(self, times: int = 2, metadata: pa.Table | None = None) -> None:
        self.times = times

    def right_status_update(self, events: Any) -> None:
        came = pc.is_in(self.waits.column("id"), events.came.column("id"))
        counted = pc.add(self.waits.column("n"), came.cast(pa.int64()))
        self.waits = self.waits.set_column(2, "n", counted)
        self.size = events.rows.num_rows

    def left_status_update(self, events: Any) -> None:
        waits = self.without(self.waits, events.went, on="run")
        self.waits = pa.concat_tables([waits, self.stamped(events.came, n=0)])

    def forward_condition(self) -> bool:
        return bool(pc.any(pc.greater_equal(self.waits.column("n"), self.times)).as_py())

    def forward_action(self) -> pa.Table:
        is_done = pc.greater_equal(self.waits.column("n"), self.times)
        told = self.waits.filter(is_done).select(["run", "n"])
        self.waits = self.waits.filter(pc.invert(is_done))
        return self.stamped(told, size=self.size)


class Careful(State):
    """It fails as soon as somebody comes who is called `bad`."""

    right, output = {"id": "STRING"}, {"id": "STRING"}

    def right_status_update(self, events: Any) -> None:
        self.came = events.came
        if "bad" in events.came.column("id").to_pylist():
            raise ValueError("this one is not for me")

    def forward_action(self) -> pa.Table:
        return self.came


class Shared(Speeding):
    """One for all patterns of a shape."""

    shares = True

    def forward_action(self) -> pa.Table:
        told, waiting = self.table.filter(self.due()), self.table.filter(pc.invert(self.due()))
        told = told.select(["id", "query"])
        self.table = pa.concat_tables(
            [waiting, self.stamped(told, since=self.tick).select(waiting.column_names)]
        )
        return told

    def right_status_update(self, events: Any) -> None:
        came = self.stamped(events.came, since=events.tick).select(self.table.column_names)
        self.table = pa.concat_tables([self.without(self.table, events.went, on=["query", "id"]), came])

    kept: ClassVar[Schemas] = {"table": {"query": "BIGINT", "id": "STRING", "since": "TIMESTAMP"}}


KINDS: dict[str, type[State]] = {k.__name__: k for k in (Speeding, Seen, Careful, Shared)}
STATES = States(KINDS.__getitem__, 10, are_checked=True)


def bring(planner: Planner) -> None:
    for name, kind in KINDS.items():
        planner.states.put(name, brought(name, kind))
