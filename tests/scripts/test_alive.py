"""Every script as a session that runs: statements come when they stand in it, under every profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.operate.inside import moving
from tests.scripts.alive import Alive
from tests.scripts.profiles import KNOWN, OTHER_PROFILES, SESSION_PROFILES
from tests.scripts.steps import read_script
from tests.scripts.test_scripts import HERE, SCRIPTS, script_id

LIVE = sorted((HERE / "live").glob("*.txt"))
# Stories that a session would tell otherwise, and why.
OTHERWISE = {"errors/syntax": "it refuses two statements in one, which a session takes"}


@pytest.mark.parametrize("profile", SESSION_PROFILES)
@pytest.mark.parametrize("path", LIVE, ids=script_id)
def test_a_story_of_a_session(
    path: Path, profile: str, tmp_path: Path, accept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(path, profile, tmp_path, monkeypatch, accept)


@pytest.mark.parametrize("path", [p for p in SCRIPTS if script_id(p) not in OTHERWISE], ids=script_id)
def test_any_story_is_one_of_a_session(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, profile in enumerate(OTHER_PROFILES):
        folder = tmp_path / str(number)
        folder.mkdir()
        check(path, profile, folder, monkeypatch)


def check(
    path: Path, profile: str, folder: Path, monkeypatch: pytest.MonkeyPatch, accept: bool = False
) -> None:
    if KNOWN[profile].takes_turns:
        monkeypatch.setattr(moving, "WORTH_ORDERING", 0)
    script = read_script(path)
    said = Alive(KNOWN[profile], folder).play(script)
    if accept and profile == "whole batches":
        for step in script.steps:
            is_wanted = step.expected is not None or step.kind != "statement"
            if is_wanted and (step.expected is not None or said.get(step.line)):
                step.expected = said.get(step.line, [])
        path.write_text(script.text())
        return
    for step in script.steps:
        if step.expected is not None and step.kind != "explain":
            assert said.get(step.line, []) == step.expected, f"{path.name}:{step.line}"
        elif step.kind in ("feed", "advance"):
            assert said[step.line] == [], f"{path.name}:{step.line} changes something"
