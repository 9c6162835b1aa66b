"""Programs in the documents print what is shown after them; those marked `not-run` need what tests lack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.architecture.examples import ROOT, Block, blocks_of

NOT_RUN = "not-run"


def programs(path: Path) -> list[tuple[Block, str]]:
    """Each program, and what the block behind it says that it prints."""
    blocks = blocks_of(path)
    found = []
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block.language == "python" and block.name != NOT_RUN:
            shown = after is not None and after.language == "text" and after.name == block.name
            found.append((block, after.text if after is not None and shown else ""))
    return found


def test_the_page_of_the_session_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block, shown in programs(ROOT / "docs" / "session.md"):
        exec(block.text, names)
        assert capsys.readouterr().out == shown, f"session.md:{block.line}"


def test_the_program_of_the_readme_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    readme = ROOT / "README.md"
    for block in blocks_of(readme):
        if block.language == "csv":
            Path(block.name).write_text(block.text)
    ((block, shown),) = programs(readme)
    exec(block.text, {})
    assert shown and capsys.readouterr().out == shown
