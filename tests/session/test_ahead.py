"""Readings from a future that cannot be, on Spark: the clock on the wall tells them from others."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

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
    session.process_all()
    assert answer(session, "of plain") == ["a", "b", "old"]
    assert answer(session, "of boundless") == ["a", "old", "zone"]
    letters = collected(session.dead_letters(), tmp_path / "letters")
    session.stop()
    found = Counter(
        (letter["stream"], letter["reason"], json.loads(letter["raw"])[KEY]) for letter in letters
    )
    wanted = {(name, "ahead", key): 1 for name in ("plain", "parts") for key in ("ufo", "zone")}
    assert found == wanted | {("boundless", "late", key): 1 for key in "ab"}
    assert {one["detail"].split(" after ")[0] for one in letters if one["reason"] == "ahead"} == {
        "when is more than 10 minutes"
    }
