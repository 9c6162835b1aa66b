"""What /openapi.json says beside what follows from our functions: problems, tokens, forms, bodies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from sanderling.server.http.problems import MEDIA

Json = dict[str, Any]

# Whoever watches over machines has no token.
WITHOUT_TOKEN = ("/healthz", "/readyz")
PROBLEM: Json = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "hint", "place"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string"}, "code": {"type": "string"}, "hint": {"type": "string"},
        "place": {
            "type": ["object", "null"], "required": ["line", "column", "length", "text"],
            "properties": {
                "line": {"type": "integer"}, "column": {"type": "integer"}, "length": {"type": "integer"},
                "text": {"type": "string"},
            },
        },
    },
}  # fmt: skip
# Of every path; what is refused looks the same everywhere.
PROBLEMS: dict[int | str, Json] = {
    "default": {"description": "what was wrong", "content": {MEDIA: {"schema": PROBLEM}}}
}


def in_forms(forms: Iterable[str], said: str) -> Json:
    """A response, or a body, in one of several media."""
    return {"description": said, "content": {form: {} for form in forms}}


def describe(app: FastAPI) -> None:
    def described() -> Json:
        if app.openapi_schema is None:
            found = get_openapi(title=app.title, version=app.version, routes=app.routes)
            schemes = found.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["token"] = {"type": "http", "scheme": "bearer"}
            found["security"] = [{"token": []}]
            for path in WITHOUT_TOKEN:
                found["paths"][path]["get"]["security"] = []
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]
