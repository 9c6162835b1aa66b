"""Plans as data: what is read equals what was written, and nothing but plans can be."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sanderling.catalog import Column
from sanderling.errors import StateError
from sanderling.plan.grow.living import LivingPlan
from sanderling.plans.growth import Growth
from sanderling.plans.plan import Plan
from sanderling.state.encoding import Encoding, Unreadable
from sanderling.state.plans import PLANS, read_thing, write_thing
from sanderling.types import TYPES
from tests.scripts.steps import read_script
from tests.scripts.stories import tell

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
STREAM = "CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"


def differ(a: Any, b: Any, path: str = "") -> list[str]:
    """Where two things differ, in any field, also in those that equality does not look at."""
    if type(a) is not type(b) and not (isinstance(a, pa.Array) and isinstance(b, pa.Array)):
        return [f"{path}: {type(a).__name__}, {type(b).__name__}"]
    if is_dataclass(a):
        return [
            d for f in fields(a) for d in differ(getattr(a, f.name), getattr(b, f.name), f"{path}.{f.name}")
        ]
    if isinstance(a, tuple):
        if len(a) != len(b):
            return [f"{path}: {len(a)}, {len(b)}"]
        return [d for n, (x, y) in enumerate(zip(a, b, strict=True)) for d in differ(x, y, f"{path}[{n}]")]
    if isinstance(a, np.ndarray):
        is_same = (
            a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f") and b.flags.writeable
        )
        return [] if is_same else [path]
    if isinstance(a, pa.Table):
        return [] if a.equals(b) and a.schema.equals(b.schema) and a.num_rows == b.num_rows else [path]
    return [] if a == b else [f"{path}: {a!r}, {b!r}"]


def plans() -> dict[str, Plan]:
    found = {}
    for path in sorted(SCRIPTS.rglob("*.txt")):
        if path.parent.name != "live" and "statement error" not in path.read_text():
            found[f"{path.parent.name}/{path.stem}"] = tell(read_script(path)).plan
    return found


def test_the_plan_of_every_script_comes_back_as_it_was() -> None:
    every = plans()
    assert len(every) > 80
    for name, plan in every.items():
        assert not differ(plan, PLANS.decoded(PLANS.encoded(plan), Plan)), name
    trees = {type(t.root).__name__ for plan in every.values() for t in plan.trees}
    assert len(trees) >= 3, trees


def test_a_growth_comes_back_as_it_was() -> None:
    living = LivingPlan()
    living.execute(STREAM + "REGISTER QUERY a AS SELECT id FROM cars INSIDE ('M', 'x', 3)")
    living.start()
    for text in (
        "REGISTER QUERY b AS SELECT id FROM cars kNN (2, 1, 1)",
        "DROP QUERY a; REGISTER QUERY c AS SELECT id FROM cars INSIDE POLYGON ((0 0, 1 0, 1 1, 0 0))",
        "AT 50 DROP QUERY b; REGISTER QUERY n AS SELECT count(*) AS n FROM cars WINDOW 5 SECONDS GROUP BY id",
    ):
        growth = living.execute(text).growth
        assert growth is not None and not differ(growth, PLANS.decoded(PLANS.encoded(growth), Growth))


def test_what_a_table_held_comes_back_with_its_types(tmp_path: Path) -> None:
    types = list(TYPES.values())
    columns = tuple(Column(f"c {n}", type_) for n, type_ in enumerate(types))
    nothing = pa.table({c.name: pa.nulls(2, c.type.arrow) for c in columns})
    for rows in (nothing, nothing[:0], nothing[1:]):
        write_thing(tmp_path / "t", "table", (columns, rows, None))
        assert not differ((columns, rows, None), read_thing(tmp_path / "t", "table", tuple))


def test_what_is_not_on_the_list_is_not_written() -> None:
    with pytest.raises(TypeError, match="Path"):
        PLANS.encoded(Path())
    with pytest.raises(TypeError, match="Column"):
        Encoding().encoded(Column("a", TYPES["INT"]))


def said(change: Callable[[dict[str, Any]], None]) -> bytes:
    """A column as data, but for a change."""
    data = PLANS.encoded(Column("a", TYPES["INT"]))
    (length,) = struct.unpack_from("<I", data)
    tree = json.loads(data[4 : 4 + length])
    change(tree)
    text = json.dumps(tree).encode()
    return struct.pack("<I", len(text)) + text + data[4 + length :]


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.update(classes=["Popen"]),
        lambda tree: tree.update(classes=["os.system"]),
        lambda tree: tree["objects"][0].__setitem__(1, 7),
        lambda tree: tree["objects"][0].append("more"),
        lambda tree: tree["objects"][0].pop(),
        lambda tree: tree.update(root={"o": 9}),
        lambda tree: tree.update(root={"n": 9}),
        lambda tree: tree.update(root={"what": 1}),
        lambda tree: tree.update(root=5),
        lambda tree: tree.update(root={"y": "COMPLEX"}),
        lambda tree: tree.pop("objects"),
    ],
)
def test_what_was_never_written_is_not_read(change: Callable[[dict[str, Any]], None]) -> None:
    assert PLANS.decoded(said(lambda tree: None), Column) == Column("a", TYPES["INT"])
    with pytest.raises(Unreadable):
        PLANS.decoded(said(change), Column)


def test_no_cut_or_pickle_is_read(tmp_path: Path) -> None:
    data = PLANS.encoded(Column("a", TYPES["INT"]))
    for length in range(len(data) - 8):
        with pytest.raises(Unreadable):
            PLANS.decoded(data[:length], Column)
    with pytest.raises(Unreadable):
        PLANS.decoded(pickle.dumps(Column("a", TYPES["INT"])), Column)
    (tmp_path / "p").write_bytes(pickle.dumps(Column("a", TYPES["INT"])) * 9)
    with pytest.raises(StateError):
        read_thing(tmp_path / "p", "plan", Column)
