"""REGISTER PATTERN, from its definition: a pure function of the answers of its steps at every tick.

answers ──► stays by key ──► a run for each stay of the first step ──► reached, broken or timed out ──► told

Each step is looked at from the tick on at which the one before it was reached; what was before is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .oracle import Row, value_order
from .persistency import Persistency, key_of, smallest, stays

MATCHED, TIMED_OUT, BROKEN = "matched", "timed out", "broken"

Answers = Mapping[int, Sequence[Row]]  # by tick, without a gap, from the first of the pattern on


@dataclass(frozen=True)
class Step:
    """A step where it stands in a pattern. `asked.per` is its key there; its values are those of `of`.

    Those are columns of steps before it, each by the other's name and its place; the first step has none.
    """

    name: str  # as the pattern calls it there
    answers: Answers
    asked: Persistency
    of: tuple[tuple[str, int], ...] = ()
    is_entering: bool = False
    is_leaving: bool = False
    times: int = 1


@dataclass(frozen=True)
class Position:
    """One step, or several of which one (OR) or all (AND) are to be reached; none behind a last NOT."""

    steps: tuple[Step, ...]
    is_all: bool = False
    nots: tuple[Step, ...] = ()  # that stand before it
    within_us: int | None = None
    of: str = ""  # the step it is counted from; else the one before


@dataclass(frozen=True)
class Reached:
    """When, since when it was counted, and the row of then; none of who is not there."""

    tick: int
    since: int
    row: Row | None


@dataclass(frozen=True)
class Run:
    """`ticks` has that at which each position was reached, the first step's among them."""

    key: Row
    reached: Mapping[str, Reached]
    ticks: tuple[int, ...]
    outcome: str = ""
    tick: int = 0  # at which it ended
    last: Row = ()  # the key of the last step that was reached


@dataclass(frozen=True)
class Pattern:
    first: Step
    positions: tuple[Position, ...]
    tick_us: int
    is_first: bool = False  # REPORT FIRST
    has_timeouts: bool = False
    is_skipping: bool = False
    where: Callable[[Run], object] = field(default=lambda run: True)


def told(pattern: Pattern) -> list[Run]:
    """The runs that are told up to the last tick that is known, in order of tick."""
    ended = [run for run in runs(pattern) if run.outcome]
    if pattern.is_skipping:
        ended = without_skipped(ended)
    chosen = [run for run in ended if run.outcome == MATCHED or pattern.has_timeouts]
    chosen = [run for run in chosen if pattern.where(run) is True]
    if pattern.is_first:
        chosen = [run for run in chosen if is_first(run, chosen)]
    return sorted(chosen, key=lambda run: (run.tick, order(run)))


def runs(pattern: Pattern) -> Iterator[Run]:
    """One for each stay in the first step that is long enough, as far as it gets."""
    first = pattern.first
    known = min(first.answers)
    for key in dict.fromkeys(key_of(first.asked, row) for rows in first.answers.values() for row in rows):
        there = presence(first, key)
        for stay in stays(first.asked, there, pattern.tick_us):
            long = [tick for tick in stay if tick - stay[0] >= first.asked.stay_us]
            if long and not (first.is_entering and stay[0] <= known):
                reached = {first.name: Reached(long[0], stay[0], there[long[0]])}
                yield gone_on(pattern, Run(key, reached, (long[0],), last=key))


def gone_on(pattern: Pattern, run: Run) -> Run:
    now = max(pattern.first.answers)
    for number, position in enumerate(pattern.positions):
        u = run.ticks[-1]
        bound = deadline(pattern, run, number)
        found = {step.name: reach(step, run, u, pattern.tick_us) for step in position.steps}
        chosen = together(position, found)
        tick = max((reached.tick for reached in chosen.values()), default=None)
        if not position.steps:
            tick = bound
        until = min(end for end in (tick, bound, now) if end is not None)
        broken = [reached for step in position.nots if (reached := reach(step, run, u, pattern.tick_us))]
        breaks = min((reached.tick for reached in broken), default=None)
        if breaks is not None and breaks <= until:
            return ended(run, BROKEN, breaks)
        if bound is not None and bound <= now and (tick is None or tick > bound):
            return ended(run, TIMED_OUT, bound)
        if tick is None or tick > now:
            return run
        last = next((key_for(s, run) for s in position.steps if s.name in chosen), None) or run.last
        run = Run(run.key, {**run.reached, **chosen}, (*run.ticks, tick), last=last)
    return ended(run, MATCHED, run.ticks[-1])


