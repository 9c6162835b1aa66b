"""Keepers: one decoded copy of an engine a machine, in a process of its own.

Spark gives a shard now to one Python worker, now to another. A worker that finds no keeper takes the
turn itself and then forks: the child, which has the engine, stays behind as its keeper. From then on
every worker of this machine hands its turn to the keeper, through a Unix socket.

worker ──── tags of the last saved states ──────► keeper
       ◄─── where among them it stands ──────────
       ──── deltas that it missed, batches ─────►        advance
       ◄─── delta, and what goes on ─────────────

What is saved is the truth, a keeper is only speed. Its state counts only if its tag was saved; the
turn's own tag is known only once Spark has gone on to the next batch. So a keeper that took part in a failed
attempt is found out and ends. A worker that gets no answer takes the turn itself.

A keeper ends when its tag is not known, when a turn fails or takes too long, when the run or Spark's
daemon has ended, when another keeper has its place, and when nobody has asked for long.
"""

from __future__ import annotations

import gc
import hashlib
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sanderling.spark.engines.turns import Said, Turn, receive, send
from sanderling.state import crash

# A turn that takes longer ends its keeper: better the worker begins anew than that it waits for ever.
TURN_S = 120
# How long a worker waits; a keeper that hangs has ended by then.
PATIENCE_S = TURN_S + 30
# A keeper that nobody has asked for so long gives its memory back.
IDLE_S = 600
# The bytes that a socket's path may have, on Linux and macOS alike.
LONGEST_PATH = 103


@dataclass(slots=True)
class Kept:
    """An engine, the tag of its state, and how it goes on."""

    engine: Any
    tag: str
    catch_up: Callable[[Any, list[bytes]], None]
    take: Callable[[Any, Turn], Said]
    is_over: Callable[[], bool]  # whether the run has ended


def place_of(mark: str, name: str) -> Path | None:
    """Where the keeper of an engine listens: in the folder that Spark clears away when it ends."""
    folders = os.environ.get("SPARK_LOCAL_DIRS")
    if not folders:
        return None
    # Short, and nobody else's: what is asked for by a tag is never answered by a wrong one.
    short = hashlib.blake2s(f"{mark}-{name}".encode(), digest_size=4).hexdigest()
    return Path(folders.split(",")[0]) / short


# ----- in a worker


def ask(place: Path, tags: list[str], last_deltas: Callable[[int], list[bytes]], turn: Turn) -> Said | None:
    """Lets the keeper take a turn; None if there is none, or none that can."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(PATIENCE_S)
            with _short(place) as address:
                line.connect(address)
            send(line, {"tags": tags})
            missed = receive(line)[0]["missed"]
            if missed is None:
                return None
            turn.send(line, last_deltas(missed))
            return Said.receive(line)
    except OSError:  # it is not there, ended in the middle, or does not answer
        return None


def leave(place: Path, kept: Kept) -> None:
    """Leaves a process behind that keeps the engine."""
    daemon = os.getppid()
    with ExitStack() as ours:
        try:
            watch = _watch(daemon)
            if watch is not None:
                ours.callback(os.close, watch)
            listener, inode = _listener(place)
            ours.enter_context(listener)
            sys.stdout.flush()
            sys.stderr.flush()
            child = os.fork()
        except OSError:
            return  # it is only speed
        if child:
            _reap(child)
            return
        try:
            _forget_worker({listener.fileno(), watch})
            _keep(kept, listener, _Ends(place, inode, daemon, watch, kept.is_over))
        except BaseException:
            traceback.print_exc()  # to the log of the executor
        finally:
            # Nothing of the worker's is to be closed, flushed or joined by us.
            os._exit(0)


_left: set[int] = set()


def _reap(new: int) -> None:
    """Keepers of this worker that have ended are not to stay in the system's list of processes."""
    _left.difference_update([child for child in _left if os.waitpid(child, os.WNOHANG)[0]])
    _left.add(new)


def _watch(daemon: int) -> int | None:
    """What becomes readable when the daemon ends; only Linux has that."""
    return os.pidfd_open(daemon) if sys.platform == "linux" else None


def _listener(place: Path) -> tuple[socket.socket, int]:
    """Takes the place, also if a keeper is there that does not answer."""
    new = place.with_name(f"{os.getpid():x}")  # not longer than the place
    new.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)  # nobody else may talk to us
    try:
        with _short(new) as address:
            listener.bind(address)
    finally:
        os.umask(before)
    listener.listen()
    inode = new.stat().st_ino
    os.replace(new, place)
    return listener, inode


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """A path that a socket can have; Linux knows a short one for every long one."""
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


# ----- in a keeper


@dataclass(frozen=True, slots=True)
class _Ends:
    """What a keeper looks at while nobody asks."""

    place: Path
    inode: int
    daemon: int
    watch: int | None
    is_run_over: Callable[[], bool]

    def is_over(self) -> bool:
        return not self._is_mine() or not self._has_daemon() or self.is_run_over()

    def _is_mine(self) -> bool:
        try:
            return self.place.stat().st_ino == self.inode
        except OSError:
            return False

    def _has_daemon(self) -> bool:
        try:
            os.kill(self.daemon, 0)
        except ProcessLookupError:
            return False
        return True

    def leave_place(self) -> None:
        if self._is_mine():
            with suppress(OSError):
                self.place.unlink()


def _forget_worker(ours: set[int | None]) -> None:
    """What a fork inherits and a keeper must not have: sockets to the JVM, handlers, redirections.

    Open files are replaced, not closed: Python objects that we inherited still hold their numbers. Of
    threads there are none here; DuckDB is opened anew (relational.py), Arrow makes new threads itself.
    """
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/dev/fd"):
        if int(name) > 2 and int(name) not in ours:
            os.dup2(nothing, int(name))
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    gc.freeze()  # what the worker had stays shared with it


def _keep(kept: Kept, listener: socket.socket, ends: _Ends) -> None:
    """Answers one worker after the other until it is time to go."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    if ends.watch is not None:
        poll.register(ends.watch, select.POLLIN)
    asked = time.monotonic()
    try:
        while time.monotonic() - asked < IDLE_S:
            ready = {number for number, _ in poll.poll(1000)}
            if ends.watch in ready or (not ready and ends.is_over()):
                return
            if ready:
                line, _ = listener.accept()
                with line:
                    if not _answer(kept, line):
                        return
                asked = time.monotonic()
    finally:
        ends.leave_place()


def _answer(kept: Kept, line: socket.socket) -> bool:
    """One turn; whether there can be another. What fails in it ends the keeper: the worker tries itself."""
    signal.alarm(TURN_S)  # whatever we hang in
    try:
        tags = receive(line)[0]["tags"]
        if kept.tag not in tags:
            send(line, {"missed": None})
            return False
        send(line, {"missed": len(tags) - 1 - tags.index(kept.tag)})
        turn, missed = Turn.receive(line)
        kept.tag = ""
        kept.catch_up(kept.engine, missed)
        said = kept.take(kept.engine, turn)
        crash.point("keeper-turn")
        kept.tag = turn.tag
        said.send(line)
    except ConnectionError:
        pass  # the worker was killed: the tag says what our state is worth
    signal.alarm(0)
    return kept.tag != ""
