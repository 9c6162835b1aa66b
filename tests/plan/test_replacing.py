"""What a pattern may go on as depends on whether its later steps are looked at all the time."""

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


def test_a_later_step_may_be_another_where_it_is_looked_at_all_the_time() -> None:
    living = LivingPlan()
    living.execute(STREAM)
    for name, options in (("fed", ""), ("whole", "WITH (feedback = 'off')")):
        living.execute(f"REGISTER PATTERN {name} AS {pattern(3, 3, 1, options)}")
    living.start()
    with pytest.raises(QueryError) as e:
        living.execute(f"REPLACE PATTERN fed AS {pattern(3, 2, 1, '')}")
    assert e.value.code == "query.not_replaceable" and "feedback" in e.value.message
    numbers = [living.queries.get(name).number for name in ("fed", "whole")]  # type: ignore[union-attr]
    living.execute(f"REPLACE PATTERN fed AS {pattern(5, 3, 2, '')}")
    change = living.execute(
        f"REPLACE PATTERN whole AS {pattern(5, 2, 2, 'WITH (feedback = ' + repr('off') + ')')}"
    )
    assert [living.queries.get(name).number for name in ("fed", "whole")] == numbers  # type: ignore[union-attr]
    assert len(change.new_queries) == 0 and len(change.plan.queries) == 2
    assert change.growth is not None and len(change.growth.replaced) == 1


def test_a_script_says_once_what_a_query_goes_on_as() -> None:
    living = LivingPlan()
    living.execute(STREAM + "REGISTER QUERY q AS SELECT id FROM p WHERE v > 1")
    living.start()
    once = "REPLACE QUERY q AS SELECT id FROM p WHERE v > 2"
    with pytest.raises(QueryError) as e:
        living.execute(f"{once}; {once}")
    assert e.value.code == "query.not_replaceable"
    assert living.execute(once).version == 1 and living.execute(once).version == 2
