"""Named places where a process may be killed, for the tests of recovery.

`SANDERLING_CRASH=after-write:3` kills the process at the third passing of that point, as a power
cut would; a path behind that (`after-write:3:/tmp/trace`) names a file that gets a line before.
Without it a point costs a look-up.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

POINTS = (
    "before-log",
    "after-log",
    "before-write",
    "after-write",
    "after-ledger",
    "before-publish",
    "between-publish",
    "after-publish",
    "after-advance",
    "after-state",
)
# Of runs with an archive.
ARCHIVE_POINTS = (
    "archive-before-write",
    "archive-before-commit",
    "archive-after-commit",
    "archive-before-forget",
    "last-before-commit",
    "compaction-before-write",
    "compaction-before-commit",
    "compaction-after-commit",
    "keyframe-before-write",
    "keyframe-before-commit",
    "keyframe-after-commit",
    "retention-before-commit",
    "retention-after-commit",
)
# Here a process ends whose work another goes on with: the run does not notice.
SURVIVED = ("keeper-turn",)

_passed = 0


def point(name: str) -> None:
    """Here a crash may happen."""
    global _passed
    wanted = os.environ.get("SANDERLING_CRASH")
    if wanted and wanted.split(":")[0] == name:
        _passed += 1
        _, passing, *trace = wanted.split(":", 2)
        if _passed == int(passing):
            for path in trace:
                with Path(path).open("a") as file:
                    file.write(f"{os.getpid()}\n")
            os.kill(os.getpid(), signal.SIGKILL)
