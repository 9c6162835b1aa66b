"""What each path answers, as docs/api.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from tests.server.town import Town, frame_of, heard, lines_of, said, summed

API = Path(__file__).resolve().parents[2] / "docs" / "api.md"
ARROW = "application/vnd.apache.arrow.stream"


def problem(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body = answer.json()
    assert body["status"] == answer.status_code and body["title"] == body["code"]
    return answer.status_code, body["code"]


def batches_of(answer: httpx.Response) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of an Arrow stream, and what is said beside them."""
    rows, beside = list[dict[str, Any]](), list[dict[str, Any]]()
    reader = pa.ipc.open_stream(answer.content)
    while True:
        try:
            batch, metadata = reader.read_next_batch_with_custom_metadata()
        except StopIteration:
            return rows, beside
        rows += batch.to_pylist()
        if metadata is not None:
            beside.append(json.loads(metadata[b"sanderling"]))


def test_what_there_is(town: Town) -> None:
    about = town.operator.get("/api/v1").json()
    assert about["you"] == {"owner": "operator", "role": "operator", "may_send": True}
    stream, ships = town.operator.get("/api/v1/streams").json()
    assert ships["globe"]
    wanted = {
        "name": "taxis", "key": "id", "x": "x", "y": "y", "kind": "type", "heading": "heading",
        "takes_readings": True, "globe": False,
    }  # fmt: skip
    assert {k: stream[k] for k in wanted} == wanted
    (region,) = town.operator.get("/api/v1/regions").json()["features"]
    assert region["properties"]["name"] == "center" and len(region["geometry"]["coordinates"][0]) == 65
    assert town.operator.get("/api/v1/tables").json() == []
    ours = town.operator.get("/api/v1/queries/ours").json()
    assert ours["owner"] is None and ours["region"]["coordinates"][0][0] == [-1, -1]
    assert [c["role"] for c in ours["columns"]] == ["key"]
    assert town.operator.get("/healthz").text == "ok\n" and town.operator.get("/readyz").text == "ready\n"


def test_a_query_comes_is_asked_and_goes(town: Town) -> None:
    name, api = town.name(), town.operator
    path, select = f"/api/v1/queries/{name}", "SELECT id, x, y FROM taxis INSIDE (0, 0, 10, 10)"
    assert api.put(path, json={"select": select}).status_code == 201
    assert api.put(path, json={"select": f" {select} ;"}).status_code == 200
    other = {"select": "SELECT id, x, y FROM taxis INSIDE (0, 0, 11, 10)"}
    assert problem(api.put(path, json=other)) == (409, "request.exists")
    tick = town.tell([("anna", 2, 3), ("ben", 50, 50)])
    answer = api.get(f"{path}/answer")
    assert answer.json() == {
        "tick": tick, "rows": [{"id": "anna", "x": 2.0, "y": 3.0}],
        "columns": [
            {"name": "id", "type": "STRING", "role": "key"}, {"name": "x", "type": "DOUBLE", "role": "x"},
            {"name": "y", "type": "DOUBLE", "role": "y"},
        ],
    }  # fmt: skip
    tag = answer.headers["etag"]
    assert api.get(f"{path}/answer", headers={"If-None-Match": tag}).status_code == 304

    def as_(form: str, **parameters: str) -> httpx.Response:
        return api.get(f"{path}/answer", headers={"Accept": form}, params=parameters)

    assert lines_of(as_("application/x-ndjson")) == answer.json()["rows"]
    assert as_("text/csv").text.splitlines() == ['"id","x","y"', '"anna",2,3']
    assert pa.ipc.open_stream(as_(ARROW).content).read_all().to_pylist() == answer.json()["rows"]
    (feature,) = as_("application/geo+json").json()["features"]
    assert feature["geometry"] == {"type": "Point", "coordinates": [2, 3]}
    assert as_("application/json", bbox="5,5,9,9").json()["rows"] == []
    assert as_("application/json", limit="0").json()["rows"] == []
    assert problem(as_("application/json", bbox="1,2,x,4")) == (400, "session.bad_argument")
    assert problem(as_("image/png")) == (406, "request.not_acceptable")
    assert api.get(path).json()["size"] == 1
    lines = api.get(f"/api/v1/plan/{name}").json()["lines"]
    assert any("taxis" in line for line in lines)
    assert api.put(path, json=other, params={"replace": "true"}).status_code == 201
    assert api.delete(path).status_code == 204
    assert problem(api.get(f"{path}/answer")) == (404, "session.no_query")
    assert problem(api.delete(path)) == (404, "session.no_query")


