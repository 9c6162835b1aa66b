"""Traffic in files: three formats with the same readings, whole or not at all."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sanderling.errors import ConfigError
from sanderling.simulate import write
from sanderling.simulate.network import Network
from sanderling.simulate.settings import TrafficSettings
from sanderling.simulate.traffic import Traffic
from sanderling.simulate.write import refuse_steps, refuse_target, write_steps

SETTINGS = TrafficSettings(objects=50, new=2, step_us=500_000)


def digest(path: Path, network: Network, settings: TrafficSettings) -> str:
    write_steps(Traffic(network, settings), 20, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_the_same_seed_gives_the_same_bytes(suffix: str, town: Network, tmp_path: Path) -> None:
    first = digest(tmp_path / f"a{suffix}", town, SETTINGS)
    assert digest(tmp_path / f"b{suffix}", town, SETTINGS) == first
    assert digest(tmp_path / f"a{suffix}", town, replace(SETTINGS, seed=8)) != first
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"a{suffix}", f"b{suffix}"]


def test_all_formats_hold_the_same_readings(town: Network, tmp_path: Path) -> None:
    told = []
    for suffix in (".parquet", ".csv", ".jsonl"):
        path = tmp_path / f"x{suffix}"
        written = write_steps(Traffic(town, replace(SETTINGS, noise_m=3.0)), 20, path)
        found = duckdb.sql(
            f"SELECT id::BIGINT, ts::TIMESTAMP, x, y, speed::DOUBLE, heading, type, gone FROM '{path}'"
        ).fetchall()
        told.append(found)
        assert (written.readings, written.size_bytes) == (len(found), path.stat().st_size)
    assert told[0] == told[1] == told[2] and len(told[0]) > 1_000
    assert isinstance(told[0][0][7], bool)


def test_parquet_is_typed_and_cut_into_row_groups(
    town: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "ROWS_AT_ONCE", 300)
    write_steps(Traffic(town, SETTINGS), 20, tmp_path / "x.parquet")
    file = pq.ParquetFile(tmp_path / "x.parquet")
    types = [pa.int64(), pa.timestamp("us"), *[pa.float64()] * 4, pa.string(), pa.bool_()]
    assert file.schema_arrow.types == types
    rows = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert len(rows) > 2 and all(300 <= n < 400 for n in rows[:-1])


@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.jsonl"])
@pytest.mark.parametrize("before", [None, "from before"])
def test_told_to_stop_it_leaves_nothing(
    name: str, before: str | None, town: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "ROWS_AT_ONCE", 100)
    path = tmp_path / name
    if before is not None:
        path.write_text(before)

    def stop(done: int) -> None:
        assert [p for p in tmp_path.iterdir() if p.name.endswith(".partial")]
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_steps(Traffic(town, SETTINGS), 20, path, stop)
    assert [p.read_text() for p in tmp_path.iterdir()] == ([] if before is None else [before])


def test_targets_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    for name, code in (
        ("x.txt", "config.unknown_output"), ("x", "config.unknown_output"), (".csv", "config.unknown_output"),
        ("x.CSV", "config.unknown_output"), ("x.csv", "config.output_exists"),
        ("none/x.csv", "config.missing_file"),
    ):  # fmt: skip
        with pytest.raises(ConfigError) as error:
            refuse_target(tmp_path / name)
        assert error.value.code == code and error.value.hint, name


def test_a_target_that_cannot_be_written(town: Network, tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(ConfigError) as error:
        write_steps(Traffic(town, SETTINGS), 2, tmp_path / "x.csv")
    assert error.value.code == "config.not_writable"
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]


def test_steps_that_lead_nowhere() -> None:
    late = replace(SETTINGS, start_us=253_402_300_799_000_000)
    for settings, steps in ((SETTINGS, 0), (SETTINGS, -1), (SETTINGS, 10**12), (late, 3)):
        with pytest.raises(ConfigError) as error:
            refuse_steps(settings, steps)
        assert error.value.code == "config.bad_option"
    refuse_steps(late, 2)
