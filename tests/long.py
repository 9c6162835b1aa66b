"""How much is tried: little in `make test`, much in `make long`, which sets SANDERLING_LONG."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")
IS_LONG = bool(os.environ.get("SANDERLING_LONG"))


def so_many(short: T, long: T) -> T:
    """How many examples, or which cases: of the short form, or of the long one."""
    return long if IS_LONG else short
