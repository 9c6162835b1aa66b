"""CREATE TRIGGER as it is read."""

from __future__ import annotations

import pytest
from sqlglot import exp

from sanderling.errors import QueryError
from sanderling.language.grammar.trigger import Before, Duration, Within
from sanderling.language.parse import parse_statement
from sanderling.language.statements import At, CreateTrigger, Drop


def trigger(when: str, rest: str = "", variables: str = "E AS a, E AS b") -> CreateTrigger:
    statement = parse_statement(f"CREATE TRIGGER t FOR {variables} WHEN {when} {rest}")
    assert isinstance(statement, CreateTrigger)
    return statement


def durations(node: exp.Expr) -> list[int]:
    return [int(d.args["us"]) for d in node.find_all(Duration)]


def test_variables_have_a_stream_and_sets_a_count() -> None:
    found = trigger("WITHIN 5", variables="E AS a, F b, 5 OF G AS c").variables
    assert [(v.stream.text, v.name.text) for v in found] == [("E", "a"), ("F", "b"), ("G", "c")]
    assert [v.count and v.count.value for v in found] == [None, None, 5]


def test_brackets_are_bounds_and_may_be_below_zero() -> None:
    between = trigger("b.ts - a.ts IN [-1 MINUTE, 1 HOUR 30 MINUTES]").when
    assert isinstance(between, exp.Between)
    assert isinstance(between.args["low"], exp.Neg)
    assert sorted(durations(between)) == [60_000_000, 5_400_000_000]


def test_in_with_parentheses_is_a_list_as_everywhere() -> None:
    assert isinstance(trigger("a.id IN ('x', 'y')").when, exp.In)


def test_a_number_with_a_unit_is_a_duration_and_one_without_is_none() -> None:
    assert durations(trigger("b.ts - a.ts < 1.5 minutes").when) == [90_000_000]
    assert durations(trigger("b.ts - a.ts < 5").when) == []
    assert durations(trigger("b.ts - a.ts < INTERVAL 5 MINUTES").when) == []


def test_is_null_stands_in_conditions_of_triggers_too() -> None:
    when = trigger("a.v IS NULL AND b.v IS NOT NULL AND WITHIN 5").when
    assert len(list(when.find_all(exp.Is))) == 2


def test_after_is_before_the_other_way_round() -> None:
    before, after = trigger("a BEFORE b").when, trigger("b AFTER a").when
    assert isinstance(before, Before)
    assert before == after


def test_words_of_triggers_are_names_elsewhere() -> None:
    when = trigger("a.before < b.after AND a.within = 3 AND WITHIN 3 SECONDS").when
    assert [c.name for c in when.find_all(exp.Column)] != []
    assert len(list(when.find_all(Within))) == 1
    assert isinstance(
        parse_statement("REGISTER QUERY q AS SELECT within, before AS after FROM E WHERE minutes > 5").select,  # type: ignore[union-attr]
        exp.Select,
    )


def test_clauses_come_in_order_and_are_optional() -> None:
    found = trigger(
        "WITHIN 5", "SELECT a.id AS x, b.id AS y REPORT FIRST WITH (expiry = 'loose', index = 'grid')"
    )
    assert [item.alias for item in found.items] == ["x", "y"]
    assert found.is_first
    assert {name: value.value for name, (_, value) in found.options.items()} == {
        "expiry": "loose",
        "index": "grid",
    }
    assert not trigger("WITHIN 5", "REPORT ALL").is_first
    assert not trigger("WITHIN 5").items


def test_triggers_come_and_go_at_times() -> None:
    for text, kind in (
        ("AT 5 CREATE TRIGGER t FOR E AS a WHEN a.v > 3", CreateTrigger),
        ("AT 9 DROP TRIGGER t", Drop),
    ):
        statement = parse_statement(text)
        assert isinstance(statement, At)
        assert isinstance(statement.statement, kind)


@pytest.mark.parametrize(
    "text",
    [
        "", "FOR", "FOR E AS a", "FOR E AS a WHEN", "FOR E AS a, WHEN a.v > 1", "FOR E WHEN a.v > 1",
        "FOR 5 E AS a WHEN a.v > 1", "FOR E AS a WHEN a.v > 1 REPORT", "FOR E AS a WHEN a.v > 1 SELECT",
        "FOR E AS a WHEN a BEFORE", "FOR E AS a WHEN a.ts IN [1, 2", "FOR E AS a WHEN a.v > 1 WITH expiry",
        "FOR E AS a WHEN a.v > 1 GROUP BY a.v", "FOR E AS a WHEN a.v > 1 REPORT ALL SELECT a.v",
    ],
)  # fmt: skip
def test_what_is_no_trigger_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_statement(f"CREATE TRIGGER t {text}")
    assert caught.value.code == "query.syntax"
    assert caught.value.place is not None
