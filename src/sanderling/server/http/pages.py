"""The page, its files, and the map beneath it; and where a browser swaps its token for a cookie."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse, RedirectResponse

from sanderling.errors import ConfigError, ServerError
from sanderling.server.http.callers import service_of
from sanderling.server.http.problems import status_of

router = APIRouter(include_in_schema=False)

MEDIA = {
    ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml", ".json": "application/json", ".map": "application/json", ".png": "image/png",
    ".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2", ".geojson": "application/geo+json",
}  # fmt: skip


def static_folder() -> Path:
    return Path(str(files("sanderling.server") / "static"))


@router.get("/")
def page(request: Request, token: str | None = None) -> Response:
    """The page. With a token it is swapped for a cookie that no script can read."""
    service = service_of(request)
    if token is not None:
        if service.tokens.known(token) is None:
            raise ServerError(
                "auth.missing", "this token is none of ours", "the server said one when it started"
            )
        answer = RedirectResponse("/", 303)
        is_safe = request.url.scheme == "https"
        answer.set_cookie(service.cookie, token, httponly=True, samesite="strict", secure=is_safe, path="/")
        return answer
    index = static_folder() / "index.html"
    if not index.exists():
        e = ConfigError("config.no_page", "the page is not built", "run `make web`; the API works without it")
        return PlainTextResponse(f"{e}\n", status_of(e.code))
    return FileResponse(index, media_type=MEDIA[".html"])


@router.get("/map/roads.geojson")
def roads(request: Request) -> Response:
    """Lines beneath the objects."""
    return _beneath(service_of(request).ground.roads, "--roads", "application/geo+json")


@router.get("/map/tiles.pmtiles")
def tiles(request: Request) -> Response:
    """A page asks for parts of it, by Range."""
    return _beneath(service_of(request).ground.tiles, "--tiles", "application/vnd.pmtiles")


def _beneath(path: Path | None, option: str, media: str) -> Response:
    if path is None:
        raise ServerError("request.not_found", "there is no such base map", f"start with {option} FILE")
    return FileResponse(path, media_type=media)


@router.get("/{path:path}")
def file(request: Request, path: str) -> Response:
    """A file of the page. Nothing outside its folder is one."""
    folder = static_folder().resolve()
    found = (folder / path).resolve()
    if not found.is_relative_to(folder) or not found.is_file() or found.suffix not in MEDIA:
        raise ServerError("request.not_found", f"there is nothing at /{path[:80]}", "see /openapi.json")
    return FileResponse(found, media_type=MEDIA[found.suffix])
