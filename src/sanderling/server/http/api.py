"""Statements, and lists of what there is: /api/v1."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Body, Query, Request, Response
from pydantic import BaseModel, Field

from sanderling.clock import NOTHING_YET
from sanderling.errors import ServerError, SessionError, did_you_mean
from sanderling.plans.columns import by_places
from sanderling.server.http.callers import Caller, service_of
from sanderling.server.http.described import in_forms
from sanderling.server.hub.hub import id_of
from sanderling.server.rights.statements import OWN, REGISTRATIONS
from sanderling.server.rights.tokens import Token
from sanderling.server.service import Service
from sanderling.server.shown.catalog import shown_query, shown_regions, shown_stream, shown_table
from sanderling.server.shown.columns import ShownColumn, columns_of, place_columns
from sanderling.server.shown.forms import ANSWER_FORMS, GEOJSON, Answer, chosen
from sanderling.server.shown.shapes import drawn
from sanderling.server.version import VERSION
from sanderling.session.host import Outcome, statements_in

router = APIRouter(prefix="/api/v1")
Json = dict[str, Any]


class Sql(BaseModel):
    """Statements, each ended by a semicolon."""

    sql: str = Field(examples=["REGISTER QUERY in_depot AS SELECT id FROM taxis INSIDE (0, 0, 10, 10)"])


class Registration(BaseModel):
    """A query by its SELECT, or the whole statement of a trigger or a pattern."""

    select: str | None = Field(None, examples=["SELECT id FROM taxis INSIDE (0, 0, 10, 10)"])
    sql: str | None = None


# ----- what there is


@router.get("")
def about(request: Request, token: Caller) -> Json:
    """Who you are, and what there is."""
    service = service_of(request)
    return {
        "name": "sanderling", "version": VERSION, "tick": service.hub.tick,
        "you": {"owner": token.owner, "role": token.role, "may_send": token.may_send},
        "limits": asdict(token.limits),
        "streams": streams_in(service), "operator": token.is_operator,
        "map": service.ground.shown(),
    }  # fmt: skip


def streams_in(service: Service) -> list[Json]:
    closed = service.hub.closed
    found = ((s, closed.get(s.name, NOTHING_YET)) for s in service.host.seen().streams)
    return [shown_stream(stream, None if tick == NOTHING_YET else tick) for stream, tick in found]


@router.get("/streams")
def streams(request: Request, token: Caller) -> list[Json]:
    return streams_in(service_of(request))


@router.get("/tables")
def tables(request: Request, token: Caller) -> list[Json]:
    return [shown_table(table) for table in service_of(request).host.seen().tables]


@router.get("/tables/{name}", response_class=Response, responses={200: in_forms(ANSWER_FORMS, "its rows")})
def table(request: Request, name: str, token: Caller) -> Response:
    """The rows of a table; its regions as GeoJSON."""
    found = {t.name.casefold(): t for t in service_of(request).host.seen().tables}
    mine = found.get(name.casefold())
    if mine is None:
        raise ServerError("request.not_found", f'no table is named "{name}"', did_you_mean(name, found))
    form = form_of(request)
    if form == GEOJSON and mine.region is not None:
        return Response(json.dumps(features_of(mine.rows, mine.region), default=str), media_type=GEOJSON)
    rows = mine.rows.drop_columns([mine.region]) if mine.region is not None else mine.rows
    columns = tuple(ShownColumn(c.name, c.type.name) for c in mine.columns if c.name != mine.region)
    signed = rows.rename_columns(by_places(rows.num_columns)).add_column(0, "sign", [[1] * rows.num_rows])
    signed = signed.add_column(0, "tick", [[0] * rows.num_rows])
    return Response(Answer(signed, columns, None).written(form), media_type=form)


def features_of(rows: pa.Table, region: str) -> Json:
    """A feature a row of a table of regions."""
    others = rows.drop_columns([region]).to_pylist()
    shapes = [outline and drawn(outline) for outline in rows.column(region).to_pylist()]
    features = [
        {"type": "Feature", "geometry": shape, "properties": said}
        for shape, said in zip(shapes, others, strict=True)
    ]
    return {"type": "FeatureCollection", "features": features}


@router.get("/regions", response_class=Response, responses={200: in_forms([GEOJSON], "regions by name")})
def regions(request: Request, token: Caller) -> Response:
    return Response(json.dumps(shown_regions(service_of(request).host.seen())), media_type=GEOJSON)


# ----- statements


@router.post("/sql")
def sql(request: Request, said: Sql, token: Caller, dry: bool = False) -> Json:
    """Runs statements, all or none; `dry` only checks them."""
    service = service_of(request)
    service.pace.take(token, max(1, said.sql.count(";")))
    return shown_outcome(service.statements.run(said.sql, token, is_dry=dry))


def shown_outcome(outcome: Outcome) -> Json:
    return {
        "registered": [
            {"name": m.name, "kind": m.query.kind, "columns": [c.shown() for c in columns_of(m)]}
            for m in outcome.registered
        ],
        "dropped": list(outcome.dropped),
        "listings": [{"title": s.title, "columns": s.columns, "rows": s.rows} for s in outcome.listings],
    }  # fmt: skip


# ----- queries


@router.get("/queries")
def queries(
    request: Request, response: Response, token: Caller, owner: str | None = None, like: str | None = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000, offset: Annotated[int, Query(ge=0)] = 0,
) -> list[Json]:  # fmt: skip
    """Those that you may see, in order of registration."""
    service = service_of(request)
    found = [m for m in service.host.seen().members if is_shown(service, token, m.name)]
    if owner is not None:
        found = [m for m in found if service.owners.of(m.name) == owner]
    if like is not None:
        found = [
            m for m in found if like.casefold() in m.name.casefold() or like.casefold() in m.sql.casefold()
        ]
    response.headers["X-Total-Count"] = str(len(found))
    return [_shown(service, m.name) for m in found[offset : offset + limit]]


def is_shown(service: Service, token: Token, name: str) -> bool:
    return not name.startswith(OWN) and service.statements.may_see(token, name)


def _shown(service: Service, name: str) -> Json:
    member = service.host.member(name)
    if member is None:
        raise _no_query(name)
    channel = None if member.number is None else service.hub.known(member.number)
    return shown_query(member, service.owners.of(name), channel)


def _no_query(name: str) -> SessionError:
    return SessionError("session.no_query", f'there is no query "{name}"')


def seen_by(service: Service, token: Token, name: str) -> None:
    """Another's query is not there, as far as a client can tell."""
    if not service.statements.may_see(token, name) or service.host.member(name) is None:
        raise _no_query(name)


