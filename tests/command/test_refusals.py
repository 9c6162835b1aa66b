"""What can go wrong around a run: each mistake has its code. No Spark is started."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from sanderling.command import app
from sanderling.deliver.ledger import Ledger
from sanderling.errors import DataError, SanderlingError
from sanderling.ingest.read import read_rows
from sanderling.ingest.slices import Slice
from sanderling.operate.shard import Shard
from sanderling.plan.plans import Plan
from sanderling.route.parcels import tables_to_bytes
from sanderling.spark.run import _in_our_words
from sanderling.state.saved import restore

SCRIPT = """
CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (path = 'taxi.csv');
REGISTER QUERY q AS SELECT id FROM taxi INSIDE (0, 0, 10, 10);
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "taxi.csv").write_text("id,ts,x,y\na,1,5,5\n")
    (tmp_path / "script.sql").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def code_of(*words: str) -> str:
    """The code that the command ends with."""
    with pytest.raises(SanderlingError) as error:
        app(["run", *words], standalone_mode=False)
    return error.value.code


def checkpoint(folder: Path, **changes: object) -> Path:
    """A checkpoint that another run left."""
    place = folder / "checkpoint"
    place.mkdir()
    said = {
        "script": "another",
        "shards": 2,
        "files": {"taxi: taxi.csv": (folder / "taxi.csv").stat().st_size},
    }
    (place / "run.json").write_text(json.dumps(said | changes))
    return place


def mark_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_script_in_another_encoding(folder: Path) -> None:
    (folder / "script.sql").write_bytes("-- Größe".encode("latin-1"))
    assert code_of("script.sql") == "config.bad_encoding"


def test_a_script_that_is_not_there(folder: Path) -> None:
    assert code_of("other.sql") == "config.missing_file"


def test_a_stream_without_a_path(folder: Path) -> None:
    (folder / "script.sql").write_text(SCRIPT.replace("WITH (path = 'taxi.csv')", ""))
    assert code_of("script.sql") == "config.missing_path"


def test_an_output_that_is_neither_lines_nor_a_folder(folder: Path) -> None:
    assert code_of("script.sql", "--out", "updates.txt") == "config.unknown_output"


def test_lines_where_a_folder_stands(folder: Path) -> None:
    (folder / "out.jsonl").mkdir()
    assert code_of("script.sql", "--out", "out.jsonl") == "config.output_exists"


def test_a_folder_that_is_not_empty(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "mine").touch()
    assert code_of("script.sql", "--out", "out/") == "config.output_exists"
    assert [p.name for p in (folder / "out").iterdir()] == ["mine"]


def test_a_place_that_cannot_be_written(folder: Path) -> None:
    (folder / "file").touch()
    assert code_of("script.sql", "--checkpoint", "file/checkpoint") == "config.not_writable"


def test_a_checkpoint_of_another_script(folder: Path) -> None:
    checkpoint(folder)
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.other_script"


def test_a_checkpoint_of_other_files(folder: Path) -> None:
    checkpoint(folder, files={"taxi: taxi.csv": 1})
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.source_changed"


def test_a_checkpoint_with_other_shards(folder: Path) -> None:
    checkpoint(folder, script=mark_of(SCRIPT))
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--shards", "3") == "state.other_shards"


def test_a_ledger_that_is_damaged(folder: Path) -> None:
    (checkpoint(folder, script=mark_of(SCRIPT)) / "delivered.json").write_text("{")
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.broken_ledger"


def test_output_that_disappeared_between_two_runs(folder: Path) -> None:
    place = checkpoint(folder, script=mark_of(SCRIPT))
    Ledger(place / "delivered.json", batch=1).save()
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--out", "u.jsonl") == "state.output_gone"
    Ledger(place / "delivered.json", batch=1, is_finished=True).save()
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--out", "u.jsonl") == "state.output_gone"


def test_state_of_another_format() -> None:
    with pytest.raises(SanderlingError) as error:
        restore(Shard(Plan((), ()), 0, {}), tables_to_bytes({}, {"format": 99, "clocks": {}}), [])
    assert error.value.code == "state.other_format"


def test_an_error_of_ours_comes_back_through_spark_as_itself() -> None:
    text = (
        "Traceback …\nsanderling.errors.DataError: data.broken_parquet: it is damaged\n  at org.apache.spark"
    )
    error = _in_our_words(StreamingQueryException(text), None)
    assert (type(error), error.code, error.message) == (DataError, "data.broken_parquet", "it is damaged")


def test_an_error_of_spark_is_told_in_its_words() -> None:
    error = _in_our_words(StreamingQueryException("java.lang.OutOfMemoryError: no heap\n  at …"), None)
    assert error.code == "internal.spark" and "no heap" in error.message


def test_a_format_without_a_reader_is_our_fault() -> None:
    with pytest.raises(SanderlingError) as error:
        read_rows((), "xml", Slice(0, "x.xml", "x.xml", 0, 0, 1, True))
    assert error.value.code == "internal.unknown_format"
