"""What is nested deeply, or long, is planned in time that grows with its size; no level doubles it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from sanderling import relational
from sanderling.errors import QueryError
from sanderling.plan.planner import Planner
from sanderling.plans.plan import Plan
from sanderling.state.plans import PLANS
from tests.long import so_many

STREAM = (
    "CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, kind STRING, n INT, ok BOOLEAN, "
    "t TIMESTAMP) KEY id TIME ts LOCATION (x, y);"
)

# How one level stands around the one below it, and what is innermost.
FORMS = {
    "CASE": ("CASE WHEN x > 1 THEN {} ELSE 0 END", "x"),
    "CASE in a condition": ("CASE WHEN {} > 1 THEN x ELSE 0 END", "x"),
    "CASE of a value": ("CASE {} WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END", "n"),
    "IF": ("IF(ok, {}, 1)", "x"),
    "coalesce": ("coalesce({}, 1)", "x"),
    "nullif": ("nullif({}, 1)", "x"),
    "greatest": ("greatest({}, 1)", "x"),
    "NOT": ("NOT ({})", "ok"),
    "AND": ("(ok AND ({}))", "ok"),
    "OR": ("(({}) OR ok)", "ok"),
    "=": ("(({}) = ok)", "ok"),
    "<=>": ("(({}) <=> ok)", "ok"),
    "IN": ("(({}) IN (true, false))", "ok"),
    "BETWEEN": ("(({}) BETWEEN false AND true)", "ok"),
    "IS NULL": ("(({}) IS NULL)", "ok"),
    "brackets": ("({})", "x"),
    "minus": ("-({})", "x"),
    "+": ("1 + ({})", "x"),
    "/": ("1 / ({})", "x"),
    "%": ("({}) % 3", "n"),
    "% of it": ("7 % ({})", "n"),
    "DIV": ("7 DIV ({})", "n"),
    "<<": ("({}) << 1", "n"),
    "abs": ("abs({})", "x"),
    "sqrt": ("sqrt({})", "x"),
    "log": ("log({}, 2)", "x"),
    "power": ("power({}, 2)", "x"),
    "floor": ("floor({})", "x"),
    "sign": ("sign({})", "x"),
    "round": ("round({}, 1)", "x"),
    "CAST": ("CAST({} AS BIGINT)", "x"),
    "CAST of times": ("CAST(CAST({} AS TIMESTAMP) AS STRING)", "kind"),
    "upper": ("upper({})", "kind"),
    "concat": ("concat({}, 'a')", "kind"),
    "concat_ws": ("concat_ws(',', {}, 'a')", "kind"),
    "repeat": ("repeat({}, 2)", "kind"),
    "lpad": ("lpad({}, 9, 'x')", "kind"),
    "replace": ("replace({}, 'a', 'b')", "kind"),
    "substring": ("substring({}, 0, 5)", "kind"),
    "left": ("left({}, n)", "kind"),
    "split_part": ("split_part({}, ',', 1)", "kind"),
    "LIKE": ("IF(({}) LIKE 'a%', 'a', 'b')", "kind"),
    "date_trunc": ("date_trunc('hour', {})", "t"),
}  # fmt: skip


DEPTHS = so_many((8, 16, 24), (8, 16, 24, 32))


def nested(form: str, depth: int) -> str:
    around, found = FORMS[form]
    for _ in range(depth):
        found = around.replace("{}", found)
    return found


def planned(expression: str) -> None:
    planner = Planner()
    planner.run_script(f"{STREAM} REGISTER QUERY q AS SELECT id, {expression} AS v FROM taxi")
    planner.plan()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long each text is that DuckDB is given."""
    found: list[int] = []
    run: Callable[..., object] = relational.run

    def counted(sql: str, **tables: object) -> object:
        found.append(len(sql))
        return run(sql, **tables)

    monkeypatch.setattr(relational, "run", counted)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_no_level_doubles_the_work(form: str, said: list[int]) -> None:
    """DuckDB itself may write an operand twice. It would be seen from level to level."""
    work = []
    for depth in DEPTHS:
        said.clear()
        begun = time.process_time()
        planned(nested(form, depth))
        assert time.process_time() - begun < 5
        work.append(sum(said))
    assert work[-1] <= 1.25 * DEPTHS[-1] / DEPTHS[0] * work[0], "what DuckDB has to read"


