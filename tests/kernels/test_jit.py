"""Kernels compile wherever they are installed."""

from __future__ import annotations

import pytest
from numba.core import caching

from sanderling.kernels.jit import jit


def twice(x: int) -> int:
    return 2 * x


def test_without_a_place_for_machine_code_every_process_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert jit(twice)(21) == 42
