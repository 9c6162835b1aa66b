"""A tree of operators at work: signed rows of branches and tables in, those of the root out.

branch 0 ──► Select ─┐
branch 1 ────────────┴─► Join ──► Aggregate ──► Select ──► signed rows

All queries of one shape share a tree. Many ticks are worked out at once: no operator loops over ticks, rows
or queries.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.clock import NOTHING_YET
from sanderling.figures.figures import Figures
from sanderling.operate.operator import (
    Due,
    Expires,
    Fails,
    Forgets,
    Holds,
    Hosts,
    Operator,
    Paces,
    Present,
    Replans,
    Saves,
    SavesWhole,
    Waits,
    Weighs,
    over,
    under,
)
from sanderling.operate.operators import operator_of
from sanderling.operate.pattern.own_state import States
from sanderling.operate.pattern.own_steps import Fault
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.signed import Signed
from sanderling.operate.tree.changes import Changes, Look
from sanderling.operate.tree.pieces import Pieces
from sanderling.operate.trigger.sightings import Sightings
from sanderling.plans import nodes, operator_ids
from sanderling.plans.columns import by_places
from sanderling.plans.nodes import Node, children_of, numbered, solve_of
from sanderling.route.by_space import ALONE, Partition


@dataclass(slots=True)
class Station:
    """An operator and its state; its inputs are other stations by number.

    Without an operator rows are as they come, from outside or from its input.
    """

    node: Node
    operator: Operator[None, Changes, Signed] | None
    inputs: list[int]
    state: Any = None
    known: Signed | None = None  # what it tells once, whatever its inputs say
    rows_in: int = 0
    guests: int = 0  # rows that came beside these, and are counted at home
    rows_out: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.state = None if self.operator is None else self.operator.new_state(None)

    def is_due(self, tick: int) -> bool:
        """Whether it has something to tell though nothing comes."""
        if isinstance(self.operator, Waits) and self.operator.is_waiting(self.state):
            return True
        due = self.due()
        return due is not None and due <= tick

    def due(self) -> int | None:
        """When it has something to tell though nothing comes."""
        return self.operator.due(self.state) if isinstance(self.operator, Due) else None

    def applied(self, given: Changes) -> Signed:
        """What it makes of these; of nothing, nothing."""
        assert self.operator is not None
        rows_in = sum(len(rows) for rows in given.inputs)
        if not rows_in and not len(given.begun) and not self.is_due(given.closed_to):
            return Signed.none([t.arrow for t in self.node.types])
        told = self.operator.apply(self.state, given)
        guests = self.operator.guests(self.state) if isinstance(self.operator, Hosts) else 0
        self.rows_in += rows_in - guests
        self.guests += guests
        return told

    def held(self) -> int:
        return self.operator.held(self.state) if isinstance(self.operator, Holds) else 0


@dataclass(frozen=True, slots=True)
class Counted:
    """What an operator has done so far; `depth` says how far below the root it stands."""

    node: Node
    depth: int
    rows_in: int
    rows_out: int
    held: int
    seconds: float


class Tree:
    """Promises (tests/operate): what comes out at a tick is the difference of two answers; neither the cut
    into batches nor the order of rows shows; saved and restored it goes on the same.
    """

    def __init__(
        self, root: Node, constants: Constants, partition: Partition = ALONE, states: States | None = None
    ):
        self.root = root
        self.constants, self.partition, self.states = constants, partition, states
        self.is_of_trigger = solve_of(root) is not None
        self.pieces = Pieces()
        self.stations: list[Station] = []  # each behind its inputs
        numbers = numbered(root)  # what stands twice in a tree is worked out once
        for node in numbers:
            inputs = [numbers[child] for child in children_of(node)]
            self.stations.append(Station(node, operator_of(node, constants, partition, states), inputs))

    def replan(self, queries: I64, tick: int) -> None:
        """From this tick on the constants of these queries are others."""
        for station in self.stations:
            if isinstance(station.operator, Replans):
                station.operator.replan(station.state, queries, tick)

    def anew(self) -> Tree:
        """The same, which remembers nothing."""
        return Tree(self.root, self.constants, self.partition, self.states)

    def is_saved_whole(self) -> bool:
        """Whether somebody may not do again what was done."""
        mine = (station.operator for station in self.stations)
        return any(isinstance(operator, SavesWhole) and operator.is_saved_whole() for operator in mine)

    def faults(self) -> list[Fault]:
        """Queries that have ended by themselves since this was asked."""
        found: list[Fault] = []
        for station in self.stations:
            if isinstance(station.operator, Fails):
                found += station.operator.faults(station.state)
        return found

    def is_due(self, tick: int) -> bool:
        """Whether somebody has something to tell up to this tick, though nothing comes."""
        return any(station.is_due(tick) for station in self.stations)

    def answering(self, queries: I64, tick: int) -> Tree:
        """For whole answers as at a tick; what does not follow from those of its branches is known here."""
        fresh = Tree(self.root, self.constants, states=self.states)
        for station, mine in zip(fresh.stations, self.stations, strict=True):
            if isinstance(mine.operator, Present):
                station.known = mine.operator.present(mine.state, queries, tick)
        return fresh

    def apply(
        self, branches: dict[int, pa.Table], tables: dict[str, pa.Table], begun: pa.Table,
        closed_to: int = NOTHING_YET, look: Look | None = None,
    ) -> pa.Table:  # fmt: skip
        """One batch: changes of branches and of tables (with query -1, columns by name), which queries
        begin at which tick, and the tick that has closed; whom else to ask. Gives the changes of the answers,
        equal rows of a tick as one.
        """
        out = []
        names: list[int | str] = [*branches, *tables]
        for piece in self.pieces.of([*branches.values(), *tables.values(), begun], closed_to):
            *parts, beginning = piece.tables
            changes = dict(zip(names, parts, strict=True))
            rows, most = self._apply(changes, beginning, piece.closed_to, look)
            self.pieces.learn(most)
            out.append(rows.table())
        return pa.concat_tables(out)

    def _apply(
        self, changes: dict[int | str, pa.Table], begun: pa.Table, closed_to: int, look: Look | None
    ) -> tuple[Signed, int]:
        """One piece: changes by branch number or table name. Also gives the most that a node told."""
        query, tick = (np.asarray(begun.column(name).to_numpy(), np.int64) for name in ("query", "tick"))
        beginning = Signed(query, tick, np.zeros(len(query), np.int64), [])
        result: Any
        results: list[Any] = []  # signed rows; of branches of triggers sightings
        for station in self.stations:
            started = time.perf_counter()
            if station.known is not None:
                result, station.known = station.known, Signed.none([t.arrow for t in station.node.types])
            elif station.operator is None and station.inputs:
                result = results[station.inputs[0]]
            elif station.operator is None:
                result = self._from_outside(station.node, changes)
            else:
                inputs = [results[i] for i in station.inputs]
                result = station.applied(Changes(inputs, beginning, closed_to, look))
            station.rows_out += len(result)
            station.seconds += time.perf_counter() - started
            results.append(result)
        rows: Signed = results[-1] if self._is_consolidated() else results[-1].consolidated()
        return rows, max(len(result) for result in results)

    def _is_consolidated(self) -> bool:
        """Whether equal rows need not be put together: they are, or nothing that is told cancels."""
        root = self.root.child if isinstance(self.root, nodes.Select) else self.root
        is_told_only = isinstance(root, nodes.Solve | nodes.Match)
        return is_told_only or isinstance(
            self.root,
            nodes.Aggregate
            | nodes.Distinct
            | nodes.First
            | nodes.SetOperation
            | nodes.Persisting
            | nodes.Ticking
            | nodes.Once
            | nodes.Recent
            | nodes.Sample
            | nodes.Company
            | nodes.Passing,
        )

    def _from_outside(self, node: Node, changes: dict[int | str, pa.Table]) -> Signed | Sightings:
        """The changes of a branch or a table; those that did not change are not there."""
        types = [t.arrow for t in node.types]
        if isinstance(node, nodes.TableRows):
            rows, names = changes.get(node.table), list(node.columns)
        else:
            assert isinstance(node, nodes.Branch)
            rows, names = changes.get(node.number), by_places(len(types))
            if self.is_of_trigger:
                return Sightings.none(types) if rows is None else Sightings.of(rows, types)
        return Signed.none(types) if rows is None else Signed.of(rows, names, types)

    def pass_time(self, tick: int) -> None:
        """No row of this tick or before comes any more."""
        for station in self.stations:
            if isinstance(station.operator, Expires):
                station.operator.pass_time(station.state, tick)

    def forget(self, queries: I64) -> None:
        """Nothing is left of these queries."""
        for station in self.stations:
            if isinstance(station.operator, Forgets):
                station.operator.forget(station.state, np.asarray(queries, np.int64))

    def weight(self) -> int | None:
        """About how many bytes are remembered; None, where somebody does not know."""
        weights: list[int | None] = [
            station.operator.weight(station.state) if isinstance(station.operator, Weighs) else None
            for station in self.stations
            if isinstance(station.operator, Saves)
        ]
        known = [weight for weight in weights if weight is not None]
        return sum(known) if known and len(known) == len(weights) else None

    def saved(self) -> dict[str, pa.Table]:
        """All that is remembered."""
        tables: dict[str, pa.Table] = {}
        for number, station in enumerate(self.stations):
            if isinstance(station.operator, Saves):
                tables |= over(f"{number}.", station.operator.saved(station.state))
        return tables

    def restore(self, tables: dict[str, pa.Table]) -> None:
        """Takes up what was saved by a tree with the same root."""
        for number, station in enumerate(self.stations):
            mine = under(f"{number}.", tables)
            if isinstance(station.operator, Saves) and mine:
                station.operator.restore(station.state, mine)

    def held(self) -> dict[str, int]:
        """How many rows (groups, values) each operator remembers, by its number and kind."""
        return {
            f"{number}.{type(station.node).__name__}": station.held()
            for number, station in enumerate(self.stations)
            if station.operator is not None
        }

    def counted(self) -> list[Counted]:
        """What each node has done, read from the root; what stands twice is told twice."""
        return list(self._counted(len(self.stations) - 1, 0))

    def count_anew(self) -> None:
        for station in self.stations:
            station.rows_in, station.guests, station.rows_out, station.seconds = 0, 0, 0, 0.0
            if isinstance(station.operator, Paces):
                station.operator.count_anew(station.state)

    def count_into(self, figures: Figures, template: int) -> None:
        """What each station has done since; those that did nothing hold what they held, or less with time."""
        for number, station in enumerate(self.stations):
            is_busy = station.rows_in or station.rows_out or station.guests
            if isinstance(station.operator, Paces):
                for at, pace in enumerate(station.operator.paces(station.state)):
                    position = operator_ids.position(template, number, at)
                    figures.add(position, pace.came, pace.reached)
                    figures.hold(position, pace.waiting)
                    figures.add(operator_ids.ended(template, number, at), pace.broken, pace.timed_out)
            if is_busy or isinstance(station.operator, Expires | Due):
                operator = operator_ids.node(template, number)
                # What comes from outside comes as it is.
                rows_in = station.rows_out if station.operator is None else station.rows_in
                figures.add(operator, rows_in, station.rows_out, station.seconds)
                if station.operator is not None:
                    figures.hold(operator, station.held(), station.due())

    def _counted(self, number: int, depth: int) -> Iterator[Counted]:
        station = self.stations[number]
        yield Counted(station.node, depth, station.rows_in, station.rows_out, station.held(), station.seconds)
        for child in station.inputs:
            yield from self._counted(child, depth + 1)
