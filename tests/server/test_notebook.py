"""A map in a notebook: what it is told, and that the page's own map draws it in a real browser."""

from __future__ import annotations

import base64
import gc
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sanderling.errors import ConfigError, SessionError
from sanderling.notebook.map import QueryMap
from tests.server.page.conftest import browser, visits
from tests.server.page.visit import Visits
from tests.server.test_postgres import named
from tests.server.town import Town

__all__ = ["browser", "visits"]  # fixtures
SELECT = "SELECT id, x, y, heading FROM taxis INSIDE (0, 820, 10, 830)"


class Heard:
    """What goes to a view, taken before the notebook would have it."""

    def __init__(self, shown: QueryMap, monkeypatch: pytest.MonkeyPatch):
        self.frames: list[tuple[bool, bytes]] = []
        monkeypatch.setattr(shown, "send", self._send)

    def _send(self, said: dict[str, Any], buffers: Sequence[bytes]) -> None:
        assert said["op"] == "rows"
        self.frames.append((said["whole"], buffers[0]))

    def rows(self, count: int) -> list[tuple[bool, dict[str, Any]]]:
        """All so far, once there are so many."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = [
                (w, r) for w, f in list(self.frames) for r in pa.ipc.open_stream(f).read_all().to_pylist()
            ]
            if len(found) >= count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"no {count} rows in {self.frames}")


def test_a_view_is_told_the_answer_and_what_changes(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    with named(town, SELECT) as name:
        town.tell([("a", 1, 821)])
        shown = town.session.map(name, height=300)
        assert [(c["name"], c["role"]) for c in shown.columns] == [
            ("id", "key"), ("x", "x"), ("y", "y"), ("heading", "heading"),
        ]  # fmt: skip
        heard = Heard(shown, monkeypatch)
        shown._handle_custom_msg({"op": "ready"}, [])
        heard.rows(1)
        town.tell([("a", 2, 821)])
        told = [(whole, row["sign"], row["x"]) for whole, row in heard.rows(3)]
        assert told == [(True, 1, 1.0), (False, -1, 1.0), (False, 1, 2.0)]
        shown._handle_custom_msg({"op": "ready"}, [])  # another view
        assert [row["x"] for whole, row in heard.rows(4)[3:] if whole] == [2.0]
        assert "4 updates sent" in repr(shown)
        thread = shown._feeding[1]  # type: ignore[index]
        shown.close()
        assert not thread.is_alive()
    with pytest.raises(SessionError) as e:
        town.session.map("no such query")
    assert e.value.code == "session.no_query"


def test_without_the_extra_it_says_how_to_get_it(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sanderling.notebook.map", None)
    with pytest.raises(ConfigError) as e:
        town.session.map("ours")
    assert e.value.code == "config.not_installed" and "sanderling[notebook]" in e.value.hint


def test_a_map_that_is_not_built(town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.notebook.map.BUILT", tmp_path / "widget.js")
    with pytest.raises(ConfigError, match="not built") as refused:
        town.session.map("ours")
    assert refused.value.code == "config.no_page"
    del refused
    gc.collect()  # what was begun of it goes without a word: a warning here would be an error


def test_a_browser_draws_it(town: Town, visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own map, built for notebooks, with frames as a session sends them."""
    with named(town, SELECT) as name:
        town.tell([("a", 1, 821), ("b", 9, 829)])
        shown = town.session.map(name, height=200)
        heard = Heard(shown, monkeypatch)
        shown._handle_custom_msg({"op": "ready"}, [])
        heard.rows(2)
        town.tell([("b", 99, 99)])
        heard.rows(3)
        frames = [[whole, base64.b64encode(frame).decode()] for whole, frame in heard.frames]
        columns = shown.columns
        shown.close()
    page = visits.of("operator").page
    page.evaluate(
        """async ([name, columns, frames]) => {
          const {default: {render}} = await import('/widget.js');
          const el = document.createElement('div');
          el.id = 'notebook';
          el.style.cssText = 'position: fixed; top: 0; left: 0; width: 400px';
          document.body.append(el);
          let hear = () => undefined;
          const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
          const model = {
            get: key => ({name, columns, height: 200})[key],
            on: (_, then) => { hear = then; }, off: () => { hear = () => undefined; },
            send: () => frames.forEach(([whole, frame]) => hear({op: 'rows', whole}, [bytes(frame)])),
          };
          window.leave = render({model, el});
        }""",
        [name, columns, frames],
    )
    place = page.locator("#notebook > div")
    place.and_(page.get_by_label(f"{name}: 1 rows")).wait_for(timeout=60_000)
    place.locator("canvas").first.wait_for(timeout=60_000)
    box = place.bounding_box()
    assert box is not None and box["height"] == 200
    page.evaluate("window.leave()")
