"""What Spark, Java and the system say when something goes wrong, in our words."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.errors import PySparkException

from sanderling import errors
from sanderling.errors import ConfigError, InternalError, SanderlingError
from sanderling.spark.lasting import is_for_want_of_a_worker
from sanderling.state.sealed import broken

# An error of ours as Spark shows it; its hint is the line behind it, where that is none of Java's.
OURS = re.compile(r"sanderling\.errors\.(\w+): ([\w.]+): (.+)(?:\n(?!\s|Caused by|JVM stack|\*)(.+))?")
# What the system says, through Python or Java, where a file cannot grow.
NO_ROOM = re.compile(r"(?:No space left on device|File too large|Disk quota exceeded)(?:: '[^'\n]+')?")
# What Spark says of files of its own that are cut off or changed.
DAMAGED = re.compile(
    r"Checksum error: (?:file:)?(\S+)|Failed to read log file (?:file:)?(\S+?)\. Incomplete log file"
    r"|\[CANNOT_LOAD_STATE_STORE\S* [^\n]{0,200}|Corruption: [^\n]{0,200}"
)


def not_writable(e: OSError) -> ConfigError:
    """There is no room, or no right, to write something."""
    where = f": {e.filename}" if e.filename else ""
    return ConfigError(
        "config.not_writable", f"{e.strerror or e}{where}", "check the path, its rights and the room"
    )


def in_our_words(e: Exception, log: Path | None) -> SanderlingError:
    """An error of ours that came through Spark's layers, or one of theirs."""
    text = str(e)
    if full := NO_ROOM.search(text):
        return ConfigError("config.not_writable", full[0], "make room, or set TMPDIR")
    if not isinstance(e, PySparkException):
        text = "the Java process of Spark has ended"
    elif "Python worker exited unexpectedly" in text or "Broken pipe" in text:
        text = "a Python worker of Spark has ended, perhaps for want of memory"
    found = OURS.search(text)
    if found and found[1] in errors.__dict__:
        kind = getattr(errors, found[1])
        error: SanderlingError = kind(found[2], found[3], found[4] or "")
        return error
    if damaged := DAMAGED.search(text):
        return broken(damaged[1] or damaged[2] or "Spark's state", damaged[0])
    # The innermost cause comes last in a chain.
    named = re.findall(r"^(?:Caused by: )?(\S*(?:Error|Exception)\S*: .+)", text, flags=re.MULTILINE)
    said = named[-1] if named else text.strip().splitlines()[0] if text.strip() else "Spark stopped"
    hint = (
        f"Spark's own words are in {log}"
        if log is not None and log.exists()
        else "run with --checkpoint to keep Spark's log"
    )
    if is_for_want_of_a_worker(e):
        hint = f"the machine is too busy to start a Python process within 10 seconds: try later\n{hint}"
    return InternalError("internal.spark", said[:500], hint)
