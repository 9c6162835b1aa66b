"""The one import of Numba. No fast-math: everyone agrees to the last bit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import cgutils
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compiles on first use and keeps the machine code on disk for the next process."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        # Neither beside the file nor in a home is there a place to write: every process compiles anew.
        return cast(F, numba.njit(nogil=True)(function))


A = TypeVar("A")


def _unowned(_: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = context.make_array(array)(context, builder, arguments[0])
        found.meminfo = cgutils.get_null_value(found.meminfo.type)  # type: ignore[no-untyped-call]
        return found._getvalue()

    return array(array), generate


def _itself(array: A) -> A:
    return array


# In a kernel: the same array, whose owners are not counted; whoever called the kernel holds it. Counting them
# costs some 17 ns for each array that a call hands on: where rows are worked on one by one, most of the time.
is_plain = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
unowned = _itself if is_plain else cast(Callable[[A], A], intrinsic(_unowned))
