"""One merge partition: what needs several shards, put together per query.

The engine is pure: batches in, batches out. Queries are spread over merge partitions by their
numbers, triggers that are bounded in distance by space as well (route/by_space.py); queries that a shard can
finish never come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sanderling.batches import Batch, Kind
from sanderling.figures.figures import Figures
from sanderling.merge.equal import MergeEqual
from sanderling.merge.last import LastOfAll
from sanderling.merge.nearest import MergeNearest
from sanderling.operate.pattern.own_state import States
from sanderling.operate.takers import New, Takers
from sanderling.operate.tree.composed import Composed
from sanderling.plans.plan import Plan, Plans
from sanderling.route.by_space import Partition
from sanderling.state.frame import Frame
from sanderling.state.saved import Saved


class Merge:
    """All streams of one of so many merge partitions. While the plan lives, `plans` gives each version of it.

    Promises (tests/properties/test_knn.py, test_sql.py):
      exact     signed rows are the difference of two answers, whichever shard they come from
      complete  what all shards say in a turn comes together: they close the same ticks in it
    """

    version: int

    def __init__(
        self, plan: Plan, number: int, plans: Plans | None = None, partitions: int = 1,
        states: States | None = None,
    ):  # fmt: skip
        """Code of patterns' own states comes from `states`."""
        self.number, self.states = number, states
        self.partition = Partition(number, partitions)
        self.plans = plans
        self.is_counting = False
        self.figures = Figures()
        self.takers = Takers()
        self._follow(plan)

    def _follow(self, plan: Plan, is_running: bool = False) -> None:
        """What is known of queries that the plan does not have is forgotten."""
        self.version = plan.version
        self.takers.follow(plan, dict(self._merging(plan, is_running)))

    def _merging(self, plan: Plan, is_running: bool) -> Iterator[tuple[str, New]]:
        """Who takes what shards say, by name; those that take what others tell stand behind them."""
        for stream in plan.streams:
            name = stream.stream.name
            if any(t.is_of_last for t in stream.templates):
                yield f"last {name}", partial(LastOfAll, plan, name, self.figures)
            for template in stream.templates:
                if template.is_nearest:
                    yield f"nearest {template.id}", partial(MergeNearest, plan, template, self.figures)
                elif template.is_merged and not template.is_merged_first:
                    yield f"equal {template.id}", partial(MergeEqual, template, self.figures)
        for tree in (tree for tree in plan.trees if tree.is_merged):
            yield (
                f"tree {tree.template.id}",
                partial(Composed, plan, tree, is_running, self.partition, states=self.states),
            )

    def turn_to(self, version: int) -> None:
        """Goes on under this version; those between need no look, since no number is given twice."""
        if version > self.version:
            self._follow(self.plan_of(version), is_running=True)

    def plan_of(self, version: int) -> Plan:
        assert self.plans is not None, "a merge partition that turns needs to know where plans are"
        return self.plans(version)

    def advance(self, batches: list[Batch]) -> list[Batch]:
        """One turn: signed rows and answers come back; what is not to be merged passes through."""
        self.figures.clear()
        # All shards have turned before they closed a tick of this turn.
        self.turn_to(max((b.version for b in batches if b.kind == Kind.PLAN), default=self.version))
        for taker in self.takers:
            taker.count_anew()
        asked = [b for b in batches if b.kind == Kind.ASK]
        answers = [b for b in batches if b.kind == Kind.ANSWER]
        out = self.takers.advance(b for b in batches if b.kind not in (Kind.PLAN, Kind.ASK, Kind.ANSWER))
        if self.is_counting:
            for taker in self.takers:
                taker.count_into(self.figures)
            if len(self.figures):
                out.append(Batch(Kind.FIGURES, self.figures.table(), shard=self.number))
        # After the rows of the turn are in.
        return out + (self.takers.answer(asked, answers) if asked else answers)

    # ----- saved and restored

    def saved(self, is_whole: bool) -> Frame:
        return self.takers.saved(is_whole)

    def restore(self, whole: Saved | None, since: Sequence[Saved]) -> None:
        if whole is not None:
            if whole.version != self.version:
                self._follow(self.plan_of(whole.version))
            self.takers.restore(whole.frame)
        self.catch_up(since)

    def catch_up(self, since: Sequence[Saved]) -> None:
        for frame, version in since:
            self.turn_to(version)
            self.takers.restore(frame)
