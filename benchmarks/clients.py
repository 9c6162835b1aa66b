"""A server with a thousand clients over real sockets: what each gets, how late, and what it costs."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from websockets.asyncio.client import connect

import sanderling
from benchmarks.report import report
from sanderling.clock import show_time
from sanderling.server.serve import Server
from sanderling.session.session import Session

REASON = "clients of queries in which all objects move: nothing is lost, how late it comes, what it costs"
START_S = 1_714_550_400
# A square of the plane is a query; so many in a row.
SQUARES = 10
STEP = 0.02


def run(
    objects: int = 100_000, clients: int = 1_000, ticks: int = 6, squares: int = SQUARES,
    spark: SparkSession | None = None,
) -> dict[str, float]:  # fmt: skip
    """Half of the clients hear server-sent events, half a WebSocket; each looks at one query."""
    queries = squares * squares
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), squares, spark) as (session, server):
        with watching(server, clients, queries) as crowd:
            found = _told(session, server, objects, ticks, squares)
            heard = crowd.heard(last=show_time((START_S + ticks) * 1_000_000))
        answers = {name: _digest(session.answer(name).to_pylist()) for name in names(queries)}
    assert heard["clients"] == clients
    wrong = [name for name, sums in heard["sums"].items() if set(sums) != {answers[name]}]
    assert not wrong, f"what is told does not add up to the answer: {wrong[:5]}"
    assert heard["resets"] == 0
    known = [(found.at[tick], ats) for tick, ats in heard["at"].items() if tick in found.at]
    lags = np.array([at - begun for begun, ats in known for at in ats])
    p50, p99 = np.quantile(lags, [0.5, 0.99])
    rows = [
        {"what": "processor time of the server's thread a tick, seconds", "": found.thread_s / ticks},
        {"what": "of it for the hub's turns", "": found.hub_s / ticks},
        {"what": "from the hub to a client, median, seconds", "": float(p50)},
        {"what": "from the hub to a client, the slowest of a hundred, seconds", "": float(p99)},
        {"what": "bytes told a tick, million", "": heard["bytes"] / ticks / 1e6},
        {"what": "updates told a tick, million", "": heard["updates"] / ticks / 1e6},
        {"what": "most that waited for all clients, MB", "": found.waited / 1e6},
        {"what": "more memory of the server at the end, MB", "": found.grown / 1e6},
        {"what": "steps that were merged for who was slow", "": float(heard["merged"])},
    ]
    facts = {
        "objects": objects, "queries": queries, "clients": clients, "ticks": ticks,
        "load of the machine": os.getloadavg()[0], "cores": os.cpu_count(),
    }  # fmt: skip
    report("clients", REASON, rows, facts)
    return {"thread_s": found.thread_s / ticks, "p99_s": float(p99), "waited": found.waited}


@contextmanager
def served(folder: Path, squares: int, spark: SparkSession | None) -> Iterator[tuple[Session, Server]]:
    checkpoint = folder / "checkpoint"
    with sanderling.connect(spark, checkpoint=checkpoint, master="local[2]", shards=2) as session:
        session.execute(
            "CREATE STREAM objects (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)"
        )
        places = ((n % squares, n // squares) for n in range(squares * squares))
        session.execute(";".join(
            f"REGISTER QUERY {name} AS SELECT id, x, y FROM objects INSIDE ({x}, {y}, {x + 1}, {y + 1})"
            for name, (x, y) in zip(names(squares * squares), places, strict=True)
        ))  # fmt: skip
        session.receive("objects")
        session.start()
        yield session, session.serve()


def names(queries: int) -> list[str]:
    return [f"q{n}" for n in range(queries)]


# ----- what is told


@dataclass(slots=True)
class Told:
    at: dict[str, float] = field(default_factory=dict)  # by tick, when the hub had it
    thread_s: float = 0.0
    hub_s: float = 0.0
    waited: int = 0
    grown: int = 0


def _told(session: Session, server: Server, objects: int, ticks: int, squares: int) -> Told:
    """A reading of everybody a second; the next second comes when all clients have had time for this one."""
    random, found = np.random.default_rng(7), Told()
    places = random.uniform(0, squares, (2, objects))
    service = server.service

    def turned(turn: object) -> None:
        now = time.time()
        for tick in service.hub.closed.values():
            found.at.setdefault(show_time(tick), now)
        found.waited = max(found.waited, _waiting(server))

    service.hub.turns.append(turned)
    take = service.hub._turn

    def timed(turn: Any, things: Any) -> None:
        since = time.thread_time()
        take(turn, things)
        found.hub_s += time.thread_time() - since

    service.hub._turn = timed  # type: ignore[method-assign]
    clock = time.pthread_getcpuclockid(server._thread.ident or 0)
    began, memory = time.clock_gettime(clock), _memory()
    for tick in range(1, ticks + 2):  # the last one proves that the one before is over
        places = np.clip(places + random.normal(0, STEP, places.shape), 0, squares)
        ids, seconds = np.arange(objects), np.full(objects, START_S + tick)
        table = pa.table({"id": ids, "ts": seconds, "x": places[0], "y": places[1]})
        session.postings["objects"].post(".parquet", parquet_of(table))
        session.process_all()
        _wait_for_quiet(server)
        found.waited = max(found.waited, _waiting(server))
    found.thread_s, found.grown = time.clock_gettime(clock) - began, _memory() - memory
    return found


def parquet_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def _waiting(server: Server) -> int:
    return sum(c.load.waiting for c in list(server.service.connections.values()))


def _wait_for_quiet(server: Server) -> None:
    end = time.monotonic() + 120
    while _waiting(server) and time.monotonic() < end:
        time.sleep(0.05)


def _memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


# ----- who listens, in a process of their own


@dataclass(slots=True)
class Crowd:
    process: subprocess.Popen[str]

    def heard(self, last: str) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(last + "\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


@contextmanager
def watching(server: Server, clients: int, queries: int) -> Iterator[Crowd]:
    command = [sys.executable, "-m", "benchmarks.clients", server.address, str(clients), str(queries)]
    with subprocess.Popen(
        command, cwd=Path(__file__).resolve().parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env={**os.environ, "TOKEN": server.token},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "all are here\n"
            yield Crowd(process)
        finally:
            process.kill()


# What many are told is kept once.
ONCE: dict[bytes, bytes] = {}


@dataclass(slots=True)
class Client:
    """One of them: all it is told, as it came; it is looked into when all is over."""

    query: str
    is_socket: bool
    pieces: list[bytes] = field(default_factory=list)
    at: dict[str, float] = field(default_factory=dict)
    merged: int = 0
    resets: int = 0
    is_here: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self, address: str, token: str) -> None:
        await (self._by_socket(address, token) if self.is_socket else self._by_events(address, token))

    async def _by_events(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 26)
        writer.write(
            f"GET /api/v1/queries/{self.query}/updates HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Accept: text/event-stream\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        self.is_here.set()
        while size := int(await reader.readline(), 16):
            chunk = (await reader.readexactly(size + 2))[:-2]
            self.merged += chunk.count(b"event: merged")
            self.resets += chunk.count(b"event: reset")
            if chunk.startswith(b"event: progress"):
                self.at[chunk.rpartition(b"@")[2][:20].decode()] = time.time()
            elif b"event: updates" in chunk:
                self._keep(chunk)

    async def _by_socket(self, address: str, token: str) -> None:
        where = address.replace("http", "ws") + "api/v1/live"
        protocols: Any = ["sanderling.v1", f"bearer.{token}"]
        async with connect(where, subprotocols=protocols, max_size=None, compression=None) as socket:
            await socket.send(json.dumps({"op": "subscribe", "channel": 1, "query": self.query}))
            async for said in socket:
                if isinstance(said, bytes):
                    self._keep(said)
                    continue
                message = orjson.loads(said)
                match message["op"]:
                    case "subscribed":
                        self.is_here.set()
                    case "progress":
                        self.at[message["tick"]] = time.time()
                    case "merged":
                        self.merged += 1
                    case "reset":
                        self.resets += 1

    def _keep(self, piece: bytes) -> None:
        self.pieces.append(ONCE.setdefault(piece, piece))

    # ----- when all is over

    def rows(self) -> list[tuple[int, bytes]]:
        """Signs, and rows as JSON."""
        found: list[tuple[int, bytes]] = []
        for piece in self.pieces:
            if self.is_socket:
                table = pa.ipc.open_stream(piece[8:]).read_all()
                signs = table.column("sign").to_pylist()
                rows = table.drop_columns(["tick", "sign"]).to_pylist()
                found += zip(signs, (orjson.dumps(row) for row in rows), strict=True)
                continue
            for line in piece.splitlines():
                if line.startswith(b"data: {"):
                    said = orjson.loads(line[6:])
                    found.append((said["sign"], orjson.dumps(said["row"])))
        return found


def _digest(rows: list[Any]) -> str:
    return hashlib.sha256(b"\n".join(sorted(orjson.dumps(row) for row in rows))).hexdigest()


def summed(client: Client) -> tuple[str, int]:
    """What it was told adds up to; and how many updates that were."""
    total: Counter[bytes] = Counter()
    rows = client.rows()
    for sign, row in rows:
        total[row] += sign
    assert not [row for row, n in total.items() if n not in (0, 1)], "a row went that never came"
    held = sorted(row for row, n in total.items() if n)
    return hashlib.sha256(b"\n".join(held)).hexdigest(), len(rows)


async def crowd(address: str, count: int, queries: int) -> None:
    token = os.environ["TOKEN"]
    clients = [Client(f"q{n % queries}", is_socket=n // queries % 2 == 1) for n in range(count)]
    tasks = [asyncio.create_task(c.listen(address, token)) for c in clients]
    await asyncio.gather(*(c.is_here.wait() for c in clients))
    print("all are here", flush=True)
    last = (await asyncio.to_thread(sys.stdin.readline)).strip()
    while not all(last in c.at for c in clients):
        await asyncio.sleep(0.1)
        assert not [t for t in tasks if t.done()], "somebody was let go"
    for task in tasks:
        task.cancel()
    print(json.dumps(told_of(clients)), flush=True)


def told_of(clients: list[Client]) -> dict[str, Any]:
    """Those who were told the same bytes are looked into once."""
    known: dict[tuple[object, ...], tuple[str, int]] = {}
    sums, at = defaultdict[str, set[str]](set), defaultdict[str, list[float]](list)
    told, updates = 0, 0
    for client in clients:
        name = client.query, *map(id, client.pieces)
        if name not in known:
            known[name] = summed(client)
        digest, count = known[name]
        sums[client.query].add(digest)
        updates += count
        told += sum(map(len, client.pieces))
        for tick, when in client.at.items():
            at[tick].append(when)
    return {
        "clients": len(clients), "sums": {q: sorted(s) for q, s in sums.items()}, "at": at, "bytes": told,
        "updates": updates, "merged": sum(c.merged for c in clients),
        "resets": sum(c.resets for c in clients),
    }  # fmt: skip


if __name__ == "__main__":
    asyncio.run(crowd(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
