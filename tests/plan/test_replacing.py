"""What a query or a pattern may go on as, in a plan that lives."""

from __future__ import annotations

import pytest

from sanderling.errors import QueryError
from sanderling.plan.grow.living import LivingPlan

STREAM = (
    "CREATE STREAM p (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, v BIGINT) KEY id TIME ts LOCATION (x, y);"
)
STEPS = "WITH s AS (SELECT id FROM p WHERE v > {a}), t AS (SELECT id FROM p WHERE v < {b}) SELECT id "
FROM = "FROM s THEN t WITHIN {c} HOURS {options}"


def pattern(a: int, b: int, c: int, options: str) -> str:
    return (STEPS + FROM).format(a=a, b=b, c=c, options=options)


def test_a_pattern_keeps_its_number_whomever_its_later_steps_are_looked_at_for() -> None:
    living = LivingPlan()
    living.execute(STREAM)
    off = "WITH (feedback = 'off')"
    for name, options in (("fed", ""), ("whole", off)):
        living.execute(f"REGISTER PATTERN {name} AS {pattern(3, 3, 1, options)}")
    living.start()
    numbers = [living.queries.get(name).number for name in ("fed", "whole")]  # type: ignore[union-attr]
    for name, options in (("fed", ""), ("whole", off)):
        change = living.execute(f"REPLACE PATTERN {name} AS {pattern(5, 2, 2, options)}")
        assert len(change.new_queries) == 0 and len(change.plan.queries) == 2
        assert change.growth is not None and len(change.growth.replaced) == 1
    assert [living.queries.get(name).number for name in ("fed", "whole")] == numbers  # type: ignore[union-attr]
    with pytest.raises(QueryError) as e:
        living.execute(f"REPLACE PATTERN fed AS {pattern(5, 2, 2, off)}")
    assert e.value.code == "query.not_replaceable"


def test_a_script_says_once_what_a_query_goes_on_as() -> None:
    living = LivingPlan()
    living.execute(STREAM + "REGISTER QUERY q AS SELECT id FROM p WHERE v > 1")
    living.start()
    once = "REPLACE QUERY q AS SELECT id FROM p WHERE v > 2"
    with pytest.raises(QueryError) as e:
        living.execute(f"{once}; {once}")
    assert e.value.code == "query.not_replaceable"
    assert living.execute(once).version == 1 and living.execute(once).version == 2
