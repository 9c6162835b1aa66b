"""Texts to types: what fits, what does not, and that neighbours never matter."""

from __future__ import annotations

import datetime
import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.ingest.types.convert import convert
from sanderling.types import TYPES
from tests.long import drawn

BAD = object()
UTC = datetime.datetime


def outcome(texts, type_name: str) -> list:
    """The value of each text, or BAD."""
    values = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
    typed = convert(values, TYPES[type_name])
    assert typed.values.type == TYPES[type_name].arrow
    assert len(typed.values) == len(values)
    pairs = zip(typed.values.to_pylist(), typed.bad(), strict=True)
    assert all(
        value is None for value, is_bad in zip(typed.values.to_pylist(), typed.bad(), strict=True) if is_bad
    )
    return [BAD if is_bad else value for value, is_bad in pairs]


def test_integers_are_exact_or_refused():
    good = {"7": 7, "-7": -7, "+7": 7, " 7\t": 7, "007": 7, "7.0": 7, "7.": 7, "-0": 0, "": None, "  ": None}
    assert outcome(list(good), "BIGINT") == list(good.values())
    for text in (
        "1.5",
        "abc",
        "1e3",
        "0x10",
        "0X1f",
        "1_000",
        "1 2",
        "--1",
        "٣",
        "1,5",
        "true",
        "nan",
        "+",
        ".",
    ):
        assert outcome(["1", text, None, "2"], "BIGINT") == [1, BAD, None, 2], text


@pytest.mark.parametrize(("name", "bits"), [("TINYINT", 8), ("SMALLINT", 16), ("INT", 32), ("BIGINT", 64)])
def test_integers_end_where_their_type_ends(name, bits):
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    texts = [str(low - 1), str(low), str(high), str(high + 1), "9" * 5000, "-" + "9" * 19, "0" * 5000 + "1"]
    assert outcome(texts, name) == [BAD, low, high, BAD, BAD, BAD, 1]


def test_floats_are_read_as_written():
    good = {
        "1.5": 1.5,
        "+1.5": 1.5,
        " -2 ": -2.0,
        ".5": 0.5,
        "5.": 5.0,
        "1e3": 1000.0,
        "1E-3": 0.001,
        "inf": math.inf,
    }
    assert outcome(list(good), "DOUBLE") == list(good.values())
    for text in ("abc", "1e999", "-1e999", "0x10", "1_0", "1,5", "-", "e5", "1e", "infinit", "1 5"):
        assert outcome(["1", text, None, "2"], "DOUBLE") == [1.0, BAD, None, 2.0], text
    assert outcome(["1e39", "1e-60"], "FLOAT") == [BAD, 0.0]


def test_minus_zero_becomes_zero():
    for name in ("FLOAT", "DOUBLE"):
        for values in (["-0.0", "-0"], pa.array([-0.0, -0.0]), pa.array([-0.0], pa.float32())):
            assert all(math.copysign(1, value) == 1 for value in outcome(values, name))


def test_booleans_have_several_spellings():
    good = ["true", "T", "1", "Yes", " TRUE ", "false", "f", "0", "NO", ""]
    assert outcome(good, "BOOLEAN") == [True] * 5 + [False] * 4 + [None]
    assert outcome(["maybe", "2", "y", "on"], "BOOLEAN") == [BAD] * 4


TIMES = {
    "2024-02-29": UTC(2024, 2, 29),
    "2024-02-29T05": UTC(2024, 2, 29, 5),
    "2024-02-29 05:06": UTC(2024, 2, 29, 5, 6),
    "2024-02-29T05:06:07": UTC(2024, 2, 29, 5, 6, 7),
    "2024-02-29 05:06:07.1": UTC(2024, 2, 29, 5, 6, 7, 100_000),
    "2024-02-29 05:06:07.1234569": UTC(2024, 2, 29, 5, 6, 7, 123_456),
    "2024-02-29 05:06:07Z": UTC(2024, 2, 29, 5, 6, 7),
    "2024-02-29 05:06:07+02:00": UTC(2024, 2, 29, 3, 6, 7),
    "2024-02-29 05:06:07.5-0230": UTC(2024, 2, 29, 7, 36, 7, 500_000),
    "2024-02-29 05:06:07+02": UTC(2024, 2, 29, 3, 6, 7),
    "2024-02-29 05:06:07 UTC": UTC(2024, 2, 29, 5, 6, 7),
    " 2024-02-29 ": UTC(2024, 2, 29),
    "1969-12-31 23:59:59.9999999": UTC(1969, 12, 31, 23, 59, 59, 999_999),
    "0001-01-01": UTC(1, 1, 1),
    "9999-12-31 23:59:59.999999": UTC(9999, 12, 31, 23, 59, 59, 999_999),
    "0000-12-31": BAD,
    "0001-01-01 00:00:00+01:00": BAD,
    "9999-12-31 23:59:59-01:00": BAD,
    "2023-02-29": BAD,
    "1900-02-29": BAD,
    "2024-04-31": BAD,
    "2024-13-01": BAD,
    "2024-1-1": BAD,
    "20240101": BAD,
    "26/04/2026 00:00:00": BAD,
    "2024-02-29 24:00:00": BAD,
    "2024-02-29 05:60:00": BAD,
    "2024-02-29 05:06:60": BAD,
    "2024-02-29 05:06:07+24:00": BAD,
    "2024-02-29Z": BAD,
    "1700000000": BAD,
    "noon": BAD,
    "-2024-02-29": BAD,
    "": None,
}


