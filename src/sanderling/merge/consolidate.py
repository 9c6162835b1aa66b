"""Equal rows with opposite signs cancel: what is left is the difference of two multisets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling import relational


def consolidate(rows: pa.Table) -> pa.Table:
    """One row for each that is left over, repeated as often as it is left over."""
    names = [relational.quoted(n) for n in rows.column_names if n != "sign"]
    keys = ", ".join(names)
    left = relational.run(
        f"SELECT {keys}, sum(sign)::BIGINT AS sign FROM rows GROUP BY ALL HAVING sum(sign) <> 0", rows=rows
    )
    sign = left.column("sign").to_numpy()
    if (np.abs(sign) > 1).any():
        left = left.take(pa.array(np.repeat(np.arange(len(sign)), np.abs(sign))))
        sign = left.column("sign").to_numpy()
    left = left.set_column(left.column_names.index("sign"), "sign", pa.array(np.sign(sign), pa.int8()))
    return left.select(rows.column_names).cast(rows.schema)
