"""A pattern that goes on as another, from its definition: at each tick the eyes are those of then.

Both have the same steps and positions, and differ in durations; the answers of the steps are what was there,
whoever asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .patterns import (
    BROKEN,
    MATCHED,
    TIMED_OUT,
    Pattern,
    Position,
    Reached,
    Run,
    Step,
    deadline,
    ended,
    is_first,
    key_for,
    order,
    presence,
    together,
    without_skipped,
)
from .persistency import Persistency, key_of, stays


@dataclass(frozen=True)
class Eyes:
    before: Pattern
    after: Pattern
    at: int  # the first tick of the other

    def of(self, tick: int) -> Pattern:
        return self.after if tick >= self.at else self.before


def told(eyes: Eyes) -> list[Run]:
    done = [run for run in runs(eyes) if run.outcome]
    if eyes.before.is_skipping:
        done = without_skipped(done)
    chosen = [run for run in done if run.outcome == MATCHED or eyes.before.has_timeouts]
    chosen = [run for run in chosen if eyes.before.where(run) is True]
    if eyes.before.is_first:
        chosen = [run for run in chosen if is_first(run, chosen)]
    return sorted(chosen, key=lambda run: (run.tick, order(run)))


def runs(eyes: Eyes) -> Iterator[Run]:
    first = eyes.before.first
    known = min(first.answers)
    for key in dict.fromkeys(key_of(first.asked, row) for rows in first.answers.values() for row in rows):
        there = presence(first, key)
        for stay in stays(first.asked, there, eyes.before.tick_us):
            long = [tick for tick in stay if tick - stay[0] >= eyes.of(tick).first.asked.stay_us]
            if long and not (first.is_entering and stay[0] <= known):
                reached = {first.name: Reached(long[0], stay[0], there[long[0]])}
                yield gone_on(eyes, Run(key, reached, (long[0],), last=key))


def gone_on(eyes: Eyes, run: Run) -> Run:
    now, tick_us = max(eyes.before.first.answers), eyes.before.tick_us
    for number, position in enumerate(eyes.before.positions):
        u = run.ticks[-1]
        later = eyes.after.positions[number]
        found = {s.name: reach(eyes, s, o, run, u) for s, o in zip(position.steps, later.steps, strict=True)}
        nots = [reach(eyes, s, o, run, u) for s, o in zip(position.nots, later.nots, strict=True)]
        for tick in range(u, now + 1, tick_us):
            bound = deadline(eyes.of(tick), run, number)
            last = MATCHED if not position.steps else TIMED_OUT
            if bound is not None and tick > bound:
                return ended(run, last, tick)
            if any(reached is not None and reached.tick <= tick for reached in nots):
                return ended(run, BROKEN, tick)
            chosen = chosen_by(position, found, tick)
            if chosen:
                key = next((key_for(s, run) for s in position.steps if s.name in chosen), None) or run.last
                run = Run(run.key, {**run.reached, **chosen}, (*run.ticks, tick), last=key)
                break
            if bound is not None and tick >= bound:
                return ended(run, last, tick)
        else:
            return run
    return ended(run, MATCHED, run.ticks[-1])


def chosen_by(position: Position, found: dict[str, Reached | None], tick: int) -> dict[str, Reached]:
    until = {name: r if r is not None and r.tick <= tick else None for name, r in found.items()}
    return together(position, until) if position.steps else {}


def reach(eyes: Eyes, step: Step, later: Step, run: Run, u: int) -> Reached | None:
    key = key_for(step, run)
    if key is None:
        return None
    there = presence(step, key)
    found, is_anew = None, step.is_entering
    for _ in range(step.times):
        found = reaching(eyes, step, later, there, u, is_anew)
        if found is None:
            return None
        u, is_anew = found.tick, True
    return found


def reaching(
    eyes: Eyes, step: Step, later: Step, there: dict[int, tuple[object, ...]], u: int, is_anew: bool
) -> Reached | None:
    asked = step.asked
    if step.is_leaving:
        there, asked = {tick: () for tick in step.answers if tick not in there}, Persistency(0, ())
    for stay in stays(asked, there, eyes.before.tick_us):
        counted = [tick for tick in stay if tick >= u]
        if is_anew and stay[0] <= u:
            continue
        for tick in counted:
            if tick - counted[0] >= (later if tick >= eyes.at else step).asked.stay_us:
                return Reached(tick, counted[0], None if step.is_leaving else there[tick])
    return None
