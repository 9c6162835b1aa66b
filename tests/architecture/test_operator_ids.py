"""Operators get their ids in one module: whoever counts and whoever shows cannot spell them differently."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "sanderling"
OWNER = "plans/operator_ids.py"


def test_ids_of_operators_are_made_in_one_module() -> None:
    makers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "OperatorId"
    }
    assert makers == {OWNER}
