"""A merge partition's state as bytes: the last lists of shards. A delta has those that are new.

snapshot ◄─ delta ◄─ delta ◄─ … = the merge partition now
"""

from __future__ import annotations

import pyarrow as pa

from sanderling.merge.merge import Merge
from sanderling.route.parcels import tables_to_bytes
from sanderling.state.saved import FORMAT, read_saved


def snapshot(merge: Merge) -> bytes:
    """The whole state."""
    return _saved(merge, is_whole=True)


def delta(merge: Merge) -> bytes:
    """What changed since the last snapshot or delta."""
    return _saved(merge, is_whole=False)


def restore(merge: Merge, snapshot_bytes: bytes | None, deltas: list[bytes]) -> None:
    """Brings a new merge partition to the state that was saved.

    Without a snapshot it has to have the first plan.
    """
    if snapshot_bytes is not None:
        tables, header = read_saved(snapshot_bytes)
        if header["version"] != merge.version:
            merge.begin_at(header["version"])
        _replay(merge, tables)
    catch_up(merge, deltas)


def catch_up(merge: Merge, deltas: list[bytes]) -> None:
    """Brings one that was saved some deltas ago to where it is now."""
    for data in deltas:
        tables, header = read_saved(data)
        merge.turn_to(header["version"])
        _replay(merge, tables)


def _replay(merge: Merge, tables: dict[str, pa.Table]) -> None:
    for template, table in tables.items():
        merge.nearest[int(template)].lists.replay(table)


def _saved(merge: Merge, is_whole: bool) -> bytes:
    drained = {str(template): part.lists.drain(is_whole) for template, part in merge.nearest.items()}
    tables = {template: table for template, table in drained.items() if table.num_rows}
    return tables_to_bytes(tables, {"format": FORMAT, "version": merge.version})
