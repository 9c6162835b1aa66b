"""The Spark benchmark in its short form: it runs, and its check of the result holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks import (
    buoys,
    clients,
    company_on_spark,
    joins_on_spark,
    nearest_on_spark,
    pictures,
    range_on_spark,
    report,
    simulate,
    squares_on_spark,
    triggers_on_spark,
)
from benchmarks.peers import nearest as peers_nearest
from benchmarks.peers import squares as peers_squares
from sanderling.settings import Settings


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


def test_the_benchmark_of_company_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    company_on_spark.run(objects=500, stay=3, ticks=5, rounds=0, spark=spark)
    assert json.loads((tmp_path / "company_on_spark.json").read_text())["facts"]["pairs at the end"] > 100
    assert (tmp_path / "company_on_spark.svg").exists()


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


def test_the_benchmark_of_clients_checks_its_result(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By events and by socket: what each is told adds up to the answer."""
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    clients.run(objects=400, clients=8, ticks=2, squares=2, spark=spark)
    said = json.loads((tmp_path / "clients.json").read_text())
    told = {row["what"]: row[""] for row in said["rows"]}
    assert told["steps that were merged for who was slow"] == 0 < told["updates told a tick, million"]


def test_other_ways_tell_the_same_squares(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    short = {"few": 2, "ticks": 6, "rounds": 0, "settings": Settings(slice_rows=500), "spark": spark}
    peers_squares.run(objects=500, queries=50, side=0.1, step=0.01, **short)
    said = json.loads((tmp_path / "peers_squares.json").read_text())
    assert said["facts"]["updates a tick"] > 0 and len(said["rows"]) == 4


def test_other_ways_tell_the_same_nearest(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    short = {"few": 2, "ticks": 6, "rounds": 0, "settings": Settings(slice_rows=500), "spark": spark}
    peers_nearest.run(objects=500, queries=50, k=5, step=0.01, **short)
    said = json.loads((tmp_path / "peers_nearest.json").read_text())
    assert said["facts"]["updates a tick"] > 0 and len(said["rows"]) == 3
