"""Draws the pictures of the page: the demo's city in a browser, both views, light and dark.

.venv/bin/python tools/draw_page.py
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
COMMAND = [sys.executable, "-c", "from sanderling.command import main; main()", "demo"]
# Mesa draws the globe several times as fast as SwiftShader does.
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist"]
# On the screen: two corners each, or a centre and a place on the circle.
RECTANGLE, CIRCLE = ((250, 190), (400, 360)), ((600, 330), (665, 380))


def main() -> None:
    with subprocess.Popen([*COMMAND, "--objects", "2000"], stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        link = next(filter(None, (re.search(r"http\S+", line) for line in demo.stdout)))[0]
        try:
            draw(link)
        finally:
            demo.terminate()
            demo.stdout.read()


def draw(link: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1200, "height": 720})
        page.goto(link)  # the operator's view: what is shown first is shown when the first tick is over
        page.locator("#map-note", has_text="in view").wait_for(timeout=400_000)
        page.get_by_role("link", name="Ask", exact=True).first.click()
        page.wait_for_timeout(3000)
        save(page, "map-first")
        ask(page)
        keep(page, "map")
        page.get_by_role("link", name="Operator").click()
        page.wait_for_timeout(10_000)
        keep(page, "operator")
        page.get_by_role("link", name="Ask", exact=True).first.click()
        page.set_viewport_size({"width": 390, "height": 780})
        page.get_by_role("button", name="show all").click()
        page.wait_for_timeout(6000)
        save(page, "map-phone")
        browser.close()


def ask(page: Page) -> None:
    drag(page, "Inside a circle", *CIRCLE)
    submit(page)
    page.get_by_role("button", name="Nearest to an object").click()
    page.get_by_label("id of the object").fill("40")
    submit(page)
    drag(page, "Inside a rectangle", *RECTANGLE)
    page.get_by_label("only where").fill("type <> 'bike'")
    submit(page)
    page.wait_for_timeout(12_000)
    box = page.locator("#answer .list-scroll").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 150)  # rows come and go: a place in the list, not a row
    page.wait_for_timeout(500)


def drag(page: Page, tool: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    page.get_by_role("button", name=tool).click()
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=3)
    page.mouse.up()


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit").click()
    page.locator("#ask").wait_for(state="hidden")


def keep(page: Page, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(1500)
        save(page, f"{name}-{scheme}")


def save(page: Page, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = PICTURES / f"{name}.png"
    of_few_colours(picture).save(path, optimize=True)
    print(path.name, path.stat().st_size)


def of_few_colours(picture: Image.Image) -> Image.Image:
    """Its most frequent colours as they are, and some for all others; so a ground keeps its own."""
    others = picture.quantize(64, Image.Quantize.MEDIANCUT).convert("RGB").getcolors() or []
    colours, place, count = np.unique(
        np.asarray(picture, np.int32).reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    frequent = colours[np.argsort(count)[::-1][: 256 - len(others)]]
    palette = np.concatenate([frequent, np.array([colour for _, colour in others], np.int32)])
    nearest = np.stack([((palette - colour) ** 2).sum(axis=1) for colour in colours]).argmin(axis=1)
    found = Image.fromarray(
        nearest[place.reshape(-1)].astype(np.uint8).reshape(picture.height, picture.width), "P"
    )
    found.putpalette(palette.astype(np.uint8).tobytes())
    return found


if __name__ == "__main__":
    main()
