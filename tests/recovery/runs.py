"""A world worth interrupting, and runs over it as processes of their own."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling.state.sealed import read_json, write_json
from tests.command.said import without_progress

SCRIPT = """
CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE)
  KEY id TIME ts LOCATION (x, y) WITH (path = '{folder}/cars', tick = '2 seconds', lateness = '3 seconds',
    ahead = '20 seconds');
CREATE STREAM ships (mmsi BIGINT, ts BIGINT, x DOUBLE, y DOUBLE)
  KEY mmsi TIME ts LOCATION (x, y) WITH (path = '{folder}/ships.jsonl', stale_after = '20 seconds');
REGISTER QUERY depot AS SELECT id, speed FROM cars INSIDE (2, 2, 7, 7);
REGISTER QUERY near AS SELECT id FROM cars WHERE speed > 1 INSIDE ('M', 'car3', 4);
REGISTER QUERY nearest AS SELECT id FROM cars kNN ('M', 2, 'car3');
REGISTER QUERY moving_near AS SELECT id, speed FROM cars WHERE speed > 0 kNN (3, 5, 5);
REGISTER QUERY port AS SELECT mmsi FROM ships INSIDE (5, 5, 3);
CREATE TRIGGER meet FOR cars AS a, cars AS b
  WHEN a.id <> b.id AND DISTANCE(a, b) < 0.7 AND b.ts - a.ts IN [0, 5]
   AND (a.speed + b.speed > 2 OR a.id = 'car1') REPORT FIRST;
CREATE TRIGGER crowd FOR 3 OF cars AS V WHEN V.speed > 1 AND DISTANCE(V) < 1 AND WITHIN 12 SECONDS;
REGISTER QUERY dwells AS SELECT id FROM cars INSIDE (0, 0, 8, 8) PERSISTENCY 4 SECONDS GRACE 2 SECONDS;
REGISTER PATTERN visits AS WITH a AS (SELECT id FROM cars INSIDE (0, 0, 6, 10) PERSISTENCY 2 SECONDS),
  b AS (SELECT id, speed FROM cars WHERE speed > 1 INSIDE (5, 0, 10, 10)),
  c AS (SELECT id FROM cars INSIDE (0, 8, 10, 10))
  SELECT id, b.speed, REACHED(b) AS at FROM a THEN NOT c THEN b WITHIN 9 SECONDS REPORT ALL WITH TIMEOUTS;
REGISTER PATTERN crosses AS WITH a AS (SELECT id FROM cars kNN (3, 2, 2)),
  b AS (SELECT id FROM cars kNN (3, 8, 8))
  SELECT id, OUTCOME() AS how FROM a THEN b WITHIN 9 SECONDS REPORT ALL WITH TIMEOUTS;
AT 60 REGISTER QUERY fast AS SELECT speed FROM cars WHERE speed > 2;
AT 120 DROP QUERY near;
AT 150 DROP TRIGGER meet;
AT 150 DROP PATTERN crosses;
"""


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two streams with bad rows, late readings and some that are ahead, in files of several slices."""
    folder = tmp_path_factory.mktemp("world")
    chance = random.Random(5)
    (folder / "cars").mkdir()
    for part in range(3):
        lines = ["id,ts,x,y,speed"]
        for second in range(part * 60, part * 60 + 60):
            for car in range(6):
                at = second - chance.choice([0, 0, 0, 1, 2, 9])
                x, y = chance.uniform(0, 10), chance.uniform(0, 10)
                lines.append(f"car{car},{at},{x:.3f},{y:.3f},{chance.choice([0, 1, 2, 3])}")
            if second % 17 == 0:
                lines.append(f"car9,{second},nowhere,1,1")
                lines.append(f"car8,{second + chance.choice([2, 60, 9000])},1,1,1")
        (folder / "cars" / f"{part}.csv").write_text("\n".join(lines) + "\n")
    ships = [
        f'{{"mmsi": {n}, "ts": {second}, "x": {chance.uniform(0, 10):.3f}, "y": {chance.uniform(0, 10):.3f}}}'
        for second in range(0, 180, 5)
        for n in range(4)
        if chance.random() < 0.6
    ]
    (folder / "ships.jsonl").write_text("\n".join(ships) + "\nbroken\n")
    (folder / "script.sql").write_text(SCRIPT.format(folder=folder))
    return folder


def command(world: Path, place: Path) -> list[str]:
    """A run cut into many small batches, so that there is something to interrupt."""
    return [
        sys.executable, "-m", "tests.recovery.small_batches", "run", str(world / "script.sql"),
        "--out", str(place / "updates.jsonl"), "--dead-letters", str(place / "letters.jsonl"),
        "--checkpoint", str(place / "checkpoint"), "--master", "local[2]", "--shards", "2",
    ]  # fmt: skip


def run(world: Path, place: Path, crash_at: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ}
    if crash_at is not None:
        environment["SANDERLING_CRASH"] = crash_at
    done = subprocess.run(
        command(world, place), env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    done.stderr = without_progress(done.stderr)
    return done


def output(place: Path) -> tuple[bytes, bytes]:
    return (place / "updates.jsonl").read_bytes(), (place / "letters.jsonl").read_bytes()


@pytest.fixture(scope="session")
def undisturbed(world: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    place = tmp_path_factory.mktemp("undisturbed")
    done = run(world, place)
    assert done.returncode == 0, done.stderr
    updates, letters = output(place)
    assert (
        updates.count(b"\n") > 300
        and all(updates.count(alert) > 30 for alert in (b'"meet"', b'"crowd"', b'"dwells"', b'"visits"'))
        and b'"late"' in letters
        and b"wrong_type" in letters
        and b"broken_json" in letters
    )
    return updates, letters


@pytest.fixture(scope="session")
def killed(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("killed")
    assert run(world, place, "after-log:4").returncode != 0, "it was to crash"
    return place


def java_of(session: int) -> int:
    """The Java process of a run."""
    listed = subprocess.run(
        ["ps", "-s", str(session), "-o", "pid=,comm="], capture_output=True, text=True, check=True
    )
    return next(int(line.split()[0]) for line in listed.stdout.splitlines() if line.endswith(" java"))


def moved(place: Path) -> None:
    """The copy writes beside itself."""
    note = place / "checkpoint" / "run.json"
    said = read_json(note, "run")
    said["outputs"] = [str(place / Path(path).name) for path in said["outputs"]]
    write_json(note, "run", said)


def run_without_room(world: Path, place: Path, size: int) -> None:
    """A run whose files cannot become longer than that, which it says."""
    # Java counts in a file that is larger than these.
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": "-XX:-UsePerfData"}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    done = subprocess.run(
        command(world, place), env=environment, capture_output=True, text=True, timeout=300, check=False,
        preexec_fn=limit,
    )  # fmt: skip
    assert done.returncode != 0 and "Traceback" not in done.stderr, done.stderr
    assert without_progress(done.stderr).startswith("config.not_writable: "), done.stderr
    assert sorted(p.name for p in place.iterdir() if p.name[0] != ".") == ["checkpoint"]
