"""A SELECT that is not registered, asked of a session that runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import QueryError, SessionError
from tests.session.cars import Cars, answer

FROM = "SELECT `the ``id``` AS id FROM `the cars`"


def test_a_select_is_answered_once_and_nobody_sees_it(spark: SparkSession, tmp_path: Path) -> None:
    cars, work = Cars(tmp_path / "cars"), tmp_path / "work"
    with sanderling.connect(spark, work, shards=2) as session:
        cars.declare(session)
        session.register("depot", f"{FROM} INSIDE (0, 0, 3, 3) WINDOW 5 SECONDS")
        with pytest.raises(SessionError) as e:
            session.query(FROM)
        assert e.value.code == "session.not_running"
        session.start()
        assert session.query(FROM).num_rows == 0
        cars.come(("a", 1000, 1, 1, False), ("b", 1000, 2, 2, False), ("c", 1000, 4, 4, False))
        cars.come(("a", 1002, 9, 9, False), ("b", 1002, 2, 3, True))
        cars.come(("d", 1003, 0, 0, False))
        session.process_all()
        # As at the last tick that closed: b has gone, d is not there yet.
        assert session.query(f"{FROM} ORDER BY id DESC").to_pydict() == {"id": ["c", "a"]}
        assert session.query(FROM).to_pandas()["id"].tolist() == ["a", "c"]
        assert session.query("SELECT id FROM depot").to_pydict() == {"id": ["a", "b"]}
        assert answer(session, "depot") == ["a", "b"]
        pairs = f"SELECT COUNT(*) AS n FROM ({FROM}) p, ({FROM}) q WHERE p.id = q.id"
        told = session.execute(pairs)
        assert told is not None and told.to_pydict() == {"n": [2]}
        assert session.queries == ["depot"]
        for sql, code in [
            (f"{FROM} AS OF 1000", "history.none"),
            (f"{FROM} AS OF 1020", "history.not_yet"),
            (f"{FROM} BETWEEN 1000 AND NOW", "history.none"),
            (f"DROP QUERY depot; {FROM}", "query.not_alone"),
        ]:
            with pytest.raises(QueryError) as refused:
                session.execute(sql)
            assert refused.value.code == code and refused.value.place is not None
        with pytest.raises(SessionError) as none:
            session.query("SHOW QUERIES")
        assert none.value.code == "session.no_select"

    with sanderling.connect(spark, work) as session:
        cars.declare(session)
        session.start()
        cars.come(("d", 1004, 1, 1, False))
        session.process_all()
        assert session.query(f"{FROM} AS OF 1003").to_pydict() == {"id": ["a", "c", "d"]}
