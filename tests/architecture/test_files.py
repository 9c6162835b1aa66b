"""What the project contains is small and its own: data lies beside it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.architecture.examples import ROOT

MOST_BYTES = 500_000


def test_no_file_of_the_project_is_as_large_as_data():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert files
    assert [_shown(file) for file in files if file.is_file() and file.stat().st_size > MOST_BYTES] == []


def _shown(file: Path) -> str:
    return f"{file.relative_to(ROOT)}: {file.stat().st_size} bytes"
