"""Kernels compile wherever they are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import caching, config

from sanderling.kernels.jit import jit, jit_bare


def twice(x: int) -> int:
    return 2 * x


def test_without_a_place_for_machine_code_every_process_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert jit(twice)(21) == 42


def test_with_compiling_switched_off_a_kernel_is_the_function_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert jit(twice) is twice
    assert jit_bare(twice) is twice


INNER = """
from sanderling.kernels.jit import jit_bare

@jit_bare
def more(x):
    return x + {more}
"""
OUTER = """
from inner import more
from sanderling.kernels.jit import jit

@jit
def result(x):
    return more(x)
"""
PROGRAM = """
import sys
from pathlib import Path
from sanderling.kernels import jit
folder = sys.argv[1]
jit.ROOMS = (Path(folder),)
sys.path.insert(0, folder)
from outer import result
print(result(1), sum(result.stats.cache_hits.values()))
"""


def test_machine_code_with_a_source_in_it_that_has_changed_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "outer.py").write_text(OUTER)

    def said(more: int) -> str:
        (tmp_path / "inner.py").write_text(INNER.format(more=more))
        done = subprocess.run(
            [sys.executable, "-B", "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert said(1) == "2 0", "compiled"
    assert said(1) == "2 1", "kept"
    assert said(5) == "6 0", "compiled anew, though its own file is the same"


GIVEN = """
from sanderling.kernels.jit import jit

@jit
def result(pair):
    return pair.x + pair.y
"""
PAIR = """
from typing import NamedTuple

class Pair(NamedTuple):
    x: int
    y: int
"""
GIVING = """
import sys
from pathlib import Path
from sanderling.kernels import jit
folder, place = sys.argv[1:]
jit.ROOMS = (Path(folder),)
sys.path.insert(0, folder)
from given import result
print(result(__import__(place).Pair(1, 1)))
"""


def test_machine_code_that_names_a_file_that_has_gone_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "given.py").write_text(GIVEN)
    for place in ("before", "after"):
        (tmp_path / f"{place}.py").write_text(PAIR)
        done = subprocess.run(
            [sys.executable, "-B", "-c", GIVING, str(tmp_path), place], capture_output=True, text=True
        )
        assert done.stdout.strip() == "2", done.stderr
        (tmp_path / f"{place}.py").unlink()
