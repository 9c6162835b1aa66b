"""Dead letters, from the log: the last ones, as their senders wrote them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sanderling.batches import Kind
from sanderling.deliver.changes import REFUSED, refused_letters
from sanderling.errors import SanderlingError
from sanderling.session.host import Host

# Batches that are looked through.
LOOKED_AT = 200


def last_letters(host: Host, most: int) -> list[dict[str, Any]]:
    """The newest first."""
    found: list[dict[str, Any]] = []
    streams = {s.name: s for s in host.seen().streams}
    for number in reversed(host.log.numbers()[-LOOKED_AT:]):
        if len(found) >= most:
            break
        try:
            batches = host.log.read(number)
        except SanderlingError:  # thrown away meanwhile
            break
        tables: list[pa.Table] = [b.table for b in batches if b.kind == Kind.LETTERS]
        tables += [
            refused_letters(streams[b.stream], b, is_raw_wanted=False) for b in batches if b.kind in REFUSED
        ]
        for table in tables:
            found += table.to_pylist()
    return found[:most]
