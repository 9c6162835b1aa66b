"""Parcels that tell shards what to do: another plan, go on with it, say an answer. Each goes to every shard.

PLAN version ──► shards ──► SAID: what each knows of focal objects that are new
                  │             └──► ACTIVATE version, with all that was said ──► its queries begin
                  └ the first ──► PLAN ──► merge partitions
ASK queries ──► shards ──► ANSWER: their rows as at the last tick that closed
                  └ the first ──► ASK, of kNN queries only ──► merge partitions ──► ANSWER
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from sanderling.figures import Figures
from sanderling.route.parcels import Kind, Parcel


def announce(version: int) -> Parcel:
    """Shards turn to this version of the plan. Without new focal objects its queries begin."""
    return Parcel(Kind.PLAN, pa.table({}), {"version": version})


def activate(version: int, streams: Iterable[str], parcels: Sequence[Parcel]) -> list[Parcel]:
    """The version goes on, in the streams that it has new focal objects in, with what the shards said.

    An object lives in one shard, so whose word comes first does not matter.
    """
    found = []
    for stream in streams:
        tables = [
            p.table
            for p in parcels
            if p.kind == Kind.SAID and p.header["version"] == version and p.header["stream"] == stream
        ]
        table = pa.concat_tables(tables).combine_chunks() if tables else pa.table({})
        found.append(Parcel(Kind.ACTIVATE, table, {"version": version, "stream": stream}))
    return found


def told_figures(who: str, stream: str, figures: Figures) -> Parcel:
    """What operators did in a batch."""
    return Parcel(Kind.FIGURES, figures.table(), {"who": who, "stream": stream})


def mark(**what: int) -> Parcel:
    """Comes back to the driver with the batch that it was told in."""
    return Parcel(Kind.MARK, pa.table({}), what)


def ask(number: int, queries: Iterable[int]) -> Parcel:
    """The answers of these queries are wanted; `number` tells whose question an ANSWER belongs to."""
    return Parcel(Kind.ASK, pa.table({}), {"ask": number, "queries": [int(query) for query in queries]})
