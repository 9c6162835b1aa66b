"""What can go wrong around a run: each mistake has its code. No Spark is started."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from pyspark.errors import StreamingQueryException

from sanderling.batches import Slice
from sanderling.command import app
from sanderling.deliver.ledger import Ledger
from sanderling.deliver.lock import locked
from sanderling.deliver.targets import Targets
from sanderling.errors import DataError, SanderlingError
from sanderling.ingest.read import read_rows
from sanderling.operate.shard.shard import Shard
from sanderling.plan.planner import Planner
from sanderling.plans.plan import NO_QUERIES, Plan
from sanderling.route.parcels import pieces_of
from sanderling.spark.checkpoint import alone_in, note_of
from sanderling.spark.faults import in_our_words
from sanderling.spark.sources.find import find_input
from sanderling.state.saved import restore
from sanderling.state.sealed import FORMAT, HEAD_BYTES, sealed, write_json

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


def checkpoint(folder: Path, out: str | None = None, **changes: object) -> Path:
    """A checkpoint that a run of the script left, but for the changes."""
    place = folder / "checkpoint"
    place.mkdir()
    planner = Planner()
    text = (folder / "script.sql").read_text()
    planner.run_script(text)
    plan, files = find_input(planner.plan(), place)
    note = asdict(note_of(plan, text, files.by_stream, Targets(Path(out) if out else None, False, None), 2))
    write_json(place / "run.json", "run", note | changes)
    return place


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


def test_outputs_that_are_no_place_for_a_file(folder: Path) -> None:
    (folder / "some").mkdir()
    for out in (".", "..", "/", ""):
        assert code_of("script.sql", "--out", out) == "config.unknown_output", out
    assert code_of("script.sql", "--out", "script.sql/") == "config.output_exists"
    for option in ("--out", "--dead-letters", "--metrics"):
        assert code_of("script.sql", option, "nowhere/x.jsonl") == "config.missing_file"
        assert code_of("script.sql", option, "script.sql/x.jsonl") == "config.missing_file"
    assert code_of("script.sql", "--dead-letters", "some") == "config.output_exists"
    assert code_of("script.sql", "--metrics", "some") == "config.output_exists"
    assert code_of("script.sql", "--dead-letters", "/dev/null") == "config.not_writable"


def test_one_file_for_two_things(folder: Path) -> None:
    both = ("--out", "u.jsonl", "--dead-letters", "../" + folder.name + "/u.jsonl")
    assert code_of("script.sql", *both) == "config.output_exists"
    assert code_of("script.sql", "--metrics", "script.sql") == "config.output_exists"
    assert code_of("script.sql", "--dead-letters", "taxi.csv") == "config.output_exists"
    assert (folder / "taxi.csv").read_text().startswith("id,") and (
        folder / "script.sql"
    ).read_text() == SCRIPT


def test_a_query_whose_name_is_too_long_for_a_folder(folder: Path) -> None:
    (folder / "script.sql").write_text(SCRIPT.replace("QUERY q", f"QUERY `{'😀' * 25}`"))
    assert code_of("script.sql", "--out", "out/") == "config.not_writable"


def test_a_refusal_leaves_nothing_behind(folder: Path) -> None:
    (folder / "taxi.csv").write_text("id,ts,x\na,1,5\n")
    assert code_of("script.sql", "--out", "u.jsonl", "--dead-letters", "l.jsonl") == "config.missing_column"
    assert sorted(p.name for p in folder.iterdir()) == ["script.sql", "taxi.csv"]


def test_a_script_without_streams_gives_empty_output(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "script.sql").write_bytes("\ufeffSHOW STREAMS;".encode())
    app(["run", "script.sql", "--out", "u.jsonl", "--metrics", "m.json"], standalone_mode=False)
    assert (folder / "u.jsonl").read_bytes() == b""
    assert json.loads((folder / "m.json").read_text())["rows"] == {}
    app(["run", "script.sql"], standalone_mode=False)
    assert "updates         0" in capfd.readouterr().err


def test_square_brackets_in_a_listing_are_shown(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "script.sql").write_text(SCRIPT.replace("QUERY q", "QUERY `a[red]b`") + "SHOW QUERIES;")
    assert code_of("script.sql", "--checkpoint", "script.sql/x") == "config.not_writable"
    assert "a[red]b" in capfd.readouterr().out


def test_a_place_that_cannot_be_written(folder: Path) -> None:
    (folder / "file").touch()
    assert code_of("script.sql", "--checkpoint", "file/checkpoint") == "config.not_writable"


def test_a_checkpoint_of_another_script(folder: Path) -> None:
    checkpoint(folder, script="another")
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.other_script"


def test_a_checkpoint_of_other_files(folder: Path) -> None:
    checkpoint(folder)
    (folder / "taxi.csv").write_text("id,ts,x,y\na,1,5,6\n")  # as long as before
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.source_changed"


@pytest.mark.parametrize("change", [("north", "south"), ("[4, 4]", "[5, 4]")], ids=["a value", "a border"])
def test_a_checkpoint_of_a_table_that_has_changed(folder: Path, change: tuple[str, str]) -> None:
    fence = """{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"name": "north"},
      "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 4], [0, 0]]]}}]}"""
    (folder / "fences.geojson").write_text(fence)
    table = "CREATE TABLE fences KEY name WITH (path = 'fences.geojson');"
    joined = "REGISTER QUERY j AS SELECT t.id, f.name FROM taxi t, fences f WHERE t.location INSIDE f.region;"
    (folder / "script.sql").write_text(table + SCRIPT + joined)
    checkpoint(folder)
    (folder / "fences.geojson").write_text(fence.replace(*change))
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.other_script"


