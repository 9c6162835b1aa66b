"""The examples print what they are said to print."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.examples import ROOT, blocks_of

FOLDER = ROOT / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SHOWN = {b.name: b.text for b in blocks_of(FOLDER / "README.md") if b.language == "text"}


def name_of(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_prints_what_the_page_shows(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path))
    assert capsys.readouterr().out == SHOWN[path.name]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_the_cells_of_a_notebook_print_what_is_stored(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            assert capsys.readouterr().out == "".join(line for o in cell["outputs"] for line in o["text"])


def test_all_examples_are_listed() -> None:
    text = (FOLDER / "README.md").read_text()
    assert SCRIPTS and NOTEBOOKS and set(SHOWN) == {p.name for p in SCRIPTS}
    assert all(f"({p.name})" in text for p in [*SCRIPTS, *NOTEBOOKS])
