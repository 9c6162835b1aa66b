"""What expressions build is bounded: each text, the memory for them, and all of a batch together."""

from __future__ import annotations

import resource
from pathlib import Path

import pyarrow as pa
import pytest

from sanderling import relational
from sanderling.errors import QueryError
from sanderling.macros import LONGEST_TEXT
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.long import so_many

STREAM = "CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"


def fed(select: str, rows: int, folder: Path) -> DirectRun:
    planner = Planner()
    planner.run_script(f"{STREAM} REGISTER QUERY q AS {select}")
    run = DirectRun(planner.plan())
    path = folder / "taxi.csv"
    path.write_text("id,ts,x,y\n" + "".join(f"{n},1,0,0\n" for n in range(rows)))
    run.feed_file("taxi", path, is_last=True)
    return run


@pytest.mark.parametrize(
    "select",
    [
        "SELECT id, repeat('x', 60000) AS t FROM taxi",
        "SELECT a.id, concat(lpad(a.id, 30000, 'x'), rpad(b.id, 30000, 'y')) AS t "
        "FROM taxi a JOIN taxi b ON a.id = b.id",
    ],
    ids=["a shard", "the merge stage"],
)  # fmt: skip
def test_too_much_text_in_one_batch_is_refused(
    select: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relational, "MOST_TEXT", 20 << 20)
    with pytest.raises(QueryError) as caught:
        fed(select, 400, tmp_path)
    assert caught.value.code == "query.too_large" and caught.value.hint


def test_much_text_in_one_batch_is_told(tmp_path: Path) -> None:
    run = fed("SELECT id, length(repeat('x', 60000)) AS n FROM taxi", 2000, tmp_path)
    assert len(run.updates) == 2000 and '"n": 60000' in run.updates[0]


def test_long_texts_take_little_memory() -> None:
    """Of thousands of rows a few at a time, also of texts that are only measured."""
    table = pa.table({"s": ["a"] * 20_000})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (found,) = relational.evaluate([f"length(OUR_REPEATED(s, {LONGEST_TEXT}))"], table)
    assert set(found.to_pylist()) == {LONGEST_TEXT}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000, "kilobytes"


def test_what_try_does_not_catch_is_null_on_its_row_alone() -> None:
    times = so_many(50, 1000)
    table = pa.table({"s": ["a", "ends with \\", "c"] * times})
    found = relational.evaluate(["s LIKE s ESCAPE '\\'", "upper(s)"], table)
    assert found[0].to_pylist() == [True, None, True] * times
    assert found[1].to_pylist() == ["A", "ENDS WITH \\", "C"] * times


def test_what_cannot_be_understood_is_no_null() -> None:
    with pytest.raises(relational.Refused):
        relational.evaluate(["no_such_function(s)"], pa.table({"s": ["a"]}))
