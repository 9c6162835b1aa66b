"""Spark's Java, started as soon as it is known that somebody will need it; the rest is imported meanwhile.

Nothing of Spark is imported here: that takes longer than to start Java.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sanderling.spark.signals import held_signals
from sanderling.spark.start import archive
from sanderling.spark.start.archive import OPTIONS, quoted, spark_package, with_archive
from sanderling.spark.start.launcher import command
from sanderling.spark.start.nursery import start_nursery

SECONDS_BETWEEN_LOOKS = 0.01
PYTHON, DRIVER_PYTHON = "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"
PORT, SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"

# Java compiles twice, the second time slowly and well. Spark's work in a batch is short: hundreds of them
# are done before that pays. The heap is small, the cores are for workers (decision 42).
ONCE = "-XX:TieredStopAtLevel=1"
PLAIN_GC = "-XX:+UseSerialGC"
# With the name that Spark gives a socket in it, of 43 characters, a path has at most 103 (keeper.py).
LONGEST_FOLDER = 60
A_GC = re.compile(r"-XX:\+Use\w+GC\b")


class NoJava(Exception):
    """It has ended before it could be reached; with what it said."""


@dataclass(frozen=True, slots=True)
class Java:
    """One that has been started."""

    process: subprocess.Popen[bytes]
    folder: Path  # ours, as long as we live
    log: Path
    python: str  # what Spark calls as its Python
    owner: int  # our process, and no fork of it
    archive: Path | None = None  # where it leaves its classes when it ends

    def address(self) -> dict[str, str]:
        """Where pyspark finds it, when it is ready."""
        place = self.folder / "address"
        while not place.exists():
            if self.process.poll() is not None:
                raise NoJava(self.log.read_text(errors="replace"))
            time.sleep(SECONDS_BETWEEN_LOOKS)
        said = place.read_bytes()
        port, length = struct.unpack_from(">ii", said)
        return {PORT: str(port), SECRET: said[8 : 8 + length].decode()}


_java: list[Java] = []


def is_local(master: str) -> bool:
    """Whether all of Spark is in one Java, on this machine."""
    return master == "local" or master.startswith("local[")


def launch(master: str, log: Path | None = None, is_kept: bool = False) -> Java | None:
    """Starts one, unless there is one; None where Spark has one of somebody else's.

    Without a `log`, what it says is kept as long as we live. `is_kept`: when it is ended, it leaves its
    classes for the next one, where that has none.
    """
    if _java or _is_reached() or PORT in os.environ:
        return _java[0] if _java else None
    # An exception inside a fork would be lost, and leave behind what is locked there.
    with held_signals():
        return _launched(master, log, is_kept)


def _launched(master: str, log: Path | None, is_kept: bool) -> Java:
    folder = Path(tempfile.mkdtemp(prefix="sanderling-java-"))
    log = log or folder / "spark.log"
    python = str((start_nursery(folder) if is_local(master) else None) or sys.executable)
    kept = archive.room_for_one() if is_kept else None
    with with_archive(), open(log, "ab") as said:
        environment = {
            **os.environ,
            OPTIONS: _options(os.environ.get(OPTIONS, ""), kept),
            PYTHON: python,
            DRIVER_PYTHON: python,
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / "address"),
        }
        # It ends when its standard input does, that is with us. Ctrl-C is for us, who end it then.
        told = [f"--conf={name}={value}" for name, value in _sockets(master, folder).items()]
        words = ["--master", master, *told, "pyspark-shell"]
        submit, environment = command(_spark_home(), words, environment)
        process = subprocess.Popen(
            submit, stdin=subprocess.PIPE, stdout=said, stderr=said, env=environment,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )  # fmt: skip
    _java.append(Java(process, folder, log, python, os.getpid(), kept))
    return _java[0]


def _options(asked: str, kept: Path | None) -> str:
    """What a user asks of Java comes last, and counts; two kinds of garbage collection it would refuse."""
    more = [] if A_GC.search(asked) else [PLAIN_GC]
    more += [] if kept is None else [quoted(f"-XX:ArchiveClassesAtExit={kept}")]
    return " ".join([ONCE, *more, asked])


def _sockets(master: str, folder: Path) -> dict[str, str]:
    """Where Java and its Python processes are on one machine, they talk by sockets of the file system.

    By those of the network each task waits 40 ms: what one side writes in small pieces is held back until the
    other confirms the piece before, and that takes its time (decision 50).
    """
    if not is_local(master) or len(os.fsencode(folder)) > LONGEST_FOLDER:
        return {}
    named = "spark.python.unix.domain.socket"
    return {f"{named}.enabled": "true", f"{named}.dir": str(folder)}


def is_keeping() -> bool:
    """Whether the Java that was launched leaves its classes for the next one."""
    return bool(_java) and _java[0].archive is not None


@contextmanager
def reached(master: str, log: Path | None) -> Iterator[None]:
    """Inside, pyspark finds the Java that was launched, if it has none, and starts none itself."""
    java = launch(master, log)
    python = java.python if java is not None and is_local(master) else sys.executable
    said = {PYTHON: python, DRIVER_PYTHON: sys.executable}
    try:
        if java is not None and not _is_reached():
            said |= java.address()
            if log is not None and not log.exists():
                log.symlink_to(java.log)
        os.environ.update(said)
        yield
    except BaseException:
        if not _is_reached():
            give_up()
        raise
    finally:
        if java is not None:
            os.environ.pop(PORT, None)
            os.environ.pop(SECRET, None)
        os.environ[PYTHON] = sys.executable  # what else is started here has no use for ours


def end() -> bool:
    """Ends it, and waits; whether it ended well."""
    if not _java:
        return False
    java = _java.pop()
    assert java.process.stdin is not None
    java.process.stdin.close()
    is_done = java.process.wait() == 0
    shutil.rmtree(java.folder, ignore_errors=True)
    if is_done and java.archive is not None:
        archive.put(java.archive, archive.archive_place())
    return is_done


@atexit.register
def give_up() -> None:
    """We are ending, or cannot reach it. One that nobody has reached would get ready for nobody."""
    while _java:
        java = _java.pop()
        if java.owner == os.getpid():
            if not _is_reached():
                java.process.kill()
                java.process.wait()
            shutil.rmtree(java.folder, ignore_errors=True)
            if java.archive is not None:
                java.archive.unlink(missing_ok=True)


def _is_reached() -> bool:
    """Whether Spark talks to a Java in this process."""
    context = sys.modules.get("pyspark.core.context")
    return context is not None and context.SparkContext._gateway is not None


def _spark_home() -> Path:
    """Where Spark is: the one that is named, or the package's own."""
    named = os.environ.get("SPARK_HOME")
    return Path(named) if named else spark_package()
