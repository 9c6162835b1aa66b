"""What columns are called is spelled in one module: no other has such a name, or cuts one apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "sanderling"
OWNER = SOURCE / "plans" / "columns.py"
NAME = re.compile(r'"?[rqnt]:[\w{(]?|"?c\d+"?$')


def spelled(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts that begin as such names do, and f"c{…}"; what is said in docstrings does no harm."""
    said = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and len(node.values) > 1:
            first, second = node.values[:2]
            begins = isinstance(first, ast.Constant) and first.value in ("c", '"c')
            if begins and isinstance(second, ast.FormattedValue):
                yield node.lineno, ast.unparse(node)
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
        if is_text and NAME.match(node.value):
            yield node.lineno, node.value


def test_names_of_columns_are_spelled_in_one_module() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in SOURCE.rglob("*.py")
        if path != OWNER
        for line, text in spelled(ast.parse(path.read_text()))
    ]
    assert not found, "\n".join(found)


def test_the_test_finds_them() -> None:
    text = "a = 'r:x'\nb = f'c{1}'\nc = f'q:{a}'\nd = '\"n:y\"'\ne = 'c0'\nf = 'car: c'\n\"\"\"r:x\"\"\""
    assert sorted(line for line, _ in spelled(ast.parse(text))) == [1, 2, 3, 4, 5]
