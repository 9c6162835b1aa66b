"""A trigger in a session: created, heard, measured and dropped while the stream runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import QueryError
from sanderling.session.session import Session
from tests.session.cars import Cars

MEET = """
CREATE TRIGGER meet FOR `the cars` AS a, `the cars` AS b
WHEN a.`the ``id``` < b.`the ``id``` AND DISTANCE(a, b) < 2 AND WITHIN 10 SECONDS
"""


def live_events(session: Session) -> int:
    figures = session.execute("EXPLAIN ANALYZE meet")
    assert figures is not None
    (held,) = [row["rows held"] for row in figures.to_pylist() if "solve: " in row["plan"]]
    return int(held or 0)


def test_a_trigger_comes_tells_forgets_and_goes(spark: SparkSession, tmp_path: Path) -> None:
    cars = Cars(tmp_path / "cars")
    with sanderling.connect(spark, tmp_path / "checkpoint", shards=2) as session:
        cars.declare(session)
        session.start()
        cars.come(("a", 1, 0.0, 0.0, False), ("b", 1, 50.0, 0.0, False), ("a", 2, 0.0, 0.0, False))
        session.process_all()
        with pytest.raises(QueryError) as caught:
            session.execute(MEET.replace("WITHIN 10 SECONDS", "a BEFORE b"))
        assert caught.value.code == "query.trigger_unbounded"
        session.execute(MEET)
        session.process_all()
        alerts = session.subscribe("meet")
        cars.come(("b", 5, 1.0, 0.0, False), ("c", 6, 9.0, 9.0, False), ("c", 7, 9.0, 9.0, False))
        session.process_all()
        told = [row for batch in iter(lambda: alerts.poll(0), None) for row in batch.to_pylist()]
        assert [(row["a_the `id`"], row["b_the `id`"], row["sign"]) for row in told] == [("a", "b", 1)]
        assert 2 <= live_events(session) <= 4
        cars.come(("d", 60, 9.0, 9.0, True), ("d", 61, 9.0, 9.0, True))
        session.process_all()
        assert live_events(session) == 0, "nobody came, but time went on"
        assert session.answer("meet").num_rows == 0
        with pytest.raises(QueryError) as caught:
            session.drop("meet")
        assert '"meet" is a trigger' in str(caught.value)
        session.execute("DROP TRIGGER meet")
        assert "meet" not in session.queries
