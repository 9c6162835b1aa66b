"""What Spark's scripts start Java with, without them: they start a Java of their own to ask for the words.

The words are asked for once and kept beside the archive, by all that they follow from. Where Spark has been
configured, by files or by the environment, its scripts have more to do, and do it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sanderling.spark.start.archive import OPTIONS, archive_place

# What may be said in the environment and is nothing to the scripts.
OURS = {
    OPTIONS,
    "SPARK_CONNECT_MODE",
    "SPARK_LOCAL_DIRS",
    "SPARK_LOCAL_IP",
    "SPARK_LOCAL_HOSTNAME",
    "SPARK_USER",
}
CONFIGURED = ("SPARK_", "HADOOP_", "YARN_")
SUBMIT, LAUNCHER = "org.apache.spark.deploy.SparkSubmit", "org.apache.spark.launcher.Main"
# How long the launcher may take; else the scripts are asked.
SECONDS = 20.0
MOST_KEPT = 8


def command(
    home: Path, words: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """What submits these words to Spark, as its script does, and in which environment."""
    script = [str(home / "bin" / "spark-submit"), *words]
    java = _java(environment)
    if java is None or not _is_plain(home, environment):
        return script, dict(environment)
    said = {
        **environment, "SPARK_HOME": str(home), "SPARK_CONF_DIR": str(home / "conf"), "SPARK_ENV_LOADED": "1",
        "SPARK_SCALA_VERSION": _scala(home), "PYTHONHASHSEED": "0",
    }  # fmt: skip
    before = _before(home, java, said)
    return (script, dict(environment)) if before is None else ([*before, *words], said)


def _is_plain(home: Path, environment: Mapping[str, str]) -> bool:
    """Whether nobody has configured anything."""
    named = any(name.startswith(CONFIGURED) and name not in OURS for name in environment)
    return not named and not (home / "conf").exists() and bool(_scala(home))


def _java(environment: Mapping[str, str]) -> str | None:
    home = environment.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java", path=environment.get("PATH"))


def _scala(home: Path) -> str:
    found = [path.name for path in home.glob("jars/spark-core_*.jar")]
    return found[0].removeprefix("spark-core_").split("-")[0] if len(found) == 1 else ""


def _before(home: Path, java: str, environment: Mapping[str, str]) -> list[str] | None:
    """What stands before the words that are ours; None where the launcher does not tell."""
    options = environment.get(OPTIONS, "")
    known_by = "\n".join([archive_place().name, str(home), java, options])
    kept = archive_place().with_name(f"launch-{hashlib.sha256(known_by.encode()).hexdigest()[:16]}.json")
    with suppress(OSError, ValueError):
        found = json.loads(kept.read_text())
        if found["by"] == known_by:
            return [str(word) for word in found["words"]]
    words = _asked(home, java, environment)
    if words is not None and "ArchiveClassesAtExit" not in options:  # that is for once
        _keep(kept, {"by": known_by, "words": words})
    return words


def _asked(home: Path, java: str, environment: Mapping[str, str]) -> list[str] | None:
    """By Spark's launcher: words with a NUL behind each."""
    quickly = [java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{home}/jars/*"]
    try:
        done = subprocess.run(
            [*quickly, LAUNCHER, SUBMIT, "pyspark-shell"], env=dict(environment), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    # A NUL on a line of its own stands before them, since something may be told first.
    words = [os.fsdecode(word) for word in done.stdout.partition(b"\0\n")[2].split(b"\0") if word]
    if words[-2:] != [SUBMIT, "pyspark-shell"]:
        return None
    return words[:-1]


def _keep(path: Path, thing: object) -> None:
    """It is only speed: who may not write, asks each time."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{os.getpid()}-{path.name}")
        new.write_text(json.dumps(thing))
        new.replace(path)
        others = sorted(path.parent.glob("launch-*.json"), key=lambda p: p.stat().st_mtime)
        for old in others[:-MOST_KEPT]:
            old.unlink()
