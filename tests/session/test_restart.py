"""A session that goes on: connected to again, and beside another one in the same Spark."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import ConfigError, QueryError, SessionError, StateError
from sanderling.session.session import Session
from tests.session.cars import Cars, answer, collected, second, waiting

FROM = "SELECT `the ``id``` FROM `the cars`"


def same_program(spark: SparkSession, cars: Cars, work: Path) -> Session:
    """What a user's program says each time it starts."""
    session = sanderling.connect(spark, work, shards=2)
    cars.declare(session)
    session.execute(f"REGISTER QUERY depot AS {FROM} INSIDE (0, 0, 3, 3); SHOW QUERIES")
    session.register("near", f"{FROM} kNN ('M', 1, 'a')")
    return session.start()


def shown(rows: list[dict[str, Any]]) -> list[tuple[int, str, int, str]]:
    return sorted((second(r["tick"]), r["query"], r["sign"], json.loads(r["row"])["the `id`"]) for r in rows)


def test_a_session_goes_on_where_it_stopped(spark: SparkSession, tmp_path: Path) -> None:
    cars, work = Cars(tmp_path / "cars"), tmp_path / "a checkpoint: ü"
    with same_program(spark, cars, work) as session:
        with pytest.raises(StateError) as e:
            sanderling.connect(spark, work)
        assert e.value.code == "state.in_use"
        cars.come(("a", 1000, 1, 1, False), ("b", 1000, 2, 2, False), ("c", 1000, 4, 4, False))
        cars.come(("b", 1001, 8, 8, False))
        session.process_all()
        session.register("round b", f"{FROM} INSIDE ('M', 'b', 5)")
        session.drop("depot")
        session.register("depot", f"{FROM} INSIDE (3, 3, 9, 9)")
    before = [(1000, "depot", 1, "a"), (1000, "depot", 1, "b"), (1000, "near", 1, "b")]

    # Stopped before a shard heard of the last three.
    with sanderling.connect(spark, work) as session:
        assert sorted(session.queries) == ["depot", "near", "round b"]
        with pytest.raises(ConfigError) as missing:
            session.start()
        assert missing.value.code == "config.missing_path"
    with same_program(spark, cars, work) as session:
        assert sorted(session.queries) == ["depot", "near", "round b"]
        with pytest.raises(QueryError) as taken:
            session.register("near", f"{FROM} kNN ('M', 1, 'a')")
        assert taken.value.code == "query.name_taken", "once it runs, what is said is new"
        session.process_all()
        assert shown(collected(session.updates(), tmp_path / "updates")) == before
        cars.come(("c", 1002, 9, 9, False))
        session.process_all()
        now = [
            *before,
            (1001, "depot", 1, "b"),
            (1001, "depot", 1, "c"),
            (1001, "near", -1, "b"),
            (1001, "near", 1, "c"),
        ]
        cars.come(("a", 1003, 9, 8, False))
    with same_program(spark, cars, work) as session:
        session.process_all()
        now += [(1002, "round b", 1, "c"), (1002, "near", -1, "c"), (1002, "near", 1, "b")]
        reader = session.subscribe("round b")
        session.process_all()
        assert [one[2] for one in waiting(reader)] == ["c"] and answer(session, "depot") == ["b", "c"]
        assert shown(collected(session.updates(), tmp_path / "updates")) == sorted(now)


def test_two_sessions_in_one_spark_over_files_and_any_source(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "ships.csv").write_text("id,ts,x,y\n1,10,0,0\n2,10,5,5\n1,11,5,5\n")
    stream = (
        "CREATE STREAM ships (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y) "
        f"WITH (path = '{tmp_path}/ships.csv')"
    )
    rates = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    rates = rates.selectExpr(
        "value % 5 AS id", "timestamp", "CAST(value % 3 AS DECIMAL(5, 1)) AS x", "CAST(0 AS SMALLINT) AS y",
        "array(1) AS cannot_be_read",
    )  # fmt: skip
    with sanderling.connect(spark, shards=1) as files, sanderling.connect(spark, tmp_path / "r") as rate:
        files.execute(stream + "; REGISTER QUERY port AS SELECT id FROM ships INSIDE (5, 5, 1)")
        rate.stream(rates, name="ships", key="id", time="timestamp", location=("x", "y"))
        rate.register("port", "SELECT id, x FROM ships kNN ('M', 2, 3)")
        files.start()
        rate.start()
        files.process_all()
        assert answer(files, "port") == [1, 2]
        reader = rate.subscribe("port")
        batches = [reader.poll(60) for _ in range(2)]
        assert all(batch is not None and batch.num_rows for batch in batches)
        assert rate.answer("port").column_names == ["id", "x"]
        assert rate.await_termination(0) is False

        # Who cannot deliver stops, and says so to all who wait.
        waits = files.subscribe("port")
        files.process_all()
        (files._work / "delivered.json").unlink()
        (files._work / "delivered.json").mkdir()
        with pytest.raises(SessionError) as e:
            while True:
                files.answer("port")
        assert e.value.code == "session.failed"
        with pytest.raises(SessionError):
            files.process_all()
        assert waits.poll(0) is not None
        with pytest.raises(SessionError) as e:
            waits.poll(60)
        assert e.value.code == "session.failed"

        # A sink that comes too late for what is kept no longer.
        updates = rate.updates()
        for batch in (tmp_path / "r" / "said").glob("1.arrow"):
            batch.unlink()
        writer = updates.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "sink"))
        with pytest.raises(Exception, match=re.escape("state.updates_gone")):
            writer.trigger(availableNow=True).start().awaitTermination()
