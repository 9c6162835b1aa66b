"""A session's archive: written while it runs, whole once it has stopped, gone on with when it comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import QueryError, StateError
from sanderling.session.session import Session
from sanderling.storage.archive import Archive
from tests.session.cars import SECOND, Cars, waiting


def same_program(spark: SparkSession, cars: Cars, work: Path | None, past: Path) -> Session:
    """What a user's program says each time it is to start."""
    session = sanderling.connect(spark, work, shards=2)
    frame = cars.frame(spark).withColumnRenamed("the `id`", "id")
    session.stream(frame, name="cars", key="id", time="when", location=("x", "y"), gone="left")
    session.execute(f"CREATE ARCHIVE past OF cars WITH (path = '{past}', flush = '5 seconds')")
    session.execute("REGISTER QUERY depot AS SELECT id FROM cars INSIDE (0, 0, 3, 3)")
    return session


def kept(past: Path) -> list[tuple[str, int, float, float, bool]]:
    archive = Archive.open(past)
    to = archive.archived_to or 0
    rows = (row for batch in archive.readings(0, to) for row in batch.to_pylist())
    return [(r["id"], r["__ts"] // SECOND, r["x"], r["y"], r["left"]) for r in rows]


def test_a_session_is_archived_and_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    cars, work, past = Cars(tmp_path / "cars"), tmp_path / "work", tmp_path / "past"
    first = [("b", 1000, 2.0, 2.0, False), ("a", 1001, 1.0, 1.5, False), ("a", 1004, 9.0, 1.0, True)]
    with same_program(spark, cars, work, past).start() as session:
        with pytest.raises(QueryError) as refused:
            session.execute("DROP ARCHIVE past")
        assert refused.value.code == "query.already_running"
        with same_program(spark, cars, None, past) as other, pytest.raises(StateError) as taken:
            other.start()
        assert taken.value.code == "state.in_use"
        cars.come(*first)
        cars.come(("a", 1007, 1.0, 1.0, False))
        session.process_all()
    assert kept(past) == first, "the last tick is open"
    with same_program(spark, cars, work, past).start() as session:
        cars.come(("b", 1012, 0.5, 0.5, False), ("a", 1012, 0.5, 0.25, False))
        cars.come(("a", 1020, 1.0, 1.0, False))
        session.process_all()
        listing = session.execute("DESCRIBE ARCHIVE past")
        while (Archive.open(past).archived_to or 0) < 1010 * SECOND:  # it is written beside the stream
            session.process_all()
        ago = session.query("SELECT id FROM cars AS OF 1002 ORDER BY id").to_pydict()
        gone = session.query("SELECT id FROM depot AS OF 1005").to_pydict()
        now = session.query("SELECT id, x FROM cars WHERE id = 'a'").to_pydict()
    more = [("a", 1007, 1.0, 1.0, False), ("a", 1012, 0.5, 0.25, False), ("b", 1012, 0.5, 0.5, False)]
    assert kept(past) == [*first, *more]
    with same_program(spark, cars, None, past) as session:
        session.execute("DELETE FROM ARCHIVE past WHERE id = 'a'")
    assert kept(past) == [row for row in (*first, *more) if row[0] != "a"]
    assert (ago, gone, now) == ({"id": ["a", "b"]}, {"id": ["b"]}, {"id": ["a"], "x": [0.5]})
    assert listing is not None and listing.column("property").to_pylist()[0] == "stream"


def test_queries_that_come_later_begin_from_the_archive(spark: SparkSession, tmp_path: Path) -> None:
    """Windows are full, a time past is told, and what is in no file yet is not missed."""
    cars, past = Cars(tmp_path / "cars"), tmp_path / "past"
    with same_program(spark, cars, tmp_path / "work", past).start() as session:
        cars.come(("b", 1000, 2.0, 2.0, False), ("a", 1001, 1.0, 1.5, False), ("a", 1004, 9.0, 1.0, False))
        cars.come(("a", 1007, 1.0, 1.0, False), ("c", 1008, 9.0, 9.0, False))
        session.process_all()
        now = session.query("SELECT COUNT(*) AS n FROM cars BETWEEN 1000 AND NOW").to_pydict()
        told = session.subscribe("depot")
        session.execute(
            "AT 1004 REGISTER QUERY again AS SELECT id FROM cars INSIDE (0, 0, 3, 3);"
            "REGISTER QUERY lately AS SELECT COUNT(*) AS n FROM cars [RANGE 1 HOUR];"
            "REGISTER QUERY near_a AS SELECT id FROM cars INSIDE AROUND ('a', 1)"
        )
        again = session.subscribe("again")
        session.process_all()
        cars.come(("c", 1010, 1.0, 1.0, False), ("b", 1012, 9.0, 9.0, False))
        cars.come(("c", 1015, 1.0, 1.0, False))
        session.process_all()
        lately, last = session.answer("lately").to_pydict(), session.query("SELECT name, x FROM LAST QUERIES")
        both = [waiting(s) for s in (told, again)]
        with pytest.raises(QueryError) as refused:
            session.execute("REGISTER QUERY late AS SELECT id FROM cars AS OF 1004")
    assert now == {"n": [4]}, "all but the tick that is open"
    assert lately == {"n": [7]}
    assert both == [
        [(1007, 1, "a"), (1007, 1, "b"), (1010, 1, "c"), (1012, -1, "b")],
        [(1004, 1, "b"), (1007, 1, "a"), (1010, 1, "c"), (1012, -1, "b")],
    ]
    assert refused.value.code == "query.unsupported"
    kept_queries = Archive.open(past).queries()
    assert kept_queries is not None
    assert kept_queries.column("name").to_pylist() == ["depot", "lately", "near_a", "again"]
    assert last.to_pydict()["name"] == ["again", "depot", "lately", "near_a"]
