"""A tree of operators at work: signed rows of branches and tables in, those of the root out.

branch 0 ──► Select ─┐
branch 1 ────────────┴─► Join ──► Aggregate ──► Select ──► signed rows

All queries of one shape share a tree. Many ticks are worked out at once: no operator loops over ticks, rows
or queries.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from sanderling.arrays import I64
from sanderling.figures import Figures
from sanderling.operate.operators import operator_of
from sanderling.operate.pieces import Pieces
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.signed import Signed
from sanderling.operate.trigger.sightings import Sightings
from sanderling.operate.trigger.solve import Solve
from sanderling.plans import nodes
from sanderling.plans.nodes import Node, children_of, numbered, solve_of
from sanderling.route.by_space import ALONE, Partition


class Operator(Protocol):
    """What a node does. `begun` has no columns: which queries begin, and when."""

    def apply(self, inputs: Sequence[Any], begun: Signed) -> Signed: ...

    def forget(self, queries: I64) -> None: ...

    def held(self) -> int: ...

    def saved(self) -> dict[str, pa.Table]: ...

    def restore(self, tables: dict[str, pa.Table]) -> None: ...


@runtime_checkable
class Expiring(Protocol):
    """An operator that forgets as time goes on, also where no rows come."""

    def pass_time(self, tick: int) -> None: ...


@dataclass(slots=True)
class Station:
    """An operator (None: rows come from outside), whose inputs are other stations by number."""

    node: Node
    operator: Operator | None
    inputs: list[int]
    rows_in: int = 0
    guests: int = 0  # rows that came beside these, and are counted at home
    rows_out: int = 0
    seconds: float = 0.0


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

    def __init__(self, root: Node, constants: Constants, partition: Partition = ALONE):
        self.root = root
        self.constants = constants
        self.is_of_trigger = solve_of(root) is not None
        self.pieces = Pieces()
        self.stations: list[Station] = []  # each behind its inputs
        numbers = numbered(root)  # what stands twice in a tree is worked out once
        for node in numbers:
            inputs = [numbers[child] for child in children_of(node)]
            self.stations.append(Station(node, operator_of(node, constants, partition), inputs))

    def apply(self, branches: dict[int, pa.Table], tables: dict[str, pa.Table], begun: pa.Table) -> pa.Table:
        """One batch: changes of branches and of tables (with query -1, columns by name), and which queries
        begin at which tick. Gives the changes of the answers, equal rows of a tick as one.
        """
        out = []
        for *parts, beginning in self.pieces.of([*branches.values(), *tables.values(), begun]):
            names: list[int | str] = [*branches, *tables]
            changed = dict(zip(names, parts, strict=True))
            rows, most = self._apply(changed, beginning)
            self.pieces.learn(most)
            out.append(rows.table())
        return pa.concat_tables(out)

    def _apply(self, changes: dict[int | str, pa.Table], begun: pa.Table) -> tuple[Signed, int]:
        """One piece: changes by branch number or table name. Also gives the most that a node told."""
        query, tick = (np.asarray(begun.column(name).to_numpy(), np.int64) for name in ("query", "tick"))
        beginning = Signed(query, tick, np.zeros(len(query), np.int64), [])
        results: list[Any] = []  # signed rows; of branches of triggers sightings
        for station in self.stations:
            started = time.perf_counter()
            if station.operator is None:
                result = self._from_outside(station.node, changes)
            else:
                inputs = [results[i] for i in station.inputs]
                rows_in = sum(len(rows) for rows in inputs)
                is_quiet = not len(beginning) and not any(len(rows) for rows in inputs)
                types = [t.arrow for t in station.node.types]
                result = Signed.none(types) if is_quiet else station.operator.apply(inputs, beginning)
                guests = station.operator.guests if isinstance(station.operator, Solve) and rows_in else 0
                station.rows_in += rows_in - guests
                station.guests += guests
            station.rows_out += len(result)
            station.seconds += time.perf_counter() - started
            results.append(result)
        rows: Signed = results[-1] if self._is_consolidated() else results[-1].consolidated()
        return rows, max(len(result) for result in results)

    def _is_consolidated(self) -> bool:
        """Whether equal rows need not be put together: they are, or nothing that a trigger tells cancels."""
        root = self.root.child if isinstance(self.root, nodes.Select) else self.root
        is_of_trigger = isinstance(root, nodes.Solve)
        return is_of_trigger or isinstance(
            self.root, nodes.Aggregate | nodes.Distinct | nodes.First | nodes.SetOperation
        )

    def _from_outside(self, node: Node, changes: dict[int | str, pa.Table]) -> Signed | Sightings:
        """The changes of a branch or a table; those that did not change are not there."""
        types = [t.arrow for t in node.types]
        if isinstance(node, nodes.TableRows):
            rows, names = changes.get(node.table), list(node.columns)
        else:
            assert isinstance(node, nodes.Branch)
            rows, names = changes.get(node.number), [f"c{i}" for i in range(len(types))]
            if self.is_of_trigger:
                return Sightings.none(types) if rows is None else Sightings.of(rows, types)
        return Signed.none(types) if rows is None else Signed.of(rows, names, types)

    def pass_time(self, tick: int) -> None:
        """No row of this tick or before comes any more."""
        for operator in self._operators():
            if isinstance(operator, Expiring):
                operator.pass_time(tick)

    def forget(self, queries: I64) -> None:
        """Nothing is left of these queries."""
        for operator in self._operators():
            operator.forget(np.asarray(queries, np.int64))

    def saved(self) -> dict[str, pa.Table]:
        """All that is remembered."""
        return {
            f"{number}.{name}": table
            for number, station in enumerate(self.stations)
            if station.operator is not None
            for name, table in station.operator.saved().items()
        }

    def restore(self, tables: dict[str, pa.Table]) -> None:
        """Takes up what was saved by a tree with the same root."""
        for number, station in enumerate(self.stations):
            begin = f"{number}."
            mine = {name.removeprefix(begin): t for name, t in tables.items() if name.startswith(begin)}
            if station.operator is not None and mine:
                station.operator.restore(mine)

    def held(self) -> dict[str, int]:
        """How many rows (groups, values) each operator remembers, by its number and kind."""
        return {
            f"{number}.{type(station.node).__name__}": station.operator.held()
            for number, station in enumerate(self.stations)
            if station.operator is not None
        }

    def counted(self) -> list[Counted]:
        """What each node has done, read from the root; what stands twice is told twice."""
        return list(self._counted(len(self.stations) - 1, 0))

    def count_anew(self) -> None:
        for station in self.stations:
            station.rows_in, station.guests, station.rows_out, station.seconds = 0, 0, 0, 0.0

    def count_into(self, figures: Figures, name: str) -> None:
        """What each station has done since; those that did nothing hold what they held, or less with time."""
        for number, station in enumerate(self.stations):
            if (
                station.rows_in
                or station.rows_out
                or station.guests
                or isinstance(station.operator, Expiring)
            ):
                operator = f"{name} {number}"
                figures.add(operator, station.rows_in, station.rows_out, station.seconds)
                if station.operator is not None:
                    figures.hold(operator, station.operator.held())

    def _counted(self, number: int, depth: int) -> Iterator[Counted]:
        station = self.stations[number]
        held = 0 if station.operator is None else station.operator.held()
        yield Counted(station.node, depth, station.rows_in, station.rows_out, held, station.seconds)
        for child in station.inputs:
            yield from self._counted(child, depth + 1)

    def _operators(self) -> Iterator[Operator]:
        return (station.operator for station in self.stations if station.operator is not None)
