"""What PostgreSQL's clients write, and what they read: texts and values alone, without a server."""

from __future__ import annotations

import struct
import threading
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from psycopg.adapt import Transformer
from psycopg.pq import Format

from sanderling.errors import QueryError, SanderlingError
from sanderling.relational import Questions, Stopped
from sanderling.server.postgres import wire
from sanderling.server.postgres.macros import MACROS
from sanderling.server.postgres.parameters import constant
from sanderling.server.postgres.pieces import Kind, pieces_of
from sanderling.server.postgres.translate import read, written
from sanderling.server.postgres.types import oid_of
from sanderling.server.postgres.values import encoded

VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.bool_(), [True, False]), (pa.int8(), [-1]), (pa.int32(), [2**31 - 1]), (pa.int64(), [-(2**63)]),
    (pa.float32(), [1.5]), (pa.float64(), [0.1, 1e300, float("inf"), -0.0]), (pa.string(), ["", "ü\\\t'"]),
    (pa.timestamp("us"), [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 5, 1, 8)]),
    (pa.date32(), [date(1999, 12, 31)]), (pa.time64("us"), [time(10, 0, 0, 500000)]),
    (pa.binary(), [b"\0\xff"]),
    (pa.decimal128(38, 5), [*map(Decimal, ("-12345.00678", "0.00000", "100000000.00000", "0.00010"))]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "values"), VALUES, ids=lambda v: str(v)[:20])
@pytest.mark.parametrize("form", [wire.TEXT, wire.BINARY])
def test_a_driver_reads_what_was_there(type_: pa.DataType, values: list[Any], form: int) -> None:
    told = encoded(pa.chunked_array([pa.array([*values, None], type_)]), form)
    load = Transformer().get_loader(oid_of(type_), Format(form)).load
    assert [None if raw is None else load(raw) for raw in told] == [*values, None]


def test_what_has_no_type_there_is_text() -> None:
    column = pa.chunked_array([pa.array([["a", 'b "c"', None], []], pa.list_(pa.string()))])
    assert encoded(column, wire.BINARY) == [b'{a,"b \\"c\\"",NULL}', b"{}"]


@pytest.mark.parametrize(
    ("raw", "oid", "form", "value"),
    [
        (b"7", 23, 0, 7), (struct.pack("!q", -7), 20, 1, -7), (b"t", 16, 0, True), (b"\1", 16, 1, True),
        (struct.pack("!d", 0.1), 701, 1, 0.1), (b"it's", 0, 0, "it's"), (None, 25, 0, None),
        (struct.pack("!q", 0), 1114, 1, datetime(2000, 1, 1)), (b"2024-05-01", 1082, 0, date(2024, 5, 1)),
        (b'{a,"b,\\"c",NULL}', 1009, 0, ["a", 'b,"c', None]), (b"{1,2}", 1016, 0, [1, 2]),
    ],
)  # fmt: skip
def test_parameters_are_what_was_meant(raw: bytes | None, oid: int, form: int, value: Any) -> None:
    question = read("SELECT $1 AS a")
    sql = written(question, [constant(raw, oid, form)], {}, {})
    assert Questions([]).new().answer(sql, {}, 1 << 20).to_pylist() == [{"a": value}]


@pytest.mark.parametrize("raw", [b"\xff", b"\0"])
def test_parameters_that_are_none(raw: bytes) -> None:
    with pytest.raises(SanderlingError):
        constant(raw, 23 if raw == b"\0" else 25, 1 if raw == b"\0" else 0)
    with pytest.raises(SanderlingError):
        constant(b"", 869, 1)


def kinds(text: str) -> list[tuple[Kind, str]]:
    return [(p.kind, p.sql) for p in pieces_of(text)]


def test_a_text_is_cut_where_statements_end() -> None:
    assert kinds("-- nothing\n ; /* ; */") == [(Kind.EMPTY, "")]
    assert kinds("SELECT ';', \"a;b\", $$;$$, E'\\';' -- ;\n; SHOW STREAMS; show all;") == [
        (Kind.SELECT, "SELECT ';', \"a;b\", $$;$$, E'\\';' -- ;\n"), (Kind.SESSION, "SHOW STREAMS"),
        (Kind.SHOW, "show all"),
    ]  # fmt: skip
    assert kinds("SELECT '\\'; DROP QUERY a")[1] == (Kind.SESSION, "DROP QUERY a")
    assert kinds("REGISTER QUERY a AS SELECT '\\';' FROM b; BEGIN")[1] == (Kind.MEANT_WELL, "BEGIN")
    steps = "REGISTER PATTERN p AS a = SELECT id FROM s; SELECT id FROM a WHERE id IN a WITHIN 1 HOUR END"
    assert [kind for kind, _ in kinds(steps + "; SELECT 1")] == [Kind.SESSION, Kind.SELECT]


def test_names_of_columns_are_those_of_postgresql() -> None:
    constants, told = {"version": "V", "current_user": "me"}, Questions(MACROS).new()
    rows = told.answer(
        written(read("SELECT count(*), 'a', max(x), version(), current_user FROM t"), [], constants, {}),
        {"r0": pa.table({"x": [1, 2]})}, 1 << 20,
    )  # fmt: skip
    assert rows.column_names[:4] == ["count", "?column?", "max", "version"]
    assert rows.to_pylist()[0]["version"] == "V" and list(rows.to_pylist()[0].values())[4] == "me"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT x FRM y", "query.syntax"), ("SELECT 'a", "query.syntax"), ("SELECT (", "query.syntax"),
        ("SELECT " + "(" * 20_000, "query.too_deep"), ("INSERT INTO a VALUES (1)", "query.unsupported"),
    ],
    ids=lambda v: v[:20],
)  # fmt: skip
def test_what_cannot_be_read(sql: str, code: str) -> None:
    with pytest.raises(QueryError) as e:
        read(sql)
    assert e.value.code == code


def test_steps_of_with_are_no_tables() -> None:
    question = read(
        "WITH a AS (SELECT * FROM b), c AS (SELECT * FROM a) SELECT * FROM c JOIN public.a ON true"
    )
    assert sorted((w.schema, w.name) for w in question.wanted) == [("", "b"), ("public", "a")]


def test_a_question_can_be_stopped() -> None:
    asking = Questions([]).new()
    threading.Timer(0.2, asking.stop).start()
    with pytest.raises(Stopped):
        asking.answer(
            "SELECT count(*) FROM range(100000) a, range(100000) b WHERE a.range * b.range = 7", {}, 1
        )
