"""Readings that are sent over HTTP: bodies to rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Request

from sanderling.catalog import Stream
from sanderling.errors import DataError, ServerError, did_you_mean
from sanderling.server.http.callers import Sender, service_of
from sanderling.server.http.described import in_forms
from sanderling.server.rights.tokens import Token
from sanderling.server.shown.forms import ARROW, CSV, GEOJSON, JSON, LINES
from sanderling.session.posting import Posting

router = APIRouter(prefix="/api/v1")

TAKEN = (LINES, JSON, CSV, GEOJSON, ARROW)


# ----- bodies


def file_form(stream: Stream, body: bytes, media: str) -> tuple[str, bytes]:
    """How a body is left in a file: the end of its name, and its bytes."""
    match media:
        case "application/x-ndjson":
            return ".jsonl", body
        case "text/csv":
            return ".csv", body
        case "application/vnd.apache.arrow.stream":
            return ".parquet", _parquet(body)
        case "application/json":
            said = json_of(body)
            rows = said if isinstance(said, list) else [said]
        case "application/geo+json":
            rows = [_row_of(stream, feature) for feature in _features(json_of(body))]
        case _:
            raise ServerError(
                "request.bad_type", f'readings do not come as "{media[:60]}"', "one of " + ", ".join(TAKEN)
            )
    return ".jsonl", b"".join(orjson.dumps(row) + b"\n" for row in rows)


def json_of(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as e:
        raise DataError(
            "data.unreadable", f"the body is no JSON: {e}", "send lines of JSON, or an array"
        ) from e


def _features(said: Any) -> list[Any]:
    found = said.get("features", [said]) if isinstance(said, dict) else said
    if not isinstance(found, list):
        raise DataError("data.unreadable", "the body has no features", "a FeatureCollection, or a Feature")
    return found


def _row_of(stream: Stream, feature: Any) -> Any:
    """A point and its properties as one row; what is none becomes a dead letter."""
    if not isinstance(feature, dict):
        return feature
    row = dict(feature.get("properties") or {})
    if "id" in feature:
        row.setdefault(stream.key, feature["id"])
    geometry = feature.get("geometry")
    place = geometry.get("coordinates") if isinstance(geometry, dict) else None
    if isinstance(place, list) and len(place) >= 2:
        row[stream.x], row[stream.y] = place[:2]
    return row


def _parquet(body: bytes) -> bytes:
    try:
        with pa.ipc.open_stream(body) as reader:
            table = reader.read_all()
        table.validate(full=True)
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        return bytes(sink.getvalue())
    except (pa.ArrowException, OSError, ValueError) as e:
        raise DataError("data.unreadable", f"the body is no Arrow stream: {e}", "an IPC stream") from e


# ----- over HTTP


@router.post(
    "/streams/{name}/readings", status_code=202,
    openapi_extra={"requestBody": {"required": True, **in_forms(TAKEN, "readings")}},
)  # fmt: skip
async def post_readings(request: Request, name: str, token: Sender) -> dict[str, int]:
    """Readings of a stream that has no path. What is answered for is on disk."""
    service = service_of(request)
    posting = posting_of(service.postings, name)
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    key = request.headers.get("idempotency-key")
    body = await request.body()
    refuse_long(body, token)
    await service.flow.pass_(token, len(body))
    receipt = await service.hub.beside(lambda: posting.post(*file_form(posting.stream, body, media), key))
    return {"accepted": receipt.accepted, "refused": receipt.refused, "sequence": receipt.sequence}


def refuse_long(body: bytes, token: Token) -> None:
    if len(body) > token.limits.body_bytes:
        raise ServerError(
            "request.too_long", f"readings of yours may have {token.limits.body_bytes:,} bytes at a time",
            "send them in pieces",
        )  # fmt: skip


def posting_of(postings: Mapping[str, Posting], name: str) -> Posting:
    found = {stream.casefold(): posting for stream, posting in postings.items()}
    posting = found.get(name.casefold())
    if posting is None:
        raise ServerError(
            "request.not_found", f'no stream "{name}" takes readings', did_you_mean(name, postings)
        )
    return posting