def test_statements(town: Town) -> None:
    api, name = town.operator, town.name()

    def run(sql: str, dry: bool = False) -> httpx.Response:
        return api.post("/api/v1/sql", json={"sql": sql}, params={"dry": dry})

    trigger = f"CREATE TRIGGER {name} FOR 2 OF taxis AS V WHEN DISTANCE(V) < 1 AND WITHIN 0"
    tried = run(trigger, dry=True).json()
    assert [(q["name"], q["kind"]) for q in tried["registered"]] == [(name, "trigger")]
    assert problem(api.get(f"/api/v1/queries/{name}")) == (404, "session.no_query")
    found = run(f"{trigger}; SHOW TRIGGERS").json()
    assert [row[0] for row in found["listings"][0]["rows"]] == [name]
    assert api.get(f"/api/v1/queries/{name}").json()["kind"] == "trigger"
    assert run(f"DROP TRIGGER {name}").json()["dropped"] == [name]
    wrong = run("REGISTER QUERY q AS\nSELECT id FROM taxi")
    assert problem(wrong) == (422, "query.unknown_stream")
    assert wrong.json()["hint"] == 'did you mean "taxis"?'
    assert wrong.json()["place"] == {"line": 2, "column": 16, "length": 4, "text": "SELECT id FROM taxi"}
    assert problem(run("REGISTER QUERY ours AS SELECT id FROM taxis")) == (409, "query.name_taken")
    assert problem(api.post("/api/v1/sql", json={"sq": 1})) == (400, "session.bad_argument")
    assert problem(api.post("/api/v1/sql", content=b"{")) == (400, "session.bad_argument")
    assert problem(api.get("/api/v1/sql")) in ((405, "request.no_method"), (404, "request.not_found"))
    assert problem(api.patch("/api/v1")) == (405, "request.no_method")
    assert problem(api.get("/api/v1/nothing")) == (404, "request.not_found")


