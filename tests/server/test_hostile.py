"""Who means no good: refused with a code, told nothing, and nobody else notices.

Who takes nothing (limit.slow) is let go; a page of another (request.bad_origin) gets nothing.
"""

from __future__ import annotations

import json
import resource
import socket as sockets
import threading
import time

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from sanderling.server.http import guard, live, protocol, updates
from sanderling.server.http.problems import unforeseen
from sanderling.server.serve import FILES_WANTED, make_room_for_sockets
from tests.server.test_contract import problem
from tests.server.town import Town, heard, said

FILES = (
    "CREATE TABLE t (a STRING) KEY a WITH (path = '/etc/passwd', format = 'csv')",
    "CREATE STREAM s (a INT, x INT, y INT) KEY a TIME a LOCATION (x, y) WITH (path = '/etc/passwd')",
    "REGISTER QUERIES FROM '/etc/passwd'",
    "AT '2030-01-01' REFRESH TABLE t",
)
NOT_FOR_CLIENTS = (
    "CREATE REGION mine AS CIRCLE (0, 0, 1)", "DROP REGION center", "DROP STREAM taxis",
    "INSERT INTO t VALUES ('a')", "DELETE FROM t",
)  # fmt: skip
NO_SUCH_FUNCTION = (
    "read_csv('/etc/passwd')",
    "read_text('/etc/passwd')",
    "getenv('HOME')",
    "current_setting('a')",
)


@pytest.fixture(scope="module")
def anna(town: Town) -> httpx.Client:
    return town.client(town.token("anna"))


def run(client: httpx.Client, sql: str) -> tuple[int, str]:
    return problem(client.post("/api/v1/sql", json={"sql": sql}))


@pytest.mark.parametrize(
    "path", ["/api/v1", "/api/v1/queries/ours/answer", "/api/v1/queries/ours/updates", "/metrics"]
)
def test_without_a_token_nothing_is_told(town: Town, path: str) -> None:
    for token in (None, "wrong", town.server.token[:-1], "x y"):
        answer = town.client(token).get(path)
        assert problem(answer) == (401, "auth.missing")
        assert "taxis" not in answer.text
    assert problem(town.client(None).get("/", params={"token": "wrong"})) == (401, "auth.missing")
    with pytest.raises(InvalidStatus), town.socket("wrong"):
        pass


def test_a_browser_swaps_its_token_for_a_cookie(town: Town) -> None:
    browser = town.client(None)
    answer = browser.get("/", params={"token": town.server.token})
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert browser.get("/api/v1").json()["you"]["role"] == "operator"
    own = town.server.address.rstrip("/")
    statement = {"json": {"sql": "SHOW STREAMS"}}
    assert browser.post("/api/v1/sql", headers={"Origin": own}, **statement).status_code == 200  # type: ignore[arg-type]
    other = browser.post("/api/v1/sql", headers={"Origin": "http://evil.example"}, **statement)  # type: ignore[arg-type]
    assert problem(other) == (403, "request.bad_origin")
    port_of_another = browser.post("/api/v1/sql", headers={"Origin": "http://127.0.0.1:1"}, **statement)  # type: ignore[arg-type]
    assert problem(port_of_another) == (403, "request.bad_origin")


def test_a_forged_host_or_origin_is_refused(town: Town) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert problem(town.operator.get("/api/v1", headers={"Host": host}))[1] == "request.bad_host"
    address = town.server.address.replace("http", "ws") + "api/v1/live"
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}):
        bearer = {"Authorization": f"Bearer {town.server.token}", **headers}
        with pytest.raises(InvalidStatus), connect(address, additional_headers=bearer):
            pass
    page = town.operator.get("/api/v1")
    assert "access-control-allow-origin" not in page.headers
    policy = page.headers["content-security-policy"]
    own = town.server.address.removeprefix("http://").rstrip("/")
    assert "default-src 'self'" in policy and f"ws://{own} " in policy
    assert not {"ws:", "wss:", "*"} & set(policy.replace(";", " ").split()), "sockets lead to us alone"
    odd = town.operator.get("/api/v1", headers={"Host": "127.0.0.1:1; script-src *"})
    assert problem(odd)[1] == "request.bad_host" and "*" not in odd.headers.get("content-security-policy", "")


