"""Reading what repeats once makes no difference: the same queries, the same errors."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from sqlglot.tokenizer_core import Token

from sanderling.language import parse_script, read_script, script
from sanderling.language.parse import parse_tokens
from sanderling.language.script import Row
from sanderling.language.statements import CreateTrigger, RegisterPattern
from sanderling.plan import planner as planner_module
from sanderling.plan.pattern.patterns import read_pattern
from sanderling.plan.planner import Planner
from sanderling.plan.trigger.triggers import read_trigger
from sanderling.plans import trigger_space
from tests.language.scripts_alike import BEGIN, dump, outcome, scripts
from tests.long import drawn

MANY = drawn(40, 20_000)


@settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(scripts())
@example(
    f"{BEGIN}REGISTER QUERY q0 AS SELECT id FROM bus kNN ('M', 1, 'a');\n"
    "REGISTER QUERY q1 AS SELECT id FROM bus kNN ('M', 0, 'a');\n"
)
def test_a_script_is_the_same_read_at_once_or_one_by_one(script: str) -> None:
    """The third trigger is one of many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trigger_space, "FEW", 2)
        assert outcome(script, False) == outcome(script, True)


def many(n: int, select: str) -> str:
    return ";\n".join(f"REGISTER QUERY q{i} AS {select.format(i=i)}" for i in range(n))


MIXED = (
    "SELECT id FROM taxi INSIDE ('M', {i}, 0.5, 0.5)",
    "SELECT id FROM taxi INSIDE ({i}, 1.5, {i}, 3)",
    "SELECT id FROM taxi INSIDE (-{i}, 1.5, {i})",
    "SELECT id FROM taxi WHERE speed > {i} AND kind = 'bus {i}' INSIDE depot",
    "SELECT id, {i} AS n FROM taxi WHERE n BETWEEN -{i} AND {i}",
)


@pytest.mark.parametrize("select", MIXED)
def test_statements_that_differ_in_constants_only_are_read_once(
    select: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def reading(text: str, tokens: list[Token]) -> object:
        read.append(tokens[0].start)
        return parse_tokens(text, tokens)

    monkeypatch.setattr(script, "parse_tokens", reading)
    planner = Planner()
    planner.run_script(BEGIN)
    read.clear()
    planner.run_script(many(500, select))
    assert len(planner.queries) == 500
    assert len(read) == 1


def test_triggers_that_differ_in_constants_only_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    def checking(selects: object, statement: CreateTrigger, *others: object) -> object:
        checked.append(statement.name.text)
        return read_trigger(selects, statement, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(planner_module, "read_trigger", checking)
    script = BEGIN + "".join(
        f"CREATE TRIGGER t{i} FOR taxi AS a, taxi AS b WHEN a.speed > {i + 10} AND b.kind = 'k{i}' "
        f"AND b.ts - a.ts IN [0, {i % 3 + 1}] AND DISTANCE(a, b) < 5;"
        for i in range(300)
    )
    planner = Planner()
    planner.run_script(script)
    # Bounds in time are looked at: each of three is checked, while triggers are few and when they are many.
    assert (len(planner.queries), len(checked)) == (300, 6)
    assert outcome(script, False) == outcome(script, True)


def test_patterns_that_differ_in_regions_and_thresholds_are_read_and_checked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[str] = []

    def checking(reader: object, statement: RegisterPattern, *others: object) -> object:
        checked.append(statement.name.text)
        return read_pattern(reader, statement, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(planner_module, "read_pattern", checking)
    pattern = (
        "WITH a AS (SELECT id FROM taxi WHERE speed > {i} INSIDE ({i}, 0, 5) PERSISTENCY {s} SECONDS), "
        "b AS (SELECT id FROM taxi INSIDE ({i}, 1, 2, 3)) "
        "SELECT id FROM a THEN NOT b THEN ENTERING a AS c WITHIN 1 HOUR"
    )
    text = "".join(f"REGISTER PATTERN p{i} AS {pattern.format(i=i, s=i % 2 + 1)};" for i in range(300))
    planner = Planner()
    planner.run_script(BEGIN + text)
    # How long is looked at.
    assert (len(planner.queries), len(checked)) == (300, 2)
    assert len(planner.plan().trees) == 1
    assert outcome(BEGIN + text, False) == outcome(BEGIN + text, True)
    planner.run_script("DROP PATTERN p7; AT 9 DROP PATTERN p8")
    assert len(planner.queries) == 298 and len(planner.plan().trees[0].queries) == 299


@pytest.mark.parametrize("values", [("3", "3", "4", "3"), ("4", "3", "3", "3"), ("3", "4", "4", "3")])
def test_variables_that_ask_the_same_in_one_trigger_may_ask_other_things_in_the_next(
    values: tuple[str, ...],
) -> None:
    """They share a branch where their constants are equal."""
    when = "WHEN a.speed > {} AND b.speed > {} AND WITHIN 5;"
    first, second = when.format(*values[:2]), when.format(*values[2:])
    of = "FOR taxi AS a, taxi AS b"
    script = f"{BEGIN}CREATE TRIGGER t {of} {first} CREATE TRIGGER u {of} {second}"
    assert outcome(script, False) == outcome(script, True)


def test_shapes_may_be_mixed_and_stand_after_comments_and_times() -> None:
    statements = [
        f"-- the next\nAT {i % 3} register query q{i} as {MIXED[i % 5].format(i=i)}" for i in range(50)
    ]
    text = BEGIN + ";\n".join(statements)
    assert sum(isinstance(s, Row) for s in read_script(text)) == 50
    assert outcome(text, False) == outcome(text, True)
    assert outcome(text, False)[1] is None


def test_a_statement_that_cannot_end_is_found_where_it_begins() -> None:
    text = many(200, MIXED[0]) + ";\nREGISTER QUERY last AS SELECT 'id FROM taxi;\n" + many(200, MIXED[1])
    assert outcome(BEGIN + text, False) == outcome(BEGIN + text, True)


def test_what_is_read_is_what_was_written() -> None:
    text = many(3, MIXED[3])
    full = list(parse_script(text))
    for repeat, statement in zip(read_script(text), full, strict=True):
        assert isinstance(repeat, Row)
        assert (repeat.name, repeat.sql) == (statement.name.text, statement.sql)  # type: ignore[union-attr]


def test_the_focal_object_of_a_named_region_is_no_literal_of_a_trigger() -> None:
    """Though it ends at the same character, in a script of its own."""
    of = "FOR taxi AS a, taxi AS b WHEN a.location INSIDE near AND DISTANCE(a, b) <"
    first = f"CREATE TRIGGER t0 {of} 4 AND WITHIN 5"
    region = "CREATE REGION near AS AROUND ("
    plans = []
    for is_one_by_one in (False, True):
        planner = Planner(is_one_by_one=is_one_by_one)
        planner.run_script(BEGIN)
        planner.run_script(" " * (first.index("4") - len(region)) + f"{region}7, 5)")
        planner.run_script(f"{first};\n{first.replace('t0', 't1').replace('4', '6')}")
        plans.append(dump(planner.plan()))
    assert plans[0] == plans[1]
