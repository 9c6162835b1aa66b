"""What a session has read of its tables is there after a restart, whatever became of the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.errors import QueryError
from sanderling.plan.grow.living import LivingPlan
from sanderling.session.kept_tables import KeptTables

TEXTS = (
    "CREATE TABLE sites (name STRING, level BIGINT) KEY name WITH (path = '{path}')",
    "INSERT INTO sites VALUES ('c', 3)",
    "REFRESH TABLE sites",
    "DELETE FROM sites WHERE level = 1",
)
CHANGES = {1: "name,level\na,1\nb,2\n", 2: "name,level\na,1\nd,4\n"}


def rows(living: LivingPlan) -> dict[str, list[object]]:
    table = living.tables.get("sites")
    assert table is not None
    found: dict[str, list[object]] = table.rows.to_pydict()
    return found


def test_told_again_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "sites.csv"
    path.write_text(CHANGES[1])
    first = LivingPlan(read=KeptTables(tmp_path / "kept"))
    for number, text in enumerate(TEXTS):
        path.write_text(CHANGES.get(number, path.read_text()))
        first.execute(text.format(path=path))
    assert rows(first) == {"name": ["d"], "level": [4]}
    path.unlink()
    again = LivingPlan(read=KeptTables(tmp_path / "kept"))
    for text in TEXTS:
        again.execute(text.format(path=path))
    assert rows(again) == rows(first)


def test_what_was_refused_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "sites.csv"
    path.write_text(CHANGES[1])
    kept = KeptTables(tmp_path / "kept")
    living = LivingPlan(read=kept)
    create = TEXTS[0].format(path=path)
    with pytest.raises(QueryError), kept.all_or_nothing():
        living.execute(f"{create}; DROP QUERY nobody")
    path.write_text(CHANGES[2])
    living.execute(create)
    assert rows(living)["name"] == ["a", "d"]


def test_what_nobody_was_told_of_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "sites.csv"
    path.write_text(CHANGES[1])
    # Killed between reading and noting what was said.
    LivingPlan(read=KeptTables(tmp_path / "kept")).execute(TEXTS[0].format(path=path))
    path.write_text(CHANGES[2])
    kept = KeptTables(tmp_path / "kept")
    kept.forget_rest()
    living = LivingPlan(read=kept)
    living.execute(TEXTS[0].format(path=path))
    assert rows(living)["name"] == ["a", "d"]
