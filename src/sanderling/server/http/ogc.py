"""OGC API Features: each query is a layer for QGIS and the like, and for operators each stream too.

/ogc  /ogc/conformance  /ogc/collections  /ogc/collections/{id}  …/items  …/items/{feature}

Coordinates are as they are: those of a plane have no name that a map could know.
"""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Query, Request, Response

from sanderling.clock import NOTHING_YET, show_time, time_of
from sanderling.deliver.render import joined, json_objects, text_of
from sanderling.errors import ServerError, SessionError
from sanderling.server.http.api import box_of, is_shown, within
from sanderling.server.http.callers import Caller, service_of
from sanderling.server.http.described import in_forms
from sanderling.server.hub.channel import Channel
from sanderling.server.rights.statements import OWN
from sanderling.server.rights.tokens import Token
from sanderling.server.service import Service
from sanderling.server.shown.columns import key_column, place_columns
from sanderling.server.shown.forms import GEOJSON, objects, points

router = APIRouter(prefix="/ogc")
Json = dict[str, Any]

CLASSES = ("core", "geojson", "oas30")
SPEC = "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/"
CRS = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
MOST, USUAL = 10_000, 1_000
STREAM = "stream:"


@router.get("")
def landing(request: Request, token: Caller) -> Json:
    return {
        "title": "Sanderling", "description": "answers of continuous queries, as at the last tick",
        "links": [
            _link(request, "", "self", "this page"),
            _link(request, "/conformance", "conformance", "what is kept to"),
            _link(request, "/collections", "data", "the layers"),
            {
                "href": f"{_root(request)}openapi.json", "rel": "service-desc", "title": "the API",
                "type": "application/vnd.oai.openapi+json;version=3.0",
            },
        ],
    }  # fmt: skip


@router.get("/conformance")
def conformance(request: Request, token: Caller) -> Json:
    return {"conformsTo": [SPEC + name for name in CLASSES]}


@router.get("/collections")
def collections(request: Request, token: Caller) -> Json:
    """The queries that you may see; for operators the streams too."""
    service = service_of(request)
    seen = service.host.seen()
    found = [_collection(request, m.name, m.sql) for m in seen.members if is_shown(service, token, m.name)]
    if token.is_operator:
        found += [_collection(request, STREAM + s.name, "all objects of a stream") for s in seen.streams]
    return {"collections": found, "links": [_link(request, "/collections", "self", "the layers")]}


@router.get("/collections/{id_}")
def collection(request: Request, id_: str, token: Caller) -> Json:
    service = service_of(request)
    name = _refuse_hidden(service, token, id_)
    member = service.host.member(name)
    return _collection(request, id_, "all objects of a stream" if member is None else member.sql)


def _collection(request: Request, id_: str, said: str) -> Json:
    path = f"/collections/{quote(id_, safe='')}"
    items = {**_link(request, f"{path}/items", "items", "its features"), "type": GEOJSON}
    return {
        "id": id_, "title": id_, "description": said, "itemType": "feature", "crs": [CRS],
        "links": [_link(request, path, "self", id_), items],
    }  # fmt: skip


@router.get(
    "/collections/{id_}/items",
    response_class=Response,
    responses={200: in_forms([GEOJSON], "features")},
)  # fmt: skip
async def items(
    request: Request, id_: str, token: Caller, limit: Annotated[int, Query(ge=1)] = USUAL,
    offset: Annotated[int, Query(ge=0)] = 0, bbox: str | None = None,
    datetime: str | None = None,
) -> Response:  # fmt: skip
    """The rows of an answer as features."""
    channel = await _channel(service_of(request), token, id_)
    rows = _asked(channel, bbox, datetime)
    limit = min(limit, MOST)
    page = rows.slice(offset, limit)
    path = f"/collections/{quote(id_, safe='')}/items"
    links = [_link(request, path, "self", "these", request.query_params)]
    if offset + page.num_rows < rows.num_rows:
        more = {**request.query_params, "limit": limit, "offset": offset + limit}
        links.append(_link(request, path, "next", "more", more))
    for link in links:
        link["type"] = GEOJSON
    head = {
        "type": "FeatureCollection", "numberMatched": rows.num_rows, "numberReturned": page.num_rows,
        "links": links, "timeStamp": None if channel.tick == NOTHING_YET else show_time(channel.tick),
    }  # fmt: skip
    service = service_of(request)
    async with service.turn(token):
        said = await service.hub.beside(features, page, channel)
        body = json.dumps(head)[:-1].encode() + b', "features": [' + said + b"]}\n"
        await service.flow.pass_(token, len(body))
    return Response(body, media_type=GEOJSON)


