"""Where a session's answers come in and its wishes go out: between the log of what was said and its users.

wishes ──► control log ──► shards ──► log ──► deliver: answers, updates, what is known of new focal objects
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.batches import Batch, Kind
from sanderling.clock import NOTHING_YET
from sanderling.deliver.changes import arrivals_in, failures_in
from sanderling.deliver.log import BLOB, Log
from sanderling.errors import ODD_CHARACTER, SanderlingError, SessionError, did_you_mean
from sanderling.figures.figures import Tally
from sanderling.plan.grow.living import Change
from sanderling.plans.nodes import is_told_only
from sanderling.plans.plan import ALWAYS, Plan, Template
from sanderling.route.controls import activate, announce, ask, mark, recall
from sanderling.route.parcels import parcel_of
from sanderling.session.metrics import Metrics
from sanderling.session.reader import Listener, Reader
from sanderling.session.rows import signed, unsigned
from sanderling.session.subscription import Subscription
from sanderling.state.sealed import broken, read_json, write_json

KIND = "desk"
SECONDS_BETWEEN_LOOKS = 0.2
TOLD = (Kind.ANSWER, Kind.KEPT)  # to whoever asked


class Desk:
    """Promises (tests/session):
    order    by tick, and within a tick − before +: whoever applies batch by batch has an answer after each
    once     an answer goes to whoever asked; a subscriber gets each update after its first answer once
    replay   what shards have to be told after a crash is told by the next run
    """

    def __init__(
        self, work: Path, why_over: Callable[[], SanderlingError | None] = lambda: None,
        past: Callable[[int], list[Batch]] = lambda version: [],
    ):  # fmt: skip
        """`why_over` tells whoever waits that there is nothing to wait for; `past` what a version is to know
        of it, once all shards have turned to that."""
        self._why_over, self._past = why_over, past
        self._path = work / "delivered.json"
        self.delivered, self._activated, self.failed = _read(self._path)
        self._control = Log(work / "control")
        self._next = max([-1, *self._control.numbers()]) + 1
        self._lock = threading.Lock()
        self._plan: Plan | None = None
        self._templates: dict[int, Template] = {}
        self._new_focals: dict[int, list[str]] = {}
        self._dropped: dict[int, list[int]] = {}
        self._gone: set[int] = set()  # queries that no shard has any more
        self._asked: dict[int, Callable[[list[Batch]], None]] = {}
        self._subscribed: dict[int, list[Reader]] = {}
        self._listeners: list[Listener] = []
        self.figures = Tally()  # of this run
        self.closed: dict[str, int] = {}  # by stream, the last tick that closed in this run
        self.metrics = Metrics()  # the same

    @property
    def plan(self) -> Plan | None:
        """As it was turned to last."""
        return self._plan

    @property
    def told(self) -> int:
        """How often something has been told."""
        return self._next

    # ----- what is told to the shards

    def turn(self, change: Change) -> None:
        """The plan from now on."""
        with self._lock:
            self._plan = change.plan
            self._templates = self._templates | change.plan.templates()
            if change.new_focals and change.version:
                self._new_focals[change.version] = list(change.new_focals)
            if len(change.dropped):
                self._dropped[change.version] = change.dropped.tolist()

    def announce(self, version: int) -> None:
        self._tell([announce(version), mark(version=version)])

    def _tell(self, batches: list[Batch]) -> None:
        with self._lock:
            blobs = pa.array([parcel_of(b) for b in batches], pa.binary())
            self._control.write(self._next, pa.table({"blob": blobs}, schema=BLOB))
            self._next += 1

    def measured(self) -> dict[str, Any]:
        """What has been done since the session was connected."""
        return self.metrics.shown(self._plan, self.figures.arrivals)

    # ----- names

    def names(self) -> list[str]:
        plan = self._plan
        if plan is None:
            return []
        return names_in(plan)

    def number_of(self, name: str) -> int:
        """The query that has this name now."""
        plan = self._plan
        if plan is not None and len(plan.queries) and not ODD_CHARACTER.search(name):
            is_there = plan.queries.end != ALWAYS
            same = pc.equal(plan.queries.names, name).to_numpy(zero_copy_only=False) & is_there
            if not same.any():  # as statements compare names, which Arrow's lower case is not
                folded = [n.casefold() for n in plan.queries.names.to_pylist()]
                same = np.array([n == name.casefold() for n in folded]) & is_there
            if same.any():
                return int(np.flatnonzero(same)[-1])
        raise SessionError(
            "session.no_query", f'there is no query "{name}"', did_you_mean(name, self.names())
        )

    def template_of(self, number: int) -> Template:
        assert self._plan is not None
        return self._templates[int(self._plan.queries.template[number])]

    # ----- questions

    def _ask(self, number: int, then: Callable[[list[Batch]], None]) -> int:
        key = random.getrandbits(62)
        self._asked[key] = then
        self._tell([ask(key, [number]), mark(ask=key)])
        return key

    def answer(self, name: str, timeout: float) -> pa.Table:
        number = self.number_of(name)
        told: Future[list[Batch]] = Future()
        key = self._ask(number, told.set_result)
        late = f'no answer of "{name}" within {timeout:g} seconds', "wait longer: answer(name, timeout=…)"
        return unsigned(self.template_of(number), self._waited(told, key, timeout, *late))

    def kept(self, streams: Sequence[str], timeout: float) -> list[Batch]:
        """The readings that shards have of these streams, all as after one batch."""
        told: Future[list[Batch]] = Future()
        key = random.getrandbits(62)
        self._asked[key] = told.set_result
        self._tell([*recall(key, streams), mark(ask=key)])
        late = f"no answer within {timeout:g} seconds", "wait longer: query(sql, timeout=…)"
        return self._waited(told, key, timeout, *late)

    def _waited(
        self, told: Future[list[Batch]], key: int, timeout: float, message: str, hint: str
    ) -> list[Batch]:
        until = time.monotonic() + timeout
        while True:
            try:
                return told.result(SECONDS_BETWEEN_LOOKS)
            except TooLate:
                e = self._why_over()
                if e is None and time.monotonic() > until:
                    e = SessionError("session.timeout", message, hint)
                if e is not None:
                    self._asked.pop(key, None)
                    raise e from None

    def subscribe(self, name: str, most_rows: int) -> Subscription:
        number = self.number_of(name)
        subscription = Subscription(name, most_rows, self._why_over)
        if self.is_told_only(number):  # there is no answer to wait for, and no alert to be missed meanwhile
            self._add(number, subscription)
        else:
            self.read_along(number, subscription)
        return subscription

    def read_along(self, number: int, reader: Reader) -> None:
        """Whoever reads a query along: its whole answer, then each of its updates from the next batch on."""
        template = self.template_of(number)

        def begin(batches: list[Batch]) -> None:
            reader.begin(signed(template, [b.table for b in batches]))
            self._add(number, reader)

        self._ask(number, begin)

    def listen(self, listener: Listener) -> None:
        """One more that hears of every batch, when its updates have been given to their readers."""
        self._listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        self._listeners.remove(listener)

    def is_told_only(self, number: int) -> bool:
        """Whether it tells alerts or matches, and holds nothing."""
        template = self.template_of(number)
        trees = () if self._plan is None else self._plan.trees
        return any(t.template.id == template.id and is_told_only(t.root) for t in trees)

    def streams_of(self, number: int) -> tuple[str, ...]:
        """All of them have closed a tick before it is told."""
        assert self._plan is not None
        queries, template = self._plan.queries, int(self._plan.queries.template[number])
        trees = [tree.streams for tree in self._plan.trees if tree.template.id == template]
        return trees[0] if trees else (queries.streams[queries.stream[number]],)

    def _add(self, number: int, reader: Reader) -> None:
        with self._lock:
            is_gone = number in self._gone  # dropped between the question and its answer
            why = self.failed.get(number)
            if not is_gone and why is None:
                self._subscribed.setdefault(number, []).append(reader)
        if is_gone or why is not None:
            reader.end(None if why is None else state_failed(why))

    # ----- what comes in, from the courier's thread

    def deliver(self, number: int, batches: list[Batch]) -> None:
        """One batch: updates to subscribers, answers to whoever asked, what was said of focal objects."""
        self._give([b for b in batches if b.kind == Kind.DELTAS])
        for row in failures_in(batches):
            self._fail(row["query"], row["message"])
        for batch in (b for b in batches if b.kind == Kind.FIGURES):
            self.figures.take(batch.shard, batch.table)
        self.figures.arrive(arrivals_in(batches))
        self.metrics.take(batches)
        marks = [b for b in batches if b.kind == Kind.MARK]
        for number_asked in [m.ask for m in marks]:
            if (then := self._asked.pop(number_asked, None)) is not None:
                then([b for b in batches if b.kind in TOLD and b.ask == number_asked])
        self._activate(max((m.version for m in marks), default=-1), batches)
        for batch in (b for b in batches if b.kind == Kind.COUNTS and b.closed_to != NOTHING_YET):
            self.closed[batch.stream] = batch.closed_to
        for listener in list(self._listeners):
            listener(number, batches)
        self.delivered = number
        self._write()

    def _write(self) -> None:
        failed = [[number, why] for number, why in self.failed.items()]
        said = {"delivered": self.delivered, "activated": self._activated, "failed": failed}
        write_json(self._path, KIND, said)

    def _fail(self, number: int, why: str) -> None:
        """A pattern has ended because of its own state: whoever reads it is told."""
        with self._lock:
            self.failed[number] = why
            over = self._subscribed.pop(number, [])
        for reader in over:
            reader.end(state_failed(why))

    def _give(self, batches: list[Batch]) -> None:
        """To each reader the rows of its query, of all shards together: only so they are in order."""
        for number, readers in list(self._subscribed.items()):
            template = self.template_of(number)
            rows = [_of(number, b.table) for b in batches if b.template == template.id]
            told = signed(template, rows)
            for reader in list(readers) if told is not None else []:
                reader.give(told)
            with self._lock:
                self._subscribed[number] = [reader for reader in readers if not reader.is_over]

    def _activate(self, turned: int, batches: list[Batch]) -> None:
        """All shards have turned to this version: those up to it need wait no longer."""
        told = []
        for version in range(self._activated + 1, turned + 1):
            if version in self._new_focals:
                told += activate(version, self._new_focals.pop(version), batches)
            told += self._past(version)
            for number in self._dropped.pop(version, []):
                with self._lock:
                    self._gone.add(number)
                    over = self._subscribed.pop(number, [])
                for reader in over:
                    reader.end()
        if told:
            self._tell(told)
        self._activated = max(self._activated, turned)

    def end(self, failure: BaseException | None = None) -> None:
        """Nobody gets anything any more."""
        for readers in self._subscribed.values():
            for reader in readers:
                reader.end(failure)
        self._subscribed.clear()


def _of(query: int, rows: pa.Table) -> pa.Table:
    return rows.filter(pa.array(rows.column("query").to_numpy() == query))


def names_in(plan: Plan) -> list[str]:
    """Of the queries that are there now."""
    return [str(name) for name in plan.queries.names.filter(pa.array(plan.queries.end != ALWAYS))]


def state_failed(why: str) -> SessionError:
    hint = "mend the state; then DROP PATTERN, and REGISTER it anew"
    return SessionError("session.state_failed", f"the pattern has ended: {why}", hint)


def _read(path: Path) -> tuple[int, int, dict[int, str]]:
    if not path.exists():
        return -1, 0, {}
    try:
        said = read_json(path, KIND)
        failed = {int(number): str(why) for number, why in said["failed"]}
        return int(said["delivered"]), int(said["activated"]), failed
    except (ValueError, LookupError, TypeError) as e:
        raise broken(str(path), str(e)) from e
