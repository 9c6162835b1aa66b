"""What an expression gives on each row: here, and in Spark's own SQL."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sanderling.operate.inside.rows import evaluated
from sanderling.plan.planner import Planner
from sanderling.types import type_named
from tests.spark.grounds import Ground

VIEW = "ground"


def ours(ground: Ground) -> list[list[Any]]:
    """Of each expression over all rows, through the planner and the evaluating engine, as a shard does it."""
    planner = Planner()
    columns = ", ".join(f"{name} {type_}" for name, type_ in ground.types.items())
    items = ", ".join(f"{e} AS e{i}" for i, e in enumerate(ground.expressions))
    planner.run_script(
        f"CREATE STREAM ground (k BIGINT, ts BIGINT, px DOUBLE, py DOUBLE, {columns}) "
        f"KEY k TIME ts LOCATION (px, py); REGISTER QUERY q AS SELECT k, {items} FROM ground"
    )
    outputs = planner.plan().streams[0].templates[0].outputs[1:]
    table = table_of(ground)
    found = evaluated([o.expression for o in outputs], lambda read: table.column(read[2:]), table.num_rows)
    return [[comparable(value) for value in column.to_pylist()] for column in found]


def table_of(ground: Ground) -> pa.Table:
    columns = {}
    for at, (name, word) in enumerate(ground.types.items()):
        type_ = type_named(word)
        assert type_ is not None
        columns[name] = pa.array([row[at] for row in ground.rows], type_.arrow)
    return pa.table(columns)


class SparkSql:
    """Spark's answers; `ground` has to be the one that was last looked at."""

    def __init__(self, spark: SparkSession):
        self.spark = spark

    @contextmanager
    def over(self, ground: Ground) -> Iterator[None]:
        fields = ", ".join(f"{name} {type_}" for name, type_ in ground.types.items())
        rows = [(k, *row) for k, row in enumerate(ground.rows)]
        frame = self.spark.createDataFrame(rows, f"k BIGINT, {fields}")
        frame.coalesce(1).cache().createOrReplaceTempView(VIEW)
        settings = {"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": "UTC",
                    "spark.sql.codegen.wholeStage": "false",
                    "spark.sql.codegen.factoryMode": "NO_CODEGEN"}  # fmt: skip
        before = {name: self.spark.conf.get(name, None) for name in settings}
        for name, value in settings.items():
            self.spark.conf.set(name, value)
        yield
        for name, kept in before.items():
            self.spark.conf.unset(name) if kept is None else self.spark.conf.set(name, kept)
        self.spark.catalog.uncacheTable(VIEW)

    def values(self, expressions: Sequence[str]) -> list[list[Any]]:
        """Of each expression over all rows, in one go. Errors are NULL or wrap around."""
        items = ", ".join(f"{e} AS e{i}" for i, e in enumerate(expressions))
        rows = sorted(self.spark.sql(f"SELECT k, {items} FROM {VIEW}").collect(), key=lambda row: row[0])
        return [[comparable(row[1 + i]) for row in rows] for i in range(len(expressions))]

    def fails(self, expression: str, row: int) -> bool:
        """Whether it is an error there, by the standard's own rules."""
        self.spark.conf.set("spark.sql.ansi.enabled", "true")
        try:
            self.spark.sql(f"SELECT {expression} AS v FROM {VIEW} WHERE k = {row}").collect()
        except PySparkException:
            return True
        finally:
            self.spark.conf.set("spark.sql.ansi.enabled", "false")
        return False


def comparable(value: Any) -> Any:
    """Numbers as numbers, whatever their type; what is not finite is NULL."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    return value


def is_alike(one: Any, other: Any, are_types_compared: bool = True) -> bool:
    """Whether two values are the same; types: whether both are whole, or both are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if are_types_compared and isinstance(one, float) != isinstance(other, float):
        return False
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-13, abs_tol=1e-300)
    if isinstance(one, date) and isinstance(other, date):
        return isinstance(one, datetime) == isinstance(other, datetime) and one == other
    return bool(one == other)
