"""For operators, and for machines that watch: clients, figures, tokens, dead letters, metrics, health."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from sanderling.errors import SessionError
from sanderling.server.health.letters import last_letters
from sanderling.server.health.metrics import metrics_of
from sanderling.server.http.callers import Caller, Operator, service_of
from sanderling.server.rights.tokens import Token

router = APIRouter(prefix="/api/v1")
machines = APIRouter()
Json = dict[str, Any]
LARGEST = 1 << 40


class NewLimits(BaseModel):
    """Those that are other than usual."""

    model_config = ConfigDict(extra="forbid")
    queries: int | None = Field(default=None, ge=0, le=LARGEST)
    subscriptions: int | None = Field(default=None, ge=0, le=LARGEST)
    connections: int | None = Field(default=None, ge=0, le=LARGEST)
    statements_a_minute: int | None = Field(default=None, ge=1, le=LARGEST)
    sql_bytes: int | None = Field(default=None, ge=0, le=LARGEST)
    body_bytes: int | None = Field(default=None, ge=0, le=LARGEST)
    bytes_a_second: int | None = Field(default=None, ge=1, le=LARGEST)


class NewToken(BaseModel):
    owner: str
    role: Literal["client", "operator"] = "client"
    may_send: bool = False
    limits: NewLimits = NewLimits()


@router.get("/clients")
def clients(request: Request, token: Operator) -> list[Json]:
    """Who is connected, and what waits for them."""
    return [
        {
            "id": c.id, "owner": c.token.owner, "role": c.token.role, "address": c.address, "kind": c.kind,
            "seconds": round(time.time() - c.since, 1), "looks_at": sorted(set(c.looks_at.values())),
            "waiting_bytes": c.load.waiting, "lag_s": c.lag_s,
        }
        for c in list(service_of(request).connections.values())
    ]  # fmt: skip


@router.get("/figures")
def figures(request: Request, token: Operator) -> Json:
    """The last ticks, and the streams."""
    return service_of(request).pulse.figures()


@router.get("/dead-letters")
def dead_letters(request: Request, token: Operator, limit: int = 100) -> Json:
    """How many for which reason since the server began, and the last of them."""
    service = service_of(request)
    counts = {stream: dict(reasons) for stream, reasons in service.pulse.letters.items()}
    return {"counts": counts, "last": last_letters(service.host, max(0, min(limit, 1000)))}


@router.get("/tokens")
def tokens(request: Request, token: Operator) -> list[Json]:
    return [_shown(t) for t in service_of(request).tokens.all()]


@router.post("/tokens", status_code=201)
def new_token(request: Request, said: NewToken, token: Operator) -> Json:
    """A new one; this is the only time that it is told."""
    limits = said.limits.model_dump(exclude_none=True)
    word, made = service_of(request).tokens.make(said.owner, said.role, said.may_send, limits=limits)
    return {**_shown(made), "token": word}


@router.delete("/tokens/{id_}", status_code=204)
def take_away(request: Request, id_: str, token: Operator) -> None:
    if id_ == token.id:
        raise SessionError("session.bad_argument", "this is the token that you ask with", "ask with another")
    service_of(request).tokens.take_away(id_)


def _shown(token: Token) -> Json:
    return {
        "id": token.id, "owner": token.owner, "role": token.role, "may_send": token.may_send,
        "limits": asdict(token.limits),
    }  # fmt: skip


# ----- machines


@machines.get("/healthz", response_class=PlainTextResponse)
def healthz() -> str:
    """The server runs."""
    return "ok\n"


@machines.get("/readyz", response_class=PlainTextResponse)
def readyz(request: Request) -> Response:
    """The session runs behind it."""
    service = service_of(request)
    is_well = service.is_ready and service.hub.ended is None
    return PlainTextResponse("ready\n" if is_well else "not ready\n", 200 if is_well else 503)


@machines.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, token: Caller) -> Response:
    """As Prometheus reads them."""
    return PlainTextResponse(
        metrics_of(service_of(request)), media_type="text/plain; version=0.0.4; charset=utf-8"
    )
