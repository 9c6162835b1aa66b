"""Spark's Python workers: what they set aside from garbage collection, and how Java talks to them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from sanderling.spark.start.java import _sockets

PROGRAM = """
import gc, weakref

import sanderling.spark.engines.processor
from sanderling.spark.engines.workers import TASKS_TO_WARM_UP, begin_task

class Loop:
    def __init__(self):
        self.me = self

frozen = []
for _ in range(TASKS_TO_WARM_UP + 2):
    gc.collect()
    begin_task()
    frozen.append(gc.get_freeze_count())
loop = weakref.ref(Loop())
gc.collect()
print(frozen[0] > 100_000, len(gc.get_objects()) < frozen[0] / 10, frozen[-1] == frozen[-3], loop() is None)
"""


def test_what_was_imported_is_not_looked_at_again_and_later_garbage_is():
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True"] * 4, said.stdout


def test_on_one_machine_java_and_python_talk_by_sockets_of_the_file_system(
    spark: SparkSession, tmp_path: Path
) -> None:
    asked = spark.sparkContext.getConf()
    assert asked.get("spark.python.unix.domain.socket.enabled") == "true"
    folder = Path(str(asked.get("spark.python.unix.domain.socket.dir")))
    assert folder.stat().st_mode & 0o077 == 0, "nobody else may talk to them"
    assert _sockets("local[2]", folder) and not _sockets("local-cluster[2,1,1024]", folder)
    assert not _sockets("local[2]", tmp_path / ("a" * 60)), "no socket can have so long a path"
