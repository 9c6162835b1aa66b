"""What a run writes: lines of JSON, Parquet, dead letters, counts. Many streams at once, in two runs."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.sinks.lines import GrowingFiles
from sanderling.deliver.sinks.tables import QueryFolders
from sanderling.deliver.targets import Targets
from sanderling.errors import ConfigError
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, RunSummary, run_plan

HEAD = "id,ts,x,y\n"
ODD_NAME = 'o\'d/d "q" 😀=..%2F'
TYPES = "id STRING, ts DOUBLE, x DOUBLE, y DOUBLE"

FILES: dict[str, str | bytes] = {
    "plain.csv": HEAD + "a,1,1,1\nb,2,1,1\na,2,99,1\nb,3,2,1\n",
    "twice.csv": HEAD + "a,1,1,1\na,1,1,1\nb,2,1,1\na,2,99,1\nb,2,1,1\nb,3,2,1\nb,3,2,1\n",
    "gz.csv.gz": gzip.compress((HEAD + "a,1,1,1\n").encode()),
    "gz.jsonl.gz": gzip.compress(b'{"id":"a","ts":1,"x":1,"y":1}\n'),
    # By name: 1 before 10 before 2; what is hidden or empty is no input.
    "folder/10.csv": HEAD + "b,2,1,1\n",
    "folder/2.csv": HEAD + "c,3,1,1\n",
    "folder/1 é😀.csv": HEAD + "a,1,1,1\n",
    "folder/empty.csv": "",
    "folder/header.csv": HEAD,
    "folder/_other": "not ours",
    "glob/a[1].csv": HEAD + "a,1,1,1\n",
    "glob/b.csv": HEAD + "b,2,1,1\n",
    "nothing.csv": HEAD,
    "all_bad.csv": HEAD + "a,x,1,1\n",
    "quarter.csv": HEAD + "a,-1,1,1\nb,-0.75,1,1\na,-0.7,99,1\n",
    "half.csv": HEAD + "a,-1,1,1\nb,-0.75,1,1\n",
    "times.csv": HEAD + "a,2024-01-01T02:00:00.25+02:00,1,1\nb,2024-01-01 00:00:01,1,1\n",
    "big.csv": HEAD + "9223372036854775807,1,1,1\n-5,1,1,1\n",
    "odd.csv": 'query,tick,row,sign,"we""ird, näme"\n"q""uo,te\\",1,1,1,5\n"😀\u2028",2,1,1,6\n',
    "bad.csv": (HEAD + "a,1,1,1\n,1,1,1\na,,1,1\na,soon,1,1\na,1,,1\na,1,nan,1\na,1,1,-inf\na,1,1\n").encode()
    + b'a,1,1,1,1\na,1,here,1\n\xff,1,1,1\n"a,1,1,1\nb,9,1,1\nc,2,1,1\n',
    "bad.jsonl": '{"id":"a","ts":1,"x":1,"y":1}\n{"id":\n[1]\n{"ts":1,"x":1,"y":1}\n'
    + '{"id":"a\\n","ts":2,"x":1,"y":1}',
}  # fmt: skip
STREAMS = {
    "plain": "plain.csv", "twice": "twice.csv", "gz": "gz.csv.gz", "gz_json": "gz.jsonl.gz",
    "folder": "folder", "globs": "glob/*.csv", "one": "glob/a[1].csv", "nothing": "nothing.csv",
    "all_bad": "all_bad.csv", "bad": "bad.csv", "bad_json": "bad.jsonl", "parquet": "good.parquet",
}  # fmt: skip


def declared(name: str, path: Path, types: str = TYPES, more: str = "") -> str:
    return f"""CREATE STREAM {name} ({types}) KEY id TIME ts LOCATION (x, y) WITH (path = '{path}'{more});
    REGISTER QUERY q_{name} AS SELECT id, x FROM {name} INSIDE (0, 0, 10, 10);"""


def script(folder: Path) -> str:
    said = [declared(name, folder / path) for name, path in STREAMS.items()]
    said += [
        declared("quarter", folder / "quarter.csv", more=", tick = '250 milliseconds'"),
        declared("half", folder / "half.csv", more=", tick = '500 milliseconds'"),
        declared("big", folder / "big.csv", TYPES.replace("id STRING", "id BIGINT")),
        declared("small", folder / "big.csv", TYPES.replace("id STRING", "id INT")),
        declared("times", folder / "times.csv", TYPES.replace("ts DOUBLE", "ts TIMESTAMP")),
        "REGISTER QUERY moments AS SELECT id, ts FROM times;",
        "REGISTER QUERY never AS SELECT id FROM plain INSIDE (500, 500, 1);",
        f"""CREATE STREAM odd (query STRING, tick BIGINT, `row` DOUBLE, sign DOUBLE, `we"ird, näme` DOUBLE)
        KEY query TIME tick LOCATION (`row`, sign) WITH (path = '{folder}/odd.csv');
        REGISTER QUERY `{ODD_NAME}` AS
        SELECT query, tick, sign, `we"ird, näme` AS `Row`, 'x' AS `_tick`, 1 AS `_query` FROM odd;""",
    ]
    return "\n".join(said)


@dataclass
class Done:
    lines: list[str]
    letters: list[dict[str, object]]
    summary: RunSummary
    folder: Path

    def of(self, query: str) -> list[dict[str, object]]:
        return [u for u in map(json.loads, self.lines) if u["query"] == query]

    def reasons(self, stream: str) -> list[tuple[object, object]]:
        return [(v["row"], v["reason"]) for v in self.letters if v["stream"] == stream]


@pytest.fixture(scope="module")
def done(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("output")
    for name, content in FILES.items():
        path = folder / "in" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    good = {"id": ["a", None, "c"], "ts": [1.0, 1.0, 2.0], "x": [1.0, 1.0, float("nan")], "y": [1.0] * 3}
    pq.write_table(pa.table(good), folder / "in" / "good.parquet")
    text = script(folder / "in")
    planner = Planner()
    planner.run_script(text)
    small = Settings(slice_bytes=20, slices_per_shard=2)
    (folder / "u.jsonl").write_text("from before")
    lines = RunOptions(Targets(folder / "u.jsonl", False, folder / "l.jsonl"), "local[2]", 1, settings=small)
    summary = run_plan(planner.plan(), text, lines, spark)
    (folder / "tables").mkdir()
    tables = RunOptions(Targets(folder / "tables", True, folder / "m.jsonl"), "local[2]", 3)
    assert run_plan(planner.plan(), text, tables, spark).totals == summary.totals
    assert sorted(p.name for p in folder.iterdir()) == ["in", "l.jsonl", "m.jsonl", "tables", "u.jsonl"]
    assert (folder / "l.jsonl").read_bytes() == (folder / "m.jsonl").read_bytes()
    letters = [json.loads(line) for line in (folder / "l.jsonl").read_text().split("\n")[:-1]]
    return Done((folder / "u.jsonl").read_text().split("\n")[:-1], letters, summary, folder)


def test_an_update_is_a_line_of_json(done: Done) -> None:
    assert [line for line in done.lines if '"q_plain"' in line] == [
        '{"query": "q_plain", "tick": "1970-01-01T00:00:01Z", "sign": 1, "row": {"id": "a", "x": 1.0}}',
        '{"query": "q_plain", "tick": "1970-01-01T00:00:02Z", "sign": -1, "row": {"id": "a", "x": 1.0}}',
        '{"query": "q_plain", "tick": "1970-01-01T00:00:02Z", "sign": 1, "row": {"id": "b", "x": 1.0}}',
        '{"query": "q_plain", "tick": "1970-01-01T00:00:03Z", "sign": -1, "row": {"id": "b", "x": 1.0}}',
        '{"query": "q_plain", "tick": "1970-01-01T00:00:03Z", "sign": 1, "row": {"id": "b", "x": 2.0}}',
    ]


def test_updates_are_in_order_of_tick_query_sign_and_row(done: Done) -> None:
    ticks = [
        duckdb.execute("SELECT epoch_us(?::TIMESTAMPTZ)", [u["tick"]]).fetchall()[0][0]
        for u in map(json.loads, done.lines)
    ]
    updates = [json.loads(line) for line in done.lines]
    order = [
        (tick, u["query"].encode(), u["sign"], next(iter(u["row"].values())))
        for tick, u in zip(ticks, updates, strict=True)
    ]
    assert order == sorted(order)


def test_ticks_with_a_fraction_merge_with_whole_ones(tmp_path: Path) -> None:
    """A dot sorts before a Z, and 10000 before 9999; time does not."""
    ticks = [
        "1969-12-31T23:59:59Z",
        "1969-12-31T23:59:59.500000Z",
        "9999-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
    ]
    files = GrowingFiles(tmp_path / "part", ["a", "b"])
    files.prepare()
    lines = [json.dumps({"tick": tick, "query": "q"}) + "\n" for tick in ticks]
    files.append("a", [pa.array([lines[0], lines[2]])])
    files.append("b", [pa.array([lines[1], lines[3]])])
    files.publish(tmp_path / "whole", is_merged=True)
    assert (tmp_path / "whole").read_text() == "".join(lines)


@pytest.mark.parametrize("name", ["gz", "gz_json", "one", "parquet", "bad_json"])
def test_every_format_is_read(name: str, done: Done) -> None:
    assert done.of(f"q_{name}")[0]["row"] == {"id": "a", "x": 1.0}


def test_a_folder_and_a_glob_are_read_by_name(done: Done) -> None:
    assert [u["row"]["id"] for u in done.of("q_folder")] == ["a", "b", "c"]  # type: ignore[index]
    assert [u["row"]["id"] for u in done.of("q_globs")] == ["a", "b"]  # type: ignore[index]
    assert done.reasons("folder") == []


def test_exact_duplicates_change_nothing(done: Done) -> None:
    plain, twice = done.of("q_plain"), done.of("q_twice")
    assert [{**u, "query": ""} for u in twice] == [{**u, "query": ""} for u in plain]
    assert done.reasons("twice") == []


def test_times_before_1970_and_between_seconds(done: Done) -> None:
    assert [u["tick"] for u in done.of("q_quarter")] == [
        "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.250000Z", "1969-12-31T23:59:59.500000Z",
    ]  # fmt: skip
    assert [u["row"] for u in done.of("moments")] == [
        {"id": "a", "ts": "2024-01-01T00:00:00.250000Z"}, {"id": "b", "ts": "2024-01-01T00:00:01Z"},
    ]  # fmt: skip


def test_every_fault_of_a_row_is_a_dead_letter_with_its_reason(done: Done) -> None:
    assert done.reasons("bad") == [
        (3, "missing_key"), (4, "missing_time"), (5, "unreadable_time"), (6, "missing_place"),
        (7, "bad_place"), (8, "bad_place"), (9, "too_few_columns"), (10, "too_many_columns"),
        (11, "wrong_type"), (12, "bad_encoding"), (13, "broken_csv"), (15, "late"),
    ]  # fmt: skip
    assert done.reasons("bad_json") == [(2, "broken_json"), (3, "broken_json"), (4, "missing_key")]
    assert done.reasons("parquet") == [(2, "missing_key"), (3, "bad_place")]
    assert done.reasons("small") == [(2, "wrong_type")]
    late = next(v for v in done.letters if v["reason"] == "late")
    assert (late["raw"], late["file"]) == ("c,2,1,1", str(done.folder / "in" / "bad.csv"))


def test_the_summary_counts_what_was_read_said_and_refused(done: Done) -> None:
    totals = done.summary.totals
    assert totals.rows["bad"] == 14 and totals.rows["nothing"] == 0 and totals.rows["all_bad"] == 1
    assert totals.ticks["plain"] == 3 and totals.ticks["all_bad"] == 0
    assert totals.letters == Counter(v["reason"] for v in done.letters)
    assert totals.updates["q_plain"] == [3, 2] and totals.updates["never"] == [0, 0]
    assert sum(a + b for a, b in totals.updates.values()) == len(done.lines)


def test_parquet_holds_the_same_updates_by_query(done: Done) -> None:
    hive = ds.partitioning(pa.schema([("query", pa.string())]), flavor="hive")
    queries = ds.dataset(done.folder / "tables", partitioning=hive).to_table(columns=["query"])
    counts = Counter(queries.column("query").to_pylist())
    assert counts == Counter(json.loads(line)["query"] for line in done.lines)
    rows = duckdb.sql(
        f"""SELECT epoch(tick), sign, id, x, query FROM
        read_parquet('{done.folder}/tables/query=q_plain/*.parquet', hive_partitioning = true)"""
    ).fetchall()
    assert [r[:4] for r in rows] == [
        (1, 1, "a", 1.0), (2, -1, "a", 1.0), (2, 1, "b", 1.0), (3, -1, "b", 1.0), (3, 1, "b", 2.0),
    ]  # fmt: skip
    assert {r[4] for r in rows} == {"q_plain"}


def test_parquet_is_typed(done: Done) -> None:
    def schema(query: str) -> dict[str, str]:
        (folder,) = (done.folder / "tables").glob(f"query={query}")
        return {f.name: str(f.type) for f in ds.dataset(folder).schema}

    utc = "timestamp[us, tz=UTC]"
    assert schema("q_big") == {"tick": utc, "sign": "int8", "id": "int64", "x": "double"}
    assert schema("q_small")["id"] == "int32"
    assert schema("moments") == {"tick": utc, "sign": "int8", "id": "string", "ts": utc}


def test_our_columns_step_aside_for_a_select_list(done: Done) -> None:
    (folder,) = (done.folder / "tables").glob("query=o*")
    table = ds.dataset(folder).to_table()
    assert table.column_names == ["__tick", "_sign", "__query", "tick", "sign", "Row", "_tick", "_query"]
    assert table.column("__query").to_pylist() == ['q"uo,te\\', "😀\u2028"]
    assert [u["row"]["query"] for u in done.of(ODD_NAME)] == ['q"uo,te\\', "😀\u2028"]  # type: ignore[index]


def test_a_failed_delivery_is_told_and_leaves_nothing(
    spark: SparkSession, done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "u.jsonl")

    monkeypatch.setattr(GrowingFiles, "append", full)
    planner = Planner()
    text = declared("plain", done.folder / "in" / "plain.csv")
    planner.run_script(text)
    options = RunOptions(Targets(tmp_path / "u.jsonl", False, tmp_path / "l.jsonl"), "local[2]", 2)
    with pytest.raises(ConfigError) as error:
        run_plan(planner.plan(), text, options, spark)
    assert error.value.code == "config.not_writable"
    assert "No space left on device: u.jsonl" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_query_s_rows_are_in_order_in_its_parquet_however_many_there_are(tmp_path: Path) -> None:
    planner = Planner()
    planner.run_script(
        "CREATE STREAM s (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);"
        "REGISTER QUERY a AS SELECT id FROM s; REGISTER QUERY b AS SELECT id FROM s"
    )
    plan = planner.plan()
    n = 400_000
    rng = np.random.default_rng(7)
    drawn = [rng.integers(0, 2, n), rng.integers(0, 1000, n), rng.choice([-1, 1], n), rng.integers(0, 99, n)]
    types = [pa.int64(), pa.int64(), pa.int8(), pa.int64()]
    columns = [pa.array(column).cast(type_) for column, type_ in zip(drawn, types, strict=True)]
    rows = pa.table(columns, names=["query", "tick", "sign", "c0"])
    folders = QueryFolders(tmp_path / "out", plan)
    folders.prepare()
    folders.write(0, {plan.queries[0].template: rows})
    for name in ("a", "b"):
        (path,) = (tmp_path / "out" / f"query={name}").iterdir()
        told = pq.read_table(path, partitioning=None).select(["tick", "sign"])
        order = told.column("tick").cast(pa.int64()).to_numpy() * 2 + told.column("sign").to_numpy()
        assert (np.diff(order) >= 0).all()
