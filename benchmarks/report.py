"""A benchmark's result as a table on the terminal and as JSON beside it."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("pyspark", "pyarrow", "numpy", "numba", "shapely", "duckdb")


def report(name: str, reason: str, rows: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    """Prints a table and writes `results/<name>.json` with versions and commit."""
    table = Table(title=f"{name}: {reason}", title_justify="left")
    for column in rows[0]:
        table.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right")
    for row in rows:
        table.add_row(*(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()))
    Console(width=120).print(table)
    for fact, value in facts.items():
        print(f"  {fact}: {value:.2f}" if isinstance(value, float) else f"  {fact}: {value}")
    RESULTS.mkdir(exist_ok=True)
    said = {
        "name": name,
        "reason": reason,
        "rows": rows,
        "facts": facts,
        "python": platform.python_version(),
        "packages": {p: version(p) for p in PACKAGES},
        "commit": _commit(),
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(said, indent=2) + "\n")


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()
