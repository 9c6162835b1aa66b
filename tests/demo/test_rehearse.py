"""What `make setup` compiles is what the demo uses."""

from __future__ import annotations

from sanderling.demo.rehearse import rehearse


def test_a_rehearsal_tells_something_of_every_query() -> None:
    scene = rehearse()
    assert scene.ticks > 10
    assert {q.name for q in scene.plan.queries if scene.held[q.name] > 0} == {
        q.name for q in scene.plan.queries
    }
