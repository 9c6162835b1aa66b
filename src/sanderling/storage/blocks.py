"""The order of readings on disk: period, block, cell along Hilbert's curve, key, time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.arrays import F64, I64, float64_of, int64_of, key_ranks, order_of
from sanderling.batches import TS
from sanderling.clock import tick_ends
from sanderling.storage.about import About, Grid
from sanderling.storage.periods import begin_of


def grid_around(readings: pa.Table, about: About) -> Grid | None:
    """Cells over the places of the first readings; later ones that are elsewhere count to the edge."""
    x, y = (float64_of(readings, name) for name in (about.stream.x, about.stream.y))
    is_place = np.isfinite(x) & np.isfinite(y)
    if not is_place.any():
        return None
    x, y = x[is_place], y[is_place]
    width, height = float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0
    return Grid(float(x.min()), float(y.min()), width, height)


def blocks_of(readings: pa.Table, about: About) -> Iterator[tuple[int, pa.Table]]:
    """Blocks in order of time, each sorted, with when its period begins."""
    ts = int64_of(readings, TS)
    blocks = tick_ends(ts, about.archiving.flush_us)
    order = sorted_by_space(readings, ts, blocks, about)
    readings, blocks = readings.take(pa.array(order)), blocks[order]
    edges = np.flatnonzero(np.diff(blocks)) + 1
    for start, stop in pairwise([0, *edges, len(blocks)] if len(blocks) else []):
        period = begin_of(int(blocks[start]), about.archiving.snapshot_us)
        yield period, readings.slice(int(start), int(stop - start))


def joined_blocks(blocks: Iterable[pa.Table], about: About, rows: int) -> Iterator[pa.Table]:
    """Blocks of a closed period put together until they are worth a row group, each sorted by space."""
    waiting: list[pa.Table] = []
    for block in blocks:
        if waiting and sum(table.num_rows for table in waiting) + block.num_rows > rows:
            yield _in_order_of_space(waiting, about)
            waiting = []
        waiting.append(block)
    if waiting:
        yield _in_order_of_space(waiting, about)


def _in_order_of_space(tables: list[pa.Table], about: About) -> pa.Table:
    table = pa.concat_tables(tables)
    ts = int64_of(table, TS)
    return table.take(pa.array(sorted_by_space(table, ts, np.zeros(len(ts), np.int64), about)))


def sorted_by_space(readings: pa.Table, ts: I64, blocks: I64, about: About) -> I64:
    """Rows by block, cell, key and time."""
    stream, grid = about.stream, about.grid
    x, y = float64_of(readings, stream.x), float64_of(readings, stream.y)
    cells = np.zeros(len(ts), np.int64) if grid is None else cells_of(x, y, grid)
    numbers = (blocks - (blocks.min() if len(blocks) else 0)) // about.archiving.flush_us
    return order_of(numbers, cells, key_ranks(readings.column(stream.key)), ts)


def cells_of(x: F64, y: F64, grid: Grid) -> I64:
    """By place its cell's number along the curve; what is outside counts to the nearest cell."""
    places = []
    for values, origin, length in ((x, grid.x, grid.width), (y, grid.y, grid.height)):
        at = (np.nan_to_num(values, nan=origin, posinf=origin, neginf=origin) - origin) / length * grid.side
        places.append(np.clip(at, 0, grid.side - 1).astype(np.int64))
    return np.asarray(curve(grid.side)[places[0] * grid.side + places[1]], np.int64)


@cache
def curve(side: int) -> I64:
    """The number of every cell of a grid, column by column: looked up, it costs next to nothing."""
    x, y = np.divmod(np.arange(side * side), side)
    return hilbert(x, y, side)


def hilbert(x: I64, y: I64, side: int) -> I64:
    """How far along Hilbert's curve a cell of a square of `side` (a power of two) lies."""
    x, y, far = x.copy(), y.copy(), np.zeros(len(x), np.int64)
    s = side // 2
    while s:
        is_right: npt.NDArray[np.bool_] = (x & s) > 0
        is_upper: npt.NDArray[np.bool_] = (y & s) > 0
        far += s * s * ((3 * is_right) ^ is_upper)
        turned = ~is_upper
        flipped = turned & is_right
        x, y = np.where(flipped, side - 1 - x, x), np.where(flipped, side - 1 - y, y)
        x, y = np.where(turned, y, x), np.where(turned, x, y)
        s //= 2
    return far