@router.get("/queries/{name}")
def query(request: Request, name: str, token: Caller) -> Json:
    service = service_of(request)
    seen_by(service, token, name)
    return _shown(service, name)


@router.put("/queries/{name}", status_code=201, responses={200: {"description": "it was there"}})
def register(
    request: Request, response: Response, name: str, said: Annotated[Registration, Body()], token: Caller,
    replace: bool = False,
) -> Json:  # fmt: skip
    """Registers a query, a trigger or a pattern; the same text again changes nothing."""
    service = service_of(request)
    statement = statement_of(name, said)
    with service.host.alone():
        there = service.host.member(name)
        if there is not None:
            if not service.statements.may_see(token, name):
                raise ServerError("request.exists", f'"{name}" is taken', "choose another name")
            if _sql_of(statement, name) == _sql_of(there.sql, name):
                response.status_code = 200
                return _shown(service, name)
            if not replace:
                raise ServerError(
                    "request.exists",
                    f'"{name}" is registered with another text',
                    "?replace=true, or another name",
                )
        service.pace.take(token, 1)
        drop = "" if there is None else f"DROP {there.query.kind.upper()} {quoted(name)};\n"
        service.statements.run(drop + statement, token)
    return _shown(service, name)


def statement_of(name: str, said: Registration) -> str:
    """One statement that registers something of this name."""
    if (said.select is None) == (said.sql is None):
        raise SessionError("session.bad_argument", "give a select, or the sql of a trigger or a pattern")
    if said.select is not None:
        return f"REGISTER QUERY {quoted(name)} AS {said.select.strip().rstrip(';')}"
    sql = (said.sql or "").strip()
    found = statements_in(sql)
    if len(found) != 1 or not isinstance(found[0], REGISTRATIONS) or found[0].name.text != name:
        raise SessionError("session.bad_argument", f'sql: this is not one statement that registers "{name}"')
    return sql


