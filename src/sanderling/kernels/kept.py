"""Whether kernels have been compiled here: known without importing what compiles them."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent


COMPILING = "compiling its kernels, this once: it takes a minute or two more"

_has_told = False


def first_use() -> str:
    """What to say where nothing has been compiled yet and now will be; nothing, if it has been said."""
    global _has_told
    is_first, _has_told = not _has_told and not is_compiled(), True
    return COMPILING if is_first else ""


def is_compiled() -> bool:
    """Machine code is beside the kernels, or in a home where there is no right to write."""
    places = [HERE, Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "numba"]
    return any(next(place.rglob("*.nbi"), None) is not None for place in places)
