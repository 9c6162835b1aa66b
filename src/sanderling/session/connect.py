"""How a session begins: what it needs most time for is started before anything else is imported."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sanderling.session.arguments import duration, folder, text, whole
from sanderling.spark.start.java import launch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sanderling.session.session import Session

MOST_SHARDS = 1024


def connect(
    spark: SparkSession | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    *,
    shards: int | None = None,
    master: str = "local[*]",
    keep: str = "1 hour",
    trigger: str = "20 milliseconds",
    data: str | os.PathLike[str] | None = None,
) -> Session:
    """A session: a new one, or the one that a checkpoint holds.

    spark       a session of Spark to run in; without one, we start one with `master`
    checkpoint  a folder that all machines see; without one, nothing is left when the session stops
    shards      into how many parts objects are divided; without it, as many as the master has cores
    keep        how long updates stay readable for `updates()`
    trigger     how often Spark looks for new readings while there are none; it never waits while there are
    data        a folder that paths in statements start from, and never lead out of
    """
    if shards is not None:
        whole("shards", shards, 1, MOST_SHARDS)
    keep_s = duration("keep", keep) / 1e6
    duration("trigger", trigger)
    text("master", master, "such as local[*]")
    work, root = folder("checkpoint", checkpoint), folder("data", data)
    if spark is None and work is None:  # else Java's log is to be in it, and it is not ours yet
        launch(master)
    from sanderling.kernels.kept import first_use
    from sanderling.session.session import LOGGER, Session

    if words := first_use():
        LOGGER.warning(words)
    return Session(spark, work, shards, master, keep_s, trigger, root)
