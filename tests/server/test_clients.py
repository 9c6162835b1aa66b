"""Two clients: each sees, asks and drops only what is its own."""

from __future__ import annotations

import pytest

from sanderling.errors import ConfigError
from sanderling.session.host import Host, Outcome
from tests.server.test_contract import problem
from tests.server.town import Town, heard, said


@pytest.fixture(scope="module")
def words(town: Town) -> tuple[str, str]:
    return town.token("anna"), town.token("ben")


def test_each_sees_only_its_own(town: Town, words: tuple[str, str]) -> None:
    anna, ben = (town.client(word) for word in words)
    hers, his = f"hers_{town.name()}", f"his_{town.name()}"
    select = "SELECT id, x, y FROM taxis INSIDE (0, 600, 10, 610)"
    assert anna.put(f"/api/v1/queries/{hers}", json={"select": select}).status_code == 201
    assert ben.put(f"/api/v1/queries/{his}", json={"select": select}).status_code == 201
    assert [q["name"] for q in anna.get("/api/v1/queries").json()] == [hers]
    assert ben.get("/api/v1/queries").headers["x-total-count"] == "1"
    names = {q["name"]: q["owner"] for q in town.operator.get("/api/v1/queries").json()}
    assert (names[hers], names[his], names["ours"]) == ("anna", "ben", None)

    town.tell([("a", 1, 601)])
    assert anna.get(f"/api/v1/queries/{hers}/answer").json()["rows"] == [{"id": "a", "x": 1.0, "y": 601.0}]
    for path in ("", "/answer", "/updates"):
        answer = ben.get(f"/api/v1/queries/{hers}{path}")
        assert problem(answer) == (404, "session.no_query")
    assert problem(ben.get(f"/api/v1/plan/{hers}")) == (404, "session.no_query")
    assert problem(ben.delete(f"/api/v1/queries/{hers}")) == (404, "session.no_query")
    assert problem(ben.put(f"/api/v1/queries/{hers}", json={"select": select})) == (409, "request.exists")

    def run(sql: str) -> tuple[int, str]:
        return problem(ben.post("/api/v1/sql", json={"sql": sql}))

    unknown = (422, "query.unknown_query")
    assert run(f"DROP QUERY {hers}") == unknown == run(f"DESCRIBE QUERY {hers}") == run(f"EXPLAIN {hers}")
    assert run(f"REGISTER QUERY spy AS SELECT id FROM {hers}") == (422, "query.unknown_stream")
    assert run(f"SELECT id FROM {hers}") == (422, "query.unknown_stream")
    once = ben.post("/api/v1/sql", json={"sql": f"SELECT id, y FROM {his} ORDER BY id"}).json()
    assert once["listings"] == [{"title": "", "columns": ["id", "y"], "rows": [["a", "601"]]}]
    near = ben.post("/api/v1/sql", json={"sql": f"REGISTER QUERY spy AS SELECT id FROM {hers}x"})
    assert hers not in near.json()["hint"] and near.status_code == 422
    shown = ben.post("/api/v1/sql", json={"sql": "SHOW QUERIES"}).json()["listings"][0]["rows"]
    assert [row[0] for row in shown] == [his]
    last = ben.post("/api/v1/sql", json={"sql": "SELECT name FROM LAST QUERIES ORDER BY name"}).json()
    assert last["listings"][0]["rows"] == [[his]]

    with town.socket(words[1]) as socket:
        heard(socket, "hello")
        said(socket, op="subscribe", channel=1, query=hers)
        assert heard(socket, "error")[0]["code"] == "session.no_query"
        said(socket, op="view", channel=2, stream="taxis", box=[0, 0, 1, 1])
        assert heard(socket, "error")[0]["code"] == "auth.forbidden"
        said(socket, op="subscribe", channel=3, query=his)
        assert heard(socket, "progress")[1][3].column("id").to_pylist() == ["a"]
        (mine,) = [c for c in town.operator.get("/api/v1/clients").json() if c["owner"] == "ben"]
        assert mine["looks_at"] == [his] and mine["kind"] == "socket" and mine["lag_s"] == 0
    # A query of one's own may read another of one's own.
    assert (
        anna.post("/api/v1/sql", json={"sql": f"REGISTER QUERY above AS SELECT x FROM {hers}"}).status_code
        == 200
    )
    assert anna.delete("/api/v1/queries/above").status_code == 204
    assert anna.delete(f"/api/v1/queries/{hers}").status_code == 204
    assert ben.delete(f"/api/v1/queries/{his}").status_code == 204


def test_what_could_not_be_replaced_is_still_whose_it_was(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, name = town.client(town.token("anna")), town.name()
    path = f"/api/v1/queries/{name}"
    anna.put(path, json={"select": "SELECT id FROM taxis"})

    def no_room(host: Host, sql: str) -> Outcome:
        raise ConfigError("config.not_writable", "there is no room")

    monkeypatch.setattr(Host, "run", no_room)
    other = anna.put(path, json={"select": "SELECT id, x FROM taxis"}, params={"replace": "true"})
    assert problem(other) == (400, "config.not_writable")
    monkeypatch.undo()
    assert anna.get(path).json()["owner"] == "anna"
    assert anna.delete(path).status_code == 204


def test_a_token_that_was_taken_away_is_none(town: Town) -> None:
    word = town.token("gone")
    client = town.client(word)
    assert client.get("/api/v1").status_code == 200
    (id_,) = [t["id"] for t in town.operator.get("/api/v1/tokens").json() if t["owner"] == "gone"]
    assert problem(client.delete(f"/api/v1/tokens/{id_}")) == (403, "auth.forbidden")
    assert town.operator.delete(f"/api/v1/tokens/{id_}").status_code == 204
    assert problem(client.get("/api/v1")) == (401, "auth.missing")
    assert problem(town.operator.delete(f"/api/v1/tokens/{id_}")) == (404, "auth.unknown_token")
    for wrong in ({"owner": "", "role": "client"}, {"owner": "x", "role": "king"}, {"role": "client"}):
        assert problem(town.operator.post("/api/v1/tokens", json=wrong)) == (400, "session.bad_argument")
