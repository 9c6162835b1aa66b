"""A session over real Spark with a server in front of it: tests share it, each with names of its own."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
from pyspark.sql import SparkSession
from websockets.sync.client import ClientConnection, connect

import sanderling
from sanderling.clock import show_time
from sanderling.server.serve import Server
from sanderling.session.session import Session

SCRIPT = """
CREATE STREAM taxis (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, type STRING, heading DOUBLE, seen TIMESTAMP)
  KEY id TIME ts LOCATION (x, y);
CREATE STREAM ships (id STRING, ts BIGINT, lon DOUBLE, lat DOUBLE)
  KEY id TIME ts LOCATION (lon, lat) ON GLOBE;
CREATE REGION center AS CIRCLE (0, 0, 5);
REGISTER QUERY ours AS SELECT id FROM taxis INSIDE (-1, -1, 1, 1);
"""
START = 1_714_550_400  # 2024-05-01 08:00:00
Row = dict[str, Any]


class Town:
    """The server, its clients, and how to make things happen."""

    def __init__(self, session: Session, server: Server):
        self.session, self.server = session, server
        self.now = START
        self._clients: list[httpx.Client] = []
        self.operator = self.client(server.token)
        self._names = itertools.count()

    def client(self, token: str | None, **more: str) -> httpx.Client:
        headers = {**({} if token is None else {"Authorization": f"Bearer {token}"}), **more}
        self._clients.append(httpx.Client(base_url=self.server.address, headers=headers, timeout=60))
        return self._clients[-1]

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def token(self, owner: str, role: str = "client") -> str:
        made = self.operator.post("/api/v1/tokens", json={"owner": owner, "role": role})
        assert made.status_code == 201, made.text
        word: str = made.json()["token"]
        return word

    def name(self) -> str:
        """One that no other test has."""
        return f"q{next(self._names)}"

    def tell(self, *steps: list[tuple[str, float, float]]) -> str:
        """Each step is a second with readings; one more proves that they are over. The last tick told."""
        lines = []
        for step in steps:
            self.now += 1
            lines += [
                {
                    "id": id_,
                    "ts": self.now,
                    "x": x,
                    "y": y,
                    "type": "bus",
                    "heading": 90,
                    "seen": show_time(self.now * 1_000_000),
                }
                for id_, x, y in step
            ]
        self.now += 1
        lines.append({"id": "clock", "ts": self.now, "x": 1e6, "y": 1e6})
        return self._send("taxis", lines)

    def tell_ships(self, *steps: list[tuple[str, float, float]]) -> str:
        """The same of those on the globe."""
        steps = (*steps, [("clock", 179.0, -80.0)])
        lines = [
            {"id": id_, "ts": self.now + n, "lon": lon, "lat": lat}
            for n, step in enumerate(steps, 1)
            for id_, lon, lat in step
        ]
        self.now += len(steps)
        return self._send("ships", lines)

    def _send(self, stream: str, lines: list[Row]) -> str:
        body = "".join(json.dumps(line) + "\n" for line in lines)
        said = self.operator.post(
            f"/api/v1/streams/{stream}/readings", content=body,
            headers={"Content-Type": "application/x-ndjson"},
        )  # fmt: skip
        assert said.status_code == 202 and said.json()["refused"] == 0, said.text
        self.session.process_all()
        return show_time((self.now - 1) * 1_000_000)

    @contextmanager
    def socket(self, token: str, **more: Any) -> Iterator[ClientConnection]:
        address = self.server.address.replace("http", "ws") + "api/v1/live"
        protocols: Any = ["sanderling.v1", f"bearer.{token}"]
        with connect(address, subprotocols=protocols, **more) as socket:
            yield socket


def opened(spark: SparkSession, checkpoint: Path, keep: str = "1 hour") -> Session:
    session = sanderling.connect(spark, checkpoint=checkpoint, shards=2, keep=keep)
    session.execute(SCRIPT)
    session.receive("taxis")
    session.receive("ships")
    return session.start()


def frame_of(data: bytes) -> tuple[int, int, int, pa.Table]:
    """Channel, kind, flags, rows."""
    return int.from_bytes(data[:4], "little"), data[4], data[5], pa.ipc.open_stream(data[8:]).read_all()


def heard(socket: ClientConnection, until: str, most: int = 200) -> list[Any]:
    """Messages and frames up to the first text message with this op."""
    found: list[Any] = []
    for _ in range(most):
        said = socket.recv(timeout=60)
        found.append(frame_of(said) if isinstance(said, bytes) else json.loads(said))
        if isinstance(found[-1], dict) and found[-1]["op"] == until:
            return found
    raise AssertionError(f"no {until} in {found}")


def said(socket: ClientConnection, **message: Any) -> None:
    socket.send(json.dumps(message))


def summed(lines: list[Row]) -> Counter[str]:
    """What updates add up to."""
    total: Counter[str] = Counter()
    for line in lines:
        if "sign" in line:
            total[json.dumps(line["row"], sort_keys=True)] += line["sign"]
    return Counter({row: n for row, n in total.items() if n})


def lines_of(answer: httpx.Response) -> list[Row]:
    return [json.loads(line) for line in answer.text.splitlines() if line.strip()]
