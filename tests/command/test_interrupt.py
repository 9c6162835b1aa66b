"""The command as its user meets it: another folder, a pipe, Ctrl-C, a master that is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command.said import without_progress
from tests.long import so_many

COMMAND = [sys.executable, "-c", "from sanderling.command import main; main()", "run"]
# Slices of a few lines: there is something left to do when we are told to stop.
SMALL = [sys.executable, "-m", "tests.recovery.small_batches", "run"]
ROOT = Path(__file__).resolve().parents[2]
YEAR_9999 = 253_370_764_800


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A script, its input, and a folder for what is temporary."""
    rows = "".join(f"c{i % 7},{i // 7},{i % 20},1\n" for i in range(20_000))
    (tmp_path / "long.csv").write_text("id,ts,x,y\n" + rows)
    (tmp_path / "short.csv").write_text("id,ts,x,y\nä,1,5,5\nb,1,5,5\nb,2,50,5\nb\n")
    for name in ("long", "short"):
        (tmp_path / f"{name}.sql").write_text(
            f"""CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE)
            KEY id TIME ts LOCATION (x, y) WITH (path = '{tmp_path}/{name}.csv');
            REGISTER QUERY depot AS SELECT id FROM cars INSIDE (0, 0, 10, 10);"""
        )
    (tmp_path / "tmp").mkdir()
    (tmp_path / "out").mkdir()
    return tmp_path


def _hear_interrupts() -> None:
    """Where the tests run in the background of a shell, they and all they start are deaf to SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(world: Path, command: list[str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        cwd=ROOT if command is SMALL else world / "out", start_new_session=True,
        env={**os.environ, "TMPDIR": str(world / "tmp"), "PYTHONIOENCODING": "latin-1"},
        preexec_fn=_hear_interrupts,
    )  # fmt: skip


def wait_for(is_there: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300  # a busy machine takes its time to start Spark
    while not is_there():
        assert process.poll() is None and time.monotonic() < deadline, "it never came so far"
        time.sleep(0.05)


def still_running(session: int) -> list[str]:
    """Processes that a command of its own session left behind."""
    found = subprocess.run(
        ["ps", "-s", str(session), "-o", "stat=,args="], capture_output=True, text=True, check=False
    )
    return [line for line in found.stdout.splitlines() if not line.startswith("Z")]


def send(process: subprocess.Popen[str], number: int, times: int) -> None:
    """In quick succession, as whoever is in a hurry does it; Popen sends none to a process that has ended."""
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.1)


def assert_stopped_cleanly(process: subprocess.Popen[str], number: int, world: Path, times: int = 1) -> None:
    send(process, number, times)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, without_progress(said)) == (128 + number, "stopped\n")
    deadline = time.monotonic() + 20
    while still_running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not still_running(process.pid)
    assert list((world / "out").iterdir()) == [] and list((world / "tmp").iterdir()) == []


@pytest.mark.parametrize("times", so_many([8], [1, 8]))
def test_stopped_while_spark_starts(world: Path, times: int) -> None:
    process = started(world, COMMAND, str(world / "long.sql"), "--out", "u.jsonl")
    wait_for(lambda: bool(list((world / "tmp").glob("sanderling-*/spark.log"))), process)
    assert_stopped_cleanly(process, signal.SIGINT, world, times)


STOPPED_WHERE_NOBODY_HEARS = """
import os, signal, time
from sanderling import command

class Forgotten:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)

def app():
    with command._interruptible():
        Forgotten()
        time.sleep(60)

