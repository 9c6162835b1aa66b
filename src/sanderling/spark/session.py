"""A Spark session as Sanderling needs it, quiet on the terminal."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from sanderling.errors import ConfigError
from sanderling.spark.signals import held_signals
from sanderling.spark.start.java import end, reached

# Renames files without starting programs that look for links (decision 21).
PLAIN_RENAMES = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


def stream_settings(shards: int) -> dict[str, str]:
    """What our queries need, whoever made the session they run in."""
    return {
        "spark.sql.shuffle.partitions": str(shards),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.streaming.metricsEnabled": "false",
    }


def cores_of(master: str) -> int:
    """As many shards as the master has cores."""
    cluster = re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]", master)
    if cluster:
        return int(cluster[1]) * int(cluster[2])
    local = re.fullmatch(r"local\[(\d+)(?:,\d+)?\]", master)
    return int(local[1]) if local else 1 if master == "local" else os.cpu_count() or 2


def start_session(master: str, shards: int, log: Path | None) -> SparkSession:
    """A session with one shuffle partition a shard; what Spark says is found in `log`."""
    settings = stream_settings(shards) | {
        "spark.app.name": "sanderling",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        # The source asks for more at once; waiting would only add to every batch.
        "spark.sql.streaming.pollingDelay": "0",
        # On a busy machine a Python worker takes its time to start.
        "spark.python.authenticate.socketTimeout": "300s",
        # Blobs are one row each: more rows at once would only hold more of them in memory.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    }
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        settings |= {"spark.sql.streaming.checkpointFileManagerClass": PLAIN_RENAMES}
    builder = SparkSession.builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    # Until there is a JVM to talk to, which takes longest, Ctrl-C needs no waiting.
    with held_signals(lambda: SparkContext._gateway is not None):
        try:
            with _our_handler(), reached(master, log):
                session = builder.getOrCreate()
            # A JVM that dies is told once, by us; this server would print a traceback of its own.
            vars(session.sparkContext._accumulatorServer)["handle_error"] = lambda *_: None
            return session
        except Exception as e:  # py4j's, Spark's or the system's: all say that there is no Spark
            raise ConfigError(
                "config.no_spark", f'Spark does not start with the master "{master}": {_reason(e)}',
                "check --master, and that Java 17 or later is installed",
            ) from e  # fmt: skip


@contextlib.contextmanager
def _our_handler() -> Iterator[None]:
    """Spark brings its own for Ctrl-C, which would talk to the JVM in the middle of another call."""
    ours = signal.getsignal(signal.SIGINT)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ours)


def end_java() -> bool:
    """Ends the Java that Spark leaves behind when it stops, and waits; whether it ended well."""
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    if gateway is None:
        return False
    gateway.shutdown()
    return end()


def refuse_no_session(spark: object) -> None:
    """What is given as a session of Spark is one, and lives."""
    if not isinstance(spark, SparkSession):
        raise ConfigError(
            "config.no_spark", f"a {type(spark).__name__} is no session of Spark",
            "connect(), or connect(SparkSession.builder.getOrCreate())",
        )  # fmt: skip
    if vars(spark.sparkContext)["_jsc"] is None:
        raise ConfigError("config.no_spark", "this session of Spark has been stopped", "start another one")


def _reason(e: Exception) -> str:
    """What the JVM says, without the layers it came through."""
    text = str(e)
    said = [line for line in text.splitlines() if line.strip() and not line.startswith("WARNING")]
    causes = re.findall(r"^(?:: |.*Exception.*?: |.*Error: )(.+)", text, flags=re.MULTILINE)
    return (causes[0] if causes else said[0] if said else type(e).__name__)[:300]
