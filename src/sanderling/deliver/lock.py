"""A folder that one process at a time may write to."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from sanderling.errors import StateError


@contextlib.contextmanager
def locked(folder: Path, refusal: str, hint: str) -> Iterator[None]:
    """Holds the folder. The system lets go of it when we end, however that happens."""
    # The folder itself is the lock: there is no file to be left behind.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(handle, refusal, hint)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, refusal: str, hint: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as e:
        raise StateError("state.in_use", f"{refusal} ({_holder(handle)})", hint) from e
    except OSError:
        pass  # a file system without locks


def _holder(handle: int) -> str:
    """The process that holds it, as the system knows it."""
    inode = os.fstat(handle).st_ino
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and int(words[5].split(":")[2]) == inode:
                return f"process {words[4]}"
    return "of another process"