def _sql_of(sql: str, name: str) -> str:
    """Without its head: two texts with the same query."""
    words = " ".join(sql.split()).rstrip(";")
    head = f"REGISTER QUERY {quoted(name)} AS "
    return words.removeprefix(head)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@router.delete("/queries/{name}", status_code=204)
def drop(request: Request, name: str, token: Caller) -> None:
    service = service_of(request)
    with service.host.alone():
        seen_by(service, token, name)
        member = service.host.member(name)
        assert member is not None
        service.pace.take(token, 1)
        service.statements.run(f"DROP {member.query.kind.upper()} {quoted(name)}", token)


@router.get("/plan/{name}")
def plan(request: Request, name: str, token: Caller, analyze: bool = False) -> Json:
    """The lines of EXPLAIN."""
    service = service_of(request)
    seen_by(service, token, name)
    outcome = service.statements.run(f"EXPLAIN {'ANALYZE ' if analyze else ''}{quoted(name)}", token)
    (listing,) = outcome.listings
    lines = [" ".join(row).rstrip() for row in listing.rows]
    return {"title": listing.title, "lines": lines, "columns": listing.columns, "rows": listing.rows}


# ----- answers


@router.get(
    "/queries/{name}/answer", response_class=Response,
    responses={200: in_forms(ANSWER_FORMS, "its rows"), 304: {"description": "as it was"}},
)  # fmt: skip
async def answer(
    request: Request, name: str, token: Caller, limit: Annotated[int | None, Query(ge=0)] = None,
    bbox: str | None = None,
) -> Response:  # fmt: skip
    """The rows of a query as at the last tick that closed."""
    service = service_of(request)
    form = form_of(request)
    await service.hub.beside(seen_by, service, token, name)
    channel = await service.hub.channel(name)
    tag = f'"{id_of(channel, channel.tick)}"' if channel.tick != NOTHING_YET else None
    if tag is not None and tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={"ETag": tag})
    rows = channel.whole().rows
    if bbox is not None:
        rows = within(rows, channel.columns, box_of(bbox))
    tick = None if tag is None else tag.strip('"').partition("@")[2]
    found = Answer(rows if limit is None else rows.slice(0, limit), channel.columns, tick)
    async with service.turn(token):
        body = await service.hub.beside(found.written, form)
        await service.flow.pass_(token, len(body))
    return Response(body, media_type=form, headers={} if tag is None else {"ETag": tag})


def form_of(request: Request) -> str:
    form = chosen(request.headers.get("accept"), ANSWER_FORMS)
    if form is None:
        raise ServerError("request.not_acceptable", "none of these forms is ours", ", ".join(ANSWER_FORMS))
    return form


def box_of(text: str) -> tuple[float, float, float, float]:
    """x1, y1, x2, y2; or with heights, which nobody has here."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 6:
        numbers = [*numbers[:2], *numbers[3:5]]
    if len(numbers) != 4 or any(n != n for n in numbers):
        raise SessionError("session.bad_argument", f"bbox = {text[:60]} is no box", "x1,y1,x2,y2")
    return numbers[0], numbers[1], numbers[2], numbers[3]


def within(
    rows: pa.Table, columns: Sequence[ShownColumn], box: tuple[float, float, float, float]
) -> pa.Table:
    """Those whose place is in a box, borders included."""
    place = place_columns(columns)
    if place is None:
        raise SessionError(
            "session.bad_argument", "bbox: the rows have no place", "select the location's columns"
        )
    x, y = (rows.column(2 + at).cast(pa.float64()) for at in place)
    beside = pc.and_(pc.greater_equal(x, box[0]), pc.less_equal(x, box[2]))
    above = pc.and_(pc.greater_equal(y, box[1]), pc.less_equal(y, box[3]))
    return rows.filter(pc.and_(beside, above))
