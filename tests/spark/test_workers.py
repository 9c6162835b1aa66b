"""What Spark's Python workers set aside, so that collecting after every task costs little."""

from __future__ import annotations

import subprocess
import sys

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
