"""A server is killed, and started again: a client that comes back loses nothing and gets nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pyarrow as pa
import pytest

from sanderling.clock import show_time
from tests.server.test_contract import ARROW
from tests.server.town import SCRIPT, START, Row, Town, heard, lines_of, said

EVENTS = "text/event-stream"
PROGRAM = "from sanderling.command import main; main()"


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    (folder / "script.sql").write_text(SCRIPT)
    words = ["serve", "script.sql", "--port", "0", "--checkpoint", "checkpoint", "--master", "local[1]"]
    program = [sys.executable, "-c", PROGRAM, *words]
    with open(folder / "log", "a") as log:
        process = subprocess.Popen(
            program, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith("serving at "), (folder / "log").read_text()
            address, _, token = line.removeprefix("serving at ").strip().partition("?token=")
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=address, headers=headers, timeout=120) as client:
                yield process, client
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()


def send(client: httpx.Client, first: int, last: int, key: str) -> Row:
    """A car drives through the square, a second a step."""
    rows = [{"id": "car", "ts": START + n, "x": (n % 5) / 2, "y": 0.0} for n in range(first, last)]
    said = client.post("/api/v1/streams/taxis/readings", json=rows, headers={"Idempotency-Key": key})
    assert said.status_code == 202, said.text
    found: Row = said.json()
    return found


def tick(second: int) -> str:
    return f"2024-05-01T08:00:{second:02}Z"


def told(client: httpx.Client, begin: str, until: int) -> list[Row]:
    parameters = {"from": begin, "until": tick(until), "progress": "true"}
    return lines_of(client.get("/api/v1/queries/ours/updates", params=parameters))


def test_a_client_goes_on_where_it_was(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, client):
        assert send(client, 1, 12, "one") == {"accepted": 11, "refused": 0, "sequence": 0}
        whole = told(client, tick(0), 10)
        half = told(client, tick(0), 5)
        send(client, 12, 22, "two")  # and killed, maybe before anybody has read it
    with serving(tmp_path) as (process, client):
        assert send(client, 12, 22, "two")["sequence"] == 1, "the same sending counts once"
        assert client.get("/api/v1/queries").json()[0]["name"] == "ours"
        rest = told(client, half[-1]["id"], 20)
        assert rest[-1]["progress"] == tick(20)
        first, others = [u for u in half if "sign" in u], [u for u in rest if "sign" in u]
        assert [u["tick"] for u in first + others] == sorted(u["tick"] for u in first + others)
        assert (first + others)[: len(whole) - 1] == whole[:-1]
        ticks = [(u["sign"], u["tick"]) for u in first + others]
        # In the square where n % 5 <= 2, that is from 5k on up to 5k + 2; the first one is at 1.
        came = [1, 5, 10, 15, 20]
        assert ticks == sorted(
            [(1, tick(n)) for n in came] + [(-1, tick(n)) for n in (3, 8, 13, 18)], key=lambda t: t[1]
        )
        token = client.headers["authorization"].removeprefix("Bearer ")
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(files) > 5
        assert not [path for path in files if token.encode() in path.read_bytes()], "secrets in no log"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM


def test_a_client_gets_what_a_file_sink_got(town: Town, tmp_path: Path) -> None:
    name = town.name()
    select = "SELECT id, x / 3 AS third, type, ts FROM taxis INSIDE (0, 800, 10, 810)"
    town.operator.put(f"/api/v1/queries/{name}", json={"select": select})
    town.tell()
    with town.operator.stream("GET", f"/api/v1/queries/{name}/updates", params={"from": "answer"}) as answer:
        lines = answer.iter_lines()
        odd, b, c = (f"{id_}{name}" for id_ in ('é"\\', "b", "c"))
        last = town.tell([(odd, 1, 801), (b, 2, 802)], [(b, 3, 802)], [(odd, 1, 700), (c, 0.1, 809)])
        got: list[str] = []
        until = time.monotonic() + 60
        while not got or (f'"tick": "{last}"' not in got[-1] or f'"{c}"' not in got[-1]):
            got += filter(None, [next(lines)])
            assert time.monotonic() < until
    frame = (
        town.session.updates().where(f"query = '{name}'").selectExpr("string(tick) AS tick", "sign", "row")
    )
    writer = frame.writeStream.format("json").option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start(str(tmp_path / "rows")).awaitTermination()
    files = sorted((tmp_path / "rows").glob("*.json"))
    sunk = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    written = [
        f'{{"tick": "{u["tick"].replace(" ", "T")}Z", "sign": {u["sign"]}, "row": {u["row"]}}}' for u in sunk
    ]
    assert sorted(got) == sorted(written), "byte for byte"
    # Whoever reads another form is told the same.
    rows = [(u["tick"], u["sign"], *u["row"].values()) for u in map(json.loads, got)]
    for form in (EVENTS, ARROW):
        assert as_rows(town, name, form, last) == rows
    assert by_socket(town, name, last) == rows
    town.operator.delete(f"/api/v1/queries/{name}")


def as_rows(town: Town, name: str, form: str, until: str) -> list[tuple[object, ...]]:
    parameters = {"from": show_time(START * 1_000_000), "until": until}
    path = f"/api/v1/queries/{name}/updates"
    told = town.operator.get(path, params=parameters, headers={"Accept": form})
    if form == ARROW:
        return of_table(pa.ipc.open_stream(told.content).read_all())
    data = [json.loads(line.removeprefix("data: ")) for line in told.text.splitlines() if "data: " in line]
    return [(u["tick"], u["sign"], *u["row"].values()) for u in data if "sign" in u]


def by_socket(town: Town, name: str, until: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    with town.socket(town.server.token) as socket:
        heard(socket, "hello")
        said(socket, op="subscribe", channel=1, query=name, **{"from": show_time(START * 1_000_000)})
        while True:
            messages = heard(socket, "progress")
            for frame in (m for m in messages if isinstance(m, tuple)):
                rows += of_table(frame[3])
            if messages[-1]["tick"] >= until:
                return rows


def of_table(table: pa.Table) -> list[tuple[object, ...]]:
    """Times as texts say them."""
    columns = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in table.columns]
    ticks = [show_time(t) for t in columns[0].to_pylist()]
    return list(zip(ticks, *(c.to_pylist() for c in columns[1:]), strict=True))


def test_what_is_kept_no_longer_begins_anew(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does what another query of the same name had told."""
    name = town.name()
    path, select = f"/api/v1/queries/{name}", "SELECT id FROM taxis INSIDE (0, 900, 10, 910)"
    town.operator.put(path, json={"select": select})
    last = town.tell([("a", 1, 901)])
    for begin in ("99999@" + last,):
        lines = lines_of(
            town.operator.get(f"{path}/updates", params={"from": begin, "until": last, "progress": True})
        )
        assert "another query" in lines[0]["reset"] and lines[1]["row"] == {"id": "a"}
        assert lines[2]["progress"] == last
    numbers = town.server.service.host.log.numbers()
    monkeypatch.setattr("sanderling.deliver.log.Log.numbers", lambda log: numbers[-1:])
    lines = lines_of(
        town.operator.get(f"{path}/updates", params={"from": "2024-05-01T08:00:00Z", "until": last})
    )
    assert "state.updates_gone" in lines[0]["reset"] and lines[1]["row"] == {"id": "a"}
    monkeypatch.undo()
    town.operator.delete(path)
