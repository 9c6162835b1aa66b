"""Every script under every profile: how rows are cut or placed is not to show."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pytest

from sanderling.operate.inside import moving
from sanderling.plan.logical import Rule
from sanderling.plan.rules import RULES
from tests.engine.direct import DirectRun
from tests.scripts.profiles import PROFILES, Profile, rules_for
from tests.scripts.steps import Script, read_script
from tests.scripts.stories import Story, csv_text, show_answer, show_updates, tell

HERE = Path(__file__).parent
# Those of a session are told as they stand (test_alive.py).
SCRIPTS = sorted(p for p in HERE.glob("*/*.txt") if p.parent.name != "live")


def script_id(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@lru_cache(maxsize=2)
def told(path: Path, rules: tuple[Rule, ...]) -> tuple[Script, Story]:
    """Planned once with rules, and without: profiles come one after the other, and change nothing of it."""
    script = read_script(path)
    return script, tell(script, rules)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("path", SCRIPTS, ids=script_id)
def test_script(
    path: Path, profile: str, tmp_path: Path, accept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if PROFILES[profile].takes_turns:
        monkeypatch.setattr(moving, "WORTH_ORDERING", 0)
    script, story = told(path, rules_for(path, PROFILES[profile]))
    said = play(script, story, PROFILES[profile], tmp_path)
    if accept and profile == "whole batches":
        for step in script.steps:
            # What a statement says is pinned only where its author asks for it: its code is the test.
            is_wanted = step.expected is not None or step.kind != "statement"
            if is_wanted and (step.expected is not None or said.get(step.line)):
                step.expected = said.get(step.line, [])
        path.write_text(script.text())
        return
    for step in script.steps:
        if step.kind == "explain" and PROFILES[profile].rules != RULES:
            continue
        if step.expected is not None:
            assert said.get(step.line, []) == step.expected, f"{path.name}:{step.line}"
        elif step.kind in ("feed", "advance"):
            assert said[step.line] == [], f"{path.name}:{step.line} changes something"


def play(script: Script, story: Story, profile: Profile, folder: Path) -> dict[int, list[str]]:
    """What each step says, by its line."""
    said = dict(story.said)
    run = DirectRun(
        story.plan,
        profile.shards,
        profile.slice_bytes,
        profile.empty_between,
        profile.takes_turns,
        chooser=profile.chooser,
    )
    feeds = {f.step.line: f for f in story.feeds}
    for step in script.steps:
        match step.kind:
            case "feed" | "advance":
                feed = feeds[step.line]
                updates, letters = len(run.updates), len(run.letters)
                if feed.rows:
                    path = folder / f"{step.line}.csv"
                    path.write_text(csv_text(story.plan, feed))
                    run.feed_file(feed.stream, path)
                if feed.is_closing and feed.last is not None:
                    run.close_to(feed.stream, feed.last)
                if profile.restart_each:
                    run.restart(is_snapshot=step.line % 2 == 0)
                lines = sorted(run.updates[updates:], key=lambda line: json.loads(line)["tick"])
                _same_changes(script, lines)
                said[step.line] = show_updates(lines) + [
                    f"! {r} {raw}" for _, r, raw in run.letters[letters:]
                ]
            case "answer":
                said[step.line] = show_answer(run.updates, step.words[0])
            case "restart":
                run.restart()
    return said


def _same_changes(script: Script, lines: list[str]) -> None:
    """Both sides of every `same` step, each update of one with one of the other; they are not shown."""
    for step in (s for s in script.steps if s.kind == "same"):
        sides = []
        for side in ("left", "right"):
            name = f"same_{step.line}_{side}"
            mine = [u for u in map(json.loads, lines) if u["query"] == name]
            sides.append([(u["tick"], u["sign"], u["row"]) for u in mine])
        assert sides[0] == sides[1], f"{script.path.name}:{step.line}"
    lines[:] = [line for line in lines if not line.startswith('{"query": "same_')]
