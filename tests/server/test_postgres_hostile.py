"""Who means no good at PostgreSQL's port: refused with a code, told nothing, and nobody else notices."""

from __future__ import annotations

import random
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from re import escape

import psycopg
import pytest

from sanderling.server.postgres import ask, client, listener
from tests.server.test_postgres import connected, named
from tests.server.town import Town

START = struct.pack("!ii", 9, 196_608) + b"\0"
MISUSED = (
    "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "SELECT getenv('HOME')",
    "SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_secrets", "SELECT read_text('/etc/passwd')",
    "SELECT system.main.current_setting('memory_limit')", "SELECT * FROM query('SELECT 1')",
    "SELECT sleep_ms(9)",
    "WITH duckdb_settings AS (SELECT 1) SELECT * FROM duckdb_settings a, main.duckdb_settings b",
    "SELECT * FROM (WITH duckdb_views AS (SELECT 1) SELECT 1) a, duckdb_views", "SELECT 1 INTO x",
    "WITH a AS (DELETE FROM ours RETURNING *) SELECT * FROM a", "SELECT * FROM ours, LATERAL glob('/etc/*')",
    "COPY ours TO '/tmp/x'", "COPY (SELECT * FROM glob('/*')) TO STDOUT", "LOAD 'x'", "ATTACH 'x' AS y",
    "PRAGMA version", "SELECT * FROM town", "INSTALL httpfs",
)  # fmt: skip


def raw(town: Town, *sent: bytes) -> bytes:
    """All that is said to these bytes, up to where we are let go."""
    with socket.create_connection(("127.0.0.1", town.server.postgres_port or 0), timeout=30) as bare:
        bare.sendall(b"".join(sent))
        found = b""
        while more := bare.recv(65_536):
            found += more
        return found


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def welcome(town: Town) -> bytes:
    return START + message(b"p", town.server.token.encode() + b"\0")


def test_what_is_no_protocol_is_refused(town: Town) -> None:
    huge = struct.pack("!i", 2**31 - 1)
    random.seed(7)
    for start in (
        huge,
        b"\0\0\0\0",
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!ii", 8, 2 << 16),
        random.randbytes(64),
    ):
        assert b"request.bad" in raw(town, start)
    assert b"auth.missing" in raw(town, START, message(b"p", b"wrong\0"))
    assert b"auth.missing" in raw(town, START, message(b"Q", b"SELECT 1\0"))
    assert b"request.bad" in raw(town, START, b"p" + huge)
    assert b"request.bad" in raw(town, START, message(b"p", b"\xff\xfe\0"))
    for after in (
        b"Q" + huge,
        message(b"?", b""),
        message(b"B", b"a\0"),
        message(b"Q", b"no end"),
        message(b"P", b"\xff\0\0"),
    ):
        assert b"request.bad" in raw(town, welcome(town), after)
    assert raw(town, struct.pack("!ii", 8, 80877103), START, message(b"p", b"x\0")).startswith(b"N")
    newer = struct.pack("!ii", 9, 196_610) + b"\0"
    assert raw(town, newer, message(b"p", b"x\0")).startswith(b"v")
    assert raw(town, struct.pack("!iiii", 16, 80877102, 1, 1)) == b"", (
        "a cancelling of nobody is told nothing"
    )
    with connected(town) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_who_says_nothing_is_let_go(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SECONDS_TO_BEGIN", 0.3)
    assert raw(town, b"\0\0") == b""
    assert raw(town, START) == b"R\0\0\0\x08\0\0\0\x03"


def test_however_many_say_nothing_others_find_room(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "MOST_CONNECTIONS", 10)
    address = ("127.0.0.1", town.server.postgres_port or 0)
    flood = [socket.create_connection(address, timeout=30) for _ in range(25)]
    with connected(town) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert flood[0].recv(10) == b"", "who has said nothing for longest is let go"
    for raw in flood:
        raw.close()


@pytest.mark.parametrize("sql", MISUSED)
def test_no_select_reaches_anything(town: Town, sql: str) -> None:
    with connected(town, autocommit=True) as connection, pytest.raises(psycopg.Error) as e:
        connection.execute(sql)
    assert "root:" not in str(e.value) and e.value.sqlstate != "XX000", e.value


def test_what_takes_long_is_ended_and_holds_up_nobody(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "SECONDS_TO_ANSWER", 0.5)
    many = "generate_series(1, 99999)"
    endless = f"SELECT count(*) FROM {many} a(i), {many} b(i) WHERE a.i * b.i = 7"
    with connected(town, autocommit=True) as slow, connected(town, autocommit=True) as quick:
        with pytest.raises(psycopg.errors.QueryCanceled, match=escape("limit.time")):
            slow.execute(endless)
        monkeypatch.setattr(ask, "SECONDS_TO_ANSWER", 30)
        with ThreadPoolExecutor(1) as beside:
            asking = beside.submit(slow.execute, endless)
            assert quick.execute("SELECT 1").fetchone() == (1,)
            while not asking.done():  # it may not have begun yet
                slow.cancel_safe(timeout=30)
            with pytest.raises(psycopg.errors.QueryCanceled, match=escape("request.canceled")):
                asking.result()
    with connected(town, autocommit=True) as greedy:
        with pytest.raises(psycopg.errors.ProgramLimitExceeded, match=escape("query.too_large")):
            greedy.execute("SELECT repeat('x', 1000) FROM generate_series(1, 80000)")
        with pytest.raises(psycopg.errors.StatementTooComplex, match=escape("query.too_deep")):
            greedy.execute("SELECT '" + "x" * 70_000 + "'")


def test_who_does_not_read_is_let_go_and_holds_up_nobody(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SECONDS_TO_SEND", 0.5)
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.connect(("127.0.0.1", town.server.postgres_port))
    many = b"SELECT repeat('x', 1000) FROM generate_series(1, 50000)\0"
    narrow.sendall(welcome(town) + message(b"Q", many))

    def clients() -> list[str]:
        return [c["kind"] for c in town.operator.get("/api/v1/clients").json()]

    with named(town, "SELECT id FROM taxis INSIDE (0, 760, 10, 770)") as name, connected(town) as quick:
        town.tell([("a", 1, 761)])
        assert quick.execute(f"SELECT * FROM {name}").fetchall() == [("a",)]
        until = time.monotonic() + 20
        while clients().count("postgres") > 1 and time.monotonic() < until:
            time.sleep(0.05)
        assert clients().count("postgres") == 1
    narrow.close()


def test_connections_and_names_are_counted(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    word = town.token("many")
    token = town.server.tokens.known(word)
    assert token is not None
    held = [town.server.service.connected(token, "", "test") for _ in range(token.limits.connections)]
    for connection in held:
        connection.__enter__()
    with pytest.raises(psycopg.OperationalError, match=escape("limit.connections")):
        connected(town, word)
    for connection in held:
        connection.__exit__(None, None, None)
    monkeypatch.setattr("sanderling.server.postgres.extended.MOST_NAMES", 0)
    parse, sync = message(b"P", b"a\0SELECT 1\0\0\0"), message(b"S", b"")
    close = message(b"X", b"")
    assert b"limit.statements" in raw(town, welcome(town), parse, sync, close)
    assert b"request.no_such" in raw(town, welcome(town), message(b"E", b"a\0\0\0\0\0"), sync, close)
    with pytest.raises(psycopg.OperationalError, match=escape("config.bad_option")):
        connected(town, client_encoding="LATIN1")
