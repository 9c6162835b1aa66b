"""A daemon, its worker and the keeper that the worker leaves, with an engine that counts; no Spark."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

from sanderling.spark.engines import keeper
from sanderling.spark.engines.keeper import Kept, leave
from sanderling.spark.engines.turns import Said, Turn

FIRST_TAG = "first"


def take(engine: list[bytes], turn: Turn) -> Said:
    """Remembers the blobs, and says how many there are and who counts; some are orders."""
    engine += [bytes(blob) for blob in turn.blobs]
    if engine[-1] == b"fail":
        raise ValueError("as it was told to")
    if engine[-1] == b"die":
        os.kill(os.getpid(), signal.SIGKILL)
    if engine[-1] == b"hang":
        time.sleep(600)
    snapshot = b"all of it" if turn.room < 0 else None
    return Said([len(engine)], [str(os.getpid()).encode()], b",".join(engine), snapshot, {})


def catch_up(engine: list[bytes], deltas: list[bytes]) -> None:
    engine += deltas


def main(place: Path, run: Path, turn_s: int, jvm: str) -> None:
    keeper.TURN_S = turn_s
    worker = os.fork()
    if worker:
        time.sleep(600)
    to_jvm = socket.socket(socket.AF_UNIX)
    to_jvm.connect(jvm)
    leave(place, Kept([], FIRST_TAG, catch_up, take, lambda: not run.exists()))
    to_jvm.sendall(str(os.getpid()).encode())
    time.sleep(600)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
