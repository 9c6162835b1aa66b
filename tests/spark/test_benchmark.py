"""The Spark benchmark in its short form: it runs, and its check of the result holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks import range_on_spark, report, simulate


def test_the_spark_benchmark_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    range_on_spark.run(objects=500, queries=50, ticks=4, rounds=1, spark=spark)
    assert json.loads((tmp_path / "range_on_spark.json").read_text())["facts"]["updates a tick"] > 0


def test_the_benchmark_of_the_simulator_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    simulate.run(objects=500, steps=4, rounds=1, spark=spark)
    assert json.loads((tmp_path / "simulate.json").read_text())["facts"]["readings"] > 1_900
