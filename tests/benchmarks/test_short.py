"""The benchmarks in their short form: they run, and their checks of the result hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import (
    answer_size,
    berlinmod,
    buoys,
    company_kernel,
    coverages,
    follow_kernel,
    globe,
    growth,
    hub,
    nearest_kernel,
    pass_within,
    patterns,
    patterns_at_scale,
    pictures,
    pipeline_rows,
    polygons,
    processor,
    push_down,
    range_kernel,
    registration,
    report,
    triggers,
    windows,
)
from sanderling.settings import Settings


def test_the_kernel_benchmark_checks_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    range_kernel.run(objects=2_000, queries=300, side=0.05, ticks=3)
    said = json.loads((tmp_path / "range_kernel.json").read_text())
    assert said["facts"]["times faster than STRtree"] > 0 and said["packages"]["numba"]


def test_the_registration_benchmark_checks_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    # Reading what repeats once is some thirty times faster; this is far enough below not to be chance.
    assert registration.run(queries=3_000, one_by_one=300, patterns=300, few=20)["ratio"] > 5
    said = json.loads((tmp_path / "registration.json").read_text())
    assert said["facts"]["bytes a query, of what a worker loads"] < 200


@pytest.mark.skipif(not polygons.HOODS.exists(), reason="the shared data are not here")
def test_the_benchmark_of_polygons_checks_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    # With a thousand it is four times; this is far enough below not to be chance.
    assert polygons.run(polygons=200, batches=4, rounds=1)["ratio"] > 1.5
    said = json.loads((tmp_path / "polygons.json").read_text())
    assert said["facts"]["bytes of a raster"] < 16 * said["facts"]["corners a polygon"] + 256 + 64


def test_the_benchmark_of_company_checks_its_result(said_here: Path) -> None:
    company_kernel.run(objects=2_000, stay=5, ticks=3)
    said = json.loads((said_here / "company_kernel.json").read_text())
    assert [row["moving"] for row in said["rows"]] == [1.0, 0.1, 0.01]
    assert said["rows"][0]["told a tick"] > 100


def test_the_benchmark_of_passing_checks_its_result(said_here: Path) -> None:
    pass_within.run(objects=200, instants=8, ticks=3)
    said = json.loads((said_here / "pass_within.json").read_text())
    assert said["rows"][0]["pairs"] > 100


def test_the_benchmark_of_windows_checks_its_result(said_here: Path) -> None:
    windows.run(objects=2_000, places=100, seekers=300, ticks=4, looks=2)
    said = json.loads((said_here / "windows.json").read_text())
    assert len(said["rows"]) == 4 and is_picture(said_here / "windows.svg")


@pytest.mark.skipif(not berlinmod.DATA.exists(), reason="the shared data are not here")
def test_the_benchmark_of_berlinmod_checks_its_result(said_here: Path) -> None:
    found = berlinmod.run(rows=4_000, rounds=1)
    assert len(found) == 14 and min(found.values()) > 0
    assert is_picture(said_here / "berlinmod.svg")


@pytest.fixture
def said_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Short forms leave the measured results and pictures alone."""
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    return tmp_path


def is_picture(path: Path) -> bool:
    return path.read_text().startswith("<?xml") and "<svg" in path.read_text()


def test_the_benchmark_of_squares_that_follow_checks_its_result(said_here: Path) -> None:
    ratios = follow_kernel.run(objects=5_000, side=0.04, step=0.002, ticks=3)
    # Of what moves little, far less is looked at: even this small it shows.
    assert ratios["1%"] > ratios["100%"] > 0
    assert is_picture(said_here / "follow_kernel.svg")


def test_the_benchmark_of_the_nearest_checks_its_result(said_here: Path) -> None:
    ratios = nearest_kernel.run(objects=5_000, queries=500, step=0.002, ticks=3)
    assert ratios["1%"] > ratios["100%"] > 0


def test_the_benchmark_of_growth_runs(said_here: Path) -> None:
    said = growth.run(objects=1_000, side=0.1, step=0.005, ticks=2, apart=1)
    still, under = said["rows"][3], said["rows"][5]
    assert still["updates a tick"] < 1.2 * said["rows"][0]["updates a tick"] < under["updates a tick"]
    assert is_picture(said_here / "growth.svg")


