"""How Java is started for Spark: with its launcher's words, asked for once, or by its scripts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sanderling.spark.start import launcher
from sanderling.spark.start.archive import OPTIONS, archive_place, spark_package
from sanderling.spark.start.launcher import SUBMIT, command

WORDS = ["--master", "local[2]", "--conf=a.b=c d", "pyspark-shell"]


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment that says nothing of Spark, and an empty place for what is kept."""
    name = archive_place().name
    monkeypatch.setattr(launcher, "archive_place", lambda: tmp_path / name)
    said = {n: v for n, v in os.environ.items() if not n.startswith(launcher.CONFIGURED)}
    return said | {OPTIONS: '-Xshare:auto "-Dsome=thing with blanks"'}


def test_the_launchers_words_are_asked_for_once(
    plain: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = spark_package()
    words, said = command(home, WORDS, plain)
    at = words.index(SUBMIT)
    assert words[at + 1 :] == WORDS and words[0].endswith("java") and "-cp" in words[:at]
    assert words.index("-Xshare:auto") < words.index("-Dsome=thing with blanks") < at
    # As the script has it.
    assert said["SPARK_HOME"] == str(home) and said["PYTHONHASHSEED"] == "0"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it was asked again"))
    assert command(home, WORDS, plain) == (words, said)
    (kept,) = tmp_path.glob("launch-*.json")
    kept.write_text("{")
    monkeypatch.undo()
    monkeypatch.setattr(launcher, "archive_place", lambda: tmp_path / archive_place().name)
    assert command(home, WORDS, plain)[0] == words, "a broken file is made anew"


@pytest.mark.parametrize("name", ["SPARK_HOME", "SPARK_CONF_DIR", "SPARK_DRIVER_MEMORY", "HADOOP_CONF_DIR"])
def test_what_is_configured_is_for_sparks_scripts(name: str, plain: dict[str, str]) -> None:
    environment = plain | {name: "something"}
    script = str(spark_package() / "bin" / "spark-submit")
    assert command(spark_package(), WORDS, environment) == ([script, *WORDS], environment)


def test_so_is_a_spark_with_files_of_its_own(plain: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    assert command(tmp_path, WORDS, plain)[0][0] == str(tmp_path / "bin" / "spark-submit")


def test_where_the_launcher_does_not_answer_the_script_is_run(
    plain: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "LAUNCHER", "no.such.Launcher")
    assert command(spark_package(), WORDS, plain)[0][1:] == WORDS
