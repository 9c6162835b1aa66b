"""A real browser for the page: Chromium as the system has it, driven by Playwright. It draws in software."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.server.page.visit import SECONDS, Visit, Visits
from tests.server.town import Town

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For a file of tests: as long as Playwright is there, nobody else in this thread may have a loop."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "there is no Chromium for the tests of the page: run tools/setup --browser"
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visits(browser: Browser, town: Town) -> Iterator[Visits]:
    """Opens pages; what goes wrong in one of them fails the test."""
    visits = Visits(browser, town)
    yield visits
    visits.close()


@pytest.fixture
def anna(visits: Visits) -> Visit:
    """A client with no queries yet."""
    return visits.of(town_name(visits))


def town_name(visits: Visits) -> str:
    return f"anna {visits.town.name()}"