def test_a_checkpoint_of_another_output(folder: Path) -> None:
    checkpoint(folder, out="u.jsonl")
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--out", "v.jsonl") == "state.output_gone"


def test_a_checkpoint_in_use(folder: Path) -> None:
    with alone_in(checkpoint(folder)):
        assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.in_use"


def test_an_output_in_use(folder: Path) -> None:
    part = folder / ".u.jsonl.partial"
    part.mkdir()
    (part / "theirs").touch()
    with locked(part, "", ""):
        assert code_of("script.sql", "--out", "u.jsonl") == "state.in_use"
    assert (part / "theirs").exists(), "what another run is writing is not ours to remove"


def test_a_checkpoint_of_a_query_table_that_has_changed(folder: Path) -> None:
    queries = 'name,template,parameters\nr,"SELECT id FROM taxi INSIDE (:x, 0, 5)","{""x"": 3}"\n'
    (folder / "queries.csv").write_text(queries)
    (folder / "script.sql").write_text(SCRIPT + "REGISTER QUERIES FROM 'queries.csv';")
    checkpoint(folder)
    (folder / "queries.csv").write_text(queries.replace("3", "4"))
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.other_script"


def test_a_checkpoint_with_other_shards(folder: Path) -> None:
    checkpoint(folder)
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--shards", "3") == "state.other_shards"


def test_a_ledger_that_is_damaged(folder: Path) -> None:
    ledger = checkpoint(folder) / "delivered.json"
    for text in ("{", "[]", "null", '{"batch": "x"}', '{"rows": {"taxi": "many"}}', '{"counts": ["1"]}'):
        ledger.write_text(text)
        assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.broken_ledger", text


def test_counts_that_are_damaged(folder: Path) -> None:
    place = checkpoint(folder)
    ledger = Ledger(place / "delivered.json", batch=1)
    ledger.count(np.array([0, 0]), np.array([1, -1], np.int8), 1)
    ledger.save()
    (place / "counts-0").write_bytes(b"short")
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.broken_ledger"
    (place / "counts-0").unlink()
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.broken_ledger"


def test_a_note_that_is_damaged(folder: Path) -> None:
    note = checkpoint(folder) / "run.json"
    for text in ("", "[]", "{}", '{"script": 1, "shards": "2", "files": [], "outputs": []}'):
        note.write_text(text)
        assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.broken_ledger", text


def test_a_ledger_that_is_lost(folder: Path) -> None:
    commits = checkpoint(folder) / "spark" / "commits"
    commits.mkdir(parents=True)
    (commits / "0").touch()
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.broken_ledger"


def test_output_that_disappeared_between_two_runs(folder: Path) -> None:
    place = checkpoint(folder, out="u.jsonl")
    Ledger(place / "delivered.json", batch=1).save()
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--out", "u.jsonl") == "state.output_gone"
    Ledger(place / "delivered.json", batch=1, is_finished=True).save()
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--out", "u.jsonl") == "state.output_gone"


def test_output_that_was_cut_between_two_runs(folder: Path) -> None:
    place = checkpoint(folder, out="u.jsonl")
    Ledger(place / "delivered.json", batch=1, sizes={"updates:taxi": 9}).save()
    (folder / ".u.jsonl.partial").mkdir()
    (folder / ".u.jsonl.partial" / "0.jsonl").write_text("short")
    assert code_of("script.sql", "--checkpoint", "checkpoint", "--out", "u.jsonl") == "state.output_gone"
    assert (folder / ".u.jsonl.partial" / "0.jsonl").read_text() == "short"


def test_state_of_another_format() -> None:
    with pytest.raises(SanderlingError) as error:
        state = sealed("state", pieces_of({}, {"clocks": {}}))
        restore(Shard(Plan((), NO_QUERIES), 0, {}), state.replace(f" {FORMAT} ".encode(), b" 99 ", 1), [])
    assert error.value.code == "state.other_format"


def test_a_checkpoint_of_an_older_format(folder: Path) -> None:
    """Its note was JSON without a head."""
    note = checkpoint(folder) / "run.json"
    note.write_bytes(note.read_bytes()[HEAD_BYTES:])
    assert code_of("script.sql", "--checkpoint", "checkpoint") == "state.other_format"


def test_an_error_of_ours_comes_back_through_spark_as_itself() -> None:
    text = (
        "Traceback …\nsanderling.errors.DataError: data.broken_parquet: it is damaged\n  at org.apache.spark"
    )
    error = in_our_words(StreamingQueryException(text), None)
    assert (type(error), error.code, error.message) == (DataError, "data.broken_parquet", "it is damaged")


def test_an_error_of_spark_is_told_in_its_words() -> None:
    error = in_our_words(StreamingQueryException("java.lang.OutOfMemoryError: no heap\n  at …"), None)
    assert error.code == "internal.spark" and "no heap" in error.message
    full = in_our_words(StreamingQueryException("java.io.IOException: No space left on device"), None)
    assert full.code == "config.not_writable"
    assert in_our_words(ConnectionRefusedError(111, "refused"), None).code == "internal.spark"


def test_a_format_without_a_reader_is_our_fault() -> None:
    with pytest.raises(SanderlingError) as error:
        read_rows((), "xml", Slice(0, "x.xml", "x.xml", 0, 0, 1, True))
    assert error.value.code == "internal.unknown_format"
