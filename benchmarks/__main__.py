"""`make bench`: all benchmarks, or those named."""

from __future__ import annotations

import sys

from benchmarks import follow_kernel, range_kernel, range_on_spark

ALL = {
    "follow_kernel": follow_kernel.run,
    "range_kernel": range_kernel.run,
    "range_on_spark": range_on_spark.run,
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(ALL)
    for name in chosen:
        if name not in ALL:
            sys.exit(f"no benchmark is named {name}; there are {', '.join(ALL)}")
        ALL[name]()
