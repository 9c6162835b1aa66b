"""The benchmarks in their short form: they run, and their checks of the result hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import range_kernel, registration, report


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
    assert registration.run(queries=3_000, one_by_one=300)["ratio"] > 5
    said = json.loads((tmp_path / "registration.json").read_text())
    assert said["facts"]["bytes a query, of what a worker loads"] < 200