def ended(run: Run, outcome: str, tick: int) -> Run:
    return Run(run.key, run.reached, run.ticks, outcome, tick, run.last)


def deadline(pattern: Pattern, run: Run, number: int) -> int | None:
    """Of the bounds here and further on, those that are counted from a step that has been reached."""
    found = []
    for later, position in enumerate(pattern.positions[number:], number):
        if position.within_us is None:
            continue
        if position.of in run.reached:
            found.append(run.reached[position.of].tick + position.within_us)
        elif not position.of and later == number:
            found.append(run.ticks[-1] + position.within_us)
    return min(found) // pattern.tick_us * pattern.tick_us if found else None


def together(position: Position, found: Mapping[str, Reached | None]) -> dict[str, Reached]:
    """Those that it is reached by, if it is."""
    known = {name: reached for name, reached in found.items() if reached is not None}
    if position.is_all:
        return known if len(known) == len(found) else {}
    first = min(known, key=lambda name: known[name].tick, default=None)  # the first written, if equal
    return {} if first is None else {first: known[first]}


def reach(step: Step, run: Run, u: int, tick_us: int) -> Reached | None:
    """The first time from u on; for n TIMES, each time by a stay that begins behind the one before."""
    key = key_for(step, run)
    if key is None:
        return None
    there = presence(step, key)
    found, is_anew = None, step.is_entering
    for _ in range(step.times):
        found = next(reaching(step, there, u, is_anew, tick_us), None)
        if found is None:
            return None
        u, is_anew = found.tick, True
    return found


def reaching(step: Step, there: Mapping[int, Row], u: int, is_anew: bool, tick_us: int) -> Iterator[Reached]:
    asked = step.asked
    if step.is_leaving:
        there = {tick: () for tick in step.answers if tick not in there}
        asked = Persistency(asked.stay_us, ())
    for stay in stays(asked, there, tick_us):
        counted = [tick for tick in stay if tick >= u]
        if is_anew and stay[0] <= u:
            continue
        for tick in counted:
            if tick - counted[0] >= asked.stay_us:
                yield Reached(tick, counted[0], None if step.is_leaving else there[tick])
                break


def key_for(step: Step, run: Run) -> Row | None:
    """What a run asks of a step; None: NULL, or a step that was not reached, equals nobody."""
    rows = [run.reached[name].row if name in run.reached else None for name, _ in step.of]
    key = tuple(None if row is None else row[place] for row, (_, place) in zip(rows, step.of, strict=True))
    return None if None in key else key


def presence(step: Step, key: Row) -> dict[int, Row]:
    mine = {t: [r for r in rows if key_of(step.asked, r) == key] for t, rows in step.answers.items()}
    return {tick: smallest(rows) for tick, rows in mine.items() if rows}


def without_skipped(ended: Sequence[Run]) -> list[Run]:
    """A match drops all others of its key that began up to its tick, of several that which began first."""
    dropped: set[int] = set()
    matches = [run for run in ended if run.outcome == MATCHED]
    for match in sorted(matches, key=lambda run: (run.tick, order(run))):
        if id(match) not in dropped:
            dropped |= {
                id(run)
                for run in ended
                if run is not match and run.key == match.key
                and run.tick >= match.tick and begun(run) <= match.tick
            }  # fmt: skip
    return [run for run in ended if id(run) not in dropped]


def begun(run: Run) -> int:
    return next(iter(run.reached.values())).since


def is_first(run: Run, chosen: Sequence[Run]) -> bool:
    """Whether no match of the same tick, with the same last key, began before."""
    if run.outcome != MATCHED:
        return True
    others = [o for o in chosen if (o.outcome, o.tick, o.last) == (MATCHED, run.tick, run.last)]
    return run is min(others, key=order)


def order(run: Run) -> tuple[object, ...]:
    """When its stay began, when that was long enough, and its key."""
    first = next(iter(run.reached.values()))
    return first.since, first.tick, [(value is not None, value_order(value)) for value in run.key]
