"""Programs in the documents print what is shown after them; those marked `not-run` need what tests lack."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.architecture.examples import DOCUMENTS, ROOT, Block, blocks_of

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


def test_the_programs_of_the_short_answers_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "how.md"
    for block in blocks_of(page):
        if block.language == "csv":
            Path(block.name).write_text(block.text)
    found = programs(page)
    assert found
    for block, shown in found:
        exec(block.text, {})
        assert capsys.readouterr().out == shown, f"how.md:{block.line}"


def unknown_names(program: str) -> set[str]:
    """What a program uses and nobody has defined."""
    tree = ast.parse(program)
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    imported = {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    defined = {node.id for node in used if isinstance(node.ctx, ast.Store)} | imported | set(dir(builtins))
    return {node.id for node in used} - defined


def test_programs_that_are_not_run_are_whole_and_name_what_fits_our_spark() -> None:
    found = [b.text for path in DOCUMENTS for b in blocks_of(path) if b.name == NOT_RUN]
    assert found and [unknown_names(program) for program in found] == [set()] * len(found)
    jars = {jar.name for jar in (Path(pyspark.__file__).parent / "jars").iterdir()}
    for program in found:
        for package, version in re.findall(r"org\.apache\.spark:spark-[a-z0-9-]+_([\d.]+):([\d.]+)", program):
            assert f"spark-sql_{package}-{version}.jar" in jars


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