@pytest.mark.parametrize("text", TIMES, ids=repr)
def test_timestamps_are_iso_8601(text):
    assert outcome([text], "TIMESTAMP") == [TIMES[text]]


def test_timestamps_of_all_kinds_may_be_mixed():
    assert outcome(list(TIMES), "TIMESTAMP") == list(TIMES.values())


def test_dates_are_days_alone():
    day = datetime.date(2024, 2, 29)
    assert outcome(["2024-02-29", " 2024-02-29", None], "DATE") == [day, day, None]
    assert outcome(["0001-01-01", "9999-12-31"], "DATE") == [
        datetime.date(1, 1, 1),
        datetime.date(9999, 12, 31),
    ]
    texts = ["2023-02-29", "2024-02-29 05:06", "0000-01-01", "x", "2024-02-29T00:00:00"]
    assert outcome(texts, "DATE") == [BAD] * 5
    assert outcome(["0000-01-01"], "DATE") == [BAD]


NASTY = st.one_of(
    st.none(),
    st.text("0123456789+-.eExinfNa() _T:Z\0", max_size=8),
    st.sampled_from(
        [*TIMES, "1", "-1", "300", "1.0", "1e999", "0x1F", "nan(1)", "true", "9223372036854775808"]
    ),
)


@given(st.lists(NASTY, max_size=6), st.sampled_from(sorted(TYPES)))
@settings(deadline=None, max_examples=drawn(100, 5000))
def test_what_becomes_of_a_value_does_not_depend_on_its_neighbours(texts, name):
    together = outcome(texts, name)
    alone = [outcome([text], name)[0] for text in texts]
    assert repr(together) == repr(alone)


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        (pa.array([1, 300, None], pa.int64()), "TINYINT", [1, BAD, None]),
        (pa.array([1, 1 << 63], pa.uint64()), "BIGINT", [1, BAD]),
        (
            pa.array([1.0, 1.5, math.nan, math.inf, 2.0**63, -(2.0**63), None]),
            "BIGINT",
            [1, BAD, BAD, BAD, BAD, -(1 << 63), None],
        ),
        (pa.array([1e15]), "BIGINT", [10**15]),
        (pa.array([1, None], pa.int32()), "DOUBLE", [1.0, None]),
        (pa.array([0.5, 1e300, math.inf]), "FLOAT", [0.5, BAD, math.inf]),
        (pa.array([1, 0, 2]), "BOOLEAN", [True, False, BAD]),
        (pa.array([True, None]), "BOOLEAN", [True, None]),
        (pa.array([True]), "BIGINT", [BAD]),
        (pa.array([7, None]), "STRING", ["7", None]),
        (pa.array([None, None]), "BIGINT", [None, None]),
        (pa.array(["a", None, "a"]).dictionary_encode(), "STRING", ["a", None, "a"]),
        (pa.array(["1", "x"]).dictionary_encode(), "INT", [1, BAD]),
        (pa.array(["1"], pa.large_string()), "INT", [1]),
        (pa.array([b"1", b"\xff", None]), "STRING", ["1", BAD, None]),
        (pa.array([b"1"], pa.binary(1)), "INT", [1]),
        (pa.array([[1, 2], None]), "STRING", ["[1, 2]", None]),
        (pa.array([[1, 2], None]), "INT", [BAD, None]),
        (pa.array([{"a": 1}]), "STRING", ['{"a": 1}']),
        (pa.array([datetime.date(2024, 1, 2)]), "TIMESTAMP", [UTC(2024, 1, 2)]),
        (pa.array([datetime.date(2024, 1, 2)], pa.date64()), "DATE", [datetime.date(2024, 1, 2)]),
        (pa.array([0, 1], pa.timestamp("s")), "DATE", [datetime.date(1970, 1, 1), BAD]),
        (
            pa.array([1, -1, None], pa.timestamp("ns")),
            "TIMESTAMP",
            [UTC(1970, 1, 1), UTC(1969, 12, 31, 23, 59, 59, 999_999), None],
        ),
        (pa.array([0], pa.timestamp("ms", "+02:00")), "TIMESTAMP", [UTC(1970, 1, 1)]),
        (pa.array([1 << 60, -(1 << 62)], pa.timestamp("s")), "TIMESTAMP", [BAD, BAD]),
        (pa.array([-(1 << 63)], pa.timestamp("ms")), "TIMESTAMP", [BAD]),
        (pa.array([1 << 62], pa.timestamp("us")), "TIMESTAMP", [BAD]),
        (pa.array([5]), "TIMESTAMP", [BAD]),
        (pa.array([0], pa.timestamp("us")), "BIGINT", [BAD]),
        (pa.array(["1.50"]).cast(pa.decimal128(5, 2)), "DOUBLE", [1.5]),
        (pa.array(["2.00", "2.50"]).cast(pa.decimal128(5, 2)), "INT", [2, BAD]),
    ],
    ids=lambda value: str(getattr(value, "type", value))[:30],
)
def test_what_a_parquet_file_holds_is_taken_where_it_fits(values, name, expected):
    assert outcome(values, name) == expected
