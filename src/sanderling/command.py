"""The command line: shell, run, ask, serve, explain, simulate, demo."""

from __future__ import annotations

import atexit
import io
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import sanderling
from sanderling.deliver.targets import (
    refuse_at_the_end,
    refuse_no_file,
    refuse_same_file,
    targets_of,
)
from sanderling.errors import ConfigError, InternalError, SanderlingError
from sanderling.ingest.files import refuse_no_folder
from sanderling.progress import say, shown

if TYPE_CHECKING:
    from sanderling.ask.script import Asked
    from sanderling.plan.listing import Listing
    from sanderling.plan.planner import Planner
    from sanderling.simulate.network import Network
    from sanderling.storage.archive import Archive

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
stderr = Console(stderr=True, highlight=False)

QUERIES_SHOWN = 20

DataOption = Annotated[
    Path | None, typer.Option(help="a folder that paths in the script start from, and never lead out of")
]
StatesOption = Annotated[
    str | None,
    typer.Option(help="a module of Python with states for patterns; its code runs as the program's own"),
]


class Interrupted(BaseException):
    """A signal told us to stop. Not a KeyboardInterrupt: that one Typer tells in words of its own."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def main() -> None:
    """Runs the command; an error of ours is told in its own words, with a non-zero exit code."""
    # What libraries log about a Java process that is gone would stand before our own word for it.
    logging.getLogger().addHandler(logging.NullHandler())
    ours = logging.StreamHandler()
    ours.setFormatter(logging.Formatter("sanderling: %(message)s"))
    logging.getLogger("sanderling").addHandler(ours)
    try:
        app()
    except InternalError as e:
        print(e, file=sys.stderr, flush=True)
        _give_up(1)
    except SanderlingError as e:
        print(e, file=sys.stderr)
        _leave(1)
    except Interrupted as e:
        _break_off(128 + e.number)
    except KeyboardInterrupt:
        _break_off(128 + signal.SIGINT)


def _break_off(code: int) -> NoReturn:
    """Ends in the middle: threads still at work must not meet an interpreter that is being taken down."""
    with suppress(OSError, AttributeError, ValueError):
        sys.stdout.flush()
    java = sys.modules.get("sanderling.spark.start.java")
    if java is not None:
        java.give_up()  # one that finds its folder gone while it gets ready would stay
    print("stopped", file=sys.stderr, flush=True)
    os._exit(code)


def _give_up(code: int) -> NoReturn:
    """Ends because something of ours has: whoever has promised to clear up does, then as if broken off.

    A thread that is in the middle of a library's work would meet an interpreter that is half taken down, and
    end us by a signal.
    """
    with suppress(OSError, AttributeError, ValueError):
        sys.stdout.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def _leave(code: int) -> NoReturn:
    """Ends here; what could not be written to standard output is not tried again on the way out."""
    with suppress(OSError, AttributeError):
        sys.stdout.flush()
        sys.exit(code)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Being told to stop is an exception, so that what is half-written is cleared away; told again, none."""
    from sanderling.spark.signals import HELD, raised_again, turn_deaf

    def interrupt(number: int, frame: FrameType | None) -> None:
        turn_deaf()
        raise Interrupted(number)

    # Who started us with a signal ignored (nohup) meant it.
    kept = {n: h for n in HELD if (h := signal.getsignal(n)) is not signal.SIG_IGN}
    for number in kept:
        signal.signal(number, interrupt)
    try:
        with raised_again(Interrupted):
            yield
    except KeyboardInterrupt as e:  # from one of the libraries
        turn_deaf()
        raise Interrupted(signal.SIGINT) from e
    finally:
        for number, handler in kept.items():
            if signal.getsignal(number) is interrupt:  # else we are ending
                signal.signal(number, handler)


