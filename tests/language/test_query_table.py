"""A row of a query table is the statement that its template is with the values written into it."""

from __future__ import annotations

import json
import math
import re
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sanderling.errors import SanderlingError
from sanderling.language import parameters
from sanderling.language.parse import parse_template
from sanderling.plan.planner import Planner
from tests.language.scripts_alike import BEGIN, dump
from tests.long import drawn

MANY = drawn(40, 10_000)

TEMPLATES = (
    "SELECT id FROM taxi INSIDE ('M', :a, :b, :b)",
    "SELECT id FROM bus INSIDE ('M', :a, :b)",
    "SELECT id FROM small INSIDE ('M', :a, :b)",
    "SELECT id FROM taxi INSIDE (:a, :b, :c, 10)",
    "SELECT id FROM taxi INSIDE (-:a, :b, :c) -- a note about :z\n;",
    "SELECT id FROM taxi WHERE speed > :a AND kind = :b INSIDE depot",
    "SELECT id FROM taxi WHERE speed>:a OR n IN (:b,:c)",
    "SELECT id FROM taxi WHERE speed +:a> :b",
    "SELECT id FROM taxi WHERE speed -:a > 5",
    "SELECT id FROM taxi WHERE kind LIKE :a AND kind <> ':a'",
    "SELECT id FROM taxi WHERE seen > :a",
    "SELECT id, :a AS a, :b AS b FROM taxi WHERE n = :a",
    "SELECT id, :a FROM taxi",
    "SELECT id FROM taxi WHERE :a",
    "SELECT id FROM taxi",
    "SELECT id FROM taxi WHERE kind = :a :b",
    "SELECT id FROM taxi WHERE speed > :a AND",
    "SELECT id FROM nobody WHERE speed > :a",
    "PATTERN WITH s AS (SELECT id FROM taxi WHERE speed > :a INSIDE (:b, 0, 5) PERSISTENCY 5 SECONDS), "
    "t AS (SELECT id FROM taxi INSIDE (:b, :c, 1, 1)) SELECT id FROM s THEN NOT t "
    "THEN ENTERING s AS u WITHIN 1 HOUR",
    "PATTERN WITH s AS (SELECT id FROM taxi WHERE kind = :a) SELECT id, :b AS b FROM s FOR :c SECONDS",
    "PATTERN WITH s AS (SELECT id FROM taxi WHERE kind = :a) SELECT id FROM s THEN s",
)
NUMBERS = (0, 1, 2, 17, -3, 40_000, 2**40, 0.5, -0.0, 0.0, 2.25, 1e-7, 1e22, -1.5)
TEXTS = ("a", "bus", "it's", "a\\b", "\\", "", "2020-01-01", "1", "--", ":a", ";", "é", "a\nb", "%")
ODD = (None, True, False, 2**63, -(2**63), 10**30, 1e305, 5e-324)
VALUES = st.one_of(
    st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.sampled_from(ODD)
)


def statement(row: dict[str, Any]) -> str:
    text = written(row["template"], row["parameters"])
    kind, text = ("PATTERN", text[8:]) if text.startswith("PATTERN ") else ("QUERY", text)
    return f"REGISTER {kind} {row['name']} AS {text}"


def written(template: str, values: dict[str, Any]) -> str:
    """The template with its values, by another way: one parameter after the other, from left to right."""

    def literal(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        value = values[found[1]]
        if isinstance(value, str):
            text = value.replace("\\", "\\\\").replace("'", "\\'")
            return f" '{text}' "
        return f" {value!r} ".replace("None", "NULL").replace("True", "TRUE").replace("False", "FALSE")

    return re.sub(r"'(?:''|[^'])*'|--.*|:(\w+)", literal, template).strip().rstrip(";")


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    templates = draw(st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=2))
    rows = []
    for number in range(draw(st.integers(1, 8))):
        template = draw(st.sampled_from(templates))
        used = {m[1] for m in re.finditer(r":(\w+)", re.sub(r"'[^']*'|--.*", "", template))}
        values = {name: draw(VALUES) for name in sorted(used)}
        rows.append({"name": f"q{number}", "template": template, "parameters": values})
    return rows


def outcome(statements: list[str]) -> tuple[str | None, object]:
    """How all statements together are taken; the words of the shown text may differ in their gaps."""
    planner = Planner(is_one_by_one=True)
    planner.run_script(BEGIN)
    try:
        for statement in statements:
            planner.run_script(statement)
    except SanderlingError as e:
        return e.code, None
    return None, without_sql(planner)


