"""Ctrl-C while Spark is at work: an exception inside a call to the JVM would garble the next call.

Who is told to stop several times in a row is told one thing: the first is obeyed, the others change nothing.
Only one that comes when the end takes long is a wish for a quick one.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import TypeVar

HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Signals that come closer together are one wish.
PATIENCE_S = 10.0
SECONDS_BETWEEN_LOOKS = 0.1
A_MOMENT_S = 0.02

Found = TypeVar("Found")


@contextlib.contextmanager
def held_signals(
    may_wait: Callable[[], bool] = lambda: True, is_delivered: bool = True
) -> Iterator[Callable[[], bool]]:
    """Gives a question, whether one has come; it is delivered behind the block.

    One that comes while it may not wait is delivered at once, and so is one that comes long after the
    first. Where being stopped is the usual end, nothing is delivered, now or later.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    kept = {number: signal.getsignal(number) for number in HELD}
    came: list[tuple[int, float]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if not came and may_wait():
            came.append((number, time.monotonic()))
        elif not came or time.monotonic() - came[0][1] > PATIENCE_S:
            _give_back(kept, hold)
            signal.raise_signal(number)

    for number, handler in kept.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, hold)
    try:
        yield lambda: bool(came)
    finally:
        if came and not is_delivered:
            turn_deaf()
        else:
            _give_back(kept, hold)
        if came and is_delivered:
            signal.raise_signal(came[0][0])


def turn_deaf() -> None:
    """We are ending: more signals change nothing, but for one after a long time, which ends us at once.

    What is temporary then stays behind; the JVM ends when it has lost us.
    """
    since = time.monotonic()

    def hear(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - since > PATIENCE_S:
            print("stopped", file=sys.stderr, flush=True)
            os._exit(128 + number)

    for number in HELD:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, hear)
    # An interpreter that is taken down gives signals back to the system, which would end us by the next one.
    atexit.register(_ignore_all)


@contextlib.contextmanager
def raised_again(kind: type[BaseException]) -> Iterator[None]:
    """Inside, an exception of this kind that a signal raised where Python drops it is raised again soon.

    From a `__del__`, the callback of a weak reference, or a fork Python passes nothing on: it prints what
    was raised, and goes on.
    """
    before = sys.unraisablehook

    def hear(what: sys.UnraisableHookArgs) -> None:
        lost = what.exc_value
        if not isinstance(lost, kind):
            before(what)
            return

        def again(number: int, frame: FrameType | None) -> None:
            raise lost

        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, A_MOMENT_S)

    sys.unraisablehook = hear
    try:
        yield
    finally:
        sys.unraisablehook = before


def _ignore_all() -> None:
    for number in HELD:
        signal.signal(number, signal.SIG_IGN)


def beside(call: Callable[[], Found]) -> Found:
    """What a call to the JVM gives that may take for ever, asked by a thread of its own.

    So whoever waits can be interrupted, and the next call of this thread does not meet an old answer.
    """
    found: list[Found] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as e:
            failed.append(e)

    thread = threading.Thread(target=run, name="beside", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(SECONDS_BETWEEN_LOOKS)
    if failed:
        raise failed[0]
    return found[0]


def _give_back(kept: Mapping[signal.Signals, object], ours: object) -> None:
    """Those that are still ours: who was told by one of them to stop may have turned deaf to all."""
    for number, handler in kept.items():
        if signal.getsignal(number) is ours:
            signal.signal(number, handler)  # type: ignore[arg-type]