def test_updates_in_all_forms(town: Town) -> None:
    name, api = town.name(), town.operator
    api.put(f"/api/v1/queries/{name}", json={"select": "SELECT id, x FROM taxis INSIDE (100, 0, 110, 10)"})
    first = town.tell([("carl", 101, 1), ("dora", 102, 1)])
    whole = api.get(f"/api/v1/queries/{name}/updates", params={"until": first, "progress": True})
    assert summed(lines_of(whole)) == summed([
        {"sign": 1, "row": {"id": "carl", "x": 101.0}}, {"sign": 1, "row": {"id": "dora", "x": 102.0}}
    ])  # fmt: skip
    at = lines_of(whole)[-1]
    assert at["progress"] == first
    last = town.tell([("carl", 105, 1)], [("dora", 1, 1)])

    def since(form: str, **more: object) -> httpx.Response:
        parameters: dict[str, object] = {"from": at["id"], "until": last, **more}
        return api.get(f"/api/v1/queries/{name}/updates", params=parameters, headers={"Accept": form})

    lines = lines_of(since("application/x-ndjson"))
    assert [(u["sign"], u["row"]["id"], u["row"]["x"]) for u in lines] == [
        (-1, "carl", 101), (1, "carl", 105), (-1, "dora", 102)
    ]  # fmt: skip
    rows, beside = batches_of(since(ARROW, progress=True))
    assert [(r["sign"], r["id"], r["x"]) for r in rows] == [(u["sign"], *u["row"].values()) for u in lines]
    assert beside == [{"progress": last, "id": f"{at['id'].partition('@')[0]}@{last}"}]
    events = since("text/event-stream").text
    data = [json.loads(text) for text in re.findall(r"^data: (.+)$", events, re.MULTILINE)]
    assert [u for u in data if "sign" in u] == lines and f"id: {at['id'].partition('@')[0]}@{last}" in events
    upserts = lines_of(since("application/x-ndjson", envelope="upsert"))
    assert [(u["key"]["id"], u["row"] and u["row"]["x"]) for u in upserts] == [("carl", 105), ("dora", None)]
    rows, beside = batches_of(since(ARROW, envelope="upsert"))
    assert [(r["sign"], r["id"], r["x"]) for r in rows] == [(1, "carl", 105), (-1, "dora", 102)]
    assert beside == []
    anew = api.get(
        f"/api/v1/queries/{name}/updates", params={"from": f"99999@{first}", "until": last},
        headers={"Accept": ARROW},
    )  # fmt: skip
    rows, beside = batches_of(anew)
    assert "another query" in beside[0]["reset"], "who reads Arrow is told to forget the rows, too"
    assert [r["id"] for r in rows] == ["carl"]
    again = api.get(
        f"/api/v1/queries/{name}/updates", params={"until": last}, headers={"Last-Event-ID": at["id"]}
    )
    assert lines_of(again) == lines
    for wrong in ({"from": "yesterday"}, {"until": "x"}):
        assert problem(api.get(f"/api/v1/queries/{name}/updates", params=wrong)) == (
            400,
            "session.bad_argument",
        )
    api.delete(f"/api/v1/queries/{name}")


def test_the_socket(town: Town) -> None:
    name, api = town.name(), town.operator
    api.put(f"/api/v1/queries/{name}", json={"select": "SELECT id, x, y FROM taxis INSIDE (200, 0, 210, 10)"})
    town.tell([("emil", 201, 1)])
    with town.socket(town.server.token) as socket:
        assert heard(socket, "hello")[0]["streams"][0]["name"] == "taxis"
        said(socket, op="subscribe", channel=7, query=name)
        messages = heard(socket, "progress")
        assert messages[0] == {
            "op": "subscribed", "channel": 7, "query": name,
            "columns": [
                {"name": n, "type": t, "role": r}
                for n, t, r in (("id", "STRING", "key"), ("x", "DOUBLE", "x"), ("y", "DOUBLE", "y"))
            ],
        }  # fmt: skip
        channel, kind, flags, rows = messages[1]
        assert (channel, kind, flags, rows.column("id").to_pylist()) == (7, 1, 1, ["emil"])
        tick = town.tell([("emil", 202, 1)])
        frame, progress = heard(socket, "progress")
        assert frame[:3] == (7, 1, 0) and frame[3].column("sign").to_pylist() == [-1, 1]
        assert progress["tick"] == tick
        said(socket, op="subscribe", channel=6, query=name, **{"from": "now"}, envelope="upsert")
        heard(socket, "subscribed")
        town.tell([("emil", 203, 1)])
        messages = [*heard(socket, "progress"), *heard(socket, "progress")]
        told = {m[0]: m[3].select(["sign", "x"]).to_pylist() for m in messages if isinstance(m, tuple)}
        assert told == {7: [{"sign": -1, "x": 202}, {"sign": 1, "x": 203}], 6: [{"sign": 1, "x": 203}]}
        said(socket, op="unsubscribe", channel=6)
        said(socket, op="subscribe", channel=9, query="ours", envelope="brown")
        assert heard(socket, "error")[-1]["code"] == "session.bad_argument"
        said(socket, op="subscribe", channel=7, query=name)
        assert heard(socket, "error")[0]["code"] == "session.bad_argument"
        said(socket, op="subscribe", channel=8, query="nothing of this name")
        assert heard(socket, "error")[0] == {
            "op": "error", "channel": 8, "code": "session.no_query", "hint": "", "place": None,
            "message": 'there is no query "nothing of this name"',
        }  # fmt: skip
        for wrong in (
            "[]",
            "{",
            '{"op": 3}',
            '{"op": "subscribe", "channel": -1}',
            '{"op": "view", "channel": 1}',
        ):
            socket.send(wrong)
            assert heard(socket, "error")[0]["code"] == "session.bad_argument"
        said(socket, op="ping")
        assert heard(socket, "pong")
        api.delete(f"/api/v1/queries/{name}")
        town.tell()
        assert heard(socket, "ended")[-1]["channel"] == 7


