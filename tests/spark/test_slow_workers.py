"""A machine that takes its time to start Python: Spark gives up after ten seconds, we do not."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from sanderling.spark.faults import in_our_words
from sanderling.spark.lasting import ATTEMPTS, NO_WORKER, LastingQuery

# The worker that reads our source's offsets, the first time.
SLOW = "pyspark.sql.streaming.python_streaming_source_runner"
# Where no nursery comes up, each Python starts by itself.
WRAPPER = """#!/bin/sh
if [ "$2" = sanderling.spark.start.nursery ]; then exit 1; fi
if [ "$2" = {slow} ] && mkdir {mark} 2>/dev/null; then sleep 11; fi
exec {python} "$@"
"""
PROGRAM = "import sys; sys.executable = {!r}; from sanderling.command import main; main()"


def test_a_worker_that_is_slow_to_start_costs_time_and_changes_nothing(tmp_path: Path) -> None:
    python, mark = tmp_path / "python.sh", tmp_path / "was-slow"
    python.write_text(WRAPPER.format(slow=SLOW, mark=mark, python=sys.executable))
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "cars.csv").write_text("id,ts,x,y\na,1,5,5\nb,1,5,5\nb,2,50,5\n")
    (tmp_path / "script.sql").write_text(
        "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
        f" WITH (path = '{tmp_path}/cars.csv');"
        "REGISTER QUERY depot AS SELECT id FROM cars INSIDE (0, 0, 9, 9)"
    )
    command = [sys.executable, "-c", PROGRAM.format(str(python)), "run", "script.sql", "--master", "local[2]"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3, done.stderr
    assert mark.exists(), "one was slow"


class Failing:
    """A query of Spark's that fails with these words whenever it is started."""

    def __init__(self, words: str):
        self.words, self.started = words, 0

    def start(self) -> StreamingQuery:
        self.started += 1
        return cast(StreamingQuery, self)

    isActive = False

    def exception(self) -> PySparkException:
        return PySparkException(self.words)

    def awaitTermination(self, timeout: Any = None) -> None:
        raise self.exception()

    def stop(self) -> None:
        pass


@pytest.mark.parametrize(("words", "times"), [(f"worker {NO_WORKER}.", ATTEMPTS + 1), ("no room", 1)])
def test_it_is_tried_so_often_and_for_this_reason_only(words: str, times: int) -> None:
    failing = Failing(words)
    query = LastingQuery(failing.start)
    with pytest.raises(PySparkException) as e:
        query.awaitTermination()
    assert failing.started == times and not query.isActive
    assert ("too busy" in in_our_words(e.value, None).hint) is (times > 1)


def test_what_was_stopped_does_not_begin_again() -> None:
    failing = Failing(NO_WORKER)
    query = LastingQuery(failing.start)
    query.stop()
    assert not query.isActive and query.exception() is not None and failing.started == 1
