"""The one import of Numba. No fast-math: everyone agrees to the last bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
HERE = Path(__file__).parent
# What may be compiled into one another.
ROOMS = (HERE, HERE.parent / "space")


def jit(function: F) -> F:
    """Compiles on first use and keeps the machine code on disk for the next process."""
    try:
        return cast(F, _stamped(numba.njit(cache=True, nogil=True)(function)))
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
        return cast(F, _stamped(numba.njit(cache=True, **options)(function)))
    except RuntimeError:
        return cast(F, numba.njit(**options)(function))


def _stamped(kernel: Any) -> Any:
    """Machine code is good as long as no source has changed that may be in it.

    Numba looks at a kernel's own file only, and would go on with what was put into it from others. As part of
    the version it is asked for first: the rest may name files that have gone.
    """
    if not hasattr(kernel, "_cache"):  # compiling is switched off
        return kernel
    file = kernel._cache._cache_file
    file._version = (file._version, sources())
    return kernel


@cache
def sources() -> bytes:
    """A mark of all that kernels are compiled from: what files are called, and what is in them."""
    found = sorted((path.relative_to(room).as_posix(), path) for room in ROOMS for path in room.rglob("*.py"))
    marks = (hashlib.sha256(name.encode() + b"\0" + path.read_bytes()).digest() for name, path in found)
    return hashlib.sha256(b"".join(marks)).digest()