@pytest.mark.parametrize("sql", FILES)
def test_no_statement_reads_a_file(town: Town, anna: httpx.Client, sql: str) -> None:
    for client in (anna, town.operator):
        answer = client.post("/api/v1/sql", json={"sql": sql})
        assert problem(answer)[1] == "auth.forbidden" and "root:" not in answer.text


@pytest.mark.parametrize("sql", NOT_FOR_CLIENTS)
def test_what_a_client_may_not(anna: httpx.Client, sql: str) -> None:
    assert run(anna, sql) == (403, "auth.forbidden")
    assert run(anna, f"SHOW STREAMS; AT '2030-01-01' {sql}")[0] in (403, 422)


@pytest.mark.parametrize("function", NO_SUCH_FUNCTION)
def test_expressions_reach_nothing(anna: httpx.Client, function: str) -> None:
    assert run(anna, f"REGISTER QUERY q AS SELECT id, {function} AS a FROM taxis")[0] == 422
    assert run(anna, "REGISTER QUERY q AS SELECT * FROM '/etc/passwd'")[0] == 422


def test_paths_lead_nowhere(town: Town) -> None:
    for path in (
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/../app.py",
        "/app.py",
        "//etc/passwd",
    ):
        answer = town.operator.get(path)
        assert answer.status_code == 404 and "import" not in answer.text


def test_too_much_is_refused(town: Town, anna: httpx.Client) -> None:
    long = "SHOW STREAMS;" + " " * (11 << 20)
    assert problem(anna.post("/api/v1/sql", json={"sql": long})) == (413, "request.too_long")

    def pieces() -> object:
        for _ in range(11):
            yield b" " * (1 << 20)

    flowing = anna.post("/api/v1/sql", content=pieces(), headers={"Content-Type": "application/json"})  # type: ignore[arg-type]
    assert problem(flowing) == (413, "request.too_long")
    assert run(anna, "SHOW STREAMS" + " " * (2 << 20)) == (429, "limit.sql")
    greedy = town.client(town.token("greedy"))
    answer = greedy.post("/api/v1/sql", json={"sql": "SHOW STREAMS;" * 601})
    assert problem(answer) == (429, "limit.statements") and answer.headers["retry-after"]
    many = ";".join(f"REGISTER QUERY greedy_{n} AS SELECT id FROM taxis" for n in range(550))
    town.server.service.owners.claim([f"other {n}" for n in range(600)], "greedy")
    assert run(greedy, many) == (429, "limit.queries")
    town.server.service.owners.forget([f"other {n}" for n in range(600)])
    assert town.operator.get("/api/v1/queries", params={"like": "greedy_"}).json() == []


def test_connections_and_subscriptions_are_counted(town: Town) -> None:
    word = town.token("many")
    token = town.server.tokens.known(word)
    assert token is not None
    with town.server.service.connected(token, "", "test") as one:
        one.looks_at.update(dict.fromkeys(range(token.limits.subscriptions), "x"))
        town.client(word).put("/api/v1/queries/of_many", json={"select": "SELECT id FROM taxis"})
        answer = town.client(word).get("/api/v1/queries/of_many/updates")
        assert problem(answer) == (429, "limit.subscriptions")
        town.client(word).delete("/api/v1/queries/of_many")
    held = [town.server.service.connected(token, "", "test") for _ in range(token.limits.connections)]
    for connection in held:
        connection.__enter__()
    with town.socket(word) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=10)
    assert closed.value.rcvd is not None and closed.value.rcvd.reason == "limit.connections"
    for connection in held:
        connection.__exit__(None, None, None)


def test_bodies_that_are_none(town: Town) -> None:
    def post(body: bytes, media: str, stream: str = "taxis") -> tuple[int, str]:
        headers = {"Content-Type": media}
        return problem(
            town.operator.post(f"/api/v1/streams/{stream}/readings", content=body, headers=headers)
        )

    assert post(b"", "text/html") == (415, "request.bad_type")
    assert post(b"[", "application/json") == (422, "data.unreadable")
    assert post(b"x", "application/vnd.apache.arrow.stream") == (422, "data.unreadable")
    assert post(b"[]", "application/json", "nothing") == (404, "request.not_found")
    garbage = town.operator.post("/api/v1/sql", content=b"\xff", headers={"Content-Type": "application/json"})
    assert problem(garbage) == (400, "request.bad")
    silent = town.client(town.token("silent"))
    answer = silent.post("/api/v1/streams/taxis/readings", json=[])
    assert problem(answer) == (403, "auth.forbidden")


