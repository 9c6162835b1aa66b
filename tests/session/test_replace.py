"""A query and a pattern that go on as others while a session runs, and after it was connected to again."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import sanderling
from sanderling.session.session import Session
from tests.session.cars import Cars, answer, collected, second

FROM = "SELECT `the ``id``` FROM `the cars`"
STAYS = f"QUERY stays AS {FROM} INSIDE (0, 0, {{side}}, {{side}}) PERSISTENCY {{stay}} SECONDS"
WAY = (
    f"PATTERN way AS WITH a AS ({FROM} INSIDE (0, 0, 3, 3)), b AS ({FROM} INSIDE (5, 5, 9, 9)) "
    "SELECT `the ``id``` FROM a THEN b WITHIN {within} SECONDS"
)


def same_program(spark: SparkSession, cars: Cars, work: Path) -> Session:
    session = sanderling.connect(spark, work, shards=2)
    cars.declare(session)
    session.execute(f"REGISTER {STAYS.format(side=3, stay=5)}")
    session.execute(f"REGISTER {WAY.format(within=3)}")
    return session.start()


def test_what_it_remembers_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    cars, work = Cars(tmp_path / "cars"), tmp_path / "work"
    with same_program(spark, cars, work) as session:
        cars.come(("a", 1000, 1, 1, False), ("b", 1000, 2, 2, False))
        cars.come(("c", 1002, 9, 9, False))
        session.process_all()
        session.execute(f"REPLACE {STAYS.format(side=9, stay=3)}")
        session.execute(f"REPLACE {WAY.format(within=8)}")
        cars.come(("c", 1005, 9, 9, False))
        session.process_all()
        assert answer(session, "stays") == ["a", "b"]
        assert sorted(session.queries) == ["stays", "way"]
    with same_program(spark, cars, work) as session:
        cars.come(("a", 1007, 6, 6, False))
        cars.come(("d", 1012, 40, 0, False))
        session.process_all()
        assert answer(session, "stays") == ["a", "b", "c"]
        rows = collected(session.updates(), tmp_path / "updates")
    told = [(second(r["tick"]), r["query"], r["sign"]) for r in rows]
    # Who was there before has been there since then; the run that began before goes on, and waits longer.
    assert sorted(told) == [(1003, "stays", 1), (1003, "stays", 1), (1005, "stays", 1), (1007, "way", 1)]