def without_sql(planner: Planner) -> object:
    return re.sub(r"sql=(\"[^\"]*\"|'(\\'|[^'])*')\)", "sql)", str(dump(planner.plan())))


@settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_a_row_is_its_template_filled_in(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "queries.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        by_table = outcome([f"REGISTER QUERIES FROM '{path}'"])
    singly = [outcome([statement(r)])[0] for r in rows]
    if by_table[0] is not None:
        assert by_table[0] in singly
    else:
        statements = [statement(r) for r in rows]
        assert by_table == outcome(statements)


def planned(*files: pa.Table, folder: Path, at: str = "") -> Planner:
    place = folder / "queries"
    place.mkdir()
    for number, file in enumerate(files):
        pq.write_table(file, place / f"{number}.parquet")
    planner = Planner()
    planner.run_script(f"{BEGIN}{at} REGISTER QUERIES FROM '{place}'")
    return planner


def queries(template: str, parameters: pa.Array, first: int = 0) -> pa.Table:
    n = len(parameters)
    names = [f"q{first + i}" for i in range(n)]
    return pa.table({"name": names, "template": [template] * n, "parameters": parameters})


def test_parameters_may_be_a_struct(tmp_path: Path) -> None:
    structs = pa.StructArray.from_arrays(
        [
            pa.array([1, -2, None], pa.int16()),
            pa.array(["2020-01-01", None, "2021-01-01"]).cast(pa.date32()),
            pa.array([None, None, None], pa.int64()),
            pa.array(["a", "b", "c"]).dictionary_encode(),
        ],
        ["n", "t", "other", "kind"],
    )
    planner = planned(
        queries("SELECT id FROM taxi WHERE n > :n AND seen > :t OR kind = :kind", structs), folder=tmp_path
    )
    assert [q.sql for q in planner.plan().queries] == [
        "SELECT id FROM taxi WHERE n > 1 AND seen > '2020-01-01' OR kind = 'a'",
        "SELECT id FROM taxi WHERE n > -2 AND seen > NULL OR kind = 'b'",
        "SELECT id FROM taxi WHERE n > NULL AND seen > '2021-01-01' OR kind = 'c'",
    ]


def test_a_query_table_may_be_a_folder_and_begin_later(tmp_path: Path) -> None:
    template = "SELECT id FROM taxi INSIDE (:x, 0, 5)"
    files = [queries(template, pa.array([{"x": i}, {"x": i + 0.5}]), first=2 * i) for i in range(2)]
    planner = planned(*files, folder=tmp_path, at="AT 7")
    plan = planner.plan()
    assert plan.queries.names.to_pylist() == ["q0", "q1", "q2", "q3"]
    assert plan.streams[0].regions.a.tolist() == [0, 0.5, 1, 1.5]
    assert set(plan.queries.begin.tolist()) == {10_000_000}


@pytest.mark.parametrize(
    "parameters, code",
    [
        (pa.array([{"x": 1, "z": 2}]), "query.unknown_parameter"),
        (pa.array([{"y": 1}]), "query.missing_parameter"),
        (pa.array([{"x": [1]}]), "query.wrong_type"),
        (pa.array([{"x": math.nan}]), "query.not_finite"),
        (pa.array([{"x": "1"}]), "query.wrong_type"),
        (pa.array(['{"x": 1}', "[]"]), "query.bad_table_row"),
        (pa.array([{"x": 1.0}, {"x": None}]), "query.syntax"),
    ],
)
def test_a_wrong_row_refuses_all(tmp_path: Path, parameters: pa.Array, code: str) -> None:
    with pytest.raises(SanderlingError) as error:
        planned(queries("SELECT id FROM taxi INSIDE (:x, 0, 5)", parameters), folder=tmp_path)
    assert error.value.code == code and error.value.place is not None and error.value.hint


def test_a_refused_table_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "queries.csv"
    path.write_text("name,template,parameters\na,SELECT id FROM taxi,\nb,SELECT idd FROM taxi,\n")
    planner = Planner()
    planner.run_script(BEGIN)
    with pytest.raises(SanderlingError):
        planner.run_script(f"REGISTER QUERIES FROM '{path}'")
    assert len(planner.queries) == 0 and len(planner.plan().queries) == 0


def test_a_template_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(text: str) -> object:
        read.append(text)
        return parse_template(text)

    monkeypatch.setattr(parameters, "parse_template", reading)
    rows = pa.array([{"id": i, "side": 0.5 + i} for i in range(1000)])
    planner = planned(queries("SELECT id FROM taxi INSIDE ('M', :id, :side, :side)", rows), folder=tmp_path)
    assert len(planner.plan().queries) == 1000 and len(read) == 1
