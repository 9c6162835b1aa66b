"""Streams that come in several partitions, on Spark: they do not make each other late."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

import sanderling
from sanderling.session.session import Session
from tests.session.cars import Cars, Row, answer, collected

CARS, SECONDS = 20, 6


def reports(first: int, partition: str = "c") -> list[Row]:
    """Every car in each of some seconds; the first letter of its name is its partition."""
    seconds = range(first, first + SECONDS)
    return [(f"{partition}{n}", s, float(s), 0.0, False) for s in seconds for n in range(CARS)]


def started(spark: SparkSession, work: Path, spread: Cars, queue: Cars) -> Session:
    """`spread` has its rows in several tasks a batch; of `queue` the partition of each row is known."""
    session = sanderling.connect(spark, work, shards=2)
    declared = {"key": "the `id`", "time": "when", "location": ("x", "y"), "gone": "left"}
    session.stream(spread.frame(spark).repartition(5, "`the ``id```"), name="spread", **declared)
    part = expr("nullif(left(`the ``id```, 1), '?')")
    in_parts = queue.frame(spark).withColumn("part", part)
    session.stream(in_parts, name="queue", partition="part", idle_after="8 seconds", **declared)
    for name in ("spread", "queue"):
        session.register(f"last of {name}", f"SELECT `the ``id``` || ' ' || CAST(x AS INT) AS at FROM {name}")
    return session.start()


def test_partitions_do_not_make_each_other_late(spark: SparkSession, tmp_path: Path) -> None:
    spread, queue = Cars(tmp_path / "spread"), Cars(tmp_path / "queue")
    session = started(spark, tmp_path / "work", spread, queue)
    spread.come(*reports(1000))
    queue.come(*reports(1000, "a"), ("?", 1001, 0.0, 0.0, False))
    queue.come(*reports(1000, "b"))  # a batch each: nobody has heard of this partition before
    session.process_all()
    assert answer(session, "last of spread") == sorted(f"c{n} 1004" for n in range(CARS))
    assert answer(session, "last of queue") == []
    spread.come(*reports(1006))
    queue.come(*reports(1006, "a"))
    session.process_all()
    session.stop()

    # The checkpoint knows how far each partition has come.
    session = started(spark, tmp_path / "work", spread, queue)
    queue.come(*reports(1006, "b"), ("b0", 1008, 0.0, 0.0, False))  # the last is late, by its own partition
    session.process_all()
    assert answer(session, "last of spread") == sorted(f"c{n} 1010" for n in range(CARS))
    assert answer(session, "last of queue") == sorted(f"{p}{n} 1010" for p in "ab" for n in range(CARS))
    # Long silent, it is idle, and holds back the others by so much and no more.
    queue.come(*reports(1020, "a"))
    session.process_all()
    queue.come(("b1", 1016, 0.0, 0.0, False), ("b2", 1017, 1017.0, 0.0, False))
    queue.come(*reports(1026, "a"))
    session.process_all()
    assert "b2 1017" in answer(session, "last of queue")
    letters = collected(session.dead_letters(), tmp_path / "letters")
    session.stop()
    found = Counter((letter["stream"], letter["reason"]) for letter in letters)
    assert found == {("queue", "missing_partition"): 1, ("queue", "late"): 2}
