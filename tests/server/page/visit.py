"""One browser's look at the page: what a person does there, and what they see."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, Locator, Page, WebSocket

from tests.server.town import Town

SIZE = {"width": 1000, "height": 640}
SECONDS = 60.0  # a machine may be busy
Point = tuple[float, float]


@dataclass(slots=True)
class Visit:
    """A page of somebody, open."""

    page: Page
    context: BrowserContext
    api: httpx.Client
    sent: list[dict[str, Any]] = field(default_factory=list)  # over the sockets, as JSON
    frames: list[bytes] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    # ----- what is seen

    def asks(self, expression: str, argument: object = None) -> Any:
        return self.page.evaluate(expression, argument)

    def rows(self) -> list[list[str]]:
        """Of the answer that is shown, without those that have just gone."""
        found: list[list[str]] = self.asks(
            """() => [...document.querySelectorAll('#answer .list-row:not(.went)')].map(
                row => [...row.children].map(cell => cell.lastChild.textContent))"""
        )
        return found

    def keys(self) -> list[str]:
        return sorted(row[0] for row in self.rows())

    def names(self) -> list[str]:
        found: list[str] = self.asks(
            "[...document.querySelectorAll('.query')].map(card => card.dataset.query)"
        )
        return found

    def drawn(self) -> dict[str, list[float]]:
        """Where the objects on the map go to, by key."""
        found: dict[str, list[float]] = self.asks(
            """() => {
                const {map, view} = sanderling, {objects} = map, found = {};
                for (let slot = 0; slot < objects.count; slot++) {
                    if (!objects.isThere(slot)) continue;
                    const key = view.slots ? view.slots.nameOf(slot).split('\\u001e')[1] : view.keys[slot];
                    const [x, y] = map.ground.origin;
                    found[key] = [objects.goals[2 * slot] + x, objects.goals[2 * slot + 1] + y];
                }
                return found;
            }"""
        )
        return found

    def at(self, place: Point) -> Point:
        """Where on the screen a place of the map is."""
        x, y = self.asks("place => sanderling.map.project(place)", list(place))
        box = self.page.locator("#map").bounding_box()
        assert box is not None
        return box["x"] + x, box["y"] + y

    # ----- what is done

    def drag(self, tool: str, start: Point, end: Point) -> None:
        self.page.get_by_role("button", name=tool).click()
        a, b = self.at(start), self.at(end)
        self.page.mouse.move(*a)
        self.page.mouse.down()
        self.page.mouse.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        self.page.mouse.move(*b)
        self.page.mouse.up()

    def submit(self) -> str:
        """Once it may be; the name of the query."""
        name = self.page.get_by_label("name", exact=True).input_value()
        self.page.get_by_role("button", name="Submit").click()  # it waits until it is enabled
        until(lambda: name in self.names())
        return name

    def card(self, name: str) -> Locator:
        return self.page.locator(f'.query[data-query="{name}"]')


class Visits:
    """All pages of one test, each of an owner with a browser's profile of their own."""

    def __init__(self, browser: Browser, town: Town):
        self._browser, self.town = browser, town
        self._all: list[Visit] = []
        self._told: set[str] = set()

    def of(self, owner: str, role: str = "client") -> Visit:
        token = self.town.token(owner, role)
        context = self._browser.new_context(viewport=SIZE, reduced_motion="reduce")  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        visit = Visit(page, context, self.town.client(token))
        self._all.append(visit)
        page.on("pageerror", lambda e: visit.errors.append(str(e)))
        page.on("websocket", lambda socket: _listen(visit, socket))
        page.goto(f"{self.town.server.address}?token={token}")
        page.locator("#link.open").wait_for()
        until(lambda: visit.asks("window.sanderling?.map.view !== null"))
        return visit

    def tell(self, *steps: list[tuple[str, float, float]]) -> None:
        """As the town does; when the test is over they are far away again."""
        self._told |= {key for step in steps for key, _, _ in step}
        self.town.tell(*steps)

    def close(self) -> None:
        errors = [e for visit in self._all for e in visit.errors]
        for visit in self._all:
            for query in visit.api.get("/api/v1/queries").json():
                if query["owner"] is not None:
                    visit.api.delete(f"/api/v1/queries/{query['name']}")
            visit.context.close()
        if self._told:
            self.town.tell([(key, 1e6, 1e6) for key in sorted(self._told)])
        assert errors == []


def _listen(visit: Visit, socket: WebSocket) -> None:
    socket.on("framesent", lambda said: visit.sent.append(json.loads(said)))
    socket.on("framereceived", lambda said: visit.frames.append(said) if isinstance(said, bytes) else None)


def until(holds: Callable[[], object]) -> None:
    """Looks until it holds."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.05)
