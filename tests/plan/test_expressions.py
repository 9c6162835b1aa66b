"""What expressions say of themselves is what their SQL says, read back the plain way."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.plan.expressions.written import cast
from sanderling.plan.planner import Planner
from sanderling.plans.expression import Comparison, Expression
from sanderling.plans.plan import Template
from sanderling.types import TYPES

STREAM = """CREATE STREAM taxis (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE, kind STRING,
  day DATE, is_free BOOLEAN, `odd name` INT, p0 INT) KEY id TIME ts LOCATION (x, y);
"""
PLAIN = [
    "speed > 5", "5 < speed", "speed BETWEEN 1 AND 2.5", "kind = 'a'", "'b' <> kind", "id = -7",
    "`odd name` >= 3", "day < '2024-05-01'", "p0 <= 1", "speed != 4",
]  # fmt: skip
OTHERS = [
    "is_free", "NOT is_free", "speed > x", "speed + 1 > 5", "speed > 1 + 1", "speed IN (1, 2)",
    "kind LIKE 'a%'", "speed NOT BETWEEN 1 AND 2", "speed IS NULL", "1 = 1", "speed BETWEEN x AND 5", "TRUE",
    "NULL", "speed <=> 5", "abs(speed) > 5", "PREVIOUS(speed) < speed", "PREVIOUS(speed) < 3",
    "id > 99999999999999999999",
]  # fmt: skip

COLUMN, CONSTANT, OP = r'"r:([^"]+)"', r'"(q:p\d+)"', r"(=|<>|<=|>=|<|>)"
FORMS = (
    re.compile(f"{COLUMN} {OP} {CONSTANT}"),
    re.compile(f"{CONSTANT} {OP} {COLUMN}"),
    re.compile(f"{COLUMN} BETWEEN {CONSTANT} AND {CONSTANT}"),
)
TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Not that of BETWEEN, behind which a constant stands alone.
AND = re.compile(rf" AND (?!{CONSTANT}( AND |$))")


def read_back(sql: str) -> tuple[Comparison, ...] | None:
    """The comparisons of a condition, by its text."""
    found: list[Comparison] = []
    for part in AND.sub("\n", sql).split("\n"):
        straight, turned, between = (form.fullmatch(part) for form in FORMS)
        if straight:
            found.append(Comparison(*straight.groups()))
        elif turned:
            found.append(Comparison(turned[3], TURNED[turned[2]], turned[1]))
        elif between:
            found += [Comparison(between[1], ">=", between[2]), Comparison(between[1], "<=", between[3])]
        else:
            return None
    return tuple(found)


def template_of(select: str) -> Template:
    planner = Planner()
    planner.run_script(f"{STREAM}REGISTER QUERY q AS {select}")
    (template,) = planner.plan().streams[0].templates
    return template


def where(condition: str) -> Expression:
    found = template_of(f"SELECT id FROM taxis WHERE {condition}").where
    assert found is not None
    return found


@pytest.mark.parametrize("condition", PLAIN)
def test_a_column_beside_a_constant_is_a_plain_comparison(condition: str) -> None:
    found = where(condition)
    assert found.comparisons is not None
    assert found.comparisons == read_back(found.sql)


@pytest.mark.parametrize("condition", OTHERS)
def test_all_else_is_none(condition: str) -> None:
    found = where(condition)
    assert found.comparisons is None and read_back(found.sql) is None


conditions = st.recursive(
    st.sampled_from(PLAIN) | st.sampled_from(OTHERS),
    lambda some: st.one_of(
        st.tuples(some, some).map(" AND ".join), st.tuples(some, some).map(" OR ".join),
        some.map(lambda c: f"({c})"), some.map(lambda c: f"NOT ({c})"),
    ),
    max_leaves=5,
)  # fmt: skip


@given(conditions | st.lists(st.sampled_from(PLAIN), min_size=1, max_size=6).map(" AND ".join))
def test_comparisons_are_what_the_sql_says(condition: str) -> None:
    found = where(condition)
    assert found.comparisons == read_back(found.sql)


@given(conditions)
def test_reads_are_what_the_sql_names(condition: str) -> None:
    found = where(condition)
    assert found.reads == frozenset(re.findall(r'"([rq]:[^"]+)"', found.sql))
    assert found.of_query == {read for read in found.reads if read.startswith(("q:", "t:"))}
    assert found.of_reading == {read[2:] for read in found.reads if read.startswith("r:")}
    assert found.type == TYPES["BOOLEAN"] and not found.is_plain


def test_items_of_a_select_list_know_whether_they_are_bare_columns() -> None:
    items = "id, speed AS v, (x), 5 AS five, speed * 2 AS twice, PREVIOUS(y) AS y0"
    found = [o.expression for o in template_of(f"SELECT {items} FROM taxis").outputs]
    assert [e.is_plain for e in found] == [True, True, True, True, False, False]
    assert [e.column for e in found if e.is_plain] == ["r:id", "r:speed", "r:x", "q:p0"]
    assert (found[4].words, found[4].type) == ("speed * 2", TYPES["DOUBLE"])


def test_a_cast_is_no_bare_column_any_more() -> None:
    column = Expression.of_column("r:id", TYPES["INT"], "id")
    found = cast(column, TYPES["BIGINT"])
    assert (found.sql, found.type, found.is_plain) == ('TRY_CAST("r:id" AS BIGINT)', TYPES["BIGINT"], False)
    assert cast(column, TYPES["INT"]) is column


def test_a_worker_gets_what_was_planned() -> None:
    template = template_of("SELECT id, speed * 2 AS twice FROM taxis WHERE speed > 5 AND kind = 'a'")
    again = pickle.loads(pickle.dumps(template))
    assert again == template
    assert again.where.words == "speed > ? AND kind = ?"
    assert [o.expression.words for o in again.outputs] == ["id", "speed * 2"]
