"""The random worlds' expressions against Spark's SQL: the oracle takes them for what they are."""

from __future__ import annotations

import random

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.long import so_many
from tests.oracle.select import Expression, column
from tests.properties.chance import Chance
from tests.properties.expressions import NUMBER, TEXT, WHOLE, condition, expression
from tests.properties.scenes import EXACT, reading
from tests.spark.functions import SparkSql, comparable, is_alike
from tests.spark.grounds import Ground

TYPES = {"id": "STRING", "x": "DOUBLE", "speed": "DOUBLE", "kind": "STRING", "n": "BIGINT"}
KINDS = {"DOUBLE": NUMBER, "STRING": TEXT, "BIGINT": WHOLE}
SCOPE = [column(f"ground.{name}", KINDS[type_]) for name, type_ in TYPES.items()]
COUNT = so_many(60, 3000)


def test_the_oracle_and_spark_compute_the_same(spark: SparkSession) -> None:
    chance = random.Random(11)
    rows = [reading(chance, False, EXACT, 20).values for _ in range(60)]
    ground = Ground(TYPES, [tuple(row[name] for name in TYPES) for row in rows], ())
    sql = SparkSql(spark)
    with sql.over(ground):
        asked = [e for e in some(COUNT) if is_known(e, spark)]
        assert len(asked) > COUNT * 0.8
        theirs = sql.values([e.sql for e in asked])
    lines = [{f"ground.{name}": row[name] for name in TYPES} for row in rows]
    for one, values in zip(asked, theirs, strict=True):
        for line, value in zip(lines, values, strict=True):
            assert is_alike(comparable(one.value(line)), value, are_types_compared=False), (one.sql, line)


def some(count: int) -> list[Expression]:
    found = []
    for seed in range(count):
        chance = Chance(random.Random(seed).randbytes(200))
        # One in the other: what is made is a column for the next.
        inner = [expression(chance, SCOPE) for _ in range(3)]
        found.append(chance.choice([expression, condition])(chance, [*SCOPE, *inner]))
    return found


def is_known(one: Expression, spark: SparkSession) -> bool:
    """Spark has no DIV of doubles."""
    try:
        return bool(spark.sql(f"SELECT {one.sql} FROM ground").schema)
    except PySparkException as e:
        assert "DIV" in one.sql, e
        return False
