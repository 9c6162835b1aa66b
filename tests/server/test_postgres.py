"""A server as psql and psycopg see it."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from re import escape

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from tests.server.town import Town


@contextmanager
def named(town: Town, select: str) -> Iterator[str]:
    name = town.name()
    town.operator.put(f"/api/v1/queries/{name}", json={"select": select})
    yield name
    town.operator.delete(f"/api/v1/queries/{name}")


def psql(town: Town, *commands: str, token: str = "") -> str:
    """What it prints, and what it complains of."""
    told = [part for command in commands for part in ("-c", command)]
    call = [
        "psql",
        "-X",
        "-h",
        "127.0.0.1",
        "-p",
        str(town.server.postgres_port),
        "-U",
        "me",
        "-d",
        "sanderling",
    ]
    environment = {**os.environ, "PGPASSWORD": token or town.server.token, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [*call, *told], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    return done.stdout + done.stderr


def connected(town: Town, token: str = "", **more: object) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1", port=town.server.postgres_port, user="me", dbname="sanderling",
        password=token or town.server.token, **more,
    )  # type: ignore[arg-type]  # fmt: skip


def test_psql_sees_tables(town: Town) -> None:
    with named(town, "SELECT id, x, seen FROM taxis INSIDE (0, 700, 10, 710)") as name:
        town.tell([("a", 1, 701), ("b", 2.5, 702)])
        shown = psql(town, r"\d", r"\dt+", rf"\d {name}", f"SELECT id, x FROM {name} ORDER BY 1", r"\d taxis")
        assert shown.count(f"public | {name}") == 2 and "public | taxis" in shown
        assert f'Table "public.{name}"' in shown and "seen   | timestamp without time zone" in shown
        assert "a  |   1\n b  | 2.5\n(2 rows)" in shown
        assert "id      | text                        |           | not null" in shown
        assert "ERROR" not in shown
        others = psql(
            town, r"\l", r"\dn", r"\df", r"\du", r"\dv", r"\di", r"\dT", r"\d nothing", "SHOW search_path"
        )
        assert "ERROR" not in others and 'Did not find any relation named "nothing"' in others


def test_psql_registers_and_is_told_what_is_wrong(town: Town) -> None:
    name = town.name()
    said = psql(
        town, f"REGISTER QUERY {name} AS SELECT id FROM taxis INSIDE (0, 0, 1, 1)", "SHOW QUERIES",
        f"EXPLAIN {name}", f"DROP QUERY {name}", "CREATE REGION there AS CIRCLE (0, 0, 1)",
        "DROP REGION there",
    )  # fmt: skip
    assert said.startswith("REGISTER QUERY\n") and "DROP QUERY\nCREATE REGION\nDROP REGION\n" in said
    assert f" {name} " in said and "ERROR" not in said
    wrong = psql(town, f"REGISTER QUERY {name} AS\n SELECT id FROM taxi", "SELECT 1;\n SELECT idd FROM ours")
    assert "ERROR:  query.unknown_stream: no stream" in wrong and 'HINT:  did you mean "taxis"?' in wrong
    assert "LINE 2:  SELECT id FROM taxi\n                        ^" in wrong
    assert "LINE 2:  SELECT idd FROM ours\n                ^" in wrong


def test_statements_sent_together_are_done_together_or_not_at_all(town: Town) -> None:
    name = town.name()
    with connected(town, autocommit=True) as connection:
        script = (
            f"REGISTER QUERY {name} AS SELECT id FROM taxis;\nREGISTER QUERY {name}b AS SELECT id FROM no"
        )
        with pytest.raises(psycopg.errors.UndefinedTable) as e:
            connection.execute(script)
        assert e.value.diag.statement_position == str(len(script) - 1)
        assert connection.execute("SELECT 1 FROM pg_class WHERE relname = %s", (name,)).fetchall() == []
        kinds = connection.execute("SELECT relname FROM pg_class WHERE oid = 'taxis'::regclass").fetchall()
        assert kinds == [("taxis",)]


@pytest.mark.parametrize("binary", [False, True])
def test_a_driver_reads_what_there_is(town: Town, binary: bool) -> None:
    with (
        named(town, "SELECT id, x, y, heading, seen, type FROM taxis INSIDE (0, 710, 10, 720)") as name,
        connected(town) as connection,
    ):
        town.tell([("a", 1.5, 711), ("b's \\ \t", 2, 712)])
        cursor = connection.cursor(binary=binary)
        rows = cursor.execute(
            f"SELECT id, x, type, seen FROM {name} WHERE x < %s ORDER BY id", (2.5,)
        ).fetchall()
        assert [r[:3] for r in rows] == [("a", 1.5, "bus"), ("b's \\ \t", 2.0, "bus")]
        assert all(isinstance(row[3], datetime) for row in rows)
        since = cursor.execute(
            f"SELECT id FROM {name} WHERE seen >= %s AND id = ANY(%s)", (rows[0][3], ["a"])
        )
        assert since.fetchall() == [("a",)]
        joined = cursor.execute(
            f"WITH q AS (SELECT * FROM {name}) SELECT count(*), max(a.x) FROM q a JOIN q b USING (id)"
        )
        assert joined.fetchone() == (2, 2.0)
        assert [d.name for d in cursor.description or ()] == ["count", "max"]
        for _ in range(7):  # from the sixth time on it is prepared
            assert cursor.execute(f"SELECT x FROM {name} WHERE id = %s", ("a",)).fetchone() == (1.5,)
        assert [row[0] for row in cursor.stream(f"SELECT id FROM {name} ORDER BY 1")] == ["a", "b's \\ \t"]


def test_for_operators_a_stream_is_all_its_objects(town: Town) -> None:
    town.tell([("far", -700, -700)])
    with connected(town) as connection:
        connection.execute("SELECT count(*) FROM taxis")
        town.tell([("far", -701, -701)])
        rows = connection.execute("SELECT x FROM taxis WHERE id = 'far'").fetchall()
        assert rows == [(-701.0,)]
        names = {row[0] for row in connection.execute("SELECT table_name FROM information_schema.tables")}
        assert "taxis" in names and not [name for name in names if name.startswith("sanderling:")]


def test_transactions_are_taken_and_mean_little(town: Town) -> None:
    name = town.name()
    with connected(town) as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda diag: notices.append(diag.message_primary or ""))
        connection.execute(f"REGISTER QUERY {name} AS SELECT id FROM taxis")
        assert connection.info.transaction_status == TransactionStatus.INTRANS
        with pytest.raises(psycopg.errors.SyntaxError):
            connection.execute("SELECT FROM WHERE")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction, match=escape("request.aborted")):
            connection.execute("SELECT 1")
        connection.rollback()
        assert "stays so" in notices[0]
        connection.execute(f"DROP QUERY {name}")
        connection.commit()
        with pytest.raises(psycopg.Error, match=escape("query.unknown_option")):
            connection.execute("SHOW no_such_setting")


def test_a_subscription_is_told_till_it_is_cancelled(town: Town) -> None:
    with (
        named(town, "SELECT id, x FROM taxis INSIDE (0, 720, 10, 730)") as name,
        connected(town, autocommit=True) as c,
    ):
        town.tell([("a", 1, 721)])
        found: list[tuple[str, ...]] = []
        with (
            c.cursor() as cursor,
            pytest.raises(psycopg.errors.QueryCanceled, match=escape("request.canceled")),
            cursor.copy(f"COPY (SUBSCRIBE {name}) TO STDOUT") as copy,
        ):
            for row in copy.rows():
                found.append(row[1:])
                if len(found) == 1:
                    threading.Thread(target=town.tell, args=([("a", 2, 721)], [("a", 99, 99)])).start()
                if len(found) == 4:
                    c.cancel_safe(timeout=30)  # c.cancel() would hold Python, and the server with it
        assert found == [("1", "a", "1"), ("-1", "a", "1"), ("1", "a", "2"), ("-1", "a", "2")]
        assert c.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,)


def test_a_subscription_resumes_at_a_tick(town: Town) -> None:
    with named(town, "SELECT id, x FROM taxis INSIDE (0, 730, 10, 740)") as name:
        first = town.tell([("a", 1, 731)])
        last = town.tell([("a", 2, 731)])
        asked = f"SUBSCRIBE {name} FROM '{first}' UNTIL '{last}' WITH (PROGRESS)"
        lines = psql(town, f"COPY ({asked}) TO STDOUT (FORMAT csv, HEADER)").splitlines()
        assert lines[0] == "tick,sign,id,x" and [line.partition(",")[2] for line in lines[1:]] == [
            "-1,a,1",
            "1,a,2",
            "0,,",
        ]
        town.tell([("a", 100, 100)])
    rows = psql(town, r"\copy (SELECT 'a,b' AS one, NULL AS two, 1.5 AS three) TO STDOUT CSV HEADER")
    assert rows == 'one,two,three\n"a,b",,1.5\n'
    wrong = psql(
        town, "COPY ours FROM STDIN", "COPY ours TO STDOUT (DELIMITER 'x')", "COPY (SUBSCRIBE no) TO STDOUT"
    )
    assert [line.split(":")[1].strip() for line in wrong.splitlines() if line.startswith("ERROR")] == [
        "query.syntax", "query.unknown_option", "session.no_query",
    ]  # fmt: skip


def test_a_client_has_its_own_and_nothing_else(town: Town) -> None:
    anna, ben = town.token("anna"), town.token("ben")
    hers = f"hers_{town.name()}"
    with connected(town, anna, autocommit=True) as a, connected(town, ben, autocommit=True) as b:
        a.execute(f"REGISTER QUERY {hers} AS SELECT id FROM taxis INSIDE (0, 740, 10, 750)")
        town.tell([("a", 1, 741)])
        assert a.execute(f"SELECT * FROM {hers}").fetchall() == [("a",)]
        tables = "SELECT relname FROM pg_class ORDER BY 1"
        assert (hers,) in a.execute(tables).fetchall()
        seen = b.execute(tables).fetchall()
        assert ("taxis",) in seen and (hers,) not in seen
        for sql in (f"SELECT * FROM {hers}", f"COPY (SUBSCRIBE {hers}) TO STDOUT", f"DROP QUERY {hers}"):
            with pytest.raises(psycopg.errors.UndefinedTable) as e:
                b.execute(sql)
            assert not e.value.diag.message_hint or hers not in e.value.diag.message_hint
        for sql in ("SELECT * FROM taxis", "DROP STREAM taxis", "CREATE REGION mine AS CIRCLE (0, 0, 1)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match=escape("auth.forbidden")):
                b.execute(sql)
        a.execute(f"DROP QUERY {hers}")
        (id_,) = [t["id"] for t in town.operator.get("/api/v1/tokens").json() if t["owner"] == "ben"][-1:]
        town.operator.delete(f"/api/v1/tokens/{id_}")
        with pytest.raises(psycopg.Error, match=escape("auth.missing")):
            b.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match=escape("auth.missing")):
        connected(town, ben)