def test_a_view_of_all(town: Town) -> None:
    town.tell([(f"v{n}", 300 + n, 0) for n in range(10)])
    with town.socket(town.server.token) as socket:
        heard(socket, "hello")
        said(socket, op="view", channel=1, stream="taxis", box=[300, -1, 320, 1], pixel=0.1)
        at: dict[int, str] = {}

        def shot() -> tuple[pa.Table, dict[str, Any]]:
            """The next frame; who has which slot is told before the first frame that shows it, and once."""
            while isinstance(message := socket.recv(timeout=60), str):
                keys = json.loads(message)
                at.update(zip(keys["slots"], keys["keys"], strict=True))
            channel, kind, _, rows = frame_of(message)
            assert (channel, kind) == (1, 2)
            return rows, json.loads(rows.schema.metadata[b"sanderling"])

        rows, about = shot()  # it begins with the next tick, and none closes by itself here
        town.tell()
        while about["shown"] != 10:
            rows, about = shot()
        assert about["in_view"] == 10
        places = zip(rows.column("slot").to_pylist(), rows.column("x").to_pylist(), strict=True)
        shown = {at[slot]: x + about["origin"][0] for slot, x in places}
        assert shown == {f"v{n}": 300.0 + n for n in range(10)}
        assert rows.column("heading").to_pylist() == [64] * 10
        said(socket, op="view", channel=1, stream="taxis", box=[300, -1, 320, 1], pixel=5)
        while rows.num_rows != 1:
            rows, about = shot()
        assert about["in_view"] == 10
    assert not [q for q in town.operator.get("/api/v1/queries").json() if q["name"].startswith("sanderling:")]


def test_operators_who_look_at_once_share_a_query(town: Town) -> None:
    with town.socket(town.server.token) as one, town.socket(town.server.token) as other:
        for socket in (one, other):
            heard(socket, "hello")
            said(socket, op="view", channel=1, stream="taxis", box=[0, 0, 1, 1])
        for socket in (one, other):
            while isinstance(message := socket.recv(timeout=30), str):
                assert json.loads(message)["op"] == "keys"
            assert frame_of(message)[1] == 2
        (channel,) = [
            c for c, _ in town.server.service.hub._channels.values() if c.name == "sanderling:taxis"
        ]
        assert len(channel.watchers) == 1


@pytest.mark.parametrize(
    "path", ["/api/v1/clients", "/api/v1/figures", "/api/v1/dead-letters", "/api/v1/tokens"]
)
def test_what_operators_see(town: Town, path: str) -> None:
    assert town.operator.get(path).status_code == 200
    client = town.client(town.token("somebody"))
    assert problem(client.get(path)) == (403, "auth.forbidden")


def test_metrics(town: Town) -> None:
    town.tell()
    text = town.operator.get("/metrics").text
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(numbers['sanderling_readings_total{stream="taxis"}']) > 0
    assert float(numbers["sanderling_ready"]) == 1


def test_every_path_is_told_and_written_down(town: Town) -> None:
    paths = town.operator.get("/openapi.json").json()["paths"]
    documented = API.read_text()
    for path in paths:
        short = path.removeprefix("/api/v1").replace("{id_}", "{id}")
        assert short in documented, f"docs/api.md does not tell of {path}"
