"""A session: continuous queries over a running pipeline, from Python.

session.execute(sql) ─┐                                     ┌─► subscribe(name)   signed Arrow batches
session.register(…)  ─┼─► journal ─► control log ─► shards ─┼─► answer(name)      an Arrow table
session.stream(df)   ─┘                    readings ─┘      └─► updates()         a streaming DataFrame
"""

from __future__ import annotations

import atexit
import json
import logging
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sanderling.ask.answer import answered
from sanderling.ask.archive import ArchivePast
from sanderling.ask.opened import opened_for
from sanderling.ask.question import question_of
from sanderling.catalog import Stream
from sanderling.clock import show_time
from sanderling.deliver.courier import Courier
from sanderling.deliver.sinks.sink import Sink
from sanderling.deliver.status import Status
from sanderling.errors import ConfigError, SanderlingError, SessionError, StateError, did_you_mean
from sanderling.ingest.files import refuse_no_folder
from sanderling.language import parse_script
from sanderling.language.script import read_script
from sanderling.language.statements import (
    Ask,
    At,
    DescribeDeclared,
    DescribeQuery,
    DescribeRegion,
    Explain,
    Show,
    Value,
)
from sanderling.plan.explain.explain import FIGURES
from sanderling.plan.grow.living import Change, LivingPlan
from sanderling.plan.grow.table_changes import read_in
from sanderling.plan.listing import Listing
from sanderling.plan.once import OncePlanner
from sanderling.session.answer import Answer
from sanderling.session.arguments import folder, seconds, shown, text, whole, yes_or_no
from sanderling.session.backfill import Backfill
from sanderling.session.desk import Desk, names_in
from sanderling.session.given import (
    arrow_of,
    columns_in,
    has_regions,
    is_table,
    kept,
    kept_features,
    refuse_missing,
)
from sanderling.session.journal import SAID, STARTED, STATE, Journal, Line
from sanderling.session.kept import KeptByShards
from sanderling.session.kept_tables import KeptTables
from sanderling.session.pages import counted, of_session
from sanderling.session.posting import Posting, folder_of
from sanderling.session.state import State, as_data, brought, of_data
from sanderling.session.subscription import Subscription
from sanderling.settings import Settings
from sanderling.spark.archives import Archives, archives_of, erase_alone
from sanderling.spark.checkpoint import agree, digest_of, session_note, working_in
from sanderling.spark.faults import not_writable
from sanderling.spark.lasting import LastingQuery
from sanderling.spark.plans import PlanFolder
from sanderling.spark.runtime import Runtime
from sanderling.spark.session import cores_of, refuse_no_session
from sanderling.spark.signals import beside, held_signals
from sanderling.spark.sources.find import Inputs, find_inputs
from sanderling.spark.sources.frames import Frame, columns_of
from sanderling.spark.sources.source import Layout, Source
from sanderling.spark.sources.updates import Wanted, updates_of
from sanderling.types import SqlType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sanderling.notebook.map import QueryMap
    from sanderling.server.serve import Server

LOGGER = logging.getLogger("sanderling")
MOST_ROWS = 1_000_000
ASKING = (Show, DescribeQuery, DescribeRegion, DescribeDeclared, Explain)
# How a text begins that may be a SELECT by itself: what it is the parser says.
ASK = re.compile(r"(?is)\A(?:\s++|--[^\n]*+\n|(?>/\*.*?\*/))*+(?:AT\b|SELECT\b|WITH\b|SYNCHRONIZE\b|\()")
# Of a live stream: more than clocks go wrong by, and less than zones of time are apart.
AHEAD = "10 minutes"

_open: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """What a program leaves open ends before the interpreter does: its threads would outlive it."""
    with held_signals(is_delivered=False):  # we are ending as it is
        for session in list(_open):
            with suppress(Exception):
                session.stop()


