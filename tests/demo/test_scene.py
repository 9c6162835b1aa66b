"""What the terminal's page knows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sanderling.batches import Batch, Kind
from sanderling.demo.run import demo_plan
from sanderling.demo.scene import Scene


def told(stream: str, template: int, queries: list[int]) -> list[Batch]:
    """One tick in which each of these queries tells a + row."""
    n = len(queries)
    rows = pa.table(
        {
            "tick": pa.array(np.full(n, 1_000_000)), "query": pa.array(queries, pa.int32()),
            "sign": pa.array(np.ones(n, np.int8)),
        }
    )  # fmt: skip
    deltas = Batch(Kind.DELTAS, rows, stream=stream, template=template)
    counts = Batch(Kind.COUNTS, rows.slice(0, 0), stream=stream, rows=5, ticks=1, closed_to=1_000_000)
    return [deltas, counts]


def test_queries_that_come_later_are_not_on_the_page() -> None:
    """Whoever looks at the map registers some: of the same shapes, of others, over several streams."""
    scene = Scene(demo_plan())
    ours = len(scene.plan.queries)
    scene.deliver(0, [*told("city", 0, [0, ours, ours + 1]), *told("city and more", 99, [ours + 2])])
    assert scene.ticks == 1 and scene.rows == 5
    assert dict(scene.held) == {scene.plan.queries[0].name: 1}