def _say_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"sanderling {sanderling.__version__}")
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[
        bool, typer.Option("--version", help="which version this is", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Continuous SQL over things that move, told as what changed: + a row came in, − a row went out."""


@app.command()
def run(
    script: Annotated[Path, typer.Argument(help="a script of statements, each ended by ;")],
    out: Annotated[
        str | None,
        typer.Option(help="x.jsonl, x.csv, x.geojson, x.parquet, or a folder/ of Parquet; default: stdout"),
    ] = None,
    final: Annotated[
        bool, typer.Option("--final", help="the answers at the end instead of what changes")
    ] = False,
    dead_letters: Annotated[
        Path | None, typer.Option(help="rows that could not be read, as lines of JSON")
    ] = None,
    metrics: Annotated[Path | None, typer.Option(help="the summary as JSON")] = None,
    master: Annotated[str, typer.Option(help="Spark's master")] = "local[*]",
    shards: Annotated[
        int | None, typer.Option(help="units of parallel work; default: as many as cores", min=1, max=1024)
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="a folder that lets a killed run go on where it was")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="read what comes to its files too, until Ctrl-C")
    ] = False,
    data: DataOption = None,
    states: StatesOption = None,
) -> None:
    """A script over its files, to their end, or as they grow."""
    text = _read(script)
    refuse_no_folder(data)
    targets = targets_of(out, dead_letters, final)
    if follow:
        refuse_at_the_end(targets)
    refuse_same_file(script, targets.updates, dead_letters, metrics)
    if metrics is not None:
        refuse_no_file(metrics)
    with _interruptible(), _standard_output():
        from sanderling.spark.start.java import is_keeping, launch

        is_bar = not (follow and targets.updates is None and sys.stdout.isatty())
        with shown(stderr, is_bar) as progress:
            if checkpoint is None:  # else Java's log is to be in it, and it is not ours yet
                launch(master, is_kept=True)
            # Imported late: this takes a while, and can be interrupted like the rest.
            from sanderling.ask.script import Asked
            from sanderling.plan.explain.explain import explain_query
            from sanderling.plan.planner import Planner
            from sanderling.settings import Settings
            from sanderling.spark.archives import erase_alone
            from sanderling.spark.follow import follow_plan
            from sanderling.spark.run import RunOptions, run_plan
            from sanderling.spark.session import end_java

            _tell_first_use()
            planner = Planner(data=data)
            kinds, asked = _bring(planner, states), Asked(planner)
            for listing in planner.run_script(text):
                _show(listing)
            for table in planner.tables.values():
                for note in table.notes:
                    say(stderr, f"table {table.name}: {note}")
            for erasure in planner.erasures:
                erase_alone(erasure.archiving, erasure.keys)
            settings, plan = Settings(is_counted=bool(planner.analyzed)), planner.plan()
            options = RunOptions(
                targets, master, shards, checkpoint, settings, progress, data=data, states=kinds,
                queries=planner.queries.values(),
            )  # fmt: skip
            summary = (follow_plan if follow else run_plan)(plan, text, options)
        _summarise(summary)
        for name in planner.analyzed:
            _show(explain_query(plan, name, summary.figures))
        _answer(asked, data)
        if metrics is not None:
            said = {**asdict(summary.totals), "seconds": summary.seconds, "rows_per_second": _rate(summary)}
            _write(metrics, json.dumps(said, indent=2) + "\n")
        if is_keeping():
            sys.stdout.flush()
            print("keeping Spark's classes: the next start is quicker", file=sys.stderr)
            end_java()


def _bring(planner: Planner, states: str | None) -> dict[str, type]:
    """States of patterns: the module is the program's own code, and runs with our rights."""
    from sanderling.session.state import brought, states_in

    kinds: dict[str, type] = {} if states is None else dict(states_in(states))
    for name, kind in kinds.items():
        planner.states.put(name, brought(name, kind))
    return kinds


@app.command()
def ask(
    select: Annotated[str, typer.Argument(help="a SELECT, or several, each ended by ;")],
    script: Annotated[
        Path | None, typer.Option(help="a script that declares the streams, tables and queries it reads")
    ] = None,
    archive: Annotated[
        list[str] | None,
        typer.Option(help="the folder of an archive, or its address: its stream need not be declared"),
    ] = None,
    form: Annotated[str, typer.Option("--format", help="table, csv, json or parquet")] = "table",
    out: Annotated[Path | None, typer.Option(help="a file to write; default: stdout")] = None,
    data: DataOption = None,
) -> None:
    """A SELECT over files or archives, answered once, as a table. Needs no Spark."""
    text = "" if script is None else _read(script)
    refuse_no_folder(data)
    if out is not None:
        refuse_no_file(out)
    with _interruptible(), _standard_output():
        from sanderling.ask.opened import opened_for
        from sanderling.ask.page import FORMS
        from sanderling.ask.script import Asked
        from sanderling.plan.planner import Planner

        _tell_first_use()
        if form not in FORMS:
            raise ConfigError("config.bad_option", f'no format is called "{form}"', f"say {', '.join(FORMS)}")
        planner = Planner(data=data)
        planner.asked = lambda *_: None  # what the script itself asks is told when it is run
        planner.run_script(text)
        asked, opened = Asked(planner), opened_for(planner, archive or ())
        for listing in planner.run_script(select):
            _show(listing)
        _answer(asked, data, form, out, opened)


@app.command()
def replay(
    archive: Annotated[str, typer.Argument(help="the folder of an archive, or its address")],
    script: Annotated[Path, typer.Argument(help="a script that registers queries over its stream")],
    begin: Annotated[str | None, typer.Option("--from", help="a time; default: the first reading")] = None,
    end: Annotated[str | None, typer.Option("--to", help="a time; default: the last reading")] = None,
    speed: Annotated[
        float | None, typer.Option(help="so many seconds of it in one; default: as fast as it goes", min=1e-3)
    ] = None,
    more: Annotated[list[str] | None, typer.Option("--archive", help="one more, of another stream")] = None,
    out: Annotated[str | None, typer.Option(help="as in run")] = None,
    final: Annotated[bool, typer.Option("--final", help="as in run")] = False,
    data: DataOption = None,
) -> None:
    """An archive as a stream again, through queries. Needs no Spark."""
    text = _read(script)
    refuse_no_folder(data)
    targets = targets_of(out, None, final)
    with _interruptible(), _standard_output():
        from sanderling.ask.opened import opened_for
        from sanderling.ask.playing import play, time_in
        from sanderling.ask.replay import Replay, Times
        from sanderling.plan.planner import Planner

        _tell_first_use()
        planner = Planner(data=data)
        planner.asked = lambda *_: None
        opened = opened_for(planner, (archive, *(more or ())), text)
        for listing in planner.run_script(text):
            _show(listing)
        times = Times(time_in("--from", begin), time_in("--to", end), speed is not None)
        play(Replay.of(planner, opened, times), targets, speed)


def _answer(
    asked: Asked, data: Path | None, form: str = "table", out: Path | None = None,
    archives: Mapping[str, Archive] | None = None,
) -> None:  # fmt: skip
    """Tables on standard output, or in a file."""
    if not asked.found:
        return
    from sanderling.ask.archive import ArchivePast
    from sanderling.ask.files import FilesPast
    from sanderling.ask.page import written
    from sanderling.state.sealed import write_atomically

    with tempfile.TemporaryDirectory(prefix="sanderling-") as work:
        past = ArchivePast(archives or {}, FilesPast(Path(work), data))
        told = b"".join(written(rows, form) for rows in asked.answers(past))
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(told)
        return
    try:
        write_atomically(out, told)
    except OSError as e:
        raise ConfigError("config.not_writable", f"{out}: {e.strerror}", "check the path") from e


def _tell_first_use() -> None:
    """Where nothing has been compiled yet, it will be now, by whoever needs it first."""
    from sanderling.kernels.kept import first_use

    if words := first_use():
        say(stderr, words)


@contextmanager
def _standard_output() -> Iterator[None]:
    """Tells what goes wrong with it; files tell of themselves."""
    if sys.stdout is None:
        raise ConfigError("config.not_writable", "standard output is closed", "name a file with --out")
    try:
        yield
        sys.stdout.flush()  # what is still held back belongs to us, not to whoever ends the program
    except BrokenPipeError:
        # `… | head` has what it wanted: no words about it, the exit code of a program that SIGPIPE ended.
        _leave(128 + signal.SIGPIPE)
    except OSError as e:
        raise ConfigError("config.not_writable", f"standard output: {e.strerror}", "make room") from e


@contextmanager
def _progress(before: str, during: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal that is gone when it is full; nothing elsewhere."""
    if not stderr.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(before, total=None)

        def show(done: int, whole: int) -> None:
            bar.update(task, description=during, completed=done, total=whole)

        yield show


def _write(path: Path, text: str) -> None:
    from sanderling.state.sealed import write_atomically

    try:
        write_atomically(path, text.encode())
    except OSError as e:
        raise ConfigError("config.not_writable", f"{path}: {e.strerror}", "check the path") from e


@app.command()
def explain(
    script: Annotated[Path, typer.Argument(help="a script of statements")],
    name: Annotated[str, typer.Argument(help="a query it registers")],
    data: DataOption = None,
    states: StatesOption = None,
) -> None:
    """The plan of a query, with what is shared."""
    refuse_no_folder(data)
    from sanderling.language import parse_statement
    from sanderling.plan.planner import Planner

    planner = Planner(data=data)
    planner.asked = lambda *_: None
    _bring(planner, states)
    planner.run_script(_read(script))
    statement = f"EXPLAIN `{name}`"
    listing = planner.run(parse_statement(statement), statement)
    assert listing is not None
    _show(listing)


@app.command()
def simulate(
    out: Annotated[Path, typer.Argument(help="a file to write: x.parquet, x.csv or x.jsonl")],
    objects: Annotated[int, typer.Option(help="how many move at the beginning")] = 10_000,
    new: Annotated[int, typer.Option(help="how many more appear in each step")] = 10,
    steps: Annotated[int, typer.Option(help="how often everybody reports")] = 60,
    step: Annotated[float, typer.Option(help="seconds between two steps")] = 1.0,
    start: Annotated[str, typer.Option(help="the time of the first step")] = "2024-05-01 08:00:00",
    seed: Annotated[int, typer.Option(help="the same seed gives the same bytes")] = 7,
    network: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="roads to drive on, as nodes.csv edges.csv; default: a city made from the seed"),
    ] = None,
    noise: Annotated[float, typer.Option(help="how far off a place is reported, in metres")] = 0.0,
    skip: Annotated[float, typer.Option(help="the chance that a reading is left out, such as 0.1")] = 0.0,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="who arrives drives on; without it only buses do")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(metavar="LON,LAT", help="put its middle here on the globe: lon, lat instead of x, y"),
    ] = None,
) -> None:
    """Moving objects on a road network, to a file."""
    with _interruptible():
        from sanderling.simulate.settings import settings_of
        from sanderling.simulate.traffic import Traffic
        from sanderling.simulate.write import refuse_steps, refuse_target, write_steps
        from sanderling.spark.signals import held_signals

        refuse_target(out)
        refuse_same_file(out, *(network or ()))
        _tell_first_use()
        settings = settings_of(objects, new, step, start, seed, noise, skip, keep_going, at)
        refuse_steps(settings, steps)
        # A kernel cannot be interrupted; between two steps there is nothing in the way.
        with held_signals() as is_stopping, _progress("finding ways", "driving") as progress:

            def after_step(done: int) -> None:
                if is_stopping():
                    raise KeyboardInterrupt
                if progress is not None:
                    progress(done, steps)

            roads = _roads(network, seed)
            traffic = Traffic(roads if at is None else roads.centred(), settings)
            written = write_steps(traffic, steps, out, after_step)
        said = f"{out}: {written.readings:,} readings of {traffic.appeared:,} objects in {steps:,} steps"
        print(f"{said}, {_size(written.size_bytes)}", file=sys.stderr)


@app.command()
def serve(
    script: Annotated[
        Path, typer.Argument(help="a script: streams, tables, regions, and queries to begin with")
    ],
    port: Annotated[int, typer.Option(help="0 is any that is free", min=0, max=65535)] = 8080,
    host: Annotated[str, typer.Option(help="the address to answer at")] = "127.0.0.1",
    checkpoint: Annotated[
        Path | None, typer.Option(help="a folder that lets a server that was killed go on where it was")
    ] = None,
    tokens: Annotated[Path | None, typer.Option(help="a file of tokens; made if it is not there")] = None,
    keep: Annotated[str, typer.Option(help="how long updates stay, for clients that come back")] = "1 hour",
    roads: Annotated[Path | None, typer.Option(help="GeoJSON to lie beneath the map")] = None,
    tiles: Annotated[Path | None, typer.Option(help="a PMTiles file to lie beneath the globe")] = None,
    style: Annotated[
        str | None, typer.Option(help="address of a MapLibre style to lie beneath the globe")
    ] = None,
    host_name: Annotated[
        list[str] | None, typer.Option(help="a name that the server is seen under, beside its address")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="a page elsewhere that may ask, such as https://map.example")
    ] = None,
    master: Annotated[str, typer.Option(help="Spark's master")] = "local[*]",
    shards: Annotated[int | None, typer.Option(help="units of parallel work", min=1, max=1024)] = None,
    data: DataOption = None,
    states: StatesOption = None,
    postgres: Annotated[
        int | None, typer.Option(help="a port for psql and drivers of PostgreSQL; 0 is any", min=0, max=65535)
    ] = None,
) -> None:
    """A script that lives, over HTTP and WebSocket, with a page."""
    text = _read(script)
    refuse_no_folder(data)
    with _interruptible():
        from sanderling.server.run import ServeOptions, run_server

        _tell_first_use()
        from sanderling.server.shown.ground import Ground

        options = ServeOptions(
            host, port, tokens, Ground(roads, tiles, style), tuple(host_name or ()),
            tuple(allow_origin or ()), checkpoint, keep, master, shards, data, states, postgres,
        )  # fmt: skip
        run_server(text, options, lambda said: print(said, flush=True))


@app.command()
def shell(
    address: Annotated[
        str | None, typer.Argument(help="a server, as it says where it is; without one, a session of its own")
    ] = None,
    script: Annotated[Path | None, typer.Option(help="statements to begin with")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="of a session of its own: where it is kept")] = None,
    master: Annotated[str, typer.Option(help="Spark's master")] = "local[*]",
    data: DataOption = None,
) -> None:
    """A terminal for SQL. SANDERLING_TOKEN is the token, if the address has none."""
    refuse_no_folder(data)
    from sanderling.shell.run import run_shell

    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    width = None if sys.stdout.isatty() else 160
    console = Console(highlight=False, width=width)
    if not run_shell(address, "" if script is None else _read(script), master, checkpoint, data, console):
        raise typer.Exit(1)


def _roads(network: tuple[Path, Path] | None, seed: int) -> Network:
    from sanderling.simulate.city import make_city
    from sanderling.simulate.read_network import read_network

    return make_city(seed) if network is None else read_network(*network)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.1f} MB" if size_bytes >= 1e5 else f"{size_bytes:,} bytes"


@app.command()
def demo(
    seconds: Annotated[float | None, typer.Option(help="end after this long, with a summary", min=1)] = None,
    objects: Annotated[int, typer.Option(help="how many move", min=1, max=1_000_000)] = 2_000,
    seed: Annotated[int, typer.Option(help="another seed, another city")] = 7,
    network: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="roads to drive on, as nodes.csv edges.csv, in metres; put where the city is"),
    ] = None,
    web: Annotated[bool, typer.Option(help="with a map of it, to open in a browser")] = True,
    port: Annotated[
        int | None, typer.Option(help="where the map is; 0 is any that is free", min=0, max=65535)
    ] = None,
) -> None:
    """A simulated city, live: in the terminal, and on a map."""
    with _interruptible():
        from sanderling.demo.run import Web, demo_settings, run_demo

        _tell_first_use()

        # What is wrong with them is said before Spark starts.
        settings = demo_settings(objects, seed)
        roads, console = _roads(network, seed).centred(), Console(highlight=False)
        run_demo(roads, settings, seconds, console, Web(web, port))


def _read(script: Path) -> str:
    try:
        return script.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as e:
        raise ConfigError("config.bad_encoding", f"{script} is not UTF-8", "save it as UTF-8") from e
    except OSError as e:
        raise ConfigError(
            "config.missing_file", f"{script}: {e.strerror}", "name a script of statements"
        ) from e


def _show(listing: Listing) -> None:
    """A listing on standard output: a table, or plain lines where there is one column."""
    print(listing.title)
    if len(listing.columns) == 1:
        for (line,) in listing.rows:
            print(f"  {line}")
        return
    table = Table(box=None, pad_edge=False)
    for column in listing.columns:
        table.add_column(column)
    for row in listing.rows:
        # Text: square brackets are SQL here, not a style.
        table.add_row(*(Text(str(cell)) for cell in row))
    # Written by us, not by Rich, which ends the program where a pipe is closed.
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else 160
    page = io.StringIO()
    Console(file=page, highlight=False, width=width, force_terminal=is_terminal).print(table)
    print(page.getvalue(), end="")


def _rate(summary: object) -> float:
    rows: int = summary.rows_this_time  # type: ignore[attr-defined]
    seconds: float = summary.seconds  # type: ignore[attr-defined]
    return rows / seconds if seconds > 0 else 0.0


def _summarise(summary: object) -> None:
    totals = summary.totals  # type: ignore[attr-defined]
    rows = sum(totals.rows.values())
    print(f"rows read       {rows:,} ({_rate(summary):,.0f} per second)", file=sys.stderr)
    letters = ", ".join(f"{reason} {count:,}" for reason, count in sorted(totals.letters.items()))
    print(
        f"dead letters    {sum(totals.letters.values()):,}{': ' + letters if letters else ''}",
        file=sys.stderr,
    )
    for warning in totals.warnings:
        print(f"warning         {warning}", file=sys.stderr)
    print(f"ticks closed    {sum(totals.ticks.values()):,}", file=sys.stderr)
    updates = sorted(totals.updates.items())
    print(f"updates         {sum(a + b for _, (a, b) in updates):,}", file=sys.stderr)
    for name, (came, went) in updates[:QUERIES_SHOWN]:
        print(f"  {name}  +{came:,} −{went:,}", file=sys.stderr)
    if len(updates) > QUERIES_SHOWN:
        print(f"  … and {len(updates) - QUERIES_SHOWN:,} more queries", file=sys.stderr)
