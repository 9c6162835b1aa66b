"""Spark starts a dozen Python processes for a run: what each imports is what it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numba", "pandas", "duckdb", "sqlglot", "shapely", "scipy"}


@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("sanderling.spark.engines.stage", set()),  # the driver's
        ("sanderling.spark.sources.files", set()),  # asked for offsets and partitions
        ("sanderling.spark.engines.processor", HEAVY - {"sqlglot"}),  # reads no SQL of users
    ],
)
def test_what_is_not_needed_is_not_imported(module: str, needed: set[str]) -> None:
    program = f"import sys, {module}; print(*sorted({HEAVY!r} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(said.stdout.split()) <= needed
