"""Any column as texts, for people and as the common ground between types."""

from __future__ import annotations

import json

import pyarrow as pa


def show(values: pa.Array) -> pa.Array:
    """Each value as text, null where it is null; never fails."""
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        # As UTC: writing another zone needs a database of zones, which may not be there.
        values = values.cast(pa.int64()).cast(pa.timestamp(values.type.unit))
    try:
        return values.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return pa.array([_text(scalar) for scalar in values], pa.string())


def _text(scalar: pa.Scalar) -> str | None:
    if not scalar.is_valid:
        return None
    try:
        return json.dumps(scalar.as_py(), ensure_ascii=False, default=_plain)
    except (ValueError, OverflowError):  # a time that Python has no date for
        return str(scalar.type)


def _plain(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
