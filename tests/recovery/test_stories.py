"""A run that is stopped again and again, each time in another way: its output is that of an undisturbed one.

What `make long` tries one by one (test_crash.py, test_no_room.py) happens here one after the
other, since every start of Spark takes its time.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from sanderling.deliver.ledger import KIND
from sanderling.state.sealed import read_json
from tests.command.said import without_progress
from tests.command.test_interrupt import wait_for
from tests.recovery.runs import command, java_of, moved, output, run, run_without_room
from tests.session.test_signals import wait_for_nobody


def delivered(place: Path) -> int:
    """The last batch that is safely in the output."""
    ledger = place / "checkpoint" / "delivered.json"
    return int(read_json(ledger, KIND)["batch"]) if ledger.exists() else -1


def goes_on(world: Path, place: Path) -> subprocess.Popen[str]:
    """A run that has delivered something since it was started."""
    before = delivered(place)
    process = subprocess.Popen(
        command(world, place), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: delivered(place) > before, process)
    return process


def test_crashes_and_a_kill(
    world: Path, undisturbed: tuple[bytes, bytes], killed: Path, tmp_path: Path
) -> None:
    """Named points in the driver and in a worker, and SIGKILL."""
    place = tmp_path / "copy"
    shutil.copytree(killed, place)  # killed after-log
    moved(place)
    for point in ("after-write:2", "after-state:3"):
        assert run(world, place, point).returncode != 0, "it was to crash"
    process = goes_on(world, place)
    process.send_signal(signal.SIGSTOP)  # so that it does not end while the second one starts
    second = run(world, place)
    assert second.returncode != 0 and second.stderr.startswith("state.in_use: "), second.stderr
    assert sys.platform != "linux" or f"process {process.pid}" in second.stderr
    process.kill()
    process.communicate(timeout=60)
    wait_for_nobody(process.pid)
    done = run(world, place)
    assert done.returncode == 0, done.stderr
    assert output(place) == undisturbed
    again = run(world, place)
    assert again.returncode == 0 and output(place) == undisturbed, again.stderr


def test_java_dies_an_input_goes_and_there_is_no_room(
    world: Path, undisturbed: tuple[bytes, bytes], tmp_path: Path
) -> None:
    """Each is told by a code, nothing half-written appears, and the run goes on when all is there again."""
    folder, place = tmp_path / "world", tmp_path / "place"
    shutil.copytree(world, folder)
    place.mkdir()
    script = (folder / "script.sql").read_text().replace(str(world), str(folder))
    (folder / "script.sql").write_text(script)
    process = goes_on(folder, place)
    os.kill(java_of(process.pid), signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert without_progress(said).startswith("internal.spark: the Java process of Spark has ended"), said
    wait_for_nobody(process.pid)

    process = goes_on(folder, place)
    last, away = folder / "cars" / "2.csv", tmp_path / "away.csv"
    last.rename(away)
    _, said = process.communicate(timeout=200)
    assert process.returncode == 1 and without_progress(said).startswith('state.source_changed: "'), said
    away.rename(last)

    run_without_room(folder, place, 40_000)
    done = run(folder, place)
    assert done.returncode == 0, done.stderr
    updates, letters = output(place)
    assert (updates, letters.replace(str(folder).encode(), str(world).encode())) == undisturbed
