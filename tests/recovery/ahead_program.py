"""A program with a session over a folder: readings are judged by the clock on the wall.

python -m tests.recovery.ahead_program FOLDER          the second run
python -m tests.recovery.ahead_program FOLDER crash    the first, killed while a reading is ahead
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import sanderling
from tests.session.cars import collected

# By so much; later than the crash, however slow the machine is.
SECONDS_AHEAD = 20


def main(place: Path, is_crashing: bool) -> None:
    """Nothing may be ahead at all."""
    with sanderling.connect(checkpoint=place / "checkpoint", master="local[2]", shards=2) as session:
        reader = session.spark.readStream.schema("id STRING, ts BIGINT, x DOUBLE, y DOUBLE")
        frame = reader.option("maxFilesPerTrigger", 1).json(str(place / "in"))
        session.stream(frame, name="s", key="id", time="ts", location=("x", "y"), ahead="0 seconds")
        session.register("q", "SELECT id FROM s")
        session.start()
        session.process_all()
        if is_crashing:
            # In the state, and on its way to the log: Spark has not called the batch done.
            os.environ["SANDERLING_CRASH"] = "before-log:1"
            come(place, 3, "ahead", int(time.time()) + SECONDS_AHEAD)
            session.process_all()
        letters = collected(session.dead_letters(), place / "letters")
        shown = [f"{letter['reason']} {json.loads(letter['raw'])['id']}" for letter in letters]
        print(*session.answer("q").column(0).to_pylist(), *shown, sep="\n")


def come(place: Path, number: int, key: str, ts: int) -> None:
    """A file, and so a batch, of one reading."""
    path = place / f"{number}.json"
    path.write_text(json.dumps({"id": key, "ts": ts, "x": 0.0, "y": 0.0}) + "\n")
    os.utime(path, (number, number))  # Spark takes files in the order of their times
    path.rename(place / "in" / path.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] == ["crash"])