class Session:
    """Made by `sanderling.connect` (connect.py). May be used from several threads."""

    def __init__(
        self, spark: SparkSession | None, checkpoint: Path | None, shards: int | None, master: str,
        keep_s: float, trigger: str, data: Path | None = None,
    ):  # fmt: skip
        self._shards, self._master, self._trigger, self._keep_s = shards, master, trigger, keep_s
        self._data = data
        self._held = ExitStack()
        self._lock = threading.RLock()
        self._sources: dict[str, Source] = {}  # by stream
        self._sinks: list[Sink] = []  # beside the desk
        self._servers: list[Server] = []
        self.postings: dict[str, Posting] = {}  # by stream
        self._brought: set[str] = set()  # states of patterns, since the program began
        self._is_stopped = False
        self._noted: set[str] = set()
        self._fault: SanderlingError | None = None
        self._archives: Archives | None = None
        if spark is not None:
            refuse_no_session(spark)
        refuse_no_folder(data)
        with _in_our_words():
            self._work = self._held.enter_context(working_in(checkpoint))
            self._runtime = Runtime(self._work, master, shards or cores_of(master), spark)
            self._open()
        _open.add(self)

    def _open(self) -> None:
        """What the checkpoint holds."""
        try:
            self._tables = KeptTables(self._work / "tables", read_in(self._data))
            self._living = LivingPlan(read=self._tables, data=self._data)
            self._plans = PlanFolder.in_(self._work / "plans")
            self._named = PlanFolder.in_(self._work / "queries", are_named=True)
            self._backfill = Backfill()
            self._desk = Desk(self._work, self._why_over, self._backfill.told)
            self._living.figures, self._living.failed = self._desk.figures, self._desk.failed
            self._journal = Journal(self._work / "journal.jsonl")
            self._tell_again()
        except BaseException:
            self._held.close()
            raise

    # ----- what there is

    def execute(self, sql: str) -> pa.Table | None:
        """Runs statements, all of them or none; what SHOW, DESCRIBE, EXPLAIN or a SELECT answers comes back.

        While the session runs, queries begin at the next tick to close, and first tell their whole answer.
        """
        text("sql", sql, "give statements")
        with self._lock, _in_our_words():
            self._refuse_stopped()
            if _only_asks(sql) is not None:
                return self.query(sql)
            if _only_shows(sql):
                return _as_table(self._living.execute(sql).listings)
            if self._runtime.query is None and self._journal.is_known(sql):
                return None  # done before the restart
            if self._archives is not None:
                self._backfill.refuse_forgotten(sql, self._living)
            with self._tables.all_or_nothing():
                change = self._living.execute(sql)
            self._erase()
            with self._written_down():
                self._note(Line(SAID, sql, self._digest(change)), change)
                if self._runtime.query is not None and change.growth is not None:
                    self._desk.announce(change.version)
                self._tell_notes()
            return _as_table(change.listings)

    def _erase(self) -> None:
        """What statements delete from archives; said again after a kill it is done again."""
        erasures, self._living.erasures = self._living.erasures, []
        for erasure in erasures:
            is_ours = self._archives is not None and self._archives.erase(erasure.archiving, erasure.keys)
            if not is_ours:
                erase_alone(erasure.archiving, erasure.keys)

    def _tell_notes(self) -> None:
        """What was done to rows of tables that could not be as they are; once."""
        for table in self._living.tables.values():
            for note in table.notes:
                words = f"table {table.name}: {note}"
                if words not in self._noted:
                    self._noted.add(words)
                    LOGGER.warning(words)

    def register(self, name: str, select: str) -> None:
        """Registers a query: `session.register("trucks", "SELECT id FROM Vehicles INSIDE (0, 0, 1, 1)")`."""
        text("name", name, "give the query a name")
        text("select", select, "give a SELECT")
        self.execute(f"REGISTER QUERY {_quoted(name)} AS {select.strip().rstrip(';')}")

    def drop(self, name: str) -> None:
        """Drops a query: it tells nothing more."""
        text("name", name, "name a query")
        self.execute(f"DROP QUERY {_quoted(name)}")

    def stream(
        self, frame: DataFrame | Any, *, name: str, key: str, time: str, location: tuple[str, str],
        gone: str | None = None, tick: str = "1 second", lateness: str = "0 seconds",
        stale_after: str | None = None, partition: str | None = None, idle_after: str | None = None,
        ahead: str | None = AHEAD, globe: bool = False,
    ) -> None:  # fmt: skip
        """Declares a streaming DataFrame as a stream. After a restart it has to be given again.

        Or a table of pandas, Polars or Arrow: it is read in order of time, to its end.
        `globe`: its location is longitude and latitude, in degrees.
        """
        self._refuse_stopped()
        _refuse_no_texts(name=name, key=key, time=time, tick=tick, lateness=lateness)
        options = {
            "stale_after": stale_after,
            "partition": partition,
            "idle_after": idle_after,
            "ahead": ahead,
        }
        said = {option: words for option, words in options.items() if words is not None}
        _refuse_no_texts(**said, **({"gone": gone} if gone is not None else {}))
        x, y = _pair(location)
        on_globe = " ON GLOBE" if yes_or_no("globe", globe) else ""
        if not hasattr(frame, "isStreaming") and is_table(frame):
            table = arrow_of(name, frame)
            refuse_missing(name, table, key, time, x, y, gone)
            said.pop("ahead", None)  # what is given is there: no clock on the wall knows better
            path = str(kept(self._work / "given", table.sort_by(time)))
            columns = {column.name: column.type for column in columns_in(table)}
            self._declare(name, columns, key, time, f"({_quoted(x)}, {_quoted(y)}){on_globe}", gone, {
                "tick": tick, "lateness": lateness, **said, "path": path, "format": "parquet",
            })  # fmt: skip
            return
        if not getattr(frame, "isStreaming", False):
            raise ConfigError(
                "config.not_streaming", f'"{name}" is no streaming DataFrame', "use spark.readStream"
            )
        columns = columns_of(frame)
        for column in (key, time, x, y, *(c for c in (gone, partition) if c)):
            if column not in columns:
                raise ConfigError(
                    "config.no_column", f'the DataFrame of "{name}" has no usable column "{column}"',
                    did_you_mean(column, columns),
                )  # fmt: skip
        with self._lock:
            self._declare(name, columns, key, time, f"({_quoted(x)}, {_quoted(y)}){on_globe}", gone, {
                "tick": tick, "lateness": lateness, **said,
            })  # fmt: skip
            self.add_source(name, Frame(name, frame))

    def _declare(
        self, name: str, columns: Mapping[str, SqlType], key: str, time: str, location: str,
        gone: str | None, options: Mapping[str, str],
    ) -> None:  # fmt: skip
        listed = ", ".join(f"{_quoted(c)} {t.name}" for c, t in columns.items())
        gone_clause = f" GONE {_quoted(gone)}" if gone else ""
        more = ", ".join(f"{option} = {_literal(words)}" for option, words in options.items())
        self.execute(
            f"CREATE STREAM {_quoted(name)} ({listed}) KEY {_quoted(key)} TIME {_quoted(time)} "
            f"LOCATION {location}{gone_clause} WITH ({more})"
        )

    def table(
        self, frame: Any, *, name: str, key: str, location: tuple[str, str] | None = None, globe: bool = False
    ) -> None:
        """Declares a table: of pandas, Polars or Arrow, or of GeoPandas, whose areas are its regions."""
        self._refuse_stopped()
        _refuse_no_texts(name=name, key=key)
        is_globe, folder_of = yes_or_no("globe", globe), self._work / "given"
        if has_regions(frame) and location is None:
            path = _literal(str(kept_features(folder_of, frame)))
            more = ", globe = true" if is_globe else ""
            self.execute(f"CREATE TABLE {_quoted(name)} KEY {_quoted(key)} WITH (path = {path}{more})")
            return
        found = arrow_of(name, frame)
        place = None if location is None else _pair(location)
        refuse_missing(name, found, key, *(place or ()))
        listed = ", ".join(f"{_quoted(c.name)} {c.type.name}" for c in columns_in(found))
        where = "" if place is None else f" LOCATION ({', '.join(map(_quoted, place))})"
        where += " ON GLOBE" if is_globe and place is not None else ""
        path = _literal(str(kept(folder_of, found)))
        self.execute(
            f"CREATE TABLE {_quoted(name)} ({listed}) KEY {_quoted(key)}{where} "
            f"WITH (path = {path}, format = 'parquet')"
        )

    def state(self, name: str, kind: type[State]) -> None:
        """Brings a state for patterns: `FROM step USING name (constants)`. Before `start()`.

        After a restart it has to be brought again; its code may be another then, what it declares the same.
        """
        text("name", name, "give the state a name")
        declared = brought(name, kind)
        with self._lock, _in_our_words():
            self._refuse_stopped()
            if self._runtime.query is not None:
                raise SessionError("session.running", "states are brought before the session starts")
            known = self._living.states.get(name)
            if known is not None and known.schema != declared.schema:
                raise StateError(
                    "state.other_script", f'the state "{name}" declares other columns than before',
                    "declare the same, or use a new checkpoint",
                )  # fmt: skip
            with self._written_down():
                self._plans.keep_state(name, kind)
                if known is None:
                    self._journal.append(Line(STATE, json.dumps(as_data(declared))))
            self._living.states.put(name, declared)
            self._brought.add(name.casefold())

    def add_source(self, stream: str, source: Source) -> None:
        """Where a stream that has no path is read from. After a restart it has to be given again."""
        self._sources[stream] = source

    def receive(self, name: str) -> Posting:
        """Readings of a stream that has no path are sent: to `post` of what comes back, or to a server.

        After a restart it has to be said again; what was sent before is kept.
        """
        text("name", name, "name a stream")
        with self._lock, _in_our_words():
            stream = self._living.streams.get(name)
            if stream is None or stream.path is not None:
                known = [s.name for s in self._living.streams.values() if s.path is None]
                raise SessionError(
                    "session.no_stream", f'no stream "{name}" is without a path', did_you_mean(name, known)
                )
            if stream.name not in self.postings:
                posting = Posting(stream, folder_of(self._work, stream.name))
                self.postings[stream.name] = posting
                self.add_source(stream.name, posting.source)
            return self.postings[stream.name]

    def add_sink(self, sink: Sink) -> None:
        """One more that gets every batch, from the start on. After a restart it has to be given again."""
        self._sinks.append(sink)

    @property
    def streams(self) -> list[Stream]:
        """Those that are declared."""
        with self._lock:
            return self._living.streams.values()

    @property
    def queries(self) -> list[str]:
        """The names of the queries that are registered."""
        with self._lock:
            return self._desk.names() if self._living.is_started else names_in(self._living.plan())

    @property
    def data(self) -> Path | None:
        """The folder that paths in statements start from, if there is one."""
        return self._data

    # ----- running

    @property
    def is_running(self) -> bool:
        with held_signals():
            return self._runtime.query is not None and self._runtime.query.isActive

    @property
    def spark(self) -> SparkSession:
        """The session of Spark; started when it is first needed."""
        if self._runtime.spark is None:
            self._refuse_stopped()
        return self._runtime.start_spark()

    def start(self) -> Session:
        """Starts the stream, from where the checkpoint stands."""
        with self._lock, held_signals(), _in_our_words():
            self._refuse_stopped()
            if self._runtime.query is not None:
                raise SessionError("session.running", "the session runs already")
            self._refuse_missing_states()
            inputs = find_inputs(self._living.streams.values(), self._sources, self._work, self._data)
            shards = self._shards or cores_of(self._master)
            shards = agree(self._work, session_note(inputs.files.by_stream, shards), self._shards)
            with self._written_down():
                self._note_start()
                self._start(inputs, shards)
                self._journal.forget_known()
                self._desk.announce(self._living.version)  # a run that was killed may not have come to it
        return self

    def _start(self, inputs: Inputs, shards: int) -> None:
        first, settings = inputs.files.filled_in(self._named.plan(0)), Settings(is_counted=True)
        layout = Layout(first, self._plans, shards, self._work, settings, is_living=True)
        members = self._living.queries.values()
        self._archives = self._held.enter_context(archives_of(first, self._work, members))
        self._backfill.archive_of, self._backfill.shards = self._archives.of, shards
        # Archives first: whoever is told of a batch finds it there.
        sinks: list[Sink] = [*self._archives.sinks, self._desk, *self._sinks]
        self._runtime.start(layout, inputs.sources, sinks, self._trigger, self._keep_s)

    def process_all(self) -> None:
        """Returns when all readings that Spark can see have been processed and told.

        Queries that were registered before begin with the next tick to close.
        """
        query, courier = self._running()
        told = -1
        while told != self._desk.told:  # what shards say of new focal objects has to be told to all of them
            told = self._desk.told
            try:
                beside(query.processAllAvailable)
                beside(courier.flush)
            except Exception as e:
                raise self._failure() or e from e

    def await_termination(self, timeout: float | None = None) -> bool:
        """Waits until the session stops or fails; whether it did in time."""
        wait_s = None if timeout is None else seconds("timeout", timeout)
        query, _ = self._running()
        try:
            if wait_s == 0:
                return not self.is_running
            ended = beside(lambda: query.awaitTermination(wait_s))
            return True if wait_s is None else bool(ended)
        except Exception as e:
            raise self._failure() or e from e

    def stop(self) -> None:
        """Stops the stream; a session with a checkpoint can be connected to again."""
        with self._lock, held_signals():
            if self._is_stopped:
                return
            self._is_stopped = True
            failure = self._failure()
            for server in self._servers:
                server.stop()
            try:
                self._runtime.stop(is_settled=True)
                if failure is None and self._archives is not None:
                    self._archives.finish()
            finally:
                self._desk.end(failure)
                self._held.close()

    def __enter__(self) -> Session:
        self._refuse_stopped()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def progress(self) -> Status:
        """How far it is; `print(session.progress)` says it in words."""
        return self._desk.metrics.status

    def metrics(self) -> dict[str, Any]:
        """Since it was connected: rows, ticks, lag, dead letters by reason, + and − by query, warnings."""
        return self._desk.measured()

    # ----- what comes out

    def answer(self, name: str, timeout: float = 60.0) -> Answer:
        """The answer of a query as at the last tick that closed: an Arrow table that a notebook shows."""
        text("name", name, "name a query")
        wait_s = seconds("timeout", timeout)
        self._running()
        with _in_our_words():
            return self._with_place(name, self._desk.answer(name, wait_s))

    def query(self, sql: str, timeout: float = 60.0) -> Answer:
        """A SELECT that is not registered, answered once, as at the last tick that closed.

        Promise (tests/session/test_query.py): nobody else sees anything of it, also after a restart.
        """
        text("sql", sql, "give a SELECT")
        return Answer(self._query(sql, seconds("timeout", timeout)))

    def _query(self, sql: str, wait_s: float, may_see: Callable[[str], bool] | None = None) -> pa.Table:
        """`may_see`: which queries are there for whoever asks; all, if nothing is said."""
        asked = _only_asks(sql)
        if asked is None:
            raise SessionError(
                "session.no_select", "this is no SELECT", "session.execute(sql) runs statements"
            )
        self._running()
        with self._lock:
            known = OncePlanner(self._living)
        if may_see is not None:
            known.keep_queries(may_see)
        with _in_our_words():
            kept = KeptByShards(lambda names: self._desk.kept(names, wait_s))
            archives = opened_for(known) | ({} if self._archives is None else self._archives.opened())
            past = ArchivePast(archives, kept, is_live_now=True)
            return answered(known, question_of(known, *asked), past)

    def subscribe(self, name: str, most_rows: int = MOST_ROWS) -> Subscription:
        """Signed Arrow batches of a query, the whole answer first; at most so many rows wait for a reader."""
        text("name", name, "name a query")
        whole("most_rows", most_rows, 1, sys.maxsize)
        self._running()
        with _in_our_words():
            return self._desk.subscribe(name, most_rows)

    def updates(self, name: str | None = None) -> DataFrame:
        """Updates as a streaming DataFrame: query, tick, sign, row as JSON; or those of one query, typed."""
        if name is not None:
            text("name", name, "name a query")
        self._refuse_stopped()
        if name is not None and not self._living.is_started:
            raise _not_running()
        number = None if name is None else self._desk.number_of(name)
        return updates_of(self.spark, Wanted(str((self._work / "said").resolve()), self._named, number))

    def dead_letters(self) -> DataFrame:
        """What could not be read, or came too late, as a streaming DataFrame."""
        self._refuse_stopped()
        wanted = Wanted(str((self._work / "said").resolve()), self._named, are_letters=True)
        return updates_of(self.spark, wanted)

    def map(self, name: str, height: int = 480) -> QueryMap:
        """A query on a map in a notebook, as it changes; it selects its stream's key and location.

        Needs `pip install "sanderling[notebook]"`.
        """
        text("name", name, "name a query")
        whole("height", height, 50, 10_000)
        self._running()
        with self._lock, _in_our_words():
            self._desk.number_of(name)  # which says what is there, if there is none
            member = self._living.queries.get(name)
        try:
            from sanderling.notebook.map import QueryMap
        except ImportError as e:
            raise ConfigError(
                "config.not_installed", f"a map needs {e.name}", 'pip install "sanderling[notebook]"'
            ) from e
        from sanderling.server.shown.columns import columns_of

        columns = [] if member is None else [column.shown() for column in columns_of(member)]
        return QueryMap(lambda: self.subscribe(name), name, columns, height)

    def serve(
        self, port: int = 0, host: str = "127.0.0.1", *, tokens: str | Path | None = None,
        roads: str | Path | None = None, tiles: str | Path | None = None, style: str | None = None,
        postgres_port: int | None = None,
    ) -> Server:  # fmt: skip
        """A server over this session, which runs: HTTP, WebSocket and the page (docs/server.md).

        `tokens` is a file of tokens; `roads` (GeoJSON), `tiles` (PMTiles) or `style` (an address) lie
        beneath the map. Port 0 is any free one. With `postgres_port` it speaks PostgreSQL's protocol there.
        """
        from sanderling.server.serve import Server
        from sanderling.server.shown.ground import Ground

        whole("port", port, 0, 65_535)
        text("host", host)
        if style is not None:
            text("style", style)
        ground = Ground(folder("roads", roads), folder("tiles", tiles), style)
        if postgres_port is not None:
            whole("postgres_port", postgres_port, 0, 65_535)
        self._running()
        server = Server(
            self, host, port, tokens=folder("tokens", tokens), ground=ground, postgres_port=postgres_port
        )
        self._servers.append(server.start())
        return server

    # ----- as it is shown

    def __repr__(self) -> str:
        with self._lock:
            streams, queries = len(self._living.streams), len(self._living.queries)
        return f"<Session: {self._state}; {counted(streams, 'stream')}, {counted(queries, 'query')}>"

    def _repr_html_(self) -> str:
        with self._lock:
            streams, members = self._living.streams.values(), self._living.queries.values()
        closed = self._desk.closed
        clocks = {s.name: show_time(closed[s.name]) if s.name in closed else "nothing yet" for s in streams}
        columns = {s.name: ", ".join(f"{c.name} {c.type.name}" for c in s.columns) for s in streams}
        return of_session(
            self._state, [(s.name, columns[s.name], clocks[s.name]) for s in streams],
            [(m.name, m.query.kind, m.sql) for m in members],
        )  # fmt: skip

    @property
    def _state(self) -> str:
        if self._is_stopped:
            return "stopped"
        return "running" if self.is_running else "not started" if self._runtime.query is None else "failed"

    # ----- inside

    def _with_place(self, name: str, table: pa.Table) -> Answer:
        """With the columns that say where a row is, if it has them."""
        from sanderling.server.shown.columns import columns_of, place_columns

        with self._lock:
            member = self._living.queries.get(name)
        if member is None:  # dropped meanwhile
            return Answer(table)
        at = place_columns(columns_of(member))
        place = None if at is None else (table.column_names[at[0]], table.column_names[at[1]])
        return Answer(table, place, member.query.stream.is_globe)

    def _tell_again(self) -> None:
        """After a restart: everything that was said, in the same order."""
        for line in self._journal.lines:
            if line.kind == STATE:
                state = of_data(json.loads(line.text))
                self._living.states.put(state.name, state)
                continue
            change = self._living.start() if line.kind == STARTED else self._living.execute(line.text)
            if line.digest != (digest_of(change.plan, "") if line.kind == STARTED else self._digest(change)):
                raise _changed(line)
            self._turn(change)
            self._keep(change)
        self._living.erasures = []  # they have been done
        self._tables.forget_rest()
        for plans in (self._plans, self._named):
            plans.forget_after(self._living.version if self._living.is_started else -1)

    def _note(self, line: Line, change: Change) -> None:
        """On disk, before a shard hears of it."""
        self._keep(change)
        self._journal.append(line)
        self._turn(change)
        if self._archives is not None and change.growth is not None:
            self._archives.keep_queries(self._living.queries.values())

    def _turn(self, change: Change) -> None:
        self._backfill.turn(self._desk.plan, change, self._living)
        self._desk.turn(change)

    def _note_start(self) -> None:
        """The first version, once."""
        if not self._living.is_started:
            change = self._living.start()
            self._note(Line(STARTED, "", digest_of(change.plan, "")), change)

    def _keep(self, change: Change) -> None:
        if self._living.is_started and (change.growth is not None or change.version == 0):
            for plans in (self._plans, self._named):
                plans.keep(change.plan, change.growth)

    def _digest(self, change: Change) -> str:
        if change.growth is None:
            return ""
        # What tables brought to queries that were there counts as much as new queries.
        growth = change.growth
        streams = (*growth.added.streams, *growth.more)
        return digest_of(replace(growth.added, streams=streams, tables=growth.tables), "")

    def _refuse_missing_states(self) -> None:
        """Of those that were brought before a restart."""
        for state in self._living.states.values():
            if state.name.casefold() not in self._brought:
                raise SessionError(
                    "session.missing_state", f'the state "{state.name}" was brought before, and is not now',
                    f'session.state("{state.name}", …) before start()',
                )  # fmt: skip

    def _refuse_stopped(self) -> None:
        if self._is_stopped:
            raise _stopped()
        if self._fault is not None:
            raise self._fault

    @contextmanager
    def _written_down(self) -> Iterator[None]:
        """What is done inside and cannot be written down is known to nobody else: the session is over."""
        try:
            yield
        except OSError as e:
            self._fault = not_writable(e)
            raise self._fault from e

    def _running(self) -> tuple[LastingQuery, Courier]:
        self._refuse_stopped()
        query, courier = self._runtime.query, self._runtime.courier
        if query is None or courier is None:
            raise _not_running()
        failure = self._failure()
        if failure is not None:
            raise failure
        return query, courier

    def _why_over(self) -> SanderlingError | None:
        """Why whoever waits need not wait any longer, if so."""
        return _stopped() if self._is_stopped else self._failure()

    def _failure(self) -> SanderlingError | None:
        """Why the stream has ended by itself, if it has."""
        e = self._runtime.failure
        if e is None:
            with held_signals():
                return self._runtime.why_ended()
        if isinstance(e, SanderlingError):
            return e
        why = not_writable(e) if isinstance(e, OSError) else None
        return SessionError("session.failed", why.message if why else str(e), why.hint if why else "")


