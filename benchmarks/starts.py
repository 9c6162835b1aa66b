"""From Enter to the first line: seconds, and the processor's time by part; plain Spark beside it."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import pictures
from benchmarks.processes import watched
from benchmarks.report import report

README = Path(__file__).resolve().parents[1] / "README.md"
COMMAND = [sys.executable, "-c", "from sanderling.command import main; main()"]

SESSION = """
import sanderling

with sanderling.connect(master="local[2]") as session:
    session.execute(open("depot.sql").read())
    session.start()
    print(next(iter(session.subscribe("in_depot"))).to_pylist()[0], flush=True)
"""
# What Spark itself needs for as little: a stream of one file through one Python function.
PLAIN = """
import os, sys
from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable

def through(batches):
    yield from batches

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
files = spark.readStream.schema("id string, ts string, x double, y double, free boolean")
taxis = files.option("pathGlobFilter", "*.csv").csv(".")
told = taxis.repartition(2, "id").mapInArrow(through, taxis.schema)
told.writeStream.foreachBatch(lambda batch, _: print(batch.toArrow().num_rows, flush=True)).option(
    "checkpointLocation", "../checkpoint").trigger(availableNow=True).start().awaitTermination()
"""


def run(rounds: int = 3) -> dict[str, Any]:
    ways: dict[str, tuple[list[str], Callable[[str], bool]]] = {
        "sanderling --help": ([*COMMAND, "--help"], lambda line: True),
        "sanderling run": ([*COMMAND, "run", "depot.sql", "--master", "local[2]"], is_first_update),
        "a session": ([sys.executable, "-c", SESSION], lambda line: "'sign': 1" in line),
        "plain Spark": ([sys.executable, "-c", PLAIN], lambda line: line == "7\n"),
    }
    taken: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(rounds):  # in turns: what disturbs one disturbs the others
        for way, (command, is_right) in ways.items():
            taken[way].append(_first_line(command, is_right))
    rows: list[dict[str, Any]] = []
    for way, found in taken.items():
        rows.append({"start": way} | {key: statistics.median(f[key] for f in found) for key in found[0]})
    by_way = {row["start"]: row for row in rows}
    said = by_way["sanderling run"]["CPU seconds"] / by_way["plain Spark"]["CPU seconds"]
    facts = {"sanderling run, times the CPU of plain Spark": said, "rounds": rounds}
    report("starts", "from Enter to the first line, median", rows, facts)
    pictures.starts(rows)
    return {"rows": rows, "facts": facts}


def is_first_update(line: str) -> bool:
    """As README shows it."""
    return line == next(r for r in README.read_text().splitlines(keepends=True) if r.startswith('{"query"'))


def _first_line(command: list[str], is_right: Callable[[str], bool]) -> dict[str, float]:
    """Of README's first query, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "taxis"
        folder.mkdir()
        text = README.read_text()
        for file in ("taxis.csv", "depot.sql"):
            fence = f"```{file.rsplit('.', 1)[1]} {file}\n"
            (folder / file).write_text(text.split(fence)[1].split("```")[0])
        began = time.monotonic()
        with watched(command, folder) as (program, processes):
            assert program.stdout is not None
            line = program.stdout.readline()
            seconds = time.monotonic() - began
            processes.look()
            parts = processes.cpu_s()
        assert is_right(line), line
    return {"seconds": seconds, "CPU seconds": sum(parts.values())} | parts


if __name__ == "__main__":
    run()
