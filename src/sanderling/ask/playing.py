"""A replay to where its output goes, as fast as it can, or at a pace."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sanderling.ask.replay import Replay, Told
from sanderling.clock import time_of
from sanderling.deliver.changes import UpdateLines, gather
from sanderling.deliver.render import text_of
from sanderling.deliver.sinks.files import Delivery
from sanderling.deliver.targets import Targets, refuse_filled_folder
from sanderling.errors import ConfigError


def play(replay: Replay, targets: Targets, speed: float | None) -> None:
    """Whole targets at the end; at a pace lines on standard output as they come."""
    told = replay.told() if speed is None else _paced(replay.told(), speed)
    if speed is not None and targets.updates is None and not targets.is_gathered:
        for lines in _lines(replay, told):
            sys.stdout.buffer.write(lines)
            sys.stdout.buffer.flush()
        return
    if targets.is_folder and targets.updates is not None:
        refuse_filled_folder(targets.updates)
    with tempfile.TemporaryDirectory(prefix="sanderling-") as work:
        delivery = Delivery(replay.plan, targets, Path(work))
        try:
            delivery.prepare()
            for number, (_, batches) in enumerate(told):
                delivery.deliver(number, batches)
            delivery.finish()
        except BaseException:
            delivery.discard()
            raise
        finally:
            delivery.close()


def _lines(replay: Replay, told: Iterator[Told]) -> Iterator[bytes]:
    rendering = UpdateLines(replay.plan)
    for _, batches in told:
        for change in gather(replay.plan, batches).values():
            yield from (bytes(text_of(piece)) for piece in rendering.pieces(change.rows))


def _paced(told: Iterator[Told], speed: float) -> Iterator[Told]:
    """Each when its time has come, by the clock on the wall."""
    first: int | None = None
    began = time.monotonic()
    for at, batches in told:
        first = at if first is None else first
        wait = (at - first) / 1e6 / speed - (time.monotonic() - began)
        if wait > 0:
            time.sleep(wait)
        yield at, batches


def time_in(option: str, written: str | None) -> int | None:
    if written is None:
        return None
    found = time_of(float(written) if written.replace(".", "", 1).lstrip("-").isdigit() else written)
    if found is None:
        raise ConfigError(
            "config.bad_option", f"{option} {written} is not a time", "say '2024-05-01 08:00' (UTC)"
        )
    return found


__all__ = ["play", "time_in"]