def test_what_is_no_http_is_refused(town: Town) -> None:
    """And a socket that is half open holds nobody up."""
    with sockets.create_connection(("127.0.0.1", town.server.port)) as raw:
        raw.sendall(b"GET /api/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")  # and never more
        with sockets.create_connection(("127.0.0.1", town.server.port)) as other:
            other.sendall(b"\x16\x03\x01 garbage\r\n\r\n")
            assert b"400" in other.recv(100)
        assert town.operator.get("/healthz").status_code == 200


def post_half(town: Town, token: str | None) -> bytes:
    """What is said to the beginning of a body, up to where we are let go."""
    bearer = "" if token is None else f"Authorization: Bearer {token}\r\n"
    with sockets.create_connection(("127.0.0.1", town.server.port)) as raw:
        raw.sendall(
            f"POST /api/v1/sql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{bearer}"
            'Content-Length: 1000\r\n\r\n{"sql": '.encode()
        )
        return all_of(raw)


def all_of(raw: sockets.socket) -> bytes:
    raw.settimeout(30)
    said = b""
    while more := raw.recv(10_000):
        said += more
    return said


def test_a_body_that_never_ends_is_not_waited_for(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SECONDS_TO_SAY_MORE", 0.2)
    monkeypatch.setattr(protocol, "SECONDS_TO_ASK", 0.2)
    said = post_half(town, town.server.token)
    assert said.startswith(b"HTTP/1.1 408") and b"request.too_slow" in said


def test_what_strangers_send_is_not_even_read(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """And who goes on with it holds the connection no longer than others."""
    monkeypatch.setattr(protocol, "SECONDS_TO_ASK", 0.2)
    said = post_half(town, None)
    assert said.startswith(b"HTTP/1.1 401") and b"auth.missing" in said


def test_who_never_says_what_they_want_is_let_go(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a request, or none at all; also behind one that was whole."""
    monkeypatch.setattr(protocol, "SECONDS_TO_ASK", 0.2)
    half = b"GET /api/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
    for words in (b"", half):
        with sockets.create_connection(("127.0.0.1", town.server.port)) as raw:
            raw.sendall(words)
            assert all_of(raw) == b"", "the server has closed it"
    with sockets.create_connection(("127.0.0.1", town.server.port)) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert raw.recv(1000).startswith(b"HTTP/1.1 200")
        raw.sendall(half)
        raw.settimeout(30)
        assert b"HTTP" not in all_of(raw), "the server has closed it"


def test_however_many_say_nothing_others_find_room(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MOST_SILENT", 20)
    monkeypatch.setattr(protocol, "SECONDS_OF_SILENCE", 0.0)
    port = town.server.port
    flood = [sockets.create_connection(("127.0.0.1", port)) for _ in range(60)]
    assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
    for raw in flood[:30]:
        assert all_of(raw) == b"", "those that have said nothing for longest are let go"
    for raw in flood:
        raw.close()


def test_an_answer_that_nobody_takes_is_thrown_away(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no stream, and would wait for ever: with or without a token."""
    monkeypatch.setattr(protocol, "SECONDS_TO_TAKE", 0.2)
    name = town.name()
    select = "SELECT id, x, y, type FROM taxis INSIDE (0, 1500, 999999, 1600)"
    town.operator.put(f"/api/v1/queries/{name}", json={"select": select})
    town.tell([(f"{'z' * 4000}{n}", n, 1550) for n in range(1500)])
    with sockets.socket() as narrow:
        narrow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", town.server.port))
        narrow.sendall(
            f"GET /api/v1/queries/{name}/answer HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {town.server.token}\r\n\r\n".encode()
        )
        assert narrow.recv(12) == b"HTTP/1.1 200"
        held = town.server._uvicorn.server_state.connections
        until = time.monotonic() + 30
        while any(one.client == narrow.getsockname() for one in list(held)):  # type: ignore[union-attr]
            assert time.monotonic() < until, "it is held for ever"
            time.sleep(0.05)
    town.operator.delete(f"/api/v1/queries/{name}")


def test_a_server_makes_room_for_sockets() -> None:
    """Most systems begin with 1,024 open files: fewer than a thousand clients and a session need."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, most), most))
    try:
        make_room_for_sockets()
        wanted = FILES_WANTED if most == resource.RLIM_INFINITY else min(FILES_WANTED, most)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (wanted, most)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (now, most))


def test_events_that_nobody_reads_are_let_go(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sockets are; and what changes goes on to others."""
    monkeypatch.setattr(updates, "SECONDS_TO_SEND", 0.5)
    name = town.name()
    select = "SELECT id, x, y, type FROM taxis INSIDE (0, 1400, 999999, 1500)"
    town.operator.put(f"/api/v1/queries/{name}", json={"select": select})
    town.tell([(f"{'y' * 4000}{n}", n, 1450) for n in range(1500)])  # more than any buffer on the way holds
    before = len(town.operator.get("/api/v1/clients").json())
    with sockets.socket() as narrow:
        narrow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", town.server.port))
        narrow.sendall(
            f"GET /api/v1/queries/{name}/updates HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            f"Authorization: Bearer {town.server.token}\r\n\r\n".encode()
        )
        assert narrow.recv(12) == b"HTTP/1.1 200"
        until = time.monotonic() + 30
        while len(town.operator.get("/api/v1/clients").json()) > before:
            assert time.monotonic() < until, "it is held for ever"
            time.sleep(0.1)
        assert town.operator.get(f"/api/v1/queries/{name}/answer", params={"limit": 1}).status_code == 200
    town.operator.delete(f"/api/v1/queries/{name}")


def test_who_does_not_read_is_let_go_and_holds_up_nobody(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SECONDS_TO_SEND", 2.0)  # who reads is given time, also on a busy machine
    name = town.name()
    select = "SELECT id, x, y, type FROM taxis INSIDE (0, 400, 999999, 500)"
    town.operator.put(f"/api/v1/queries/{name}", json={"select": select})
    town.tell([(f"{'x' * 1000}{n}", n, 450) for n in range(1000)])
    narrow = sockets.socket()
    narrow.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    narrow.connect(("127.0.0.1", town.server.port))
    with (
        town.socket(town.server.token, sock=narrow, max_queue=1, max_size=None) as slow,
        town.socket(town.server.token, max_size=None) as quick,
    ):
        for channel in range(20):
            said(slow, op="subscribe", channel=channel, query=name)
        heard(quick, "hello")
        said(quick, op="subscribe", channel=1, query=name)
        heard(quick, "subscribed")
        tick = town.tell([("a", 1, 450)])
        while heard(quick, "progress")[-1]["tick"] != tick:
            pass
        until = time.monotonic() + 60
        while len(town.operator.get("/api/v1/clients").json()) > 1:
            assert time.monotonic() < until, "it is held for ever"
            time.sleep(0.1)
        said(quick, op="ping")
        assert heard(quick, "pong")
        narrow.shutdown(sockets.SHUT_RDWR)
    town.operator.delete(f"/api/v1/queries/{name}")


def test_many_at_once(town: Town) -> None:
    """Threads that register, ask and drop, each its own."""
    failures: list[object] = []

    def work(number: int) -> None:
        client, name = town.client(words[number]), f"at_once_{number}"
        made = client.put(
            f"/api/v1/queries/{name}", json={"select": f"SELECT id FROM taxis INSIDE ({number}, 0, 1, 1)"}
        )
        dropped = client.delete(f"/api/v1/queries/{name}")
        if (made.status_code, dropped.status_code) != (201, 204):
            failures.append((made.text, dropped.text))

    words = [town.token(f"worker {n}") for n in range(4)]
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_was_not_foreseen_is_not_told() -> None:
    e = unforeseen(ValueError("the password is swordfish"))
    assert e.code == "internal.fault" and "swordfish" not in str(e)


def test_no_token_is_in_what_operators_see(town: Town) -> None:
    word = town.token("secretive")
    seen = json.dumps(
        [town.operator.get(f"/api/v1/{p}").text for p in ("tokens", "clients", "figures", "dead-letters")]
    )
    assert word not in seen and town.server.token not in seen
