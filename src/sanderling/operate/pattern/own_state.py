"""A state of a program's own at work: made, called, and what it remembers as tables.

right: rows that came, went ─┐
left: runs that came, went ──┴─► the program's five functions ─► rows it forwards, in the types it declared

Nothing that happens inside may end anything but its pattern: whatever goes wrong is `Failed`.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from types import FrameType
from typing import Any

import pyarrow as pa

from sanderling.clock import NEVER
from sanderling.plans.nodes import OwnState

RUN, QUERY = "run", "query"


def _nothing_known(name: str) -> type[Any]:
    raise KeyError(f'no state "{name}" was given to this engine')


@dataclass(frozen=True, slots=True)
class States:
    """Where code comes from, how long a call may take, and whether each is made twice, to compare."""

    load: Callable[[str], type[Any]] = _nothing_known
    most_s: float = 10.0
    are_checked: bool = False


class Failed(Exception):
    """What a program's state did, in words."""


@dataclass
class Events:
    """What happened to a set by a tick. All of it is only put together if somebody looks."""

    tick: datetime
    came: pa.Table
    went: pa.Table
    whole: Callable[[], pa.Table] = field(repr=False)

    @cached_property
    def rows(self) -> pa.Table:
        return self.whole()


class Instance:
    """One that was made: the program's object, and what is known of it.

    `known` are the runs that it has been told of; `metadata` is what it was made with.
    """

    __slots__ = ("known", "metadata", "thing", "wake")

    def __init__(self, thing: Any, metadata: pa.Table | None):
        self.thing, self.metadata = thing, metadata
        self.known: set[int] = set()
        self.wake = NEVER


class OwnStateRunner:
    """All that is done with the code of one step. Promises (tests/operate/test_own_states.py)."""

    def __init__(
        self, node: OwnState, right: pa.Schema, left: pa.Schema | None, tick_us: int, states: States
    ):
        self.node, self.right, self.left, self.tick_us, self.states = node, right, left, tick_us, states
        self.kept = {name: _schema_of(columns) for name, columns in node.kept}
        lead = [(QUERY, pa.int64())] if node.shares else []
        lead += [(RUN, pa.int64())] if left is not None else []
        self.told = pa.schema([*lead, *((c.name, c.type.arrow) for c in node.output)])

    def made(self, metadata: pa.Table | None) -> Instance:
        with self._guarded("initialize"):
            thing = self.states.load(self.node.name)()
            for name, schema in self.kept.items():
                setattr(thing, name, schema.empty_table())
            more = {} if self.left is None else {"metadata": metadata}
            thing.initialize(*self.node.constants, **more)
        found = Instance(thing, metadata)
        self._keep(found)
        return found

    def called(self, own: Instance, tick: int, right: Events | None, left: Events | None) -> pa.Table:
        """What it forwards at a tick; it wakes when it says."""
        copy = self._copied(own) if self.states.are_checked else None
        told = self._called(own, tick, right, left)
        if copy is not None:
            again = self._called(copy, tick, right, left)
            mine, other = self.kept_of(own), self.kept_of(copy)
            if not again.equals(told) or any(not other[name].equals(mine[name]) for name in mine):
                raise Failed("doing the same again it did something else: it remembers what is not in kept")
        return told

    def _called(self, own: Instance, tick: int, right: Events | None, left: Events | None) -> pa.Table:
        thing, told = own.thing, None
        thing.tick = time_of(tick)
        if right is not None:
            with self._guarded("right_status_update"):
                thing.right_status_update(right)
        if left is not None:
            with self._guarded("left_status_update"):
                thing.left_status_update(left)
        with self._guarded("forward_condition"):
            is_forwarded = bool(thing.forward_condition())
        if is_forwarded:
            with self._guarded("forward_action"):
                told = self._as(thing.forward_action(), self.told, "forward_action")
        self._keep(own)
        with self._guarded("wake_at"):
            own.wake = self._tick_at(thing.wake_at(), tick)
        return self.told.empty_table() if told is None else told

    def _tick_at(self, when: object, tick: int) -> int:
        """The first tick that is not before, and is to come."""
        if when is None:
            return NEVER
        if not isinstance(when, datetime):
            raise TypeError(f"it gave {when!r}, which is no datetime")
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
        us = round((when - _EPOCH).total_seconds() * 1e6)
        return max(-(-us // self.tick_us) * self.tick_us, tick + self.tick_us)

    # ----- what is remembered

    def _keep(self, own: Instance) -> None:
        with self._guarded("what is kept"):
            for name, schema in self.kept.items():
                setattr(own.thing, name, self._as(getattr(own.thing, name, None), schema, name))

    def kept_of(self, own: Instance) -> dict[str, pa.Table]:
        return {name: getattr(own.thing, name) for name in self.kept}

    def _copied(self, own: Instance) -> Instance:
        """As it would come back after a restart."""
        return self.restored(own.metadata, self.kept_of(own), own.wake)

    def restored(self, metadata: pa.Table | None, kept: dict[str, pa.Table], wake: int) -> Instance:
        found = self.made(metadata)
        for name, table in kept.items():
            setattr(found.thing, name, table)
        found.wake = wake
        return found

    def _as(self, table: object, schema: pa.Schema, what: str) -> pa.Table:
        """In the types and the order that were declared."""
        if not isinstance(table, pa.Table):
            raise TypeError(f"{what} is no Arrow table but a {type(table).__name__}")
        missing = [name for name in schema.names if name not in table.column_names]
        if missing:
            raise TypeError(
                f"{what} has no column {missing[0]!r}, only {', '.join(table.column_names) or 'none'}"
            )
        return table.select(schema.names).cast(schema).combine_chunks()

    @contextmanager
    def _guarded(self, where: str) -> Iterator[None]:
        """Its own faults, and its own time."""
        started = time.monotonic()
        try:
            with _alarmed(self.states.most_s):
                yield
        except Exception as e:
            raise Failed(f"{where}: {type(e).__name__}: {e}") from e
        if time.monotonic() - started > self.states.most_s:
            raise Failed(f"{where}: {_too_long(self.states.most_s)}")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_of(tick: int) -> datetime:
    """As times are in Arrow here: of UTC, and without saying so."""
    return pa.scalar(tick, pa.timestamp("us")).as_py()  # type: ignore[no-any-return]


def _schema_of(columns: Any) -> pa.Schema:
    return pa.schema([(c.name, c.type.arrow) for c in columns])


def _too_long(most_s: float) -> str:
    return f"it took longer than {most_s:g} seconds"


@contextmanager
def _alarmed(most_s: float) -> Iterator[None]:
    """Python code that goes on for ever is ended, where signals can; our caller's own alarm goes on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(_too_long(most_s))

    began, handler = time.monotonic(), signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, most_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 0.001))
