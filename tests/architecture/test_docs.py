"""The documents are true: their examples run, their links lead somewhere, their lists are complete."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from sanderling import command
from sanderling.ask.files import FilesPast
from sanderling.ask.page import lines_of
from sanderling.ask.script import Asked
from sanderling.errors import SanderlingError
from sanderling.ingest.files import find_files
from sanderling.ingest.letters import REASONS
from sanderling.language import parse_script
from sanderling.operate.pattern.own_state import States
from sanderling.plan.declarations import STREAM_OPTIONS
from sanderling.plan.expressions.functions import FORMS, NAMES
from sanderling.plan.planner import Planner
from sanderling.session.state import State, brought, states_in
from sanderling.types import ALIASES, TYPES
from tests.architecture.examples import DOCUMENTS, ROOT, blocks_of, document_id
from tests.command.said import without_progress
from tests.engine.direct import DirectRun
from tests.scripts.stories import show_updates

LANGUAGE = ROOT / "docs" / "language.md"
GLOSSARY = ROOT / "docs" / "glossary.md"
WITH_SQL = [d for d in DOCUMENTS if any(b.language == "sql" for b in blocks_of(d))]


def said_by(script: str, states: dict[str, type[State]]) -> tuple[list[str], list[str]]:
    """What a script over files in this folder says, as people read it, and the lines of its output."""
    planner = Planner()
    for name, kind in states.items():
        planner.states.put(name, brought(name, kind))
    asked = Asked(planner)
    try:
        listings = planner.run_script(script)
    except SanderlingError as e:
        return str(e).splitlines(), []
    run = DirectRun(planner.plan(), states=States(states.__getitem__, 10, are_checked=True))
    for stream in planner.streams.values():
        if stream.path is not None:
            for file in find_files(stream.path):
                run.feed_file(stream.name, Path(file.path))
            clock = run.engines[0].streams[stream.name].clock
            run.close_to(stream.name, clock.max_ts)
    lines = sorted(run.updates, key=_order)
    listed = [" | ".join(row) for listing in listings for row in listing.rows]
    letters = [f"! {reason} {raw}" for _, reason, raw in run.letters]
    tables = [line for rows in asked.answers(FilesPast(Path())) for line in lines_of(rows)]
    return [*listed, *show_updates(lines), *letters, *tables], lines


def _simulate_as_written(commands: str) -> None:
    """The simulator makes files for what follows; other commands have tests of their own."""
    for line in commands.splitlines():
        words = line.split()
        if words[:2] == ["sanderling", "simulate"]:
            command.app(words[1:], standalone_mode=False)


def _order(line: str) -> tuple[str, bytes]:
    update = json.loads(line)
    return update["tick"], update["query"].encode()


@pytest.mark.parametrize("document", WITH_SQL, ids=document_id)
def test_examples_give_what_is_shown(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scripts: dict[str, str] = {}
    states: dict[str, type[State]] = {}
    shown: set[str] = set()
    for block in blocks_of(document):
        where = f"{document.name}:{block.line}"
        if block.name.endswith(".py") and block.language != "py":
            continue  # a program: tests/examples runs it
        if block.language == "sql" and not block.name:
            assert list(parse_script(block.text)), where
        elif block.language == "sql":
            scripts[block.name] = block.text
        elif block.name and block.language in ("text", "jsonl"):
            words, lines = said_by(scripts[block.name], states)
            said = lines if block.language == "jsonl" else [f"{w}\n" for w in words]
            assert "".join(said) == block.text, where
            shown.add(block.name)
        elif block.language == "sh":
            _simulate_as_written(block.text)
        elif block.language == "py":
            Path(block.name).write_text(block.text)
            states |= states_in(block.name.removesuffix(".py"))
        elif block.language == "python":
            exec(block.text, {})
        elif block.name:
            Path(block.name).write_text(block.text)
    assert shown == set(scripts), "a script whose outcome is not shown"


def test_the_first_query_of_the_readme_runs_as_written(tmp_path: Path) -> None:
    """On Spark, by the command itself."""
    blocks = blocks_of(ROOT / "README.md")
    for block in blocks:
        if block.language in ("csv", "sql") and block.name:
            (tmp_path / block.name).write_text(block.text)
    (words,) = (b.text.split() for b in blocks if b.language == "sh" and " run " in b.text)
    assert words[:2] == ["sanderling", "run"]
    program = [sys.executable, "-c", "from sanderling.command import main; main()"]
    call = [*program, *words[1:], "--master", "local[1]"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (lines,) = (b.text for b in blocks if b.language == "jsonl" and b.name == words[2])
    assert done.stdout == lines
    (summary,) = (b.text for b in blocks if b.language == "text" and b.text.startswith("rows read"))
    assert _without_rate(without_progress(done.stderr)) == _without_rate(summary)


def _without_rate(summary: str) -> str:
    return re.sub(r"\([\d,]+ per second\)", "(… per second)", summary)


# ----- links


def anchors_of(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=document_id)
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        assert "://" not in target, f"{target}: links stay inside the repository"
        name, _, anchor = target.partition("#")
        linked = (document.parent / name).resolve() if name else document
        assert linked.exists(), target
        assert ROOT in (linked, *linked.parents), target
        if anchor:
            assert anchor in anchors_of(linked), target


def test_every_operator_and_decision_is_reached() -> None:
    linked = {
        (document.parent / target.partition("#")[0]).resolve()
        for document in DOCUMENTS
        for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text())
    }
    assert {d.resolve() for d in DOCUMENTS if "docs" in d.parts} <= linked, "a page that no page links to"


# ----- lists


def words_in(document: Path, heading: str) -> set[str]:
    """What stands between backticks under a heading."""
    text = document.read_text()
    section = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"no section {heading}"
    return set(re.findall(r"`([^`]+)`", section[1]))


@pytest.mark.parametrize(
    ("heading", "known"),
    [
        ("Types", {*TYPES, *ALIASES}),
        ("Functions", NAMES - set(FORMS)),
        ("Stream options", set(STREAM_OPTIONS)),
        ("Dead letters", {*REASONS, "late", "ahead"}),
    ],
)
def test_a_list_of_the_reference_is_complete(heading: str, known: set[str]) -> None:
    listed = words_in(LANGUAGE, heading)
    assert known <= listed, f"missing: {sorted(known - listed)}"


def test_the_functions_of_the_reference_exist() -> None:
    assert words_in(LANGUAGE, "Functions") <= NAMES


@pytest.mark.parametrize("name", ["run", "simulate", "demo"])
def test_the_options_of_a_command_are_listed(name: str) -> None:
    listed = words_in(LANGUAGE, f"sanderling {name}")
    named = typer.main.get_command(command.app).commands[name]  # type: ignore[attr-defined]
    options = {option for parameter in named.params for option in parameter.opts if option.startswith("--")}
    assert options and options <= listed


def test_words_of_the_glossary_are_used() -> None:
    source = "\n".join(p.read_text() for p in (ROOT / "src").rglob("*.py")).casefold()
    for word in re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY.read_text(), re.MULTILINE):
        assert word.casefold().replace(" ", "_") in source.replace(" ", "_"), f"no code says {word}"


def test_words_inside_are_few_and_stand_once() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* ", GLOSSARY.read_text().partition("## Inside")[2], re.MULTILINE)
    assert len(words) == len(set(words)) <= 50


def test_ratios_of_the_readme_are_those_measured() -> None:
    text = (ROOT / "README.md").read_text()
    measured = {
        "range_kernel": ["times faster than STRtree"],
        "follow_kernel": [f"times faster, {share} moving" for share in ("100%", "10%", "1%")],
        "range_on_spark": ["times echo"],
        "squares_on_spark": ["times echo"],
        "nearest_on_spark": ["times echo", "times echo with two stages"],
        "groups_on_spark": ["times plain"],
        "peers_squares": ["times as fast as the best other"],
        "peers_nearest": ["times as fast as the best other"],
        "registration": ["times faster, one shape", "times faster, a query table"],
    }
    for name, names in measured.items():
        facts = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())["facts"]
        (line,) = re.findall(rf"^\|.*\| \[{name}\].*$", text, re.MULTILINE)
        stated = [float(ratio) for ratio in re.findall(r"\*\*([\d.]+) times\*\*", line)]
        assert stated == pytest.approx([facts[fact] for fact in names], rel=0.1), name
