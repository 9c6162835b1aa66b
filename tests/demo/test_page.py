"""The page fits any terminal, and says what happened."""

from __future__ import annotations

import io
import time
from collections import Counter

import pytest
from rich.console import Console

from sanderling.demo.page import OTHER_LINES, page
from sanderling.demo.run import demo_plan
from sanderling.demo.scene import Scene


@pytest.fixture(scope="module")
def scene() -> Scene:
    scene = Scene(demo_plan())
    now = time.time()
    for tick in range(20):
        scene._tick(
            1_700_000_000_000_000 + tick * 1_000_000,
            Counter({("market", 1): 12, ("market", -1): tick, ("bunched_buses", 1): tick % 3}),
        )
    scene.batches = [(now - 2, 1_000), (now, 5_000)]
    scene.began_at = now - 2
    scene.latencies_s += [1.26] * 59 + [2.84]
    return scene


def lines_at(scene: Scene, width: int, height: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, height=height).print(page(scene, 123_456, width, height))
    return out.getvalue().splitlines()


def test_every_query_is_shown_with_its_sql_on_80_by_24(scene: Scene) -> None:
    lines = lines_at(scene, 80, 24)
    assert len(lines) < 24 and max(map(len, lines)) <= 80
    for query in scene.plan.queries:
        assert any(line.startswith(f"{query.name} ") for line in lines)
        assert f"  {query.sql}" in lines, "short enough to be shown whole"
    (market,) = (line for line in lines if line.startswith("market "))
    assert market.split() == [
        "market", "50", "+12", "−15", "+12", "−16", "+12", "−17", "+12", "−18", "+12", "−19",
    ]  # fmt: skip
    (bunched,) = (line for line in lines if line.startswith("bunched_buses "))
    assert bunched.split() == ["bunched_buses", "19", "+0", "+1", "+2", "+0", "+1"], "alerts so far"
    assert lines[-1] == "2,000 readings/s · latency p50 1.3 s, p99 1.9 s · 123,456 alive · Ctrl-C ends"


@pytest.mark.parametrize(("width", "height"), [(20, 6), (40, 12), (60, 18), (80, 10), (140, 40), (300, 100)])
def test_no_terminal_is_too_small(scene: Scene, width: int, height: int) -> None:
    lines = lines_at(scene, width, height)
    assert len(lines) <= height - 1 and max(map(len, lines)) <= width
    assert "readings/s" in lines[-1]
    if height < 24 and len(scene.plan.queries) > height - OTHER_LINES:
        assert any("more" in line for line in lines)


def test_before_the_first_batch_there_is_a_page_too() -> None:
    assert "waiting for the first tick" in lines_at(Scene(demo_plan()), 80, 24)[-1]


def test_the_demo_asks_in_every_way_there_is() -> None:
    text = " ".join(q.sql for q in demo_plan().queries)
    for form in (
        "INSIDE market_place", "INSIDE (8.237, 53.151, 400)", "speed * 3.6 >",
        "c.location INSIDE d.region", "INSIDE ('M', 0, 900 METERS, 600 METERS)", "INSIDE ('M', 20, 0.4 KM)",
        "WHERE type = 'truck' kNN (5, 8.237, 53.151)", "kNN ('M', 10, 40)",
        "INSIDE old_town kNN (3, 8.215, 53.143)",
        "SELECT DISTINCT", "WINDOW 10 SECONDS", "COUNT(*)", "GROUP BY type",
        "FOR 3 OF city AS V WHEN", "DISTANCE(V) < 100 M",
    ):  # fmt: skip
        assert form in text, form
