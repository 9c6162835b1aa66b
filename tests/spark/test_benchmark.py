"""The Spark benchmark in its short form: it runs, and its check of the result holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks import (
    buoys,
    joins_on_spark,
    nearest_on_spark,
    pictures,
    range_on_spark,
    report,
    simulate,
    squares_on_spark,
    triggers_on_spark,
)


def test_the_spark_benchmark_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    range_on_spark.run(objects=500, queries=50, ticks=4, rounds=0, spark=spark)
    assert json.loads((tmp_path / "range_on_spark.json").read_text())["facts"]["updates a tick"] > 0


def test_the_benchmark_of_the_simulator_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    simulate.run(objects=500, steps=4, rounds=0, spark=spark)
    assert json.loads((tmp_path / "simulate.json").read_text())["facts"]["readings"] > 1_900


def test_the_benchmark_of_squares_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    squares_on_spark.run(objects=500, side=0.1, step=0.005, ticks=4, rounds=0, spark=spark)
    assert json.loads((tmp_path / "squares_on_spark.json").read_text())["facts"]["updates a tick"] > 0
    (_, echo, squares) = json.loads((tmp_path / "tick_profile.json").read_text())["rows"]
    stages = {"source", "packing", "shuffle", "state load", "kernel", "state save", "sink"}
    assert stages < echo.keys() and all(squares[stage] > 0 for stage in stages)
    assert (tmp_path / "tick_profile.svg").exists()


def test_the_benchmark_of_the_nearest_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    nearest_on_spark.run(objects=500, queries=50, k=5, step=0.005, ticks=4, rounds=0, spark=spark)
    assert json.loads((tmp_path / "nearest_on_spark.json").read_text())["facts"]["updates a tick"] > 0
    (_, _, nearest) = json.loads((tmp_path / "nearest_profile.json").read_text())["rows"]
    assert nearest["merge"] > 0


@pytest.mark.skipif(not buoys.DATA.exists(), reason="the shared data are not here")
def test_the_benchmark_of_triggers_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    triggers_on_spark.run(2_000, 3, numbers=(2,), rounds=0, plain=500, has_echo=False, spark=spark)
    facts = json.loads((tmp_path / "triggers_on_spark.json").read_text())["facts"]
    assert 0.9 < facts["verbosity, %"] < 1.1 and facts["times faster than the plain twin"] > 1
    (*_, ours) = json.loads((tmp_path / "triggers_profile.json").read_text())["rows"]
    assert ours["kernel"] > 0 and ours["merge"] > 0


@pytest.mark.skipif(not joins_on_spark.CABS.file.exists(), reason="the cabs are not beside the project")
def test_the_benchmark_of_joins_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    joins_on_spark.run(("cabs of San Francisco",), rounds=0, rows=5_000, spark=spark)
    (row,) = json.loads((tmp_path / "joins_on_spark.json").read_text())["rows"]
    assert row["updates"] > 1_000 and row["largest worker, MB"] < 1_000