@contextmanager
def _in_our_words() -> Iterator[None]:
    """What the system says of files that a session keeps."""
    try:
        yield
    except OSError as e:
        raise not_writable(e) from e


def _only_shows(sql: str) -> bool:
    """Whether a text changes nothing."""
    return len(sql) < 10_000 and all(isinstance(s, ASKING) for s in read_script(sql))


def _only_asks(sql: str) -> tuple[Ask, str, Value | None] | None:
    """The SELECT that a text is, with the time that stands before it."""
    if not ASK.search(sql):
        return None
    statements = list(parse_script(sql))
    one = statements[0] if len(statements) == 1 else None
    at, one = (one.time, one.statement) if isinstance(one, At) else (None, one)
    return (one, sql, at) if isinstance(one, Ask) else None


def _as_table(listings: Iterable[Listing]) -> pa.Table | None:
    *_, last = [None, *listings]
    if last is None:
        return None
    columns = list(zip(*last.rows, strict=True)) or [()] * len(last.columns)
    return pa.table({name: _column(name, texts) for name, texts in zip(last.columns, columns, strict=True)})


def _column(name: str, texts: Sequence[str]) -> pa.Array:
    """Of EXPLAIN ANALYZE numbers, which can be sorted and summed; all else is text."""
    if name not in FIGURES:
        return pa.array(texts, pa.string())
    type_ = pa.float64() if name == "seconds" else pa.int64()
    return pa.array([text.replace(",", "") or None for text in texts], pa.string()).cast(type_)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"


def _refuse_no_texts(**named: object) -> None:
    for what, value in named.items():
        text(what, value)


def _pair(location: object) -> tuple[str, str]:
    """Two names of columns."""
    if isinstance(location, tuple | list) and len(location) == 2:
        return text("location[0]", location[0]), text("location[1]", location[1])
    raise SessionError(
        "session.bad_argument", f"location = {shown(location)} is no pair of columns", 'say, ("x", "y")'
    )


def _stopped() -> SessionError:
    return SessionError("session.stopped", "the session has been stopped", "connect again")


def _not_running() -> SessionError:
    return SessionError("session.not_running", "the session does not run yet", "session.start()")


def _changed(line: Line) -> StateError:
    return StateError(
        "state.other_script", f"a file that the session read has changed since: {line.text[:200]}",
        "put the file back, or use a new checkpoint",
    )  # fmt: skip
