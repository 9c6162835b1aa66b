"""Which of a template's two questions a shard asks first, WHERE or INSIDE: by counts gathered while running.

WHERE first    every reading × every distinct condition, then the join, with those that passed
INSIDE first   the join with every reading, then the pairs it found, each with its own condition

No update depends on it. So nothing of it is saved, and shards need not agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from sanderling.figures.figures import Figures
from sanderling.plans import operator_ids
from sanderling.plans.plan import Template
from sanderling.plans.selection import First, first_at_first


@dataclass(frozen=True, slots=True)
class Weights:
    """Microseconds that judging takes.

    `taken` is for each reading, however many conditions; `reading` for each of them; `call` for each further
    one; `pair` for a pair, with its making.
    """

    taken: float
    reading: float
    call: float
    pair: float


# As benchmarks/push_down.py measures them: where NumPy compares, and where DuckDB judges.
PLAINLY, BY_DUCKDB = Weights(0.004, 0.001, 5, 0.06), Weights(0.004, 0.015, 1_500, 0.08)
# Another order has to be better by so much,
BETTER = 2.0
# and is chosen after as many microseconds of work as it costs to change: what follows from the plan is made
# anew, for each region, and for each object if regions move or the nearest are looked for.
LEAST, ANEW = 1_000.0, 0.4


@dataclass(slots=True)
class Counts:
    """Of one template, since it was last looked at. A move has two sides, before and after."""

    readings: int = 0  # sides that WHERE judges, or would, for each condition
    calls: int = 0  # of the judge, for each condition
    judged: int = 0  # readings × conditions of which is known whether they passed
    passed: int = 0
    pairs: int = 0  # sides found: by the place alone, or only of what passed, as the order is
    sampled: int = 0  # sides of which the place alone was tried
    found: int = 0  # regions that held them, and would have had to be judged


@dataclass(frozen=True, slots=True)
class Estimate:
    """The rows that each order judges, or would."""

    by_reading: float
    by_pair: float


@dataclass(slots=True)
class Ordered:
    """A template of which either may come first."""

    template: Template
    first: First
    conditions: int
    weights: Weights
    counts: Counts = field(default_factory=Counts)
    patience: int = 1  # grows with each change of order, shrinks with each look that leaves it
    seen: Estimate | None = None  # at the last look

    def estimate(self) -> Estimate:
        """The order in force is counted. What INSIDE would find is known of a sample, or by what passed."""
        counts = self.counts
        by_reading = float(counts.readings * self.conditions)
        if self.first is First.INSIDE:
            return Estimate(by_reading, counts.pairs)
        of_passed = counts.pairs * counts.judged / max(1, counts.passed)
        of_sample = counts.readings * counts.found / max(1, counts.sampled)
        return Estimate(by_reading, max(of_passed, of_sample))

    def costs(self) -> dict[First, float]:
        """In microseconds. The calls of one condition are left out: either order has them."""
        rows, each = self.estimate(), self.weights
        readings = self.counts.readings * each.taken + rows.by_reading * each.reading
        calls = (self.conditions - 1) * self.counts.calls * each.call
        return {First.WHERE: readings + calls, First.INSIDE: rows.by_pair * each.pair}


class Chooser(Protocol):
    """Decides on orders; a seam for tests and benchmarks."""

    def judges_readings(self) -> bool:
        """Whether conditions may be judged reading by reading at all, or only pair by pair."""
        return True

    def at_first(self, conditions: int) -> First:
        """Before anything is counted."""
        ...

    def is_due(self, asked: Ordered, price: float) -> bool:
        """Whether it would like to know what INSIDE alone finds."""
        ...

    def choose(self, asked: Ordered, price: float) -> First | None:
        """None: it is too early to say. Another order costs `price` microseconds."""
        ...


class ByCounts(Chooser):
    """The cheaper one by what was counted, if it is cheaper by far, and after enough to go by."""

    def at_first(self, conditions: int) -> First:
        return first_at_first(conditions)

    def is_due(self, asked: Ordered, price: float) -> bool:
        costs = asked.costs()
        # What is known already may show that there is nothing to win.
        is_open = costs[First.WHERE] > BETTER * costs[First.INSIDE]
        return is_open and not asked.counts.sampled and costs[First.WHERE] >= self._enough(asked, price)

    def choose(self, asked: Ordered, price: float) -> First | None:
        costs = asked.costs()
        other = First.INSIDE if asked.first is First.WHERE else First.WHERE
        if costs[asked.first] < self._enough(asked, price) or asked.template.is_nearest:
            # What kNN judges depends on how many it looks for, not on a region.
            return None
        if costs[asked.first] <= BETTER * costs[other]:
            return asked.first
        return other if asked.first is First.INSIDE or asked.counts.sampled else None

    def _enough(self, asked: Ordered, price: float) -> float:
        return max(LEAST, price) * asked.patience


class Orders:
    """The orders of a stream's templates in one shard."""

    def __init__(self, chooser: Chooser | None = None):
        self.chooser: Chooser = ByCounts() if chooser is None else chooser
        self._of: dict[int, Ordered] = {}

    def get(self, template: int) -> Ordered | None:
        """None: there is nothing to choose."""
        return self._of.get(template)

    def first(self, template: Template, conditions: int | None, weights: Weights) -> First:
        """What is in force, under a plan in which the template has so many conditions, or too many."""
        if conditions is None:
            self._of.pop(template.id, None)
            return First.INSIDE
        known = self._of.get(template.id)
        if known is None:
            known = Ordered(template, self.chooser.at_first(conditions), conditions, weights)
            self._of[template.id] = known
        elif (known.conditions, known.weights) != (conditions, weights):
            known.conditions, known.weights, known.counts = conditions, weights, Counts()
        return known.first

    def due(self, price: float) -> list[Ordered]:
        """Those of which it should be tried what INSIDE alone finds."""
        where = [asked for asked in self._of.values() if asked.first is First.WHERE]
        return [asked for asked in where if self.chooser.is_due(asked, price)]

    def turn(self, price: float) -> bool:
        """At the end of a batch: whether some order is another now."""
        has_turned = False
        for asked in self._of.values():
            chosen = self.chooser.choose(asked, price)
            if chosen is None:
                continue
            is_other = chosen is not asked.first
            asked.patience = 2 * asked.patience if is_other else max(1, asked.patience // 2)
            asked.seen, asked.first, asked.counts = asked.estimate(), chosen, Counts()
            has_turned |= is_other
        return has_turned

    def tell(self, figures: Figures) -> None:
        """The orders in force, and what they were chosen by."""
        for number, asked in self._of.items():
            figures.hold(operator_ids.order(number), 1)
            figures.hold(operator_ids.inside_first(number), int(asked.first is First.INSIDE))
            if asked.seen is not None:
                figures.hold(operator_ids.by_reading(number), round(asked.seen.by_reading))
                figures.hold(operator_ids.by_pair(number), round(asked.seen.by_pair))


__all__ = ["ByCounts", "Chooser", "Counts", "Estimate", "First", "Ordered", "Orders", "Weights"]
