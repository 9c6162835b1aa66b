"""Every listed function and operator over awkward values, against Spark's own SQL.

What is an error on a row in Spark, by the standard's rules, is NULL here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession
from sqlglot import exp, parse_one

from sanderling.language.grammar.dialect import Sanderling
from sanderling.plan.expressions import functions
from tests.spark.functions import SparkSql, is_alike, ours
from tests.spark.grounds import GROUNDS, OURS_ALONE, STATED, Ground

# How many rows of an expression are shown, and how many are tried for being an error in Spark.
TRIED = 4


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Spark tells of each error that is provoked."""
    # As Spark makes it: one that is made by another is of a class that Spark cannot use.
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    was, logger.disabled = logger.disabled, True
    yield
    logger.disabled = was


@pytest.mark.parametrize("name", GROUNDS)
def test_functions_and_operators_mean_what_they_mean_in_spark(name: str, spark: SparkSession) -> None:
    ground = GROUNDS[name]
    sql = SparkSql(spark)
    with sql.over(ground):
        found = differences(ground, ours(ground), sql)
    assert {e: rows for e, rows in found.items() if e not in STATED} == {}
    unseen = [e for e in ground.expressions if e in STATED and e not in found]
    assert not unseen, "these do not differ any more"


def differences(ground: Ground, got: list[list[Any]], sql: SparkSql) -> dict[str, list[Any]]:
    """By expression a few of the rows that differ: the row, ours, Spark's."""
    found: dict[str, list[Any]] = {}
    for expression, mine, theirs in zip(ground.expressions, got, sql.values(ground.expressions), strict=True):
        other = [k for k, (a, b) in enumerate(zip(mine, theirs, strict=True)) if not is_alike(a, b)]
        valued = [k for k in other if mine[k] is not None]
        # One row for each of Spark's values, where it has one and we have not.
        nulls = list({theirs[k]: k for k in other if mine[k] is None}.values())
        wrong = valued[:TRIED] + [k for k in nulls[-TRIED:] if not sql.fails(expression, k)]
        if wrong:
            found[expression] = [(ground.rows[k], mine[k], theirs[k]) for k in wrong]
    return found


def test_all_that_is_listed_is_tried() -> None:
    trees = [parse_one(e, dialect=Sanderling) for g in GROUNDS.values() for e in g.expressions]
    nodes = [node for tree in trees for node in tree.walk()]
    called = {str(node.meta["called"]).lower() for node in nodes if "called" in node.meta}
    assert set(functions.NAMES) - called == set(OURS_ALONE)
    assert functions.ALLOWED - {type(node) for node in nodes} == {exp.Alias, exp.Trunc}
