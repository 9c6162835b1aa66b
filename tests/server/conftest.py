"""One Spark, one session and one server for all tests here; on the loopback, at any port that is free."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sanderling.spark.session import start_session
from tests.server.town import Town, opened


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = start_session("local[2]", 2, Path(tmp_path_factory.mktemp("spark")) / "spark.log")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def town(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with opened(spark, tmp_path_factory.mktemp("town") / "checkpoint") as session:
        town = Town(session, session.serve(postgres_port=0))
        yield town
        town.close()
