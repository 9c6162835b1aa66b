"""States that a program brings to a session: their code goes to workers, and what they keep comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import sanderling
from sanderling.errors import ConfigError, QueryError, SessionError, StateError
from sanderling.session.session import Session
from sanderling.session.state import states_in
from tests.engine.own_states import Careful, Seen, Speeding
from tests.session.cars import Cars, collected, second

FROM = "SELECT `the ``id``` AS id FROM `the cars` INSIDE (0, 0, 3, 3)"
STAYS = f"REGISTER PATTERN stays AS WITH a AS ({FROM}) SELECT id FROM a USING Speeding(3)"
CAREFUL = f"REGISTER PATTERN careful AS WITH a AS ({FROM}) SELECT id FROM a USING Careful"


class Twice(Speeding):
    """Other code for what is kept: it tells all of them in capitals."""

    def forward_action(self) -> pa.Table:
        told = super().forward_action()
        return pa.table({"id": [key.upper() for key in told.column("id").to_pylist()]})


class Wider(Speeding):
    kept: ClassVar[Any] = {"table": {"id": "STRING", "since": "TIMESTAMP", "more": "BIGINT"}}


def program(spark: SparkSession, cars: Cars, work: Path, kind: type[Speeding]) -> Session:
    session = sanderling.connect(spark, work, shards=2)
    session.state("Speeding", kind)
    session.state("Careful", Careful)
    cars.declare(session)
    session.execute(STAYS)
    session.execute(CAREFUL)
    return session.start()


def test_a_session_with_states_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    cars, work = Cars(tmp_path / "cars"), tmp_path / "work"
    with program(spark, cars, work, Speeding) as session:
        careful = session.subscribe("careful")
        cars.come(("a", 1000, 1, 1, False), ("b", 1001, 2, 2, False), ("bad", 1002, 1, 1, False))
        cars.come(("c", 1005, 9, 9, False))
        session.process_all()
        told = careful.poll(0)
        assert told is not None and told.column("id").to_pylist() == ["a", "b"]
        for reader in (careful, session.subscribe("careful")):
            with pytest.raises(SessionError) as e:
                reader.poll(0)
            assert e.value.code == "session.state_failed" and "not for me" in e.value.message
        with pytest.raises(SessionError) as e:
            session.state("Seen", Seen)
        assert e.value.code == "session.running"
    with sanderling.connect(spark, work, shards=2) as session:
        cars.declare(session)
        with pytest.raises(SessionError) as e:
            session.start()
        assert e.value.code == "session.missing_state"
        with pytest.raises(StateError) as other:
            session.state("speeding", Wider)
        assert other.value.code == "state.other_script"
    with program(spark, cars, work, Twice) as session:
        cars.come(("c", 1010, 9, 9, False))
        session.process_all()
        shown = session.execute("SHOW PATTERNS")
        assert shown is not None
        assert ["not for me" in why for why in shown.column("failed").to_pylist()] == [False, True]
        rows = collected(session.updates(), tmp_path / "updates")
    named = sorted((second(r["tick"]), r["query"], r["row"]) for r in rows if r["query"] == "stays")
    assert named == [
        (1003, "stays", '{"id": "a"}'), (1004, "stays", '{"id": "b"}'),
        (1005, "stays", '{"id": "BAD"}'), (1006, "stays", '{"id": "A"}'), (1007, "stays", '{"id": "B"}'),
        (1008, "stays", '{"id": "BAD"}'), (1009, "stays", '{"id": "A"}'),
    ]  # fmt: skip


def test_sql_brings_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is named has to be there; a module is asked for by name, by whoever starts us."""
    with sanderling.connect(checkpoint=tmp_path / "work", master="local[1]", shards=1) as session:
        session.execute(
            "CREATE STREAM p (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
        )
        with pytest.raises(QueryError) as e:
            session.execute(
                "REGISTER PATTERN q AS WITH a AS (SELECT id FROM p) SELECT id FROM a USING `os.system`('x')"
            )
        assert e.value.code == "query.unknown_state"
        with pytest.raises(SessionError) as other:
            session.state("Speeding", Path)  # type: ignore[arg-type]
        assert other.value.code == "session.bad_state"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_of_a_test.py").write_text(
        "import sanderling\nclass Mine(sanderling.State):\n    right = output = {'id': 'STRING'}\n"
    )
    assert [*states_in("mine_of_a_test")] == ["Mine"]
    with pytest.raises(ConfigError) as bad:
        states_in("no_module_of_that_name")
    assert bad.value.code == "config.bad_states"
