"""What queries tell of the past, among what they tell of now: from here on nobody knows them apart.

A query that begins with its past takes back what that ended with, at the tick at which it tells its whole
answer: what is in both was told before, and cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.operate.sql.consolidate import consolidate


def retold(batches: Sequence[Batch]) -> list[Batch]:
    """All of a batch, with one table of signed rows for each template of which there is a past."""
    past = [batch for batch in batches if batch.kind == Kind.PAST]
    if not past:
        return list(batches)
    told = list[Batch]()
    templates = {batch.template for batch in past}
    for batch in batches:
        is_one = batch.kind in (Kind.PAST, Kind.DELTAS) and batch.template in templates
        if not is_one:
            told.append(batch)
    for template in sorted(templates):
        mine = [b for b in batches if b.kind in (Kind.PAST, Kind.DELTAS) and b.template == template]
        rows = consolidate(pa.concat_tables([batch.table for batch in mine]))
        if rows.num_rows:
            told.append(replace(mine[0], kind=Kind.DELTAS, table=rows))
    return told
