"""Whether WHERE or INSIDE comes first is never seen in the updates, however often it changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.operate.where.orders import Chooser, Ordered
from sanderling.plans.selection import First
from tests.long import drawn
from tests.properties.runs import RELAXED, Cut, check, cuts, fences
from tests.properties.test_living import Tale, run_and_check, tales
from tests.properties.worlds import CONDITIONS, Ask, World, ask, reading

__all__ = ["fences"]

# Each goes through the engine twice.
FEWER = settings(RELAXED, max_examples=drawn(5, 800))
# Batches are small here, since orders change between them.
small_cuts = st.builds(
    Cut, st.sampled_from([1, 1, 40]), st.sampled_from([1, 1, 2]),
    st.sampled_from(["never", "never", "delta", "mixed"]), st.booleans(), st.booleans(),
)  # fmt: skip


@st.composite
def crowded(draw: st.DrawFn, has_nearest: bool = False, has_window: bool = False) -> World:
    """Much goes on in regions that hold much, and every query has a condition."""
    is_integer = draw(st.booleans())
    readings = draw(st.lists(reading(is_integer), min_size=20, max_size=30))
    readings.sort(key=lambda r: r.ts)
    shapes = ("everywhere", "disc", "moving far", "polygon", "table")
    asked = (ask(n, is_integer, shapes, has_nearest, has_window) for n in range(draw(st.integers(1, 3))))
    asks = [draw(a.filter(has_condition)) for a in asked]
    return World(readings, asks, 1, 0, None, is_integer)


def has_condition(asked: Ask) -> bool:
    return any(condition.split("{")[0] in asked.sql for condition in CONDITIONS)


class Fickle(Chooser):
    """Decides by chance at the end of every batch, and tries every now and then what INSIDE would find."""

    def __init__(self, seed: int):
        self.random = Random(seed)

    def at_first(self, conditions: int) -> First:
        return self.random.choice(list(First))

    def is_due(self, asked: Ordered, price: float) -> bool:
        return self.random.random() < 0.5

    def choose(self, asked: Ordered, price: float) -> First | None:
        counts = asked.counts
        assert counts.passed <= counts.judged and counts.found >= 0 and counts.pairs >= 0
        return self.random.choice([First.WHERE, First.INSIDE, First.INSIDE, None])


class Firm(Chooser):
    """Never changes its mind."""

    def at_first(self, conditions: int) -> First:
        return First.WHERE

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
@given(world=crowded(), cut=small_cuts, seed=st.integers(0, 99))
def test_of_regions(world: World, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    judged_either_way(world, cut, seed, fences, tmp_path)


@FEWER
@given(world=crowded(has_window=True), cut=small_cuts, seed=st.integers(0, 99))
def test_of_windows(world: World, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    judged_either_way(world, cut, seed, fences, tmp_path)


@FEWER
@given(world=crowded(has_nearest=True), cut=small_cuts, seed=st.integers(0, 99))
def test_of_the_nearest(world: World, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    judged_either_way(world, cut, seed, fences, tmp_path)


@FEWER
@given(tale=tales(), cut=cuts, seed=st.integers(0, 99))
def test_of_queries_that_come_and_go(tale: Tale, cut: Cut, seed: int, fences: Path, tmp_path: Path) -> None:
    """Conditions come with them, and orders change in between."""
    choosers = fickle(seed)
    chooser = lambda: next(choosers)  # noqa: E731
    run_and_check(tale, cut.bytes, cut.shards, cut.has_empty, cut.takes_turns, fences, tmp_path, chooser)
