"""The command line: run, explain, demo."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sanderling.deliver.delivery import Targets
from sanderling.errors import ConfigError, SanderlingError
from sanderling.plan.planner import Listing, Planner

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
stderr = Console(stderr=True, highlight=False)

QUERIES_SHOWN = 20


def main() -> None:
    """Runs the command; an error of ours is told in its own words, with a non-zero exit code."""
    try:
        app()
    except SanderlingError as e:
        print(e, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)


@app.callback()
def _about() -> None:
    """Continuous SQL over things that move, told as what changed: + a row came in, − a row went out."""


@app.command()
def run(
    script: Annotated[Path, typer.Argument(help="a script of statements, each ended by ;")],
    out: Annotated[
        str | None, typer.Option(help="updates.jsonl, or a folder/ for typed Parquet; default: stdout")
    ] = None,
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
) -> None:
    """A script over bounded inputs, to the end."""
    from sanderling.spark.run import RunOptions, RunSummary, run_plan

    text = _read(script)
    planner = Planner()
    for listing in planner.run_script(text):
        _show(listing)
    options = RunOptions(_targets(out, dead_letters), master, shards, checkpoint)
    summary: RunSummary
    if sys.stderr.isatty():
        with Progress(TextColumn("reading"), BarColumn(), TimeElapsedColumn(), console=stderr) as bar:
            task = bar.add_task("reading", total=None)
            options = RunOptions(
                options.targets, master, shards, checkpoint,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
            summary = run_plan(planner.plan(), text, options)
    else:
        summary = run_plan(planner.plan(), text, options)
    _summarise(summary)
    if metrics is not None:
        said = {**asdict(summary.totals), "seconds": summary.seconds, "rows_per_second": _rate(summary)}
        metrics.write_text(json.dumps(said, indent=2) + "\n")


@app.command()
def explain(
    script: Annotated[Path, typer.Argument(help="a script of statements")],
    name: Annotated[str, typer.Argument(help="a query it registers")],
) -> None:
    """The plan of a query, with what is shared."""
    planner = Planner()
    planner.run_script(_read(script))
    from sanderling.language import parse_statement

    statement = f"EXPLAIN `{name}`"
    listing = planner.run(parse_statement(statement), statement)
    assert listing is not None
    _show(listing)


@app.command()
def demo(
    seconds: Annotated[float | None, typer.Option(help="end after this long, with a summary", min=1)] = None,
    objects: Annotated[int, typer.Option(help="how many move", min=1, max=1_000_000)] = 2_000,
) -> None:
    """A simulated city, live."""
    from sanderling.demo import run_demo

    run_demo(seconds, objects, Console(highlight=False))


def _read(script: Path) -> str:
    try:
        return script.read_text(encoding="utf-8")
    except UnicodeDecodeError as e:
        raise ConfigError("config.bad_encoding", f"{script} is not UTF-8", "save it as UTF-8") from e
    except OSError as e:
        raise ConfigError(
            "config.missing_file", f"{script}: {e.strerror}", "name a script of statements"
        ) from e


def _targets(out: str | None, letters: Path | None) -> Targets:
    if out is None:
        return Targets(None, False, letters)
    path = Path(out)
    is_lines = path.suffix in (".jsonl", ".ndjson", ".json") and not out.endswith("/")
    if not is_lines and path.suffix and not out.endswith("/") and not path.is_dir():
        raise ConfigError(
            "config.unknown_output",
            f'"{out}" is neither lines nor a folder',
            "name x.jsonl, or a folder/ for Parquet",
        )
    if not path.parent.is_dir():
        raise ConfigError("config.missing_file", f"there is no folder {path.parent}", "make it first")
    if is_lines and path.is_dir():
        raise ConfigError("config.output_exists", f"{out} is a folder", "name a file, or end it with /")
    if letters is not None and not letters.parent.is_dir():
        raise ConfigError("config.missing_file", f"there is no folder {letters.parent}", "make it first")
    return Targets(path, not is_lines, letters)


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
        table.add_row(*row)
    Console(highlight=False, width=None if sys.stdout.isatty() else 160).print(table)


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
    print(f"ticks closed    {sum(totals.ticks.values()):,}", file=sys.stderr)
    updates = sorted(totals.updates.items())
    print(f"updates         {sum(a + b for _, (a, b) in updates):,}", file=sys.stderr)
    for name, (came, went) in updates[:QUERIES_SHOWN]:
        print(f"  {name}  +{came:,} −{went:,}", file=sys.stderr)
    if len(updates) > QUERIES_SHOWN:
        print(f"  … and {len(updates) - QUERIES_SHOWN:,} more queries", file=sys.stderr)
