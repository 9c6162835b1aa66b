"""Readings as trackers' apps send them: OwnTracks, and what Traccar forwards. An app needs only an address.

a body of theirs ──► a row under the stream's own names ──► as all readings that are sent
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
from fastapi import APIRouter, Request

from sanderling.catalog import Stream
from sanderling.clock import show_time
from sanderling.server.http.callers import Sender, service_of
from sanderling.server.http.described import in_forms
from sanderling.server.http.readings import json_of, posting_of, refuse_long
from sanderling.server.rights.tokens import Token
from sanderling.server.shown.forms import JSON

router = APIRouter(prefix="/api/v1/in")
Row = dict[str, Any]

BODY = {"requestBody": {"required": True, **in_forms([JSON], "as the app sends it")}}
MPS_A_KMH, MPS_A_KNOT = 1 / 3.6, 1852 / 3600


@router.post("/owntracks/{name}", openapi_extra=BODY)
async def own_tracks(request: Request, name: str, token: Sender) -> list[Row]:
    """A message of the app; those that are no locations are answered and left alone."""
    said = await _said(request, token)
    user, device = (request.headers.get(f"x-limit-{letter}") for letter in "ud")
    await _post(request, name, own_tracks_row(said, user, device))
    return []


@router.post("/traccar/{name}", status_code=202, openapi_extra=BODY)
async def traccar(request: Request, name: str, token: Sender) -> dict[str, int]:
    """A position with its device, as a Traccar server forwards it."""
    return await _post(request, name, traccar_row(await _said(request, token)))


async def _said(request: Request, token: Token) -> Mapping[str, Any]:
    body = await request.body()
    refuse_long(body, token)
    await service_of(request).flow.pass_(token, len(body))
    said = json_of(body)
    return said if isinstance(said, dict) else {}


async def _post(request: Request, name: str, row: Row | None) -> dict[str, int]:
    service = service_of(request)
    posting = posting_of(service.postings, name)
    if row is None:
        return {"accepted": 0, "refused": 0}
    line = orjson.dumps(named(posting.stream, row)) + b"\n"
    receipt = await service.hub.beside(lambda: posting.post(".jsonl", line, None))
    return {"accepted": receipt.accepted, "refused": receipt.refused}


# ----- rows


def own_tracks_row(said: Mapping[str, Any], user: str | None, device: str | None) -> Row | None:
    """Known by user and device, as headers say them, else by its topic, else by its two letters."""
    if said.get("_type") != "location":
        return None
    by_header = "/".join(part for part in (user, device) if part)
    by_topic = str(said.get("topic") or "").removeprefix("owntracks/")
    return {
        "key": by_header or by_topic or said.get("tid"), "seconds": said.get("tst"), "x": said.get("lon"),
        "y": said.get("lat"), "speed": _times(said.get("vel"), MPS_A_KMH), "heading": said.get("cog"),
        "altitude": said.get("alt"), "accuracy": said.get("acc"), "battery": said.get("batt"),
    }  # fmt: skip


def traccar_row(said: Mapping[str, Any]) -> Row:
    """Known by the device's own identifier."""
    position, device = (part if isinstance(part, dict) else {} for part in map(said.get, PARTS))
    return {
        "key": device.get("uniqueId", position.get("deviceId")), "seconds": _seconds(position.get("fixTime")),
        "x": position.get("longitude"), "y": position.get("latitude"),
        "speed": _times(position.get("speed"), MPS_A_KNOT), "heading": position.get("course"),
        "altitude": position.get("altitude"), "accuracy": position.get("accuracy"),
    }  # fmt: skip


PARTS = ("position", "device")


def named(stream: Stream, row: Row) -> Row:
    """Under the stream's names; what it has no column for is left out. Speeds are metres a second."""
    seconds = row["seconds"]
    is_number = (time := stream.column(stream.time)) is not None and time.type.is_number
    if not is_number and isinstance(seconds, int | float):
        seconds = show_time(round(seconds * 1_000_000))
    found = {stream.key: row["key"], stream.time: seconds, stream.x: row["x"], stream.y: row["y"]}
    others = {c.name: row.get(c.name.casefold()) for c in stream.columns}
    return {**{name: value for name, value in others.items() if value is not None}, **found}


def _times(value: object, factor: float) -> float | None:
    return value * factor if isinstance(value, int | float) else None


def _seconds(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
