"""The one import of Numba. No fast-math: everyone agrees to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compiles on first use and keeps the machine code on disk for the next process."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # Neither beside the file nor in a home is there a place to write: every process compiles anew.
        return cast(F, numba.njit(nogil=True)(function))
