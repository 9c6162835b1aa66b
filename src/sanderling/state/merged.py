"""A merge partition's state as bytes: the last lists of shards, and what trees remember.

snapshot ◄─ delta ◄─ delta ◄─ … = the merge partition now

A delta has the lists that are new, and what came for trees, which is put through them again. A trigger may
remember far less than what came: then the delta has that instead.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from sanderling.merge.composed import Composed, Input
from sanderling.merge.partition import Merge
from sanderling.route.parcels import pieces_of
from sanderling.sealed import sealed
from sanderling.state.saved import KIND, read_saved


def snapshot(merge: Merge) -> bytes:
    """The whole state."""
    tables, header = _merged(merge, is_whole=True)
    trees = {}
    for template, composed in merge.composed.items():
        tables |= _tree(composed, f"{template}")
        trees[str(template)] = composed.ready
    merge.came = []
    return _bytes(merge, tables, {**header, "trees": trees})


def _tree(composed: Composed, template: str) -> dict[str, pa.Table]:
    """All that a tree remembers, and what waits for it."""
    tables = {f"tree.{template}.{name}": table for name, table in composed.tree.saved().items()}
    tables |= {f"waiting.{template}.{branch}": rows for branch, rows in composed.waiting.items()}
    tables[f"turned.{template}"] = composed.turns.told
    tables[f"begun.{template}"] = pa.table({"query": composed.turns.begun})
    tables[f"joining.{template}"] = pa.table({"query": composed.turns.joining})
    for name, ticks in composed.ticks.items():
        tables[f"changes.{template}.{name}"] = pa.table({"tick": ticks, "told": composed.is_told[name]})
    return tables


def delta(merge: Merge) -> bytes:
    """What changed since the last snapshot or delta."""
    tables, header = _merged(merge, is_whole=False)
    batches, trees = [], {}
    for template in _remembering_little(merge):
        tables |= _tree(merge.composed[template], f"{template}")
        trees[str(template)] = merge.composed[template].ready
    for number, (inputs, closed) in enumerate(merge.came):
        batches.append(closed)
        for template, came in inputs.items():
            if str(template) not in trees:
                tables[f"turns.{number}.{template}"] = came.turns
                for branch, rows in came.rows.items():
                    tables[f"rows.{number}.{template}.{branch}"] = rows
    merge.came = []
    return _bytes(merge, tables, {**header, "batches": batches, "trees": trees})


def _remembering_little(merge: Merge) -> list[int]:
    """The triggers' trees that remember less than what came for them."""
    came: Counter[int] = Counter()
    for inputs, _ in merge.came:
        for template, some in inputs.items():
            came[template] += sum(rows.nbytes for rows in some.rows.values())
    weights = {template: merge.composed[template].weight() for template in came}
    return [t for t, weight in weights.items() if weight is not None and weight < came[t]]


def restore(merge: Merge, snapshot_bytes: bytes | None, deltas: list[bytes]) -> None:
    """Brings a new merge partition to the state that was saved.

    Without a snapshot it has to have the first plan.
    """
    if snapshot_bytes is not None:
        tables, header = read_saved(snapshot_bytes)
        if header["version"] != merge.version:
            merge.begin_at(header["version"])
        _replay(merge, tables, header)
        merge.closed = header["closed"]
        for template, ready in header["trees"].items():
            _restore_tree(merge.composed[int(template)], template, ready, tables)
    catch_up(merge, deltas)


def _restore_tree(composed: Composed, template: str, ready: int, tables: dict[str, pa.Table]) -> None:
    composed.ready = ready
    for name, changes in _under(f"changes.{template}.", tables).items():
        composed.ticks[name] = np.asarray(changes.column("tick").to_numpy(), np.int64)
        composed.is_told[name] = np.asarray(changes.column("told").to_numpy(), np.bool_)
    composed.tree.restore(_under(f"tree.{template}.", tables))
    composed.waiting = {int(b): rows for b, rows in _under(f"waiting.{template}.", tables).items()}
    turns = composed.turns
    turns.told = tables[f"turned.{template}"]
    turns.begun = np.asarray(tables[f"begun.{template}"].column("query").to_numpy(), np.int64)
    turns.joining = np.asarray(tables[f"joining.{template}"].column("query").to_numpy(), np.int64)


def catch_up(merge: Merge, deltas: list[bytes]) -> None:
    """Brings one that was saved some deltas ago to where it is now."""
    for data in deltas:
        tables, header = read_saved(data)
        merge.turn_to(header["version"])
        _replay(merge, tables, header)
        for number, closed in enumerate(header["batches"]):
            inputs: dict[int, Input] = {}
            for template, turns in _under(f"turns.{number}.", tables).items():
                rows = {int(b): t for b, t in _under(f"rows.{number}.{template}.", tables).items()}
                inputs[int(template)] = Input(rows, turns)
            merge.compose(inputs, closed, without=[int(template) for template in header["trees"]])
        for template, ready in header["trees"].items():
            _restore_tree(merge.composed[int(template)], template, ready, tables)


def _replay(merge: Merge, tables: dict[str, pa.Table], header: dict[str, Any]) -> None:
    for template, part in merge.nearest.items():
        if f"nearest.{template}" in tables:
            part.lists.replay(tables[f"nearest.{template}"])
    for stream, (total, is_whole) in header["orders"].items():
        order = merge.orders[stream]
        order.replay(tables[f"order.{stream}"], total, is_whole)
        for template, rows in merge.latest.items():
            if rows.stream == stream:
                rows.replay(tables[f"latest.{template}"], order, is_whole)


def _merged(merge: Merge, is_whole: bool) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """What is merged by itself: lists of kNN queries, and the last readings of all."""
    drained = {f"nearest.{template}": part.lists.drain(is_whole) for template, part in merge.nearest.items()}
    tables = {name: table for name, table in drained.items() if table.num_rows}
    orders = {}
    for stream, order in merge.orders.items():
        is_anew = is_whole or order.is_anew
        orders[stream] = (order.total, is_anew)
        tables[f"order.{stream}"] = order.drain(is_anew)
        for template, rows in merge.latest.items():
            if rows.stream == stream:
                tables[f"latest.{template}"] = rows.drain(is_anew)
    return tables, {"orders": orders}


def _under(prefix: str, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """Those whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): t for name, t in tables.items() if name.startswith(prefix)}


def _bytes(merge: Merge, tables: dict[str, pa.Table], header: dict[str, Any]) -> bytes:
    fixed = {"version": merge.version, "closed": merge.closed}
    return sealed(KIND, pieces_of(tables, {**fixed, **header}))