command.app = app
command.main()
"""


def test_stopped_where_no_exception_is_heard(world: Path) -> None:
    process = started(world, [sys.executable, "-c", STOPPED_WHERE_NOBODY_HEARS])
    assert process.communicate(timeout=30) == ("", "stopped\n")
    assert process.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize(
    ("number", "times"),
    so_many([(signal.SIGINT, 20)], [(signal.SIGTERM, 1), (signal.SIGTERM, 20), (signal.SIGINT, 20)]),
)
def test_stopped_in_the_middle(world: Path, number: int, times: int) -> None:
    out = world / "out" / "u.jsonl"
    process = started(world, SMALL, str(world / "long.sql"), "--out", str(out), "--master", "local[2]")
    part = out.with_name(".u.jsonl.partial") / "0.jsonl"
    wait_for(lambda: part.exists() and part.stat().st_size > 0, process)
    assert_stopped_cleanly(process, number, world, times)


def test_updates_go_to_standard_output_and_the_summary_beside(world: Path) -> None:
    words = ("--metrics", "m.json", "--checkpoint", "odd [1]: 😀 %20", "--shards", "3")
    for _ in range(2):  # a finished run says it again
        done = started(world, COMMAND, str(world / "short.sql"), *words)
        out, said = done.communicate(timeout=120)
        assert done.returncode == 0, said
        assert out.splitlines() == [
            '{"query": "depot", "tick": "1970-01-01T00:00:01Z", "sign": 1, "row": {"id": "b"}}',
            '{"query": "depot", "tick": "1970-01-01T00:00:01Z", "sign": 1, "row": {"id": "ä"}}',
            '{"query": "depot", "tick": "1970-01-01T00:00:02Z", "sign": -1, "row": {"id": "b"}}',
        ]
        assert without_progress(said).splitlines()[1:4] == [
            "dead letters    1: too_few_columns 1", "ticks closed    2", "updates         3",
        ]  # fmt: skip
    metrics = json.loads((world / "out" / "m.json").read_text())
    assert metrics["rows"] == {"cars": 4} and metrics["updates"] == {"depot": [2, 1]}
    assert metrics["letters"] == {"too_few_columns": 1} and {"seconds", "rows_per_second"} <= metrics.keys()
    assert metrics["warnings"] == []


def test_the_summary_warns_where_most_readings_are_late(world: Path) -> None:
    (world / "ufo.csv").write_text(f"id,ts,x,y\na,1,0,0\nufo,{YEAR_9999},0,0\na,2,0,0\na,3,0,0\na,4,0,0\n")
    (world / "ufo.sql").write_text(
        "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
        f" WITH (path = '{world / 'ufo.csv'}'); REGISTER QUERY q AS SELECT id FROM cars"
    )
    done = started(world, COMMAND, str(world / "ufo.sql"), "--metrics", "ufo.json")
    _, said = done.communicate(timeout=120)
    assert done.returncode == 0, said
    (warning,) = json.loads((world / "out" / "ufo.json").read_text())["warnings"]
    letters, warned = without_progress(said).splitlines()[1:3]
    assert letters == "dead letters    3: late 3"
    assert warned.startswith(f"warning         {warning.split('…')[0]}")  # the rest is not in Latin-1
    assert warning.startswith('3 of 5 readings of "cars" were late: its clock stands at 9999-01-01T00:00:00Z')
    assert f"moved by ufo ({world / 'ufo.csv'}, row 3); ahead = " in warning


def test_a_master_that_is_none(world: Path) -> None:
    done = started(world, COMMAND, str(world / "short.sql"), "--out", "u.jsonl", "--master", "nowhere")
    out, said = done.communicate(timeout=60)
    assert done.returncode == 1 and out == ""
    assert (
        without_progress(said).startswith("config.no_spark: ")
        and "Master must" in said
        and "Traceback" not in said
    )
    assert list((world / "out").iterdir()) == [] and list((world / "tmp").iterdir()) == []


def test_a_reader_that_has_had_enough(world: Path) -> None:
    """`… | head`: the pipe is closed before the updates come."""
    (world / "short.sql").write_text("SHOW STREAMS;")
    done = started(world, COMMAND, str(world / "short.sql"))
    assert done.stdout is not None and done.stderr is not None
    done.stdout.close()
    said = done.stderr.read()
    done.stderr.close()
    assert (done.wait(30), without_progress(said)) == (128 + signal.SIGPIPE, "")