@router.get(
    "/collections/{id_}/items/{feature}",
    response_class=Response,
    responses={200: in_forms([GEOJSON], "features")},
)  # fmt: skip
async def item(request: Request, id_: str, feature: str, token: Caller) -> Response:
    channel = await _channel(service_of(request), token, id_)
    rows, at = channel.whole().rows, key_column(channel.columns)
    if at is not None:
        rows = rows.filter(pc.equal(rows.column(2 + at).cast(pa.string()), feature)).slice(0, 1)
    if at is None or not rows.num_rows:
        raise ServerError("request.not_found", f'"{id_}" has no feature "{feature[:80]}"')
    return Response(features(rows, channel), media_type=GEOJSON)


def features(rows: pa.Table, channel: Channel) -> bytes:
    """One a row, parted by commas; known by its key."""
    if not rows.num_rows:
        return b""
    place, at = place_columns(channel.columns), key_column(channel.columns)
    id_: tuple[pa.Array | str, ...] = ()
    if at is not None:
        id_ = ('"id": ', json_objects([("id", rows.column_names[2 + at])], rows)[1], ", ")
    geometry = "null" if place is None else points(rows, place)
    begin = ('{"type": "Feature", ', *id_, '"geometry": ', geometry)
    said = joined(*begin, ', "properties": ', *objects(rows, channel.columns), "},\n")
    return bytes(text_of(said)).rstrip(b",\n")


def _asked(channel: Channel, bbox: str | None, datetime: str | None) -> pa.Table:
    rows = channel.whole().rows
    if bbox is not None:
        box = box_of(bbox)
        if place_columns(channel.columns) is not None:
            rows = within(rows, channel.columns, box)
    at = next((n for n, c in enumerate(channel.columns) if c.type == "TIMESTAMP"), None)
    if datetime is not None:
        begin, end = _interval(datetime)
        if at is not None:
            time = rows.column(2 + at).cast(pa.int64())
            rows = rows.filter(pc.and_(pc.greater_equal(time, begin), pc.less_equal(time, end)))
    return rows


def _interval(text: str) -> tuple[int, int]:
    """A time, or two with a slash between; .. or nothing is no bound."""
    begin, slash, end = text.partition("/")
    bounds = [_time(begin, -(2**62)), _time(end, 2**62)] if slash else [_time(text, None)] * 2
    return bounds[0], bounds[1]


def _time(text: str, unbound: int | None) -> int:
    if unbound is not None and text in ("", ".."):
        return unbound
    found = time_of(text)
    if found is None:
        raise SessionError(
            "session.bad_argument", f"datetime: {text[:60]} is no time", "2024-05-01T08:00:01Z"
        )
    return found


# ----- layers by their names


async def _channel(service: Service, token: Token, id_: str) -> Channel:
    name = await service.hub.beside(_refuse_hidden, service, token, id_)
    if id_.startswith(STREAM):
        await service.views.keep(id_.removeprefix(STREAM))
    return await service.hub.channel(name)


def _refuse_hidden(service: Service, token: Token, id_: str) -> str:
    """The name of the query behind a layer."""
    if id_.startswith(STREAM) and token.is_operator:
        name = id_.removeprefix(STREAM)
        if name in [s.name for s in service.host.seen().streams]:
            return OWN + name
    elif service.host.member(id_) is not None and is_shown(service, token, id_):
        return id_
    raise ServerError("request.not_found", f'there is no layer "{id_[:80]}"', "see /ogc/collections")


def _root(request: Request) -> str:
    return str(request.base_url)


def _link(request: Request, path: str, rel: str, title: str, parameters: Any = None) -> Json:
    said = f"?{urlencode(dict(parameters))}" if parameters else ""
    return {
        "href": f"{_root(request)}ogc{path}{said}",
        "rel": rel,
        "type": "application/json",
        "title": title,
    }
