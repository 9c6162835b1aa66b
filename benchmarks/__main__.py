"""`make bench`: all benchmarks, or those named."""

from __future__ import annotations

import sys

from benchmarks import (
    answer_size,
    follow_kernel,
    groups_on_spark,
    growth,
    joins_on_spark,
    live,
    nearest_kernel,
    nearest_on_spark,
    pipeline_rows,
    polygons,
    push_down,
    range_kernel,
    range_on_spark,
    registration,
    simulate,
    squares_on_spark,
    starts,
    triggers,
    triggers_on_spark,
)
from benchmarks.peers import nearest as peers_nearest
from benchmarks.peers import squares as peers_squares

ALL = {
    module.__name__.removeprefix("benchmarks.").replace(".", "_"): module.run
    for module in (
        range_kernel,
        polygons,
        follow_kernel,
        nearest_kernel,
        triggers,
        registration,
        simulate,
        growth,
        answer_size,
        pipeline_rows,
        push_down,
        starts,
        live,
        range_on_spark,
        squares_on_spark,
        nearest_on_spark,
        groups_on_spark,
        joins_on_spark,
        triggers_on_spark,
        peers_squares,
        peers_nearest,
    )
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(ALL)
    for name in chosen:
        if name not in ALL:
            sys.exit(f"no benchmark is named {name}; there are {', '.join(ALL)}")
        ALL[name]()
