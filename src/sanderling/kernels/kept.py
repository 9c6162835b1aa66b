"""Whether kernels have been compiled here: known without importing what compiles them."""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parent


def is_compiled() -> bool:
    """Machine code is beside the kernels, or in a home where there is no right to write."""
    places = [HERE, Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "numba"]
    return any(next(place.rglob("*.nbi"), None) is not None for place in places)
