"""A Python that has imported what Spark's Python processes need: they are forked from it, ready.

driver ──── starts ───► nursery: imports, while Java starts
Java ── "python -m …" ─► ask.py ── its pipes, words and environment ──► nursery ── forks ──► that Python

A run has half a dozen Python processes, and each would import the same for a second or two, one after the
other. The nursery is only speed: where it is not, or has ended, ask.py becomes the Python that was wanted.
It has no threads of Python's, and computes nothing; it ends with the driver.
"""

from __future__ import annotations

import array
import gc
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

SOCKET, PYTHON = "socket", "python"
HEARD = (signal.SIGTERM, signal.SIGHUP)


# ----- in the driver


def start_nursery(folder: Path) -> Path | None:
    """Starts one that lives in `folder`; gives what Spark is to call as its Python, or None if it cannot."""
    python = folder / PYTHON
    ask = Path(__file__).with_name("ask.py")
    words = [sys.executable, "-I", "-S", str(ask), str(folder / SOCKET), sys.executable]
    python.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    python.chmod(0o700)
    if sys.platform != "linux" or not os.access(python, os.X_OK):  # nothing may be run from there
        return None
    nothing = subprocess.DEVNULL
    # As Spark has it for its workers: the same hash of a text in all of them.
    environment = {**os.environ, "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")}
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(folder / SOCKET))
        except OSError:  # its path is too long
            return None
        listener.listen(64)  # who asks before the nursery is ready waits
        words = [sys.executable, "-m", "sanderling.spark.start.nursery", str(folder), str(listener.fileno())]
        _started.append(
            subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, env=environment,
                pass_fds=[listener.fileno()],
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
            )
        )  # fmt: skip
    return python


# Each ends when its standard input does, that is with us.
_started: list[subprocess.Popen[bytes]] = []


# ----- in the nursery


def main(folder: Path, listener: socket.socket) -> None:
    for number in HEARD:  # meant for the driver too, with whom we end
        signal.signal(number, signal.SIG_IGN)
    with listener:
        try:
            _import()
            _serve(listener)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _import() -> None:
    """What somebody imports in the first batch."""
    import pandas  # noqa: F401
    import pyspark.sql.worker.create_data_source
    import pyspark.sql.worker.lookup_data_sources
    import pyspark.sql.worker.plan_data_source_read
    import pyspark.worker  # noqa: F401

    import sanderling.ingest.read
    import sanderling.route.pack
    import sanderling.spark.engines.processor
    import sanderling.spark.sources.control
    import sanderling.spark.sources.files
    import sanderling.spark.sources.frames  # noqa: F401

    # What is here for good need not be looked through after every task of every worker.
    gc.collect()
    gc.freeze()


def _serve(listener: socket.socket) -> None:
    """Until the driver has gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    poll.register(listener, select.POLLIN)
    while True:
        ready = {number for number, _ in poll.poll()}
        if 0 in ready:
            return
        line, _ = listener.accept()
        with line, suppress(OSError):
            _answer(line, listener)


def _answer(line: socket.socket, listener: socket.socket) -> None:
    size, pipes = _head(line)
    said = line.recv(size, socket.MSG_WAITALL)
    child = os.fork()
    if child:
        for pipe in pipes:
            os.close(pipe)
        line.sendall(struct.pack("<I", child))
        return
    code = 1
    try:
        listener.close()
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
            os.close(pipe)
        code = _become(said)
    except BaseException:
        traceback.print_exc()
    finally:
        # Who asked may be gone. Whatever happens, a child goes no farther: it would clear away its nursery.
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            line.sendall(bytes([code & 0xFF]))
        finally:
            os._exit(code)


def _head(line: socket.socket) -> tuple[int, list[int]]:
    """How long the rest is, and the pipes of who asks."""
    numbers = array.array("i", [0, 0, 0])
    head, told, _, _ = line.recvmsg(4, socket.CMSG_SPACE(3 * numbers.itemsize))
    if len(head) < 4 or not told:
        raise ConnectionError("nobody has asked")
    pipes = array.array("i")
    pipes.frombytes(told[0][2][: 3 * numbers.itemsize])
    return struct.unpack("<I", head)[0], pipes.tolist()


def _become(said: bytes) -> int:
    """What `python -m` would be, with these words, in this environment; its exit code."""
    where, count, *rest = said.split(b"\0")
    words, named = [os.fsdecode(w) for w in rest[: int(count)]], rest[int(count) :]
    os.chdir(where)
    os.environ.clear()
    for name, _, value in (os.fsdecode(n).partition("=") for n in named):
        os.environ[name] = value
    time.tzset()
    for number in (signal.SIGCHLD, *HEARD):
        signal.signal(number, signal.SIG_DFL)
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    sys.path[:] = [os.fsdecode(where), *paths, *sys.path[1:]]
    sys.argv = words
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else 0 if e.code is None else 1
    return 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
