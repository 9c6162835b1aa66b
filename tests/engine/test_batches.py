"""What belongs to a batch arrives with it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pyarrow as pa
import pytest

from sanderling.batches import Batch, Kind, Slice
from sanderling.clock import Furthest, Rise, Rises
from sanderling.route.parcels import ALIGNED, batch_in, parcel_of, put_parcel

SOME: dict[str, Any] = {
    "dict[str, Rises]": {"p": Rises(7, [Rise(5, 7, "a", 2), Rise(6, 9, "b", 3)])},
    "Furthest | None": Furthest(7, "a", "/a", 2),
    "str": "some",
    "int": 7,
    "bool": True,
    "list[str]": ["x", "free"],
    "list[str | int]": ["anna", 7],
    "Slice": Slice(3, "a", "/a", 1, 2, 4, True),
}
TYPES = {field.name: str(field.type) for field in fields(Batch)}


@pytest.mark.parametrize("kind", Kind)
def test_a_batch_is_the_same_after_its_way_as_bytes(kind: Kind) -> None:
    table = pa.table({name: [1, 2] for name in kind.columns})
    batch = Batch(kind, table, **{name: SOME[TYPES[name]] for name in kind.fields})
    assert batch_in(parcel_of(batch)) == batch


def test_every_field_belongs_to_some_kind() -> None:
    assert {name for kind in Kind for name in kind.fields} == {*TYPES} - {"kind", "table"}


@pytest.mark.parametrize("length", range(8))
def test_columns_lie_in_a_parcel_as_arrow_likes_them(length: int) -> None:
    batch = Batch(Kind.COUNTS, pa.table({"a": [1, 2]}), stream="s" * length)
    file = pa.BufferOutputStream()
    put_parcel(batch, file)
    data = file.getvalue()
    assert batch_in(data) == batch
    places = [chunk.buffers()[1].address for chunk in batch_in(data).table.column("a").chunks]
    assert [(place - data.address) % ALIGNED for place in places] == [0]
