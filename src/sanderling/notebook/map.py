"""A query on a map in a notebook: the page's own map, fed from the session.

subscription ──► a thread ──► Arrow frames ──► the notebook's own channel ──► widget.js (web/src/widget.ts)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import anywidget
import pyarrow as pa
import traitlets

from sanderling.errors import ConfigError, SessionError
from sanderling.session.pages import counted
from sanderling.session.subscription import Subscription

BUILT = Path(str(files("sanderling"))) / "server" / "static" / "widget.js"
SECONDS_TO_WAIT = 0.5


class QueryMap(anywidget.AnyWidget):
    """Made by `session.map(name)`. Whoever shows it gets the whole answer, then what changes.

    Promise (tests/server/test_notebook.py): what a view is told adds up to the answer, also when it read
    too slowly; `close` ends its thread.
    """

    _esm = BUILT if BUILT.exists() else ""  # a class without it can be told about, one with a wrong path not
    name = traitlets.Unicode().tag(sync=True)
    columns: traitlets.List[Any] = traitlets.List().tag(sync=True)
    height = traitlets.Int().tag(sync=True)
    _feeding: tuple[threading.Event, threading.Thread] | None = None  # also of one that was never made

    def __init__(
        self, subscribe: Callable[[], Subscription], name: str, columns: Sequence[Mapping[str, Any]],
        height: int,
    ):  # fmt: skip
        if not BUILT.exists():
            raise ConfigError("config.no_page", "the map is not built", "run `make web`")
        super().__init__(name=name, columns=list(columns), height=height)
        self._subscribe = subscribe
        self._rows = 0
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        return f"<QueryMap of {self.name!r}: {counted(self._rows, 'update')} sent>"

    def close(self) -> None:
        self._rest()
        super().close()

    def _hear(self, widget: object, said: Any, buffers: Sequence[memoryview]) -> None:
        """A view is there: all views begin again."""
        if isinstance(said, dict) and said.get("op") == "ready":
            self._rest()
            over = threading.Event()
            thread = threading.Thread(target=self._feed, args=(over,), name="map", daemon=True)
            self._feeding = over, thread
            thread.start()

    def _rest(self) -> None:
        feeding, self._feeding = self._feeding, None
        if feeding is not None:
            feeding[0].set()
            feeding[1].join()

    def _feed(self, over: threading.Event) -> None:
        while not over.is_set():
            try:
                with self._subscribe() as subscription:
                    self._tell(subscription, over)
                return
            except SessionError as e:
                if e.code != "session.fell_behind":
                    return  # it has stopped, or the query is gone

    def _tell(self, subscription: Subscription, over: threading.Event) -> None:
        is_whole = True
        while not over.is_set():
            batch = subscription.poll(SECONDS_TO_WAIT)
            if batch is not None:
                self._rows += batch.num_rows
                self.send({"op": "rows", "whole": is_whole}, [_frame(batch)])
                is_whole = False
            elif subscription.is_over:
                return


def _frame(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())
