"""All objects of a stream, for operators' maps: where everybody is, thinned to what a screen can show.

one query over the stream ──► whereabouts, by slot ──► box, then one object a cell ──► a frame of positions

The query is registered when the first operator looks, and dropped when the last has gone.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sanderling.arrays import F64, I64
from sanderling.catalog import Stream
from sanderling.clock import NOTHING_YET, show_time
from sanderling.errors import ServerError, SessionError, did_you_mean
from sanderling.plans.columns import by_places
from sanderling.server.hub.hub import Hub, Turn
from sanderling.server.hub.watcher import Load, Watcher
from sanderling.server.rights.statements import OWN
from sanderling.server.shown.columns import heading_column, kind_column
from sanderling.server.shown.forms import arrow

MOST_SHOWN = 30_000
# Where so many are in view, cells are four pixels wide and not two.
MANY = 50_000
FIRST_SLOTS = 1024
# What the query over a stream selects first.
KEY, X, Y = by_places(3)
# Mixes the bits of a slot, so that which object of a cell is shown does not follow from when it came.
MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(slots=True)
class View:
    """What one operator looks at."""

    stream: str
    box: tuple[float, float, float, float]
    pixel: float
    most: int
    wake: Callable[[], None]
    known: npt.NDArray[np.uint32] = field(
        default_factory=lambda: np.empty(0, np.uint32)
    )  # slots' generations
    is_due: bool = True


@dataclass(slots=True)
class Shot:
    """One frame, and who has slots that this client has not heard of."""

    body: bytes
    slots: list[int]
    keys: list[object]


class Whereabouts:
    """Of one stream, by slot; slots of those that are gone are given again.

    Promises (tests/server/test_views.py): as the query's answer says; a slot's generation changes with its
    object.
    """

    def __init__(self, stream: Stream):
        self.stream = stream
        self.tick = NOTHING_YET
        self.free = np.arange(FIRST_SLOTS - 1, -1, -1)  # the next one last
        self.keys = np.full(FIRST_SLOTS, None, object)
        self.x, self.y = np.full(FIRST_SLOTS, np.nan), np.full(FIRST_SLOTS, np.nan)
        self.kind = np.zeros(FIRST_SLOTS, np.uint8)
        self.heading = np.zeros(FIRST_SLOTS, np.uint8)
        self.generation = np.zeros(FIRST_SLOTS, np.uint32)
        self.kinds: dict[object, int] = {}
        self._known: pa.Array | None = None  # keys by slot, until one comes or goes

    def take(self, rows: pa.Table, is_whole: bool) -> None:
        """Signed rows: key, x, y, and the kind and heading where the stream has them."""
        if is_whole:
            self._leave(np.flatnonzero(self.keys != None))  # noqa: E711
        rows = _last_of_each(rows)
        is_in = rows.column("sign").to_numpy() > 0
        going, coming = rows.filter(pa.array(~is_in)), rows.filter(pa.array(is_in))
        gone = self._slots(going.column(KEY))
        self._leave(gone[gone >= 0])
        at = self._come(coming.column(KEY))
        self.x[at], self.y[at] = (_floats(coming.column(c)) for c in (X, Y))
        names = coming.column_names[5:]
        if kind_column(self.stream) is not None:
            self.kind[at] = self._kinds(coming.column(names.pop(0)))
        if heading_column(self.stream) is not None:
            turns = np.nan_to_num(_floats(coming.column(names.pop(0)))) / 360
            self.heading[at] = np.round(turns * 256).astype(np.int64) % 256

    def _slots(self, keys: pa.ChunkedArray) -> I64:
        """-1 of whoever is not there."""
        if self._known is None:
            self._known = pa.array(self.keys, keys.type)
        found = pc.index_in(keys.combine_chunks(), value_set=self._known, skip_nulls=True)
        return np.asarray(found.fill_null(-1).to_numpy(), np.int64)

    def _come(self, keys: pa.ChunkedArray) -> I64:
        """Where these are from now on."""
        at = self._slots(keys)
        new = np.flatnonzero(at < 0)
        if len(new):
            while len(self.free) < len(new):
                self._grow()
            at[new], self.free = self.free[-len(new) :], self.free[: -len(new)]
            self.keys[at[new]] = keys.take(pa.array(new)).to_pylist()
            self.generation[at[new]] += 1
            self._known = None
        return at

    def _grow(self) -> None:
        n = len(self.x)
        for name, fill in (
            ("x", np.nan),
            ("y", np.nan),
            ("kind", 0),
            ("heading", 0),
            ("generation", 0),
            ("keys", None),
        ):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full(n, fill, old.dtype)]))
        self.free = np.concatenate([np.arange(2 * n - 1, n - 1, -1), self.free])
        self._known = None

    def _leave(self, slots: I64) -> None:
        if len(slots):
            self.x[slots] = self.y[slots] = np.nan
            self.keys[slots] = None
            self.free = np.concatenate([self.free, slots])
            self._known = None

    def _kinds(self, column: pa.ChunkedArray) -> npt.NDArray[np.uint8]:
        encoded = column.combine_chunks().dictionary_encode()
        numbers = [
            self.kinds.setdefault(k, min(len(self.kinds), 255)) for k in encoded.dictionary.to_pylist()
        ]
        codes = encoded.indices.fill_null(len(numbers)).to_numpy()
        return np.asarray(np.array([*numbers, 255], np.uint8)[codes])

    def shot(self, view: View) -> Shot:
        """What this view shows now."""
        left, low, right, high = view.box
        x, y = self.x, self.y
        inside = np.flatnonzero((x >= left) & (x <= right) & (y >= low) & (y <= high))
        shown = thinned(x[inside], y[inside], inside, view.pixel, view.most)
        origin = (left + right) / 2, (low + high) / 2
        columns = {
            "slot": shown.astype(np.uint32), "x": (x[shown] - origin[0]).astype(np.float32),
            "y": (y[shown] - origin[1]).astype(np.float32), "kind": self.kind[shown],
        }  # fmt: skip
        if heading_column(self.stream) is not None:
            columns["heading"] = self.heading[shown]
        tick = None if self.tick == NOTHING_YET else show_time(self.tick)
        said = {
            "tick": tick,
            "shown": len(shown),
            "in_view": len(inside),
            "origin": origin,
            "kinds": list(self.kinds),
        }
        new = self._new_to(view, shown)
        body = arrow(pa.table(columns), {"sanderling": json.dumps(said)})
        return Shot(body, new.tolist(), self.keys[new].tolist())

    def _new_to(self, view: View, shown: I64) -> I64:
        if len(view.known) < len(self.generation):
            more = np.zeros(len(self.generation) - len(view.known), np.uint32)
            view.known = np.concatenate([view.known, more])
        new = shown[view.known[shown] != self.generation[shown]]
        view.known[new] = self.generation[new]
        return np.asarray(new)


def thinned(x: F64, y: F64, slots: I64, pixel: float, most: int) -> I64:
    """One object a cell, always the same as long as it is there; and no more than so many."""
    size = pixel * (4 if len(slots) > MANY else 2)
    rank = (slots.astype(np.uint64) * MIX) >> np.uint64(32)
    if size > 0 and len(slots):
        column, row = np.floor(x / size).astype(np.int64), np.floor(y / size).astype(np.int64)
        column -= column.min()
        cell = column * (int(row.max() - row.min()) + 1) + (row - row.min())
        order = np.lexsort((rank, cell))
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = cell[order][1:] != cell[order][:-1]
        keep = order[is_first]
        slots, rank = slots[keep], rank[keep]
    if len(slots) > most:
        slots = slots[np.argpartition(rank, most)[:most]]
    return np.sort(slots)


def _last_of_each(rows: pa.Table) -> pa.Table:
    """Of each key what was said of it last: rows are in order of tick, and within one − before +."""
    if not rows.num_rows:
        return rows
    codes = rows.column(KEY).combine_chunks().dictionary_encode().indices.to_numpy()
    last = np.empty(int(codes.max()) + 1, np.int64)
    last[codes] = np.arange(len(codes))
    return rows.take(pa.array(last))


def _floats(column: pa.ChunkedArray) -> F64:
    return np.asarray(column.cast(pa.float64()).fill_null(np.nan).to_numpy(), np.float64)


@dataclass(slots=True, eq=False)
class Looked:
    """A stream that somebody looks at."""

    where: Whereabouts
    watcher: Watcher
    views: list[View] = field(default_factory=list)


class Views:
    """Belongs to the server's loop."""

    def __init__(self, hub: Hub):
        self._hub = hub
        self._looked: dict[str, Looked] = {}
        self._kept: set[str] = set()
        self._turn = asyncio.Lock()  # one comes or goes at a time: the query is theirs together

    async def open(self, view: View) -> None:
        name = OWN + view.stream
        async with self._turn:
            if view.stream not in self._looked:
                stream = await self._hub.beside(self._register, view.stream)
                watcher = await self._hub.watch(name, "answer", Load(most=1 << 30), lambda: None)
                self._looked[view.stream] = Looked(Whereabouts(stream), watcher)
            self._looked[view.stream].views.append(view)
        self.turn(None)
        view.wake()

    async def keep(self, stream: str) -> None:
        """Its query stays, though nobody looks: whoever asks now and then asks again."""
        await self._hub.beside(self._register, stream)  # another server of the session may have dropped it
        self._kept.add(stream)

    def _register(self, name: str) -> Stream:
        streams = {s.name: s for s in self._hub.host.seen().streams}
        if name not in streams:
            raise ServerError(
                "request.not_found", f'no stream is named "{name}"', did_you_mean(name, streams)
            )
        stream = streams[name]
        columns = [stream.key, stream.x, stream.y, kind_column(stream), heading_column(stream)]
        listed = ", ".join(_quoted(c) for c in columns if c is not None)
        if self._hub.host.member(OWN + name) is None:
            self._hub.host.run(
                f"REGISTER QUERY {_quoted(OWN + name)} AS SELECT {listed} FROM {_quoted(name)}"
            )
        return stream

    async def close(self, view: View) -> None:
        async with self._turn:
            looked = self._looked.get(view.stream)
            if looked is None or view not in looked.views:
                return
            looked.views.remove(view)
            if not looked.views:
                looked.watcher.close()
                del self._looked[view.stream]
                if view.stream not in self._kept:
                    await self._hub.beside(self._drop, view.stream)

    def _drop(self, name: str) -> None:
        if self._hub.host.member(OWN + name) is not None:
            self._hub.host.run(f"DROP QUERY {_quoted(OWN + name)}")

    def turn(self, turn: Turn | None) -> None:
        """A batch is over."""
        for looked in self._looked.values():
            is_new = False
            while (step := looked.watcher.step()) is not None and step.ended is None:
                is_new = True
                if step.piece is not None:
                    looked.where.take(step.piece.rows, step.piece.is_whole)
                if step.progress is not None:
                    looked.where.tick = step.progress
            for view in looked.views if is_new else ():
                view.is_due = True
                view.wake()

    def shot(self, view: View) -> Shot | None:
        """The newest frame, if there is a newer one."""
        looked = self._looked.get(view.stream)
        if looked is None:
            raise SessionError("session.no_query", f'"{view.stream}" is not looked at any more')
        if not view.is_due:
            return None
        view.is_due = False
        return looked.where.shot(view)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
