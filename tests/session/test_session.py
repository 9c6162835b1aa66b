"""A session as its users see it, on Spark."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import ConfigError, QueryError, SanderlingError, SessionError
from tests.session.cars import Cars, answer, collected, second, told, waiting

NEAREST = "nächste `zu` a, 東京"
FROM = "SELECT `the ``id``` FROM `the cars`"


def code_of(e: pytest.ExceptionInfo[SanderlingError]) -> str:
    return e.value.code


def test_queries_come_and_go_over_a_streaming_dataframe(spark: SparkSession, tmp_path: Path) -> None:
    cars = Cars(tmp_path / "cars")
    settings = dict(spark.conf.getAll)
    session = sanderling.connect(spark, shards=2)
    work = session._work

    # Before the start.
    for column, code in (("the id", "config.no_column"), ("the `id`", "config.not_streaming")):
        frame = cars.frame(spark) if code == "config.no_column" else spark.range(1)
        with pytest.raises(ConfigError) as e:
            session.stream(frame, name="the cars", key=column, time="when", location=("x", "y"))
        assert code_of(e) == code
    cars.declare(session)
    session.register("depot", f"{FROM} INSIDE (0, 0, 3, 3);")
    with pytest.raises(QueryError):
        session.execute(
            f"REGISTER QUERY fine AS {FROM}; REGISTER QUERY wrong AS SELECT nothing FROM `the cars`"
        )
    assert session.queries == ["depot"]
    shown = session.execute("SHOW QUERIES")
    assert shown is not None and shown.num_rows == 1
    for call in (session.process_all, lambda: session.answer("depot"), lambda: session.updates("depot")):
        with pytest.raises(SessionError) as e:
            call()
        assert code_of(e) == "session.not_running"
    assert session.start() is session and session.is_running
    with pytest.raises(SessionError) as e:
        session.start()
    assert code_of(e) == "session.running"
    assert dict(spark.conf.getAll) == settings
    with pytest.raises(QueryError) as refused:
        session.execute("CREATE STREAM s (a INT, x INT, y INT) KEY a TIME a LOCATION (x, y)")
    assert refused.value.code == "query.already_running"

    # Tick 1000 closes.
    cars.come(
        ("a", 1000, 1, 1, False), ("b", 1000, 2, 2, False), ("c", 1000, 9, 9, False), ("b", 1001, 5, 5, False)
    )
    session.process_all()
    assert answer(session, "depot") == ["a", "b"]
    depot, slow = session.subscribe("DEPOT"), session.subscribe("depot", most_rows=1)

    # Focal objects are known by now; several threads at once.
    queries = {
        NEAREST: f"{FROM} kNN ('M', 1, 'a')",
        "box": f"{FROM} INSIDE ('M', 'a', 20, 20)",
        "two": f"{FROM} kNN (2, 0, 0)",
    }
    threads = [threading.Thread(target=session.register, args=query) for query in queries.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(session.queries) == sorted(["depot", *queries])
    session.process_all()
    readers = {name: session.subscribe(name) for name in queries}
    session.process_all()
    assert waiting(depot) == [(1000, 1, "a"), (1000, 1, "b")], "the whole answer first"
    assert [waiting(reader) for reader in readers.values()] == [[], [], []], "the next tick has not closed"
    with pytest.raises(SessionError) as e:
        slow.poll(0)
    assert code_of(e) == "session.fell_behind" and list(slow) == []

    cars.come(("a", 1002, 8, 8, False))
    session.process_all()
    assert waiting(depot) == [(1001, -1, "b")]
    assert waiting(readers[NEAREST]) == [(1001, 1, "b")]
    assert waiting(readers["box"]) == [(1001, 1, "b"), (1001, 1, "c")]
    assert waiting(readers["two"]) == [(1001, 1, "a"), (1001, 1, "b")]

    # Some leave, and come back; some rows are no readings, one is late.
    cars.come(("c", 1003, 0, 0, True))
    cars.come(("a", 1004, 0, 0, True))
    cars.come(("c", 1005, 1, 1, False))
    cars.come(("a", 1006, 2, 2, False))
    cars.come(
        ("b", 1007, 5, 5, False), ("late", 1003, 1.5, 1, False), (None, 1007, 1, 1, False),
        ("timeless", None, 1, 1, False), ("placeless", 1007, None, 1, False),
        ("nowhere", 1007, float("nan"), 1, False),
    )  # fmt: skip
    session.process_all()
    assert waiting(depot) == [(1002, -1, "a"), (1005, 1, "c"), (1006, 1, "a")]
    assert waiting(readers[NEAREST]) == [
        (1002, -1, "b"), (1002, 1, "c"), (1003, -1, "c"), (1003, 1, "b"), (1004, -1, "b"), (1006, 1, "c"),
    ]  # fmt: skip
    assert waiting(readers["box"]) == [(1003, -1, "c"), (1004, -1, "b"), (1006, 1, "b"), (1006, 1, "c")]
    assert waiting(readers["two"]) == [(1004, -1, "a"), (1005, 1, "c"), (1006, -1, "b"), (1006, 1, "a")]
    assert {name: answer(session, name) for name in session.queries} == {
        "depot": ["a", "c"], NEAREST: ["c"], "box": ["b", "c"], "two": ["a", "c"],
    }  # fmt: skip

    # One goes, while somebody reads along; the others go on.
    found: list[tuple[int, int, str]] = []
    reader = threading.Thread(target=lambda: found.extend(told(readers["two"])))
    reader.start()
    typed = session.updates("two")
    session.drop("two")
    cars.come(("b", 1008, 1, 1, False))
    cars.come(("b", 1009, 1, 1, False))
    session.process_all()
    reader.join(30)
    assert not reader.is_alive() and found == []
    assert waiting(depot) == [(1008, 1, "b")]
    assert waiting(readers[NEAREST]) == [(1008, -1, "c"), (1008, 1, "b")], "equally far: the smaller key"
    for ask in (session.answer, session.subscribe, session.updates):
        with pytest.raises(SessionError) as e:
            ask("two")
        assert code_of(e) == "session.no_query"

    # As Spark's own sinks have it.
    rows = collected(session.updates(), tmp_path / "updates")
    total: Counter[tuple[str, str]] = Counter()
    for row in rows:
        total[row["query"], json.loads(row["row"])["the `id`"]] += row["sign"]
    assert sorted(one for one, n in (+total).items() if one[0] != "two") == sorted(
        (name, key) for name in session.queries for key in answer(session, name)
    )
    assert set(total.values()) <= {0, 1}
    assert min(second(row["tick"]) for row in rows) == 1000
    assert max(second(row["tick"]) for row in rows if row["query"] == "two") == 1006
    mine = collected(typed, tmp_path / "typed")
    assert sorted((second(r["tick"]), r["sign"], r["the `id`"]) for r in mine)[:2] == [
        (1001, 1, "a"),
        (1001, 1, "b"),
    ]
    letters = collected(session.dead_letters(), tmp_path / "letters")
    assert Counter(letter["reason"] for letter in letters)["late"] == 1 and len(letters) == 5
    late = next(letter for letter in letters if letter["reason"] == "late")
    assert "late" in late["raw"] and "1.5" in late["raw"] and "1970-01-01" in late["raw"]

    # The end, for whoever waits too.
    pending = session.subscribe("depot")
    session.stop()
    session.stop()
    assert told(pending) in ([], [(1008, 1, "a"), (1008, 1, "b"), (1008, 1, "c")])
    assert told(depot) == [] == told(readers[NEAREST])
    assert not work.exists(), "without a checkpoint nothing is left"
    assert not spark.sparkContext._jsc.sc().isStopped()
    for call in (
        lambda: session.execute("SHOW QUERIES"),
        session.updates,
        session.start,
        session.process_all,
    ):
        with pytest.raises(SessionError) as e:
            call()
        assert code_of(e) == "session.stopped"
