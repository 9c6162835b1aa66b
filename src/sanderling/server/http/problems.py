"""Errors as RFC 9457 has them, with our code, hint and place. The one place that knows statuses."""

from __future__ import annotations

import logging
import secrets
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from sanderling.errors import InternalError, SanderlingError, ServerError, SessionError

MEDIA = "application/problem+json"
log = logging.getLogger("sanderling.server")

STATUS = {
    "session.no_query": 404, "session.bad_argument": 400, "query.name_taken": 409, "auth.missing": 401,
    "auth.unknown_token": 404, "request.not_found": 404, "request.not_acceptable": 406,
    "request.too_long": 413, "request.too_slow": 408,
    "request.bad_type": 415, "request.exists": 409, "request.bad_host": 421, "request.no_method": 405,
    "request.bad_origin": 403, "state.updates_gone": 410,
}  # fmt: skip
OF_FAMILY = {
    "query": 422, "data": 422, "config": 400, "auth": 403, "limit": 429, "state": 503, "session": 503,
    "request": 400, "internal": 500,
}  # fmt: skip
SECONDS_TO_WAIT = "5"


def status_of(code: str) -> int:
    return STATUS.get(code) or OF_FAMILY.get(code.partition(".")[0], 500)


def told(e: SanderlingError) -> dict[str, Any]:
    """What a client is told of an error."""
    place = None if e.place is None else asdict(e.place)
    return {"code": e.code, "message": e.message, "hint": e.hint, "place": place}


def problem(e: SanderlingError) -> Response:
    status, said = status_of(e.code), told(e)
    body = {
        "type": f"/errors#{e.code}",
        "title": e.code,
        "status": status,
        "detail": said.pop("message"),
        **said,
    }
    headers = {}
    if status == 429:
        headers["Retry-After"] = SECONDS_TO_WAIT
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="sanderling"'
    return JSONResponse(body, status, headers, MEDIA)


def unforeseen(e: BaseException) -> SanderlingError:
    """What is none of ours: its words go to the log, and the client gets a number to find them by."""
    number = secrets.token_hex(4)
    log.error("fault %s", number, exc_info=e)
    return InternalError("internal.fault", f"something went wrong here; it is number {number} in the log")


async def _ours(request: Request, e: Exception) -> Response:
    assert isinstance(e, SanderlingError)
    return problem(e)


async def _invalid(request: Request, e: Exception) -> Response:
    assert isinstance(e, RequestValidationError)
    first = e.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return problem(SessionError("session.bad_argument", f"{where}: {first['msg']}", "see /openapi.json"))


async def _http(request: Request, e: Exception) -> Response:
    assert isinstance(e, HTTPException)
    if isinstance(e.__cause__, SanderlingError):  # raised while the body was read
        return problem(e.__cause__)
    code = {404: "request.not_found", 405: "request.no_method"}.get(e.status_code, "request.bad")
    return problem(ServerError(code, f"{request.method} {request.url.path}: {e.detail}", "see /openapi.json"))


async def _fault(request: Request, e: Exception) -> Response:
    return problem(unforeseen(e))


def tell_problems(app: FastAPI) -> None:
    app.add_exception_handler(SanderlingError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fault)
