"""Equal rows with opposite signs cancel: what is left is the difference of two multisets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.operate.sql.signed import Signed


def consolidate(rows: pa.Table) -> pa.Table:
    """One row for each that is left over, repeated as often as it is left over."""
    return repeated(put_together(rows), rows.schema)


def put_together(rows: pa.Table) -> pa.Table:
    """One row for each that is left over; its sign says how often, and may be any number but 0."""
    fixed = ("query", "tick", "sign")
    names = [name for name in rows.column_names if name not in fixed]
    left = Signed.of(rows, names, [rows.schema.field(name).type for name in names]).consolidated()
    columns = dict(zip(names, left.columns, strict=True))
    columns |= {name: pa.array(getattr(left, name)) for name in fixed}
    schema = rows.schema.set(rows.schema.get_field_index("sign"), pa.field("sign", pa.int64()))
    return pa.table({name: columns[name] for name in rows.column_names}).cast(schema)


def repeated(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Each row as often as its sign says, with 1 or -1 for a sign."""
    sign = rows.column("sign").to_numpy()
    if (np.abs(sign) > 1).any():
        rows = rows.take(pa.array(np.repeat(np.arange(len(sign)), np.abs(sign))))
        sign = rows.column("sign").to_numpy()
    signs = pa.array(np.sign(sign), pa.int8())
    return rows.set_column(rows.column_names.index("sign"), "sign", signs).cast(schema)
