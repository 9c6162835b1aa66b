"""Runs that go on, as columns by place; a place that is left is taken again.

what a run has reached: by step when, since when, the values of then
what it waits for:      by place in its position a watch (kernels/pattern/runs.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.arrays import I8, I64, Bools
from sanderling.clock import NEVER, NOTHING_YET
from sanderling.kernels.pattern.runs import NOBODY, NOT_YET, WHOLE, Waits, Watches
from sanderling.operate.sql.rows.codes import Coder, new_texts
from sanderling.operate.sql.rows.numbered import Grown, Waste
from sanderling.plans.columns import by_places
from sanderling.plans.nodes import Match
from sanderling.route.keys import Keys

FREE = -1
WATCH = {"key": NOBODY, "u": 0, "times": 0, "since": NEVER, "due": NEVER}


class RunColumns:
    """Promises (tests/operate/test_match.py, tests/operate/test_run_columns.py): as many places as there ever
    were runs at once; texts of runs that are gone are forgotten.
    """

    def __init__(self, node: Match):
        steps = len(node.steps)
        self.width = max([1, *(len(p.steps) + len(p.nots) for p in node.positions)])
        self.room, self.top = 16, 0
        self._free: list[int] = []
        self._query, self._position = Grown(0, np.int64), Grown(FREE, np.int64)
        self._ticks = Grown(0, np.int64, len(node.positions) + 1)
        self._waits = [Grown(NEVER, np.int64), Grown(NEVER, np.int64), Grown(NOTHING_YET, np.int64)]
        self._watches = {name: Grown(first, np.int64, self.width) for name, first in WATCH.items()}
        self._is_blocked = Grown(False, np.bool_, self.width)
        self._links = [Grown(-1, np.int64, self.width) for _ in range(2)]
        self._how, self._is_there = Grown(NOT_YET, np.int8, steps), Grown(False, np.bool_, steps)
        self._tick, self._since = Grown(0, np.int64, steps), Grown(0, np.int64, steps)
        self._mark = Grown(False, np.bool_)
        self.types = [[t.arrow for t in node.kept_types(step)] for step in range(steps)]
        self.waste, texts = Waste(), new_texts()
        self.coders = [Coder(types, texts) for types in self.types]
        self._values = [Grown(0, np.int64, coder.width) for coder in self.coders]

    def __len__(self) -> int:
        return self.top - len(self._free)

    def _all(self, column: Grown) -> Any:
        return column.up_to(self.room)

    @property
    def query(self) -> I64:
        return np.asarray(self._all(self._query))

    @property
    def position(self) -> I64:
        """Which they wait for; FREE: there is no run."""
        return np.asarray(self._all(self._position))

    @property
    def ticks(self) -> I64:
        """At which each position was reached, the first step's among them."""
        return np.asarray(self._all(self._ticks))

    @property
    def waits(self) -> Waits:
        return Waits(*map(self._all, self._waits))

    @property
    def watches(self) -> Watches:
        columns = [self._all(column) for column in (*self._watches.values(), self._is_blocked)]
        return Watches(*columns, *(self._all(link).reshape(-1) for link in self._links))

    @property
    def how(self) -> I8:
        """By step."""
        return np.asarray(self._all(self._how))

    @property
    def is_there(self) -> Bools:
        """By step that was reached: whether there are values."""
        return np.asarray(self._all(self._is_there))

    @property
    def tick(self) -> I64:
        return np.asarray(self._all(self._tick))

    @property
    def since(self) -> I64:
        return np.asarray(self._all(self._since))

    @property
    def is_marked(self) -> Bools:
        return np.asarray(self._all(self._mark))

    @property
    def used(self) -> I64:
        return np.flatnonzero(self.position[: self.top] != FREE)

    def due(self, closed_to: int) -> I64:
        """Those that have to be looked at by then."""
        return np.flatnonzero(self.waits.due[: self.top] <= closed_to)

    @property
    def next_due(self) -> int:
        return int(self.waits.due[: self.top].min(initial=NEVER))

    # ----- places

    def begin(self, query: I64, tick: I64) -> I64:
        """New runs, which have reached the first step at a tick."""
        n = len(query)
        cut = max(0, len(self._free) - n)
        again, self._free = self._free[cut:], self._free[:cut]
        new = np.arange(self.top, self.top + n - len(again))
        self.top += len(new)
        self.room = max(self.room, self.top if self.top <= self.room else 2 * self.top)
        runs = np.concatenate([np.array(again, np.int64), new])
        self.query[runs], self.position[runs], self.ticks[runs, 0] = query, 0, tick
        self.how[runs] = NOT_YET
        waits = self.waits
        waits.deadline[runs], waits.due[runs], waits.looked_from[runs] = NEVER, NEVER, NOTHING_YET
        self.watches.key[runs] = NOBODY
        for coder, values in zip(self.coders, self._values, strict=True):
            self._all(values)[runs] = coder.nulls(1)
        return runs

    def leave(self, runs: I64) -> None:
        """These are gone."""
        self.position[runs], self.waits.due[runs] = FREE, NEVER
        self._free += runs.tolist()
        self._tidy_texts()

    def arm(self, runs: I64, tick: I64) -> None:
        """They begin to wait for a position at a tick."""
        watches, waits = self.watches, self.waits
        watches.u[runs], watches.due[runs] = tick[:, None], tick[:, None]
        watches.times[runs], watches.since[runs], watches.is_blocked[runs] = 0, NEVER, False
        waits.looked_from[runs] = tick

    # ----- what was reached

    def keep(self, step: int, runs: I64, values: Sequence[pa.Array]) -> None:
        """Values of a step."""
        rows = self.coders[step].codes(values, np.zeros(len(runs), np.int64))
        self._all(self._values[step])[runs] = rows[:, 1:]

    def kept(self, step: int, runs: I64, place: int) -> pa.Array:
        """A value of a step, by run; NULL where it was not reached, or nobody was there."""
        codes = self.codes(step, runs)
        codes[(self.how[runs, step] != WHOLE) | ~self.is_there[runs, step]] = self.coders[step].nulls(1)
        return self.coders[step].column(codes, place)

    def codes(self, step: int, runs: I64) -> I64:
        return np.asarray(self._all(self._values[step])[runs])

    def _tidy_texts(self) -> None:
        texts = self.coders[0].texts
        if not self.waste.is_too_much(len(texts), lambda: len(self._texts_used()), False):
            return
        used = self._texts_used()
        anew = Keys(texts.all.take(pa.array(used)))
        for coder, values, places in self._with_texts():
            coder.texts, all_values = anew, self._all(values)
            all_values[:, places] = np.searchsorted(used, all_values[:, places])
        for coder in self.coders:
            coder.texts = anew

    def _texts_used(self) -> I64:
        runs, nobody = self.used, np.empty(0, np.int64)
        found = [self._all(values)[runs][:, places].ravel() for _, values, places in self._with_texts()]
        return np.unique(np.concatenate([nobody, *found]))

    def _with_texts(self) -> list[tuple[Coder, Grown, list[int]]]:
        found = []
        for coder, values in zip(self.coders, self._values, strict=True):
            places = [coder.place(i) for i, type_ in enumerate(coder.types) if pa.types.is_string(type_)]
            found += [(coder, values, places)] if places else []
        return found

    # ----- as tables

    def saved(self) -> dict[str, pa.Table]:
        """What a key is follows from what was reached, and is not saved."""
        runs = self.used
        waits = self.waits._asdict().items()
        columns = {"query": self.query[runs], "position": self.position[runs]}
        columns |= {name: column[runs] for name, column in waits}
        columns |= {f"tick{i}": self.ticks[runs, i] for i in range(self.ticks.shape[1])}
        for name, column in self._watched().items():
            columns |= {f"{name}{i}": column[runs, i] for i in range(self.width)}
        tables = {"runs": pa.table(columns)}
        for step, coder in enumerate(self.coders):
            fixed = {name: column[runs, step] for name, column in self._reached().items()}
            values = coder.columns(self.codes(step, runs))
            named = dict(zip(by_places(len(values)), values, strict=True))
            tables[f"step{step}"] = pa.table({**fixed, **named})
        return tables

    def restore(self, tables: dict[str, pa.Table]) -> I64:
        """The runs that there are, whose keys are yet to be said."""
        table = tables["runs"]
        columns = {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}
        runs = self.begin(columns["query"], columns["tick0"])
        self.position[runs] = columns["position"]
        for name, column in self.waits._asdict().items():
            column[runs] = columns[name]
        for i in range(self.ticks.shape[1]):
            self.ticks[runs, i] = columns[f"tick{i}"]
        for name, column in self._watched().items():
            for i in range(self.width):
                column[runs, i] = columns[f"{name}{i}"]
        for step in range(len(self.coders)):
            mine = tables[f"step{step}"]
            reached = self._reached()
            for name, column in reached.items():
                column[runs, step] = mine.column(name).to_numpy(zero_copy_only=False)
            self.keep(step, runs, mine.columns[len(reached) :])
        return runs

    def _watched(self) -> dict[str, Any]:
        watches = self.watches._asdict()
        return {name: watches[name] for name in ("u", "times", "since", "due", "is_blocked")}

    def _reached(self) -> dict[str, Any]:
        return {"how": self.how, "is_there": self.is_there, "tick": self.tick, "since": self.since}
