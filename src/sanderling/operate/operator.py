"""The contract of operators, in shards and in merge partitions alike.

operator   what was asked: made from the plan, remembers nothing
state      what is remembered: whoever runs the operator owns it, and hands it in
told       what changed, as signed rows

The contract is two methods. What only some can do is a small protocol each, which those who run operators
look for; they know none by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import pyarrow as pa

from sanderling.arrays import I64
from sanderling.batches import Batch

At = TypeVar("At", contravariant=True)
Given = TypeVar("Given", contravariant=True)
Told = TypeVar("Told", covariant=True)


class Operator(Protocol[At, Given, Told]):
    """In a tree it is given changes of its inputs (tree.py), in a shard what moved (now.py)."""

    def new_state(self, at: At) -> Any:
        """What is remembered as things stand; in a tree that is nothing yet."""
        ...

    def apply(self, state: Any, given: Given) -> Told:
        """What is to be told of some ticks, which have closed."""
        ...


class Turned(NamedTuple):
    """What is left when queries have begun or ended: the state, and what is to be told of it."""

    state: Any
    told: list[Batch]


@runtime_checkable
class Lives(Protocol):
    """Its queries begin and end at ticks that the plan has."""

    def end(self, state: Any, tick: int, now: Any) -> Turned:
        """Before what happens at `tick`: queries that end at it say nothing more.

        What a region held whose row is gone from its table is taken back.
        """
        ...

    def begin(self, state: Any, tick: int, now: Any) -> Turned:
        """After what happens at `tick`: what begins at it begins with all that it holds."""
        ...


@runtime_checkable
class Answers(Protocol):
    """Can tell whole answers."""

    def answer(self, state: Any, queries: list[int], now: Any) -> list[Batch]:
        """Of those of the queries that live, as at the last tick that closed."""
        ...


@runtime_checkable
class Merged(Protocol):
    """There are queries whose answers only the merge stage knows."""

    def merged_of(self, queries: list[int]) -> list[int]:
        """Those among some."""
        ...


@runtime_checkable
class Settles(Protocol):
    """Its state follows from readings, and can go after them without telling."""

    def settle(self, state: Any, settled: Any) -> None:
        """Everything is where it is now, whatever was to be told on the way."""
        ...


@runtime_checkable
class Places(Protocol):
    """May know where every object is."""

    def places_objects(self, state: Any) -> bool: ...


@runtime_checkable
class Forgets(Protocol):
    """Remembers things by query."""

    def forget(self, state: Any, queries: I64) -> None:
        """Nothing is left of these."""
        ...


@runtime_checkable
class Expires(Protocol):
    """Forgets as time goes on, also where nothing comes."""

    def pass_time(self, state: Any, tick: int) -> None:
        """Nothing of this tick or before comes any more."""
        ...


@runtime_checkable
class Due(Protocol):
    """Speaks because time passes.

    It is given the tick that has closed, and itself tells what became due up to it, at the ticks it was due.
    """

    def due(self, state: Any) -> int | None:
        """The first tick at which there is something to tell though nothing comes."""
        ...


@runtime_checkable
class Waits(Protocol):
    """Asks what objects do that it waits for, whether or not anything comes."""

    def is_waiting(self, state: Any) -> bool: ...


@runtime_checkable
class Replans(Protocol):
    """Remembers what follows from constants of queries, which may become others."""

    def replan(self, state: Any, queries: I64, tick: int) -> None:
        """From this tick on, which is the next to come, they are others."""
        ...


@runtime_checkable
class Present(Protocol):
    """What it holds does not follow from what its inputs hold now, but from what they held before."""

    def present(self, state: Any, queries: I64, tick: int) -> Any:
        """All that it has told of these queries and not taken back, as if it had come at this tick."""
        ...


@runtime_checkable
class Saves(Protocol):
    """What it remembers does not follow from anything else."""

    def saved(self, state: Any) -> dict[str, pa.Table]: ...

    def restore(self, state: Any, tables: dict[str, pa.Table]) -> None:
        """Into a new state."""
        ...


@runtime_checkable
class SavesWhole(Protocol):
    """It may not do again what it did, from what came: what it remembers is saved whole, each time."""

    def is_saved_whole(self) -> bool: ...


@runtime_checkable
class Fails(Protocol):
    """Queries may end in it by themselves, because of what is not ours."""

    def faults(self, state: Any) -> list[Any]:
        """Each with its query, its tick and why; once."""
        ...


@runtime_checkable
class Holds(Protocol):
    """Can count what it remembers."""

    def held(self, state: Any) -> int: ...


class Pace(NamedTuple):
    """Of a position of patterns: runs that came to wait there, that reached it, and that ended there
    otherwise; and how many wait there now.
    """

    came: int
    reached: int
    broken: int
    timed_out: int
    waiting: int


@runtime_checkable
class Paces(Protocol):
    """Runs get on in it, from position to position."""

    def count_anew(self, state: Any) -> None: ...

    def paces(self, state: Any) -> Sequence[Pace]:
        """Since it was counted anew."""
        ...


@runtime_checkable
class Weighs(Protocol):
    """Knows without saving it how much there would be to save."""

    def weight(self, state: Any) -> int:
        """About so many bytes."""
        ...


@runtime_checkable
class Hosts(Protocol):
    """Is given rows that are counted elsewhere, too."""

    def guests(self, state: Any) -> int:
        """How many of those that it was given last."""
        ...


def under(prefix: str, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """Those whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): t for name, t in tables.items() if name.startswith(prefix)}


def over(prefix: str, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """With names that begin so."""
    return {f"{prefix}{name}": table for name, table in tables.items()}
