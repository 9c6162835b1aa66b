"""The one import of Numba. No fast-math: everyone agrees to the last bit."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compiles on first use and keeps the machine code on disk for the next process."""
    compiled: F = numba.njit(cache=True, nogil=True)(function)
    return compiled
