"""Spark's Python workers: what they need not do again and again."""

from __future__ import annotations

import gc

import pyarrow as pa

# After so many tasks of a worker, everything that it keeps for good has been imported and compiled.
TASKS_TO_WARM_UP = 4

_begun = 0


def begin_task() -> None:
    """A worker of Spark's has a task of ours.

    Spark's daemon collects garbage after every task, through all objects there are: with the libraries that
    an engine needs, that takes longer than most tasks do. So what outlives the first tasks is set aside.
    Nothing of it is garbage, since the collection has just been; later objects are collected as ever.

    Columns are in the memory of the system's own allocator, as NumPy's arrays are: it keeps what is freed for
    the next batch, where Arrow's gives it back, and a page that is new to a process costs more than what is
    written to it (benchmarks/peers).
    """
    global _begun
    if not _begun:
        pa.set_memory_pool(pa.system_memory_pool())
    if _begun < TASKS_TO_WARM_UP:
        _begun += 1
        gc.freeze()
