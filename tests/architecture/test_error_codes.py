"""Every error code is provoked by a test and explained in the reference."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sanderling"
TESTS = ROOT / "tests"
REFERENCE = ROOT / "docs" / "language.md"

CODE = re.compile(r"(query|config|data|state|session|history|internal|auth|limit|request)\.[a-z][a-z0-9_]*")

# Codes that are put together, and what they can become.
EXPANDED: dict[str, tuple[str, ...]] = {
    "query.negative_{}": ("query.negative_radius", "query.negative_length"),
    "query.unknown_{}": (
        "query.unknown_stream", "query.unknown_table", "query.unknown_region", "query.unknown_query",
        "query.unknown_trigger", "query.unknown_pattern", "query.unknown_archive",
    ),
}  # fmt: skip

# Codes that no test provokes, each with the reason why it cannot, or not yet.
UNPROVOKED: dict[str, str] = {}


def codes_in(tree: ast.AST) -> set[str]:
    """Every literal that is a code, and every code that a literal with gaps can become."""
    nodes = list(ast.walk(tree))
    with_gaps = [n for n in nodes if isinstance(n, ast.JoinedStr)]
    pieces = {id(p) for n in with_gaps for p in n.values}
    found = {
        n.value
        for n in nodes
        if isinstance(n, ast.Constant) and id(n) not in pieces
        if isinstance(n.value, str) and CODE.fullmatch(n.value)
    }
    for node in with_gaps:
        pattern = "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        if re.fullmatch(CODE.pattern + r"\{\}", pattern):
            assert pattern in EXPANDED, f'say in EXPANDED what "{pattern}" can become'
            found.update(EXPANDED[pattern])
    return found


def all_codes() -> list[str]:
    return sorted(set().union(*(codes_in(ast.parse(p.read_text())) for p in SOURCE.rglob("*.py"))))


CODES = all_codes()


def text_of_tests() -> str:
    """Everything that may provoke a code: tests and scripts, but not these."""
    here = Path(__file__).parent
    paths = [p for p in TESTS.rglob("*") if p.suffix in (".py", ".txt") and here not in p.parents]
    return "\n".join(p.read_text() for p in paths)


PROVOKED = {m.group() for m in CODE.finditer(text_of_tests())}
EXPLAINED = set(re.findall(r"^\| `([a-z]+\.[a-z0-9_]+)` \|", REFERENCE.read_text(), re.MULTILINE))


def test_codes_are_found() -> None:
    assert len(CODES) > 50 and "query.unknown_stream" in CODES and "query.negative_radius" in CODES


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_provoked_or_says_why_not(code: str) -> None:
    if code in UNPROVOKED:
        assert code not in PROVOKED, "it is provoked now: take it out of UNPROVOKED"
    else:
        assert code in PROVOKED, "no test or script under tests/ names it"


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_in_the_reference(code: str) -> None:
    assert code in EXPLAINED, f"add a row for it to the table in {REFERENCE.name}"


def test_the_reference_explains_no_code_that_is_gone() -> None:
    assert not EXPLAINED - set(CODES)


def test_what_is_unprovoked_exists() -> None:
    assert not set(UNPROVOKED) - set(CODES)
