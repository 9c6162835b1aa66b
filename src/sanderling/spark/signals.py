"""Ctrl-C while Spark is at work: an exception inside a call to the JVM would garble the next call."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def held_signals(
    may_wait: Callable[[], bool] = lambda: True, is_delivered: bool = True
) -> Iterator[Callable[[], bool]]:
    """Gives a question, whether one has come; it is delivered behind the block. A second one is not held.

    One that comes while it may not wait is delivered at once. Where being stopped is the usual end,
    nothing needs to be delivered.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    kept = {number: signal.getsignal(number) for number in HELD}
    came: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        _give_back(kept)
        if may_wait():
            came.append(number)
        else:
            signal.raise_signal(number)

    for number, handler in kept.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, hold)
    try:
        yield lambda: bool(came)
    finally:
        _give_back(kept)
        if came and is_delivered:
            signal.raise_signal(came[0])


def _give_back(kept: Mapping[signal.Signals, object]) -> None:
    for number, handler in kept.items():
        signal.signal(number, handler)  # type: ignore[arg-type]
