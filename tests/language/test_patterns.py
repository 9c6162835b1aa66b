"""Patterns made to take for ever: a right answer soon, or a refusal."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from sanderling.errors import QueryError
from sanderling.operate.inside.rows import evaluated
from sanderling.plan.planner import Planner

STREAM = (
    "CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, kind STRING, pattern STRING) "
    "KEY id TIME ts LOCATION (x, y);"
)
LONG = 1_000_000
MANY = "%a" * 50 + "%b"


def answers(expression: str, **columns: list[str | None]) -> list[object]:
    planner = Planner()
    planner.run_script(f"{STREAM} REGISTER QUERY q AS SELECT id, {expression} AS v FROM taxi")
    outputs = planner.plan().streams[0].templates[0].outputs[1:]
    n = len(next(iter(columns.values())))
    (found,) = evaluated(
        [o.expression for o in outputs], lambda read: pa.chunked_array([columns[read[2:]]]), n
    )
    return list(found.to_pylist())


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("kind RLIKE '(a+)+$'", [False, True]),
        ("kind RLIKE '^(a|aa)+$'", [False, True]),
        ("kind RLIKE '^(([a-z])+.)+[A-Z]([a-z])+$'", [False, False]),
        ("kind RLIKE '.*.*.*.*.*x'", [False, False]),
        ("kind RLIKE 'a{1000}'", [True, True]),
        ("kind RLIKE ''", [True, True]),
        ("length(regexp_extract(kind, '(a+)+b', 0)) > 3", [True, False]),
        (f"kind RLIKE '{'(a?)' * 1000}'", [True, True]),
        (f"kind LIKE '{MANY}'", [True, False]),
        (f"kind ILIKE '{MANY.upper()}'", [True, False]),
        (f"kind LIKE '{MANY}_'", [False, False]),
        (f"kind LIKE '{MANY.replace('a', '!a')}' ESCAPE '!'", [True, False]),
        (f"kind NOT LIKE '%{'_' * 1000}%c%'", [True, True]),
    ],
)  # fmt: skip
def test_a_pattern_takes_time_by_the_length_of_the_text(condition: str, wanted: list[bool]) -> None:
    begun = time.process_time()
    assert answers(condition, kind=["a" * LONG + "b", "a" * LONG, None]) == [*wanted, None]
    assert time.process_time() - begun < 20


def test_a_pattern_in_a_column_takes_time_by_the_length_of_the_text_too() -> None:
    kinds = ["a" * LONG + "b", "a" * LONG, "a%", "a%", "a.b", None]
    patterns: list[str | None] = [MANY, MANY, "%a\\%%", "ends with \\", "%.%b%", "%a%"]
    found = answers("kind LIKE pattern", kind=kinds, pattern=patterns)
    assert found == [True, False, True, None, True, None]
    assert answers("kind NOT LIKE pattern", kind=["abab", "c"], pattern=["%b%b%", "%b%b%"]) == [False, True]
    assert answers("kind ILIKE pattern", kind=["ABAB", "ab"], pattern=["%b%b%", "A%"]) == [True, True]


@pytest.mark.parametrize(
    "pattern",
    [
        "(a{1000}){1000}", "((a{100}){100}){100}", "a{1001}", "(", "[a", "a**", "(?=a)b", "(?<!a)b",
        "(a)\\\\1", "a" * 1_000_000,
    ],
    ids=lambda pattern: pattern[:20],
)  # fmt: skip
@pytest.mark.parametrize("form", ["kind RLIKE '{}'", "regexp_extract(kind, '{}', 0) = 'a'"])
def test_a_pattern_that_cannot_be_is_refused(form: str, pattern: str) -> None:
    with pytest.raises(QueryError) as caught:
        answers(form.format(pattern), kind=["a"])
    assert caught.value.code == "query.wrong_type" and caught.value.place is not None


@pytest.mark.parametrize(
    "condition",
    ["kind RLIKE pattern", "regexp_extract(kind, pattern, 0) = 'a'", "kind RLIKE NULL",
     "kind LIKE 'a!' ESCAPE '!'",
     "kind LIKE '%a%\\\\\\\\\\\\'", "kind LIKE 'a%' ESCAPE ''", "kind LIKE 'a%' ESCAPE 'ab'"],
)  # fmt: skip
def test_a_pattern_has_to_be_a_whole_constant(condition: str) -> None:
    with pytest.raises(QueryError) as caught:
        answers(condition, kind=["a"], pattern=["a"])
    assert caught.value.code == "query.wrong_type"
