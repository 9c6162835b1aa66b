"""Distances and kinds of coverages have one room: nobody else writes his own."""

from __future__ import annotations

import ast
from pathlib import Path

from sanderling.space.coverages import COVERAGES

SOURCE = Path(__file__).resolve().parents[2] / "src" / "sanderling"
METRIC = "space/metric.py"
# Roads of the simulator lie on a plane of its own.
EXCEPTED = ("simulate/",)

FILES = {p.relative_to(SOURCE).as_posix(): ast.parse(p.read_text()) for p in SOURCE.rglob("*.py")}


def is_square(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and (
        (isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right))
        or (isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2)
    )


def is_distance(node: ast.AST) -> bool:
    """A sum of two squares, or a function that is one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_square(node.left) and is_square(node.right)
    return isinstance(node, ast.Attribute) and node.attr in ("hypot", "norm")


def test_a_sum_of_squares_is_known_as_a_distance() -> None:
    assert is_distance(ast.parse("dx * dx + dy * dy", mode="eval").body)
    assert not is_distance(ast.parse("w * h + h * w", mode="eval").body)
    assert any(map(is_distance, ast.walk(FILES[METRIC])))


def test_nobody_else_has_a_distance_of_his_own() -> None:
    others = {file: tree for file, tree in FILES.items() if file != METRIC and not file.startswith(EXCEPTED)}
    own = [file for file, tree in others.items() if any(map(is_distance, ast.walk(tree)))]
    assert own == [], METRIC


def test_each_kind_of_coverage_is_named_in_its_own_file() -> None:
    kinds = {file.__name__.rsplit(".", 1)[-1].upper(): kind for kind, file in COVERAGES.items()}
    assert all(getattr(COVERAGES[kind], name) == kind for name, kind in kinds.items())
    for file, tree in FILES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in kinds:
                assert file == f"space/shapes/{node.id.lower()}.py", f"{file}:{node.lineno}"
