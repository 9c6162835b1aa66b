"""Spark's Python processes are forked from one that has imported everything, or started as ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling.spark.start.nursery import start_nursery

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there are processes forked")

# A module that tells of the Python it is in.
TELLS = """
import os, sys
print(sys.argv[1:], os.environ["MARK"], os.getcwd(), sys.stdin.read(), "pyarrow" in sys.modules, hash("a"))
sys.exit(len(sys.argv))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tells.py").write_text(TELLS)
    (tmp_path / "nursery").mkdir()
    return tmp_path


def python(place: Path, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """What Spark starts, as Spark starts it."""
    environment = {**os.environ, "MARK": "m=1\nn", "PYTHONHASHSEED": "0"}
    return subprocess.run(
        [str(place / "nursery" / "python"), *words], cwd=place, env=environment, input=said,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def started(place: Path) -> subprocess.Popen[bytes]:
    from sanderling.spark.start import nursery

    assert start_nursery(place / "nursery") == place / "nursery" / "python"
    return nursery._started[-1]


def test_what_is_forked_is_the_python_that_was_asked_for(place: Path) -> None:
    process = started(place)
    told = python(place, "-m", "tells", "a b", "", said="to it\n")
    assert told.stdout.startswith(f"['a b', ''] m=1\nn {place} to it\n True "), told
    assert told.returncode == 3
    process.kill()
    process.wait()
    # Without a nursery it is another Python, which has imported nothing; nobody else sees a difference.
    alone = python(place, "-m", "tells", "a b", "", said="to it\n")
    assert alone.stdout == told.stdout.replace("True", "False") and alone.returncode == 3


def test_other_words_are_for_python_itself(place: Path) -> None:
    process = started(place)
    assert python(place, "-c", "print(6 * 7)").stdout == "42\n"
    process.kill()
    process.wait()


def test_a_nursery_ends_with_its_driver_and_leaves_nothing(place: Path) -> None:
    process = started(place)
    assert python(place, "-m", "tells").stdout, "by now it listens"
    process.terminate()  # as everybody is told whose terminal closes
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0
    assert not (place / "nursery").exists()


def test_who_is_forked_for_somebody_that_is_gone_takes_nothing_along(place: Path) -> None:
    """Who asked is killed: when the one that was forked ends, nobody hears of it, and others go on."""
    (place / "waits.py").write_text("import sys, time\nprint('here', flush=True)\ntime.sleep(1)\n")
    process = started(place)
    words = [str(place / "nursery" / "python"), "-m", "waits"]
    with subprocess.Popen(words, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as asks:
        assert asks.stdout is not None and asks.stdout.readline() == b"here\n"
        asks.kill()
        asks.wait()
        assert asks.stdout.read() == b"", "it has ended too"
    told = python(place, "-m", "tells")
    assert (place / "nursery").exists() and " True " in told.stdout, told
    process.kill()
    process.wait()
