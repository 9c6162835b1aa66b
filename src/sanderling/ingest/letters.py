"""Dead letters: rows that cannot be readings, each with its reason, never lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

LETTERS = pa.schema(
    [
        ("stream", pa.string()),
        ("reason", pa.string()),
        ("file", pa.string()),
        ("row", pa.int64()),
        ("raw", pa.string()),
        ("detail", pa.string()),
    ]
)

# In the order they are looked for: a row with several faults gets the first.
REASONS = (
    "bad_encoding",
    "broken_csv",
    "broken_json",
    "too_few_columns",
    "too_many_columns",
    "missing_key",
    "missing_time",
    "unreadable_time",
    "missing_place",
    "bad_place",
    "wrong_type",
)

Numbers = npt.NDArray[np.int64]


class Faults:
    """What is wrong with which rows, gathered from all who look; a row is added at most once."""

    def __init__(self) -> None:
        self._rows: list[Numbers] = []
        self._reasons: list[pa.Array] = []
        self._details: list[pa.Array] = []

    def __len__(self) -> int:
        return sum(len(rows) for rows in self._rows)

    def add(self, rows: Numbers, reason: str, detail: str | pa.Array) -> None:
        """One fault for each row; the detail is the same for all, or an array with one each."""
        if len(rows):
            self._rows.append(rows)
            self._reasons.append(pa.repeat(pa.scalar(reason), len(rows)))
            self._details.append(
                pa.repeat(pa.scalar(detail), len(rows)) if isinstance(detail, str) else detail
            )

    def first(self) -> tuple[int, str, str] | None:
        """Row, reason and detail of the first faulty row."""
        if not len(self):
            return None
        rows, reasons, details = self._together()
        at = int(np.argmin(rows))
        return int(rows[at]), reasons[at].as_py(), details[at].as_py()

    def letters(self, stream: str, file: str, raw: Callable[[Numbers], Sequence[str]]) -> pa.Table:
        """The letters in order of their rows; `raw` gives the text of rows by their numbers."""
        if not len(self):
            return LETTERS.empty_table()
        rows, reasons, details = self._together()
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        columns = [
            pa.repeat(pa.scalar(stream), len(rows)),
            reasons.take(pa.array(order)),
            pa.repeat(pa.scalar(file), len(rows)),
            pa.array(rows),
            pa.array(raw(rows), pa.string()),
            details.take(pa.array(order)),
        ]
        return pa.Table.from_arrays(columns, schema=LETTERS)

    def _together(self) -> tuple[Numbers, pa.Array, pa.Array]:
        return np.concatenate(self._rows), pa.concat_arrays(self._reasons), pa.concat_arrays(self._details)


def joined(*parts: str | pa.Array) -> pa.Array:
    """Texts put together row by row."""
    return pc.binary_join_element_wise(*parts, "")
