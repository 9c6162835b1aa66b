"""A script played as it stands: statements between feeds are told to a stream that runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from sanderling.errors import SanderlingError
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.listing import Listing
from tests.engine.direct import DirectRun
from tests.engine.own_states import bring
from tests.scripts.profiles import Profile, rules_for
from tests.scripts.steps import Script, Step
from tests.scripts.stories import StoryError, csv_text, feed_of, said_by, show_answer, show_updates, sides_of


@dataclass
class Alive:
    """A session: a plan that lives, and from the first feed on a run."""

    profile: Profile
    folder: Path
    run: DirectRun | None = None
    said: dict[int, list[str]] = field(default_factory=dict)  # by line of its step
    living: LivingPlan = field(init=False)

    def __post_init__(self) -> None:
        self.living = LivingPlan()

    def play(self, script: Script) -> dict[int, list[str]]:
        self.living = LivingPlan(rules=rules_for(script.path, self.profile))
        bring(self.living)
        for step in script.steps:
            match step.kind:
                case "file":
                    (self.folder / step.words[0]).write_text("\n".join(step.body) + "\n")
                case "statement":
                    self._statement(step)
                case "same":
                    self._execute(";\n".join(sides_of(step)))
                case "feed" | "advance":
                    self._feed(step)
                case "answer":
                    self.said[step.line] = self._answer(step.words[0])
                case "explain":
                    (listing,) = self._execute(f"EXPLAIN {step.words[0]}")
                    self.said[step.line] = [line for (line,) in listing.rows]
                case "restart" if self.run is not None:
                    self.run.restart()
        return self.said

    def _started(self) -> DirectRun:
        if self.run is None:
            p = self.profile
            plan = self.living.start().plan
            self.run = DirectRun(
                plan, p.shards, p.slice_bytes, p.empty_between, p.takes_turns, self.living, p.chooser
            )
        return self.run

    def _execute(self, text: str) -> tuple[Listing, ...]:
        return (self.living if self.run is None else self.run).execute(text).listings

    def _statement(self, step: Step) -> None:
        text = "\n".join(step.body).replace("{folder}", str(self.folder))
        wanted = step.words[1] if step.words[0] == "error" else None
        try:
            listings = self._execute(text)
        except SanderlingError as e:
            if e.code != wanted:
                raise StoryError(f"line {step.line}: expected {wanted or 'ok'}, got\n{e}") from e
            self.said[step.line] = said_by(e, text, self.folder)
            return
        if wanted is not None:
            raise StoryError(f"line {step.line}: expected {wanted}, but it was accepted")
        rows = [" | ".join(row) for listing in listings for row in (listing.columns, *listing.rows)]
        self.said[step.line] = [line for row in rows for line in row.splitlines()]

    def _feed(self, step: Step) -> None:
        feed, run = feed_of(step, self.living), self._started()
        updates, letters = len(run.updates), len(run.letters)
        if feed.rows:
            path = self.folder / f"{step.line}.csv"
            path.write_text(csv_text(run.plan, feed))
            run.feed_file(feed.stream, path)
        if feed.is_closing and feed.last is not None:
            run.close_to(feed.stream, feed.last)
        if self.profile.restart_each:
            run.restart(is_snapshot=step.line % 2 == 0)
        lines = sorted(run.updates[updates:], key=lambda line: json.loads(line)["tick"])
        self.said[step.line] = show_updates([u for u in lines if not u.startswith('{"query": "same_')])
        self.said[step.line] += [f"! {reason} {raw}" for _, reason, raw in run.letters[letters:]]

    def _answer(self, name: str) -> list[str]:
        """As the shards say it; and that is what the updates add up to."""
        run = self._started()
        shown = show_answer(run.ask(name), name)
        assert shown == show_answer(run.updates[run.since.get(name, len(run.updates)) :], name)
        return shown
