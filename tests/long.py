"""How much is tried: little in `make test`, much in `make long`, which sets SANDERLING_LONG.

The long form takes hours. With SANDERLING_PARTS=20 it draws a twentieth of its random cases, others each
time: twenty such runs are as good as a whole one.
"""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")
IS_LONG = bool(os.environ.get("SANDERLING_LONG"))
PARTS = int(os.environ.get("SANDERLING_PARTS") or 1)


def so_many(short: T, long: T) -> T:
    """How many examples, or which cases: of the short form, or of the long one."""
    return long if IS_LONG else short


def drawn(short: int, long: int) -> int:
    """How many random cases; of the long form so many as are in a part."""
    return so_many(short, max(short, long // PARTS))
