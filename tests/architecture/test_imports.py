"""Who knows whom: reads every import of the source and says when an arrow is new."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "sanderling"

# A part is a folder, or a file that stands beside the folders. What a part may import of the others:
ALLOWED: dict[str, set[str]] = {
    # the ground: known to all, knowing nearly nobody
    "arrays": set(),
    "errors": set(),
    "figures": {"clock"},
    "clock": set(),

    "settings": set(),
    "types": set(),
    "batches": {"clock"},
    "macros": set(),
    "relational": {"errors", "macros"},
    "catalog": {"arrays", "clock", "types"},
    # queries: text to plan
    "language": {"clock", "errors", "plans", "space", "types"},
    "plan": {
        "arrays", "batches", "catalog", "clock", "errors", "figures", "ingest", "language", "macros",
        "plans", "relational", "space", "storage", "types",
    },
    # what planning gives, and all the rest takes
    "plans": {"arrays", "catalog", "clock", "figures", "space", "types"},
    # data: the five stages
    "ingest": {"batches", "catalog", "clock", "errors", "relational", "space", "types"},
    "route": {"arrays", "batches", "catalog", "clock", "ingest", "kernels", "plans", "space"},
    "operate": {
        "arrays", "batches", "catalog", "clock", "figures", "kernels", "plans", "relational", "route",
        "space", "state",
    },
    "merge": {"arrays", "batches", "clock", "figures", "kernels", "operate", "plans", "route", "state"},
    "deliver": {
        "arrays", "batches", "catalog", "clock", "errors", "figures", "ingest", "kernels", "operate",
        "plans", "relational", "route", "state",
    },
    # what the stages stand on
    "kernels": {"arrays", "space"},
    # how far, and which places a region holds; compiled into kernels
    "space": {"arrays", "kernels"},
    # the past, on disk
    "storage": {"arrays", "batches", "catalog", "clock", "errors", "state", "types"},
    "state": {"catalog", "errors", "plans", "route", "types"},
    # a SELECT that is not registered
    "ask": {
        "arrays", "batches", "catalog", "clock", "deliver", "errors", "ingest", "language", "operate",
        "pipeline", "plan", "plans", "relational", "route", "settings", "space", "storage", "types",
    },
    # what puts them together
    "notebook": {"errors", "session"},
    "pipeline": {"batches", "merge", "operate", "plans", "route"},
    "spark": {
        "batches", "catalog", "deliver", "errors", "figures", "ingest", "merge", "operate", "plan", "plans",
        "route", "settings", "simulate", "state", "storage", "types",
    },
    "session": {
        "arrays", "ask", "batches", "catalog", "clock", "deliver", "errors", "figures", "ingest",
        "kernels", "language", "notebook", "plan", "plans", "route", "server", "settings", "spark", "state",
        "storage", "types",
    },
    "server": {
        "arrays", "batches", "catalog", "clock", "deliver", "errors", "figures", "language", "plan", "plans",
        "relational", "session", "space", "state", "types",
    },
    "shell": {"errors", "language", "session"},
    "simulate": {"arrays", "clock", "errors", "kernels", "relational"},
    "demo": {
        "batches", "clock", "deliver", "errors", "pipeline", "plan", "plans", "route", "session", "simulate",
        "spark", "state",
    },
    # how far a run is, on standard error
    "progress": {"deliver"},
    "command": {
        "ask", "deliver", "demo", "errors", "ingest", "kernels", "language", "plan", "progress", "server",
        "session", "settings", "shell", "simulate", "spark", "state", "storage",
    },
}  # fmt: skip

# Arrows that look odd, and why they are there.
# plan → ingest      CREATE TABLE reads its file when it is declared (plan/planner.py, load_table)
# plan → batches     a trigger's branches ask for the time that a reading carries (plan/trigger/branches.py)
# space → kernels    the decorator of kernels/jit.py, and nothing else
# plan → storage     DESCRIBE ARCHIVE reads what is on disk (plan/archives.py)
# deliver → operate  what is told of the past, and told again now, cancels (deliver/retold.py)
# deliver → ingest   a late reading is shown as its sender wrote it, read again from its slice
# spark → plan      an archive is told of queries as they were registered (spark/archives.py)
# ask → space        a box that readings may be left out by is that of regions (ask/bounds.py)
# command → session  --states names a module whose classes are looked at as a session does
# session → kernels  connect says that they will be compiled, where nothing has been (kernels/kept.py)
# session → server   session.serve(…) starts one; it is imported when it is called
# demo → operate, merge, state   a rehearsal has no Spark between the stages (demo/rehearse.py)

# Foreign packages that only one place may import: the place, then the exceptions with their reasons.
OWNERS: dict[str, str] = {
    "pyspark": "spark/",
    "numba": "kernels/jit.py",
    "duckdb": "relational.py",
    "deltalake": "storage/delta.py",
    "fastapi": "server/",
    "starlette": "server/",
    "uvicorn": "server/",
    "pydantic": "server/",
    "prompt_toolkit": "shell/",
    "anywidget": "notebook/",
}
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("pyspark", "session/session.py"): "types only, under TYPE_CHECKING",
    ("pyspark", "session/connect.py"): "types only, under TYPE_CHECKING",
    ("deltalake", "storage/place.py"): "files of object stores, by the same options as their tables",
}


class Import(NamedTuple):
    file: str
    line: int
    module: str

    @property
    def part(self) -> str:
        return part_of(self.file)


def part_of(file: str) -> str:
    folder, slash, _ = file.partition("/")
    return folder if slash else file.removesuffix(".py")


def imports_of(path: Path) -> Iterator[Import]:
    """All of them, those inside functions and under TYPE_CHECKING too."""
    file = path.relative_to(SOURCE).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (Import(file, node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names = [f"sanderling.{a.name}" for a in node.names] if module == "sanderling" else [module]
            yield from (Import(file, node.lineno, name) for name in names)


IMPORTS = [found for path in sorted(SOURCE.rglob("*.py")) for found in imports_of(path)]


def owner_holds(owner: str, file: str) -> bool:
    return file.startswith(owner) if owner.endswith("/") else file == owner


PARTS = sorted({part_of(p.relative_to(SOURCE).as_posix()) for p in SOURCE.rglob("*.py")} - {"__init__"})


@pytest.mark.parametrize("part", PARTS)
def test_a_part_knows_only_whom_it_may(part: str) -> None:
    assert part in ALLOWED, f'"{part}" is new: say in ALLOWED whom it may know'
    for found in (i for i in IMPORTS if i.part == part and i.module.startswith("sanderling.")):
        target = found.module.split(".")[1]
        is_allowed = target == part or target in ALLOWED[part]
        assert is_allowed, f"{found.file}:{found.line}: {part} → {target} is a new arrow"


def test_no_arrow_of_the_table_is_out_of_use() -> None:
    used = {(i.part, i.module.split(".")[1]) for i in IMPORTS if i.module.startswith("sanderling.")}
    allowed = {(part, target) for part, targets in ALLOWED.items() for target in targets}
    assert not allowed - used, "remove what nobody uses"


def test_imports_are_absolute() -> None:
    assert not [i for i in IMPORTS if i.module.startswith(".")]


@pytest.mark.parametrize("package", sorted(OWNERS))
def test_a_foreign_package_has_one_place(package: str) -> None:
    importers = {i.file for i in IMPORTS if i.module.split(".")[0] == package}
    strangers = {file for file in importers if not owner_holds(OWNERS[package], file)}
    excepted = {file for name, file in EXCEPTIONS if name == package}
    assert strangers <= excepted, f"{package} belongs to {OWNERS[package]}"
    assert excepted <= strangers, "an exception that is no more: remove it"


def test_nothing_is_read_that_runs_when_it_is_read() -> None:
    """What lies on disk is data: whoever can write there is not to run anything."""
    modules = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "importlib.import_module"}
    assert not [i for i in IMPORTS if i.module.split(".")[0] in modules or "cloudpickle" in i.module]
    called = {"eval", "exec", "__import__", "read_pickle"}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.func if isinstance(node, ast.Call) else None
            word = name.id if isinstance(name, ast.Name) else getattr(name, "attr", "")
            assert word not in called, f"{path.name}:{getattr(node, 'lineno', 0)}"


def test_of_kernels_space_knows_the_compiler_alone() -> None:
    """Kernels stand on space: the other way round there would be no ground."""
    known = {i.module for i in IMPORTS if i.part == "space" and i.module.startswith("sanderling.kernels")}
    assert known == {"sanderling.kernels.jit"}


def test_nothing_imports_the_server() -> None:
    """But for itself, the command that starts it, and the one call of a session that does."""
    importers = {i.file for i in IMPORTS if i.module.startswith("sanderling.server") and i.part != "server"}
    assert importers <= {"command.py", "session/session.py"}
