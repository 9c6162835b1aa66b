"""Whatever a call of a session cannot take is refused with a code and a hint, never a traceback."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import rand

import sanderling
from sanderling.errors import SanderlingError
from sanderling.session.session import Session
from sanderling.session.subscription import Subscription
from tests.session.cars import Cars

NO_TEXTS: list[Any] = [None, 5, -1, math.nan, 10**400, "", "  ", b"x", True, [], {}, object()]
NO_NUMBERS: list[Any] = [None, "5", b"5", True, [], -1, math.nan, -(10**400), object()]
HALF = "\ud800"


def code_of(call: Callable[..., object], *given: Any, **named: Any) -> str:
    with pytest.raises(SanderlingError) as e:
        call(*given, **named)
    assert e.value.hint and str(e.value).encode(), "has a hint, and can be written"
    assert "<" not in str(e.value) and " object at " not in str(e.value)
    return e.value.code


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """One that runs."""
    with sanderling.connect(spark, shards=1) as session:
        Cars(tmp_path_factory.mktemp("c") / "cars").declare(session)
        session.register("q", "SELECT x FROM `the cars`")
        yield session.start()


def test_connect(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    connect = sanderling.connect
    (tmp_path / "file").touch()
    for value in NO_TEXTS[1:]:
        assert code_of(connect, value) == "config.no_spark"
        assert code_of(connect, spark, value) == "session.bad_argument"
        assert code_of(connect, spark, data=value) in ("session.bad_argument", "config.bad_option")
    for value in NO_TEXTS:
        assert code_of(connect, spark, keep=value) == "config.bad_option"
        assert code_of(connect, spark, trigger=value) == "config.bad_option"
        assert code_of(connect, spark, master=value) == "session.bad_argument"
    for value in [*NO_NUMBERS[1:], 0, 1.5, 1025]:
        assert code_of(connect, spark, shards=value) == "session.bad_argument"
    for value in (HALF, "a\0b"):
        assert code_of(connect, spark, value) == "session.bad_argument"
    for value in ("/proc/x", "file", "file/x", "x" * 5000):
        assert code_of(connect, spark, value) == "config.not_writable"
    assert code_of(connect, spark, data="file") == "config.bad_option"
    assert os.listdir(tmp_path) == ["file"], "nothing is left of what was refused"


def test_what_a_running_session_is_asked(session: Session, spark: SparkSession) -> None:
    for value in NO_TEXTS:
        for call in (session.execute, session.drop, session.answer, session.subscribe):
            assert code_of(call, value) == "session.bad_argument"
        assert code_of(session.register, value, "SELECT 1") == "session.bad_argument"
        assert code_of(session.register, "x", value) == "session.bad_argument"
        assert value is None or code_of(session.updates, value) == "session.bad_argument"
    for name in (HALF, "a\0b", "x" * 5000):
        for call in (session.answer, session.subscribe, session.updates):
            assert code_of(call, name) == "session.no_query"
        assert code_of(session.drop, name) in ("query.syntax", "query.unknown_query")
    assert code_of(session.execute, f"SHOW {HALF}") == "query.syntax"
    assert session.queries == ["q"]


def test_how_a_stream_is_declared(session: Session, spark: SparkSession) -> None:
    frame = spark.readStream.format("rate").load()
    texts = {"name": "s", "key": "value", "time": "timestamp", "tick": "1 second", "lateness": "0 seconds"}
    for value in NO_TEXTS:
        for name in texts:
            given = texts | {name: value}
            assert code_of(session.stream, frame, location=("x", "y"), **given) == "session.bad_argument"
        for pair in (value, (value, "y"), ("x", value), ("x",), ("x", "y", "z")):
            assert code_of(session.stream, frame, location=pair, **texts) == "session.bad_argument"
        assert code_of(session.stream, value, location=("x", "y"), **texts) == "config.not_streaming"
        for name in ("partition", "idle_after", "ahead") if value is not None else ():
            given = texts | {name: value}
            assert code_of(session.stream, frame, location=("x", "y"), **given) == "session.bad_argument"


def test_partitions_that_cannot_be_told_apart(spark: SparkSession) -> None:
    columns = {"key": "value", "time": "timestamp", "location": ("x", "y")}
    frame = spark.readStream.format("rate").load().withColumns({"x": rand(), "y": rand()})
    with sanderling.connect(spark) as session:
        for given, code in (
            ({"partition": "valeu"}, "config.no_column"),
            ({"partition": "x"}, "query.wrong_type"),
            ({"idle_after": "5 seconds"}, "query.bad_option"),
            ({"partition": "value", "idle_after": "5 parsecs"}, "query.bad_option"),
            ({"ahead": "-1 second"}, "query.bad_option"),
        ):
            assert code_of(session.stream, frame, name="s", **columns, **given) == code
        with pytest.raises(SanderlingError) as e:
            session.stream(frame, name="s", partition="valeu", **columns)
        assert e.value.hint == 'did you mean "value"?'


def test_how_long_and_how_many(session: Session) -> None:
    for value in NO_NUMBERS:
        assert code_of(session.answer, "q", timeout=value) == "session.bad_argument"
        if value is not None:
            assert code_of(session.await_termination, value) == "session.bad_argument"
            assert code_of(Subscription("q", 1).poll, value) == "session.bad_argument"
    for value in [*NO_NUMBERS, 0, 1.5, 10**400]:
        assert code_of(session.subscribe, "q", most_rows=value) == "session.bad_argument"
    assert session.await_termination(0) is False and session.await_termination(0.01) is False


def test_a_session_that_has_been_stopped(spark: SparkSession) -> None:
    session = sanderling.connect(spark)
    session.stop()
    calls = [
        session.start, session.process_all, session.await_termination, session.updates, session.dead_letters,
        session.__enter__, lambda: session.execute("SHOW QUERIES"), lambda: session.register("a", "SELECT 1"),
        lambda: session.drop("a"), lambda: session.answer("a"), lambda: session.subscribe("a"),
        lambda: session.stream(None, name="a", key="b", time="c", location=("d", "e")),
    ]  # fmt: skip
    assert [code_of(call) for call in calls] == ["session.stopped"] * len(calls)
    assert session.queries == [] and not session.is_running and session.stop() is None
