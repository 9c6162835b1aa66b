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


def jit_bare(function: F) -> F:
    """For functions that are given arrays and make none, and call each other for each row.

    Nobody counts who owns arrays, and a call is put where it stands: counting costs some 17 ns for each array
    that a call hands on, and handing on a dozen of them more than most functions do (benchmarks/triggers).
    """
    # Not among the options that are typed.
    options: dict[str, Any] = {"nogil": True, "_nrt": False, "forceinline": True}
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(F, numba.njit(**options)(function))
