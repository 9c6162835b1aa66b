"""What Prometheus reads."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sanderling.clock import NOTHING_YET

if TYPE_CHECKING:
    from sanderling.server.service import Service


def metrics_of(service: Service) -> str:
    pulse, hub, clients = service.pulse, service.hub, list(service.connections.values())
    readings = [(f'stream="{_name(s)}"', n) for s, n in pulse.rows.items()]
    letters = [
        (f'stream="{_name(s)}",reason="{reason}"', n)
        for s, reasons in pulse.letters.items()
        for reason, n in reasons.items()
    ]
    closed = [(f'stream="{_name(s)}"', tick / 1e6) for s, tick in hub.closed.items() if tick != NOTHING_YET]
    is_ready = int(service.is_ready and hub.ended is None)
    lines = [
        *_counter("readings", "readings that came", readings),
        *_counter("dead_letters", "rows that are no readings", letters),
        *_counter("updates", "updates told", [("", pulse.updates)]),
        *_counter("batches", "batches told", [("", pulse.batches)]),
        *_gauge("closed_tick_seconds", "the last tick that closed", closed),
        *_gauge("clients", "connections", [("", len(clients))]),
        *_gauge("waiting_bytes", "what waits for clients", [("", sum(c.load.waiting for c in clients))]),
        *_gauge("queries", "queries registered", [("", len(service.host.seen().members))]),
        *_gauge("ready", "whether the session runs", [("", is_ready)]),
    ]
    if pulse.turns:
        since = round(time.time() - pulse.turns[-1].at, 3)
        lines += _gauge("since_last_batch_seconds", "since something was told", [("", since)])
    return "\n".join(lines) + "\n"


def _counter(name: str, said: str, values: Iterable[tuple[str, float]]) -> list[str]:
    return _metric(f"{name}_total", said, "counter", values)


def _gauge(name: str, said: str, values: Iterable[tuple[str, float]]) -> list[str]:
    return _metric(name, said, "gauge", values)


def _metric(name: str, said: str, kind: str, values: Iterable[tuple[str, float]]) -> list[str]:
    full = f"sanderling_{name}"
    lines = [f"{full}{{{labels}}} {value}" if labels else f"{full} {value}" for labels, value in values]
    return [f"# HELP {full} {said}", f"# TYPE {full} {kind}", *lines]


def _name(text: str) -> str:
    """As a label may hold it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
