"""The operators of one stream in a shard, at work: each with its state, none known by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sanderling.batches import Batch
from sanderling.operate.inside.tell import cancelled
from sanderling.operate.operator import Answers, Lives, Merged, Operator, Places, Settles, Turned
from sanderling.operate.shard.now import Moved, Now, Settled


class Working:
    """Walks the operators in their order."""

    def __init__(self, operators: Sequence[Operator[Now, Moved, Sequence[Batch]]]):
        self.operators = operators
        self.states: list[Any] = [None] * len(operators)

    def refresh(self, now: Now) -> None:
        """What follows from the readings, made anew."""
        self.states = [operator.new_state(now) for operator in self.operators]

    def apply(self, moved: Moved) -> list[Batch]:
        return [
            change
            for operator, state in zip(self.operators, self.states, strict=True)
            for change in operator.apply(state, moved)
        ]

    def end(self, tick: int, now: Now) -> list[list[Batch]]:
        """Before what happens at `tick`: what regions take back that are gone, operator by operator."""
        return [
            self._turned(place, operator.end(self.states[place], tick, now))
            if isinstance(operator, Lives)
            else []
            for place, operator in enumerate(self.operators)
        ]

    def begin(self, tick: int, now: Now, taken_back: list[list[Batch]]) -> list[Batch]:
        """After what happens at `tick`: all that those hold that begin, less what was taken back alike."""
        changes: list[Batch] = []
        for place, operator in enumerate(self.operators):
            if isinstance(operator, Lives):
                came = self._turned(place, operator.begin(self.states[place], tick, now))
                changes += cancelled(taken_back[place], came)
        return changes

    def _turned(self, place: int, turned: Turned) -> list[Batch]:
        self.states[place] = turned.state
        return turned.told

    def settle(self, settled: Settled) -> None:
        for operator, state in zip(self.operators, self.states, strict=True):
            if isinstance(operator, Settles):
                operator.settle(state, settled)

    def places_objects(self) -> bool:
        """Whether some operator knows where every object is, so that it takes long to make it anew."""
        return any(
            isinstance(operator, Places) and operator.places_objects(state)
            for operator, state in zip(self.operators, self.states, strict=True)
        )

    def answer(self, queries: list[int], now: Now) -> list[Batch]:
        return [
            answer
            for operator, state in zip(self.operators, self.states, strict=True)
            if isinstance(operator, Answers)
            for answer in operator.answer(state, queries, now)
        ]

    def merged_of(self, queries: list[int]) -> list[int]:
        """The queries among some whose answers only the merge stage knows."""
        return [q for o in self.operators if isinstance(o, Merged) for q in o.merged_of(queries)]
