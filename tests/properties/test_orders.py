"""Whether WHERE or INSIDE comes first is never seen in the updates, however often it changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.operate.orders import Ordered
from sanderling.plan.selection import First
from tests.properties.runs import RELAXED, Cut, check, cuts, fences
from tests.properties.test_living import Tale, run_and_check, tales
from tests.properties.worlds import World, worlds

__all__ = ["fences"]

# Each goes through the engine twice.
FEWER = settings(RELAXED, max_examples=RELAXED.max_examples // 4)


class Fickle:
    """Decides by chance at the end of every batch, and tries every now and then what INSIDE would find."""

    def __init__(self, seed: int):
        self.random = Random(seed)

    def is_due(self, asked: Ordered, price: float) -> bool:
        return self.random.random() < 0.5

    def choose(self, asked: Ordered, price: float) -> First | None:
        counts = asked.counts
        assert counts.passed <= counts.judged and counts.found >= 0 and counts.pairs >= 0
        return self.random.choice([First.WHERE, First.INSIDE, None])


class Firm:
    """Never changes its mind."""

    def is_due(self, asked: Ordered, price: float) -> bool:
        return False

    def choose(self, asked: Ordered, price: float) -> First | None:
        return None


def fickle(seed: int) -> Iterator[Fickle]:
    """Each shard, and each copy of it, its own."""
    return (Fickle(1000 * seed + number) for number in count())


def judged_either_way(world: World, cut: Cut, seed: int, fences: Path, folder: Path) -> None:
    choosers = fickle(seed)
    changing = check(world, cut, fences, folder, lambda: next(choosers))
    firm = check(world, cut, fences, folder, Firm)
    assert changing.updates == firm.updates


@FEWER
@given(world=worlds(), cut=cuts, seed=st.integers(0, 99))
def test_of_regions(world: World, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    judged_either_way(world, cut, seed, fences, tmp_path)


@FEWER
@given(world=worlds(has_window=True), cut=cuts, seed=st.integers(0, 99))
def test_of_windows(world: World, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    judged_either_way(world, cut, seed, fences, tmp_path)


@FEWER
@given(world=worlds(has_nearest=True), cut=cuts, seed=st.integers(0, 99))
def test_of_the_nearest(world: World, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    judged_either_way(world, cut, seed, fences, tmp_path)


@FEWER
@given(tale=tales(), cut=cuts, seed=st.integers(0, 99))
def test_of_queries_that_come_and_go(tale: Tale, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    """Conditions come with them, and orders change in between."""
    choosers = fickle(seed)
    chooser = lambda: next(choosers)  # noqa: E731
    run_and_check(tale, cut.bytes, cut.shards, cut.has_empty, cut.takes_turns, fences, tmp_path, chooser)
