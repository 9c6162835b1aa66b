"""What lies beneath the objects: lines on a plane; on the globe tiles, or a style from elsewhere."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from sanderling.server.shown.ground import Ground
from tests.server.page.archive import archive_of
from tests.server.page.visit import Visit, Visits, until

PINK, GREEN = (250, 20, 200), (20, 180, 60)


def goes_to_sea(visit: Visit) -> None:
    visit.page.goto(f"{visit.page.url.partition('?')[0]}?stream=ships")
    visit.page.locator("#link.open").wait_for()
    expect(visit.page.get_by_label("stream on the map")).to_have_value("ships")
    until(lambda: visit.asks("window.sanderling?.map.view !== null"))


def paint(visit: Visit, at: tuple[float, float]) -> tuple[int, ...]:
    """The colour on the screen at a place."""
    x, y = visit.at(at)
    picture = visit.page.screenshot(clip={"x": x, "y": y, "width": 1, "height": 1})
    colour: tuple[int, ...] = Image.open(io.BytesIO(picture)).convert("RGB").getpixel((0, 0))  # type: ignore[assignment]
    return colour


def test_ships_on_the_globe_over_an_archive_of_tiles(
    anna: Visit, visits: Visits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "earth.pmtiles").write_bytes(archive_of(PINK))
    monkeypatch.setattr(visits.town.server.service, "ground", Ground(tiles=tmp_path / "earth.pmtiles"))
    goes_to_sea(anna)
    until(lambda: paint(anna, (20, 10)) == PINK)
    visits.town.tell_ships([("anna", 10, 20), ("far", 120, -30)])
    anna.drag("Inside a rectangle", (0, 0), (30, 40))
    assert "FROM ships INSIDE (" in anna.page.get_by_label("SQL").input_value()
    anna.submit()
    visits.town.tell_ships([("anna", 11, 20)])
    until(lambda: anna.keys() == ["anna"])
    (place,) = anna.drawn().values()
    assert place == pytest.approx([11, 20], abs=1e-4)
    until(lambda: paint(anna, (11, 20)) != PINK)  # there it is, above the tiles


class Elsewhere(BaseHTTPRequestHandler):
    """A style on another machine: one colour."""

    def do_GET(self) -> None:
        layer = {"id": "sea", "type": "background", "paint": {"background-color": f"rgb{GREEN}"}}
        body = json.dumps({"version": 8, "sources": {}, "layers": [layer]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None: ...


@pytest.fixture
def style() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/style.json"
        server.shutdown()
        thread.join()


def test_a_style_from_elsewhere(
    anna: Visit, visits: Visits, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's policy lets it come; without one nothing from elsewhere may."""
    address = visits.town.server.address
    assert "https:" not in anna.api.get(address).headers["content-security-policy"]
    monkeypatch.setattr(visits.town.server.service, "ground", Ground(style=style))
    goes_to_sea(anna)
    until(lambda: paint(anna, (20, 10)) == GREEN)
