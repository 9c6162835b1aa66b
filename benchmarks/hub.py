"""What a server's loop costs: updates to channels, held answers, frames, and what a thousand clients take."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pyarrow as pa

from benchmarks.report import report
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn, Template
from sanderling.server.hub.channel import Channel
from sanderling.server.hub.rows import Piece, schema_of
from sanderling.server.hub.watcher import Load, Watcher
from sanderling.server.shown.columns import ShownColumn
from sanderling.server.shown.forms import ARROW, encoded, frame
from sanderling.types import TYPES

REASON = "processor time of the hub for one tick in which every object moves"
# Of so many clients it is measured what encoding for each would cost.
SAMPLED = 100
COLUMNS = (("id", "BIGINT", "key"), ("x", "DOUBLE", "x"), ("y", "DOUBLE", "y"))
OUTPUTS = tuple(OutputColumn(n, Expression.of_column(n, TYPES[t])) for n, t, _ in COLUMNS)
TEMPLATE = Template(0, "s", None, OUTPUTS, pa.schema([]), True)
SHOWN = tuple(ShownColumn(*c) for c in COLUMNS)


def run(
    objects: int = 100_000, queries: int = 100, clients: int = 1_000, ticks: int = 10, seed: int = 7
) -> dict[str, float]:
    """Each object is in the answer of one query, and each client looks at one."""
    random = np.random.default_rng(seed)
    each = objects // queries
    channels = [Channel(f"q{n}", n, TEMPLATE, SHOWN, ("s",), is_told_only=False) for n in range(queries)]
    watchers = list[Watcher]()
    for channel in channels:
        channel.begin(None, 0)
    for n in range(clients):
        watchers.append(Watcher(channels[n % queries], Load(), lambda: None))
        channels[n % queries].watchers.append(watchers[-1])
    some = watchers[:: max(1, clients // SAMPLED)]
    places = random.uniform(0, 1000, (queries, 2, each))
    found: Counter[str] = Counter()
    for tick in range(1, ticks + 1):
        moved = places + random.normal(0, 1, places.shape)
        told = [_changes(n * each, tick, places[n] if tick > 1 else None, moved[n]) for n in range(queries)]
        started = time.process_time()
        for channel, rows in zip(channels, told, strict=True):
            channel.give(rows)
        sent = _taken(watchers)
        found["shared"] += time.process_time() - started
        started = time.process_time()
        for watcher in some:
            encoded(Piece(told[watcher.channel.number], tick), ARROW, SHOWN)
        found["each"] += (time.process_time() - started) * len(watchers) / len(some)
        assert sent == len(watchers) * (each if tick == 1 else 2 * each), "everybody gets every row"
        places = moved
    assert all(channel.whole().rows.num_rows == each for channel in channels)
    seconds = {name: total / ticks for name, total in found.items()}
    rows = [
        {"way": "all the hub does, encoding once a query", "seconds a tick": round(seconds["shared"], 4)},
        {"way": "encoding alone, for each client", "seconds a tick": round(seconds["each"], 4)},
    ]
    facts = {"objects": objects, "queries": queries, "clients": clients, "ticks": ticks}
    report("hub", REASON, rows, facts)
    return seconds


def _changes(first: int, tick: int, before: np.ndarray | None, now: np.ndarray) -> pa.Table:  # type: ignore[type-arg]
    """All objects of a query have moved."""
    ids = np.arange(first, first + now.shape[1])
    schema = schema_of(TEMPLATE).set(0, pa.field("tick", pa.int64()))
    signed = [] if before is None else [(-1, before)]
    tables = [
        pa.Table.from_arrays(
            [pa.array(np.full(len(ids), tick)), pa.array(np.full(len(ids), sign, np.int8)), ids, *places],
            schema=schema,
        )
        for sign, places in [*signed, (1, now)]
    ]
    return pa.concat_tables(tables).cast(schema_of(TEMPLATE)).combine_chunks()


def _taken(watchers: list[Watcher]) -> int:
    """As sockets do it: what is encoded behind a head of their own. How many rows that were."""
    rows = 0
    for number, watcher in enumerate(watchers):
        while (step := watcher.step()) is not None:
            if step.piece is not None:
                rows += step.piece.rows.num_rows
                frame(number, 1, 0, encoded(step.piece, ARROW, SHOWN))
    return rows