def test_the_benchmark_of_answer_sizes_checks_its_result(said_here: Path) -> None:
    rows = answer_size.run(objects=2_000, ticks=2, shares=(0.1, 1.0), sides=(0.01, 0.02))
    assert rows[0]["times"] > rows[1]["times"] > 0, "the fewer move, the less is told"
    assert is_picture(said_here / "answer_size.svg")


def test_the_benchmark_of_rows_in_a_pipeline_checks_its_result(said_here: Path) -> None:
    rows = pipeline_rows.run(objects=2_000, ticks=2, centres=2, shares=(0.02, 0.64))
    assert rows[0]["times, SELECT id"] > rows[1]["times, SELECT id"] > 1, "the smaller, the fewer pass"
    assert is_picture(said_here / "pipeline_rows.svg")


def test_the_benchmark_of_pushing_down_checks_its_result(said_here: Path) -> None:
    rows = push_down.run(objects=4_000, ticks=16, regions=(0.02, 0.64), wheres=(0.01, 1.0), conditions=(8,))
    small = [r for r in rows if r["region"] == 0.02]
    assert all(r["order chosen"] == "INSIDE" for r in small if r["judge"] == "DuckDB")
    assert all(r["order chosen"] == "WHERE" for r in rows if r["judge"] == "NumPy" and r["region"] == 0.64)
    assert all(r["INSIDE first, rows"] < r["WHERE first, rows"] / 2 for r in small)
    assert is_picture(said_here / "push_down.svg")


def test_the_benchmark_of_the_processors_time_reads_all_there_is(said_here: Path) -> None:
    found = processor.run(objects=2_000, queries=200, side=0.05, ticks=6, settings=Settings(slice_rows=1_000))
    assert set(found) == {"echo", "squares", "nearest"}
    assert found["nearest"][processor.MERGED] > 0 and processor.MERGED not in found["squares"]
    said = json.loads((said_here / "processor.json").read_text())["rows"]
    assert all(sum(row[way] for row in said[:-1]) == pytest.approx(said[-1][way]) for way in found)


@pytest.mark.skipif(not buoys.DATA.exists(), reason="the shared data are not here")
def test_the_benchmark_of_triggers_checks_its_result(said_here: Path) -> None:
    facts = triggers.run(events=1_000, verbosities=(0.01,), numbers=(2,), lengths=(4,), plain=2_000)
    assert facts["times faster than the plain twin"] > 1
    said = json.loads((said_here / "triggers.json").read_text())["rows"]
    held = {r["strategy"]: r["most held"] for r in said if r["figure"] == "triggers"}
    assert 0 < held["TIGHT"] <= held["LOOSE"]
    assert is_picture(said_here / "triggers.svg")


def test_the_benchmark_of_coverages_has_a_line_for_each_kind(said_here: Path) -> None:
    coverages.run(objects=4_000, queries=40, ticks=2)
    said = json.loads((said_here / "coverages.json").read_text())["rows"]
    for space, kinds in (("plane", coverages.KINDS), ("globe", coverages.GLOBE_KINDS)):
        assert {row["kind"] for row in said if row["space"] == space} == set(kinds)
    assert all(row["updates"] > 0 for row in said)


def test_the_benchmark_of_the_globe_checks_its_result(said_here: Path) -> None:
    globe.run(objects=2_000, queries=100, ticks=3)
    said = json.loads((said_here / "globe.json").read_text())
    assert said["facts"]["most times the plane"] > 0


def test_the_benchmark_of_the_hub_checks_its_result(said_here: Path) -> None:
    assert hub.run(objects=10_000, queries=10, clients=200, ticks=3)["shared"] > 0
    assert (said_here / "hub.json").exists()


def test_the_benchmark_of_patterns_at_scale_runs(said_here: Path) -> None:
    ratios = patterns_at_scale.run(objects=1_000, queries=50, side_m=400.0, stay_s=5, warm=2, measured=2)
    assert ratios["range queries"] == 1 and len(ratios) == 4


def test_the_benchmark_of_patterns_checks_its_result(said_here: Path) -> None:
    facts = patterns.run(objects=2_000, steps=40, sides=(0.8,), stays=(10,), warm=10, measured=10)
    # All three ways tell the same, which it checks by itself.
    assert facts["rows, complete ÷ feedback, least of the sides"] > 8
    assert is_picture(said_here / "patterns.svg")
