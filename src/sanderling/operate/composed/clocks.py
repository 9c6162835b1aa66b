"""How far streams have come, also those that have ended long ago: trees that come later begin with it."""

from __future__ import annotations

from sanderling.batches import Batch, Kind
from sanderling.operate.takers import Taker
from sanderling.plans.plan import Plan
from sanderling.state.frame import Frame

Closed = dict[str, tuple[int, bool]]  # by stream the tick that has closed, and whether it has ended


class Clocks(Taker):
    """Takes what trees take too, and tells nothing."""

    def __init__(self, plan: Plan) -> None:
        self.closed: Closed = {}
        self.turn_to(plan)

    def turn_to(self, plan: Plan) -> None:
        self.takes = [(Kind.CLOCK, stream.stream.name) for stream in plan.streams]

    def advance(self, came: list[Batch]) -> list[Batch]:
        self.closed |= closed_in(came)
        return []

    def saved(self, is_whole: bool) -> Frame:
        return Frame(values={"closed": self.closed})

    def restore(self, frame: Frame) -> None:
        self.closed = frame.values["closed"]


def closed_in(batches: list[Batch]) -> Closed:
    return {b.stream: (b.closed_to, b.is_ended) for b in batches if b.kind == Kind.CLOCK}
