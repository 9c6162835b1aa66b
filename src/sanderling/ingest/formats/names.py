"""Which names of columns an error may show: any file can be named as a table, and not every one is."""

from __future__ import annotations

import re
from collections.abc import Iterable

# What is longer, or has other marks, may be a name, but may be a secret as well.
LIKE_A_NAME = re.compile(r"\w[\w .()%/°#-]{0,31}")
# Where one of these stands, the line is no list of names at all.
NO_LIST_OF_NAMES = re.compile("[\\x00-\\x08\\x0a-\\x1f=\N{REPLACEMENT CHARACTER}]")


def shown_names(names: Iterable[str]) -> list[str]:
    """Those that look like names of columns; none where the others say that this is no table."""
    found = list(names)
    if any(NO_LIST_OF_NAMES.search(name) for name in found):
        return []
    return [name for name in found if LIKE_A_NAME.fullmatch(name)]
