"""Programs here ask for a session as users do, and get one in the Spark session that all tests share."""

from __future__ import annotations

from functools import partial

import pytest
from pyspark.sql import SparkSession

import sanderling
from tests.spark.conftest import spark

__all__ = ["spark"]


@pytest.fixture(autouse=True)
def in_shared_spark(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanderling, "connect", partial(sanderling.connect, spark, shards=2))
