"""The demo on Spark for a few ticks, and a run over a file: the classes that Java loads for them are kept.

`make setup` runs this; every start of Spark is quicker then (spark/start/archive.py). Where Java cannot keep
classes, nothing is lost.

python -m sanderling.demo.rehearse_spark
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from rich.console import Console

from sanderling.deliver.targets import Targets
from sanderling.demo.run import SHARDS, Web, demo_settings, run_demo
from sanderling.plan.planner import Planner
from sanderling.simulate.city import make_city
from sanderling.spark.run import RunOptions, run_plan
from sanderling.spark.session import end_java
from sanderling.spark.start.archive import archive_place, archiving, put

OBJECTS, SECONDS, SEED = 200, 2, 7
SCRIPT = """
CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (path = 'cars.csv');
REGISTER QUERY depot AS SELECT id FROM cars INSIDE (0, 0, 10, 10);
REGISTER QUERY nearest AS SELECT id FROM cars kNN (1, 5, 5);
"""
CARS = "id,ts,x,y\n" + "".join(f"car{n % 3},{n},{n % 12},5\n" for n in range(60))


def rehearse_on_spark(place: Path) -> None:
    """Leaves an archive at `place`, if Java can write one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".archive-") as name:
        folder = Path(name)
        archive = folder / "archive.jsa"
        with archiving(archive):
            city, settings = make_city(SEED).centred(), demo_settings(OBJECTS, SEED)
            run_demo(city, settings, SECONDS, Console(file=io.StringIO()), Web(is_wanted=False))
            _run(folder)
            is_done = end_java()
        if is_done and archive.exists():
            put(archive, place)


def _run(folder: Path) -> None:
    (folder / "cars.csv").write_text(CARS)
    planner = Planner(data=folder)
    planner.run_script(SCRIPT)
    targets = Targets(folder / "updates.jsonl", is_folder=False, letters=None)
    options = RunOptions(targets, f"local[{SHARDS}]", SHARDS, folder / "checkpoint", data=folder)
    run_plan(planner.plan(), SCRIPT, options)


if __name__ == "__main__":
    rehearse_on_spark(archive_place())
