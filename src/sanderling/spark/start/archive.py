"""Spark's classes as Java has them in memory, kept in a file: a start of Spark takes half the work.

Java reads, checks and links some ten thousand classes whenever Spark starts. What one rehearsal has loaded is
written to an archive when its Java ends (demo/rehearse_spark.py), and every later start maps it.

The archive is only speed. Java looks whether it fits: with another build of Java, other jars or other paths
it loads classes as ever. So does a machine that has none.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

OPTIONS = "SPARK_SUBMIT_OPTS"
# An archive that does not fit is no news.
SILENT = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")


def archive_place() -> Path:
    """Where the archive of this Java and this Spark is: beside the packages, which it belongs to."""
    name = f"java-{_java_version()}-spark-{_spark_version()}.jsa"
    return Path(sys.prefix) / "share" / "sanderling" / name


@contextmanager
def with_archive() -> Iterator[None]:
    """A Java that is started inside uses the archive, if there is one, and nobody has asked for another."""
    place, before = archive_place(), os.environ.get(OPTIONS)
    if not is_whole(place) or "Archive" in (before or ""):
        yield
        return
    with _options(" ".join([*SILENT, quoted(f"-XX:SharedArchiveFile={place}"), before or ""])):
        yield


def room_for_one() -> Path | None:
    """Where Java may write one: there is none that fits, nobody has asked for another, we have the right."""
    place = archive_place()
    if is_whole(place) or "Archive" in os.environ.get(OPTIONS, ""):
        return None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return place.with_name(f".{os.getpid()}-{place.name}") if os.access(place.parent, os.W_OK) else None


def put(archive: Path, place: Path) -> None:
    """Puts an archive in its place, if Java has written one; those of another Java or another Spark go.

    Where two do so at once, the length of one may be noted beside the other: then neither counts, and the
    next start makes another.
    """
    if not archive.exists():
        return
    for old in place.parent.glob("*.jsa*"):
        if old != archive and not _is_under_way(old):
            old.unlink(missing_ok=True)
    _note(place).write_text(str(archive.stat().st_size))
    archive.replace(place)


def _is_under_way(archive: Path) -> bool:
    """Whether it is written for a process that lives; one that was killed leaves it behind."""
    found = re.match(r"\.(\d+)-", archive.name)
    return found is not None and Path("/proc", found[1]).exists()


def is_whole(place: Path) -> bool:
    """Whether there is an archive, as long as when it was written: of one that was cut Java would die."""
    try:
        return place.stat().st_size == int(_note(place).read_text())
    except (OSError, ValueError):
        return False


def _note(place: Path) -> Path:
    return place.with_name(f"{place.name}-bytes")


@contextmanager
def archiving(place: Path) -> Iterator[None]:
    """A Java that is started inside writes the archive when it ends; it need not become fast before."""
    with _options(" ".join(["-XX:TieredStopAtLevel=1", quoted(f"-XX:ArchiveClassesAtExit={place}")])):
        yield


@contextmanager
def _options(said: str) -> Iterator[None]:
    """Java's options as Spark's launcher is to have them, and afterwards as they were."""
    before = os.environ.get(OPTIONS)
    os.environ[OPTIONS] = said
    try:
        yield
    finally:
        if before is None:
            del os.environ[OPTIONS]
        else:
            os.environ[OPTIONS] = before


def quoted(option: str) -> str:
    """As Spark's launcher reads options: a path may have blanks."""
    return '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"'


def spark_package() -> Path:
    """Where pyspark is, without importing it: that would take longer than to start Java."""
    spec = find_spec("pyspark")
    assert spec is not None and spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


def _spark_version() -> str:
    said = re.search(r"= '([\w.]+)'", (spark_package() / "version.py").read_text())
    return said[1] if said else "unknown"


def _java_version() -> str:
    """Of the Java that Spark's scripts take, without starting it: a JDK says it in a file."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else Path(shutil.which("java") or "java")
    try:
        release = (java.resolve().parents[1] / "release").read_text(errors="replace")
    except (OSError, IndexError):
        return "unknown"
    said = re.search(r'^JAVA_(?:RUNTIME_)?VERSION="([\w.+-]+)"', release, flags=re.MULTILINE)
    return said[1] if said else "unknown"
