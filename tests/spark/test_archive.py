"""An archive of Spark's classes makes a start quicker, and changes nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from sanderling.spark.start import archive
from sanderling.spark.start.archive import (
    OPTIONS,
    SILENT,
    archive_place,
    archiving,
    is_whole,
    put,
    with_archive,
)

JARS = Path(pyspark.__file__).parent / "jars"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the archive would be; its path has a blank."""
    found = tmp_path / "a folder" / "archive.jsa"
    found.parent.mkdir()
    monkeypatch.setattr(archive, "archive_place", lambda: found)
    return found


def java(*words: str) -> subprocess.CompletedProcess[str]:
    home = os.environ.get("JAVA_HOME")
    program = f"{home}/bin/java" if home else "java"
    environment = {**os.environ, "SPARK_HOME": str(JARS.parent), "SPARK_SCALA_VERSION": "2.13"}
    return subprocess.run(
        [program, *words], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def launched() -> list[str]:
    """The words that Spark's launcher starts Java with."""
    main, what = "org.apache.spark.launcher.Main", "org.apache.spark.deploy.SparkSubmit"
    return java("-cp", f"{JARS}/*", main, what, "pyspark-shell").stdout.split("\0")


def made(place: Path) -> None:
    """An archive of something else."""
    new, launcher = place.parent / "new", str(next(JARS.glob("spark-launcher_*.jar")))
    java(f"-XX:ArchiveClassesAtExit={new}", "-cp", launcher, "org.apache.spark.launcher.Main")
    put(new, place)


def test_spark_is_started_with_the_archive_that_setup_made(spark: SparkSession) -> None:
    beans = spark.sparkContext._jvm.java.lang.management.ManagementFactory  # type: ignore[union-attr]
    said = list(beans.getRuntimeMXBean().getInputArguments())
    assert (f"-XX:SharedArchiveFile={archive_place()}" in said) == is_whole(archive_place())


def test_without_an_archive_nothing_is_asked_of_java(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OPTIONS, raising=False)
    with with_archive():
        assert OPTIONS not in os.environ
    made(place)
    with with_archive():
        assert OPTIONS in os.environ
    with open(place, "r+b") as file:
        file.truncate(100_000)
    with with_archive():
        assert OPTIONS not in os.environ


def test_what_a_user_asks_of_java_comes_last_and_counts(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(place)
    monkeypatch.setenv(OPTIONS, "-Xmx1g -Xshare:off")
    with with_archive():
        words = launched()
        mine = words.index(f"-XX:SharedArchiveFile={place}")
        assert mine < words.index("-Xmx1g") < words.index("-Xshare:off")
    assert os.environ[OPTIONS] == "-Xmx1g -Xshare:off"
    monkeypatch.setenv(OPTIONS, "-XX:SharedArchiveFile=theirs.jsa")
    with with_archive():
        assert os.environ[OPTIONS] == "-XX:SharedArchiveFile=theirs.jsa"


def test_an_archive_that_does_not_fit_is_passed_over_in_silence(place: Path) -> None:
    with archiving(place):
        assert f"-XX:ArchiveClassesAtExit={place}" in launched()
    made(place)
    plain = java("-version")
    for content in (place.read_bytes(), b"nothing of the kind"):
        place.unlink()
        place.write_bytes(content)
        other = str(next(JARS.glob("py4j-*.jar")))
        said = java(*SILENT, f"-XX:SharedArchiveFile={place}", "-cp", other, "-version")
        assert (said.returncode, said.stdout) == (0, "")
        assert said.stderr.replace(", sharing", "") == plain.stderr.replace(", sharing", "")


RUN = """
import sys
from pathlib import Path
from sanderling.spark.start import archive
place = Path(sys.argv[1])
archive.archive_place = lambda: place
from sanderling.command import main
sys.argv = ["sanderling", "run", "cars.sql"]
main()
"""
CARS = """
CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (path = 'cars.csv');
"""


def test_a_run_without_an_archive_leaves_one_for_the_next(tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_text("id,ts,x,y\n1,1,5,5\n")
    (tmp_path / "cars.sql").write_text(CARS)
    place = tmp_path / "kept" / "java-x.jsa"
    place.parent.mkdir()
    (place.parent / ".999999999-java-x.jsa").write_text("of a run that was killed")

    def said() -> str:
        words = [sys.executable, "-c", RUN, str(place)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert "keeping Spark's classes" in said()
    assert is_whole(place) and sorted(p.name for p in place.parent.iterdir()) == [
        place.name,
        f"{place.name}-bytes",
    ]
    assert "keeping" not in said()