@pytest.mark.parametrize(
    "condition",
    [
        " AND ".join(f"x > {i}" for i in range(2000)),
        " OR ".join(f"(x > {i} AND ok)" for i in range(500)),
        f"x > CASE {' '.join(f'WHEN n = {i} THEN {i}' for i in range(500))} END",
        f"kind = {' || '.join(['kind'] * 800)}",
        f"x > {' + '.join(['x'] * 800)}",
        f"x > greatest({', '.join(['x'] * 800)})",
    ],
    ids=["AND", "OR", "CASE", "||", "+", "greatest"],
)
def test_what_is_long_is_planned(condition: str, said: list[int]) -> None:
    planner = Planner()
    planner.run_script(f"{STREAM} REGISTER QUERY q AS SELECT id FROM taxi WHERE {condition}")
    assert sum(said) < 30 * len(condition)


@pytest.mark.parametrize("form", ["CASE", "coalesce", "NOT"])
def test_what_is_nested_two_hundred_times_is_planned(form: str) -> None:
    planned(nested(form, 200))


# One check for all of them, by depth.
@pytest.mark.parametrize("form", so_many([*FORMS][::4], [*FORMS]))
def test_what_is_nested_too_deeply_is_refused(form: str) -> None:
    with pytest.raises(QueryError) as caught:
        planned(nested(form, 1100))
    assert caught.value.code == "query.too_deep"


def in_names(depth: int, around: str) -> str:
    """Each name reads the one before it."""
    names = [f"a{n} AS ({around.format(f'a{n - 1}')})" for n in range(1, depth)]
    return f"WITH {', '.join(['a0 AS (SELECT id FROM taxi)', *names])} SELECT id FROM a{depth - 1}"


TWICE = "SELECT id FROM {0} EXCEPT SELECT id FROM {0}"
ONE = "SELECT id FROM taxi"
PLANNED = {
    "EXCEPT": " EXCEPT ".join([ONE] * 140),
    "UNION ALL": " UNION ALL ".join([ONE] * 140),
    "UNION": " UNION ".join([ONE] * 70),
    "brackets": f"{ONE} EXCEPT (" * 70 + ONE + ")" * 70,
    "WITH in WITH": "WITH a AS (" * 70 + ONE + ") SELECT id FROM a" * 70,
    "WITH": in_names(140, "SELECT id FROM {0} WHERE id > 'a'"),
    "WITH, twice": in_names(12, TWICE),
}


@pytest.mark.parametrize("form", PLANNED)
def test_a_query_of_many_is_planned_saved_and_explained(form: str) -> None:
    planner = Planner()
    assert planner.run_script(f"{STREAM} REGISTER QUERY q AS {PLANNED[form]}; EXPLAIN q")
    plan = planner.plan()
    again = PLANS.decoded(PLANS.encoded(plan), Plan)
    assert [tree.root for tree in again.trees] == [tree.root for tree in plan.trees]
    assert again.templates() == plan.templates()


@pytest.mark.parametrize(
    "query",
    [
        " EXCEPT ".join([ONE] * 2000),
        " UNION ALL ".join([ONE] * 2000),
        f"{ONE} EXCEPT (" * 400 + ONE + ")" * 400,
        "WITH a AS (" * 400 + ONE + ") SELECT id FROM a" * 400,
        in_names(400, "SELECT id FROM {0} WHERE id > 'a'"),
        in_names(60, TWICE),
    ],
    ids=["EXCEPT", "UNION ALL", "brackets", "WITH in WITH", "WITH", "WITH, twice"],
)
def test_a_query_of_too_many_is_refused(query: str) -> None:
    begun = time.process_time()
    with pytest.raises(QueryError) as caught:
        Planner().run_script(f"{STREAM} REGISTER QUERY q AS {query}")
    assert caught.value.code == "query.too_deep"
    assert time.process_time() - begun < 20
