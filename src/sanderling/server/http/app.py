"""The application: what answers which path."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp

from sanderling.server.http import api, live, ogc, operators, pages, readings, trackers, updates
from sanderling.server.http.described import PROBLEMS, describe
from sanderling.server.http.guard import Guard
from sanderling.server.http.problems import tell_problems
from sanderling.server.service import Service
from sanderling.server.version import VERSION


def app_of(service: Service) -> ASGIApp:
    """Documented at /openapi.json and in docs/api.md; a page that loads others' scripts is none of ours."""
    app = FastAPI(
        title="Sanderling", version=VERSION, docs_url=None, redoc_url=None, responses=PROBLEMS
    )  # fmt: skip
    app.state.service = service
    tell_problems(app)
    describe(app)
    for part in (api, updates, live, readings, trackers, operators, ogc):
        app.include_router(part.router)
    app.include_router(operators.machines)
    app.include_router(pages.router)  # it takes whatever is left
    return Guard(app, service)
