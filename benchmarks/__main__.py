"""`make bench`: all benchmarks, or those named."""

from __future__ import annotations

import sys

from benchmarks import (
    answer_size,
    archive_asked,
    archive_berlinmod,
    archive_on_spark,
    archive_replayed,
    berlinmod,
    clients,
    company_kernel,
    company_on_spark,
    coverages,
    follow_kernel,
    globe,
    groups_on_spark,
    growth,
    hub,
    joins_on_spark,
    live,
    memory,
    nearest_kernel,
    nearest_on_spark,
    page,
    pass_within,
    patterns,
    patterns_at_scale,
    pipeline_rows,
    polygons,
    processor,
    push_down,
    range_kernel,
    range_on_spark,
    registration,
    simulate,
    squares_on_spark,
    starts,
    synchronized,
    triggers,
    triggers_on_spark,
    windows,
)
from benchmarks.peers import nearest as peers_nearest
from benchmarks.peers import patterns as peers_patterns
from benchmarks.peers import squares as peers_squares

ALL = {
    module.__name__.removeprefix("benchmarks.").replace(".", "_"): module.run
    for module in (
        range_kernel,
        polygons,
        globe,
        hub,
        clients,
        page,
        coverages,
        follow_kernel,
        company_kernel,
        pass_within,
        windows,
        berlinmod,
        nearest_kernel,
        triggers,
        patterns,
        patterns_at_scale,
        synchronized,
        registration,
        simulate,
        growth,
        answer_size,
        pipeline_rows,
        push_down,
        processor,
        memory,
        starts,
        live,
        range_on_spark,
        archive_on_spark,
        archive_asked,
        archive_berlinmod,
        archive_replayed,
        squares_on_spark,
        nearest_on_spark,
        company_on_spark,
        groups_on_spark,
        joins_on_spark,
        triggers_on_spark,
        peers_squares,
        peers_nearest,
        peers_patterns,
    )
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(ALL)
    for name in chosen:
        if name not in ALL:
            sys.exit(f"no benchmark is named {name}; there are {', '.join(ALL)}")
        ALL[name]()
