"""Where a template's selection stands: below INSIDE or above it, as long as nothing has been counted."""

from __future__ import annotations

from enum import StrEnum

import pyarrow as pa

from sanderling.plan.plans import Template

# With fewer distinct conditions than this every reading is judged by each of them, at first.
FEW_CONDITIONS = 16
# With more than this it never is.
MOST_CONDITIONS = 64


class First(StrEnum):
    """What is asked first of a reading."""

    WHERE = "where"
    INSIDE = "inside"


def distinct_constants(template: Template, constants: pa.Table) -> pa.Table | None:
    """The constants of each distinct condition of a template; None if they are too many."""
    names = [r for r in sorted(template.where_reads) if r.startswith("q:")]
    if not names:
        return pa.table({"one": [0]})
    found = constants.select(names).group_by(names, use_threads=False).aggregate([])
    return found if found.num_rows <= MOST_CONDITIONS else None


def first_at_first(conditions: int) -> First:
    """Few conditions: WHERE, since most readings go no further. Many: INSIDE, since most pairs never meet."""
    return First.WHERE if conditions <= FEW_CONDITIONS else First.INSIDE
