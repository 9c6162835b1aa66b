"""Readings from a future that cannot be, on Spark: the clock on the wall tells them from others."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import sanderling
from tests.session.cars import Cars, answer, collected

YEAR_9999 = 253_370_764_800
KEY = "the `id`"
MINUTE = 60


def test_a_reading_far_ahead_of_the_clock_on_the_wall_silences_nobody(
    spark: SparkSession, tmp_path: Path
) -> None:
    """In a stream without partitions, in one with them, and in one that knows no bound."""
    now = int(time.time())
    declared = {"key": KEY, "time": "when", "location": ("x", "y")}
    options = {"plain": {}, "parts": {"partition": KEY}, "boundless": {"ahead": None}}
    cars = {name: Cars(tmp_path / name) for name in options}
    session = sanderling.connect(spark, shards=2)
    for name, more in options.items():
        session.stream(cars[name].frame(spark), name=name, **declared, **more)
        session.register(f"of {name}", f"SELECT `the ``id``` FROM {name}")
    session.start()
    for these in cars.values():
        # What was long ago is as good as ever, and so is what is a little ahead.
        these.come(("old", 1000, 0.0, 0.0, False), ("a", now - 3600, 0.0, 0.0, False))
        these.come(("ufo", YEAR_9999, 0.0, 0.0, False), ("zone", now + 15 * MINUTE, 0.0, 0.0, False))
        these.come(("b", now + 5 * MINUTE, 0.0, 0.0, False))
        these.come(("a", now + 5 * MINUTE + 1, 0.0, 0.0, False))
        these.come(*(("c", now + 5 * MINUTE + 2, 0.0, 0.0, False) for _ in range(4)))
    session.process_all()
    assert answer(session, "of plain") == ["a", "b", "old"]
    assert answer(session, "of boundless") == ["a", "old", "zone"]
    analyzed = {name: shown(session.execute(f"EXPLAIN ANALYZE `of {name}`")) for name in options}
    assert "of 10 readings" not in analyzed["plain"] + analyzed["parts"]
    # A DataFrame has no file to name.
    clock = "its clock stands at 9999-01-01T00:00:00Z, moved by ufo; ahead"
    assert f'6 of 10 readings of "boundless" were late: {clock}' in analyzed["boundless"]
    letters = collected(session.dead_letters(), tmp_path / "letters")
    session.stop()
    found = Counter(
        (letter["stream"], letter["reason"], json.loads(letter["raw"])[KEY]) for letter in letters
    )
    wanted = {(name, "ahead", key): 1 for name in ("plain", "parts") for key in ("ufo", "zone")}
    assert found == wanted | {("boundless", "late", key): n for key, n in (("a", 1), ("b", 1), ("c", 4))}
    assert {one["detail"].split(" after ")[0] for one in letters if one["reason"] == "ahead"} == {
        "when is more than 10 minutes"
    }


def shown(listing: pa.Table | None) -> str:
    assert listing is not None
    return "\n".join(listing.column(0).to_pylist())
