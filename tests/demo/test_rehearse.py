"""What `make setup` compiles is what the demo uses."""

from __future__ import annotations

import numpy as np
import pytest

from sanderling.demo import scene as scenes
from sanderling.demo.rehearse import rehearse


def test_a_rehearsal_tells_something_of_every_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes.time, "time", lambda: 2_000_000_000.0)  # a clock that stands still
    scene = rehearse()
    assert scene.ticks > 10
    assert {q.name for q in scene.plan.queries if scene.held[q.name] > 0} == {
        q.name for q in scene.plan.queries
    }
    # Each tick is timed from its end on, and ends are a second apart.
    assert len(scene.latencies_s) == scene.ticks and np.diff(scene.latencies_s).tolist() == [-1] * 12
    assert scene.latency_s()[0] == pytest.approx(np.mean(scene.latencies_s))
