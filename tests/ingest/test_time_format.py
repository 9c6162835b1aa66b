"""Times as a pattern says."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pyarrow as pa
import pytest

from sanderling.catalog import Written
from sanderling.ingest.types.time_format import parse_by, regex_of

from .streams import ingest, make_stream


def parsed(pattern: str, text: str) -> str | None:
    found = parse_by(pa.array([text, None]), pattern)
    assert found.bad().tolist() == [found.values[0].as_py() is None, False]
    value = found.values[0].as_py()
    return None if value is None else value.isoformat(" ")


@pytest.mark.parametrize(
    ("pattern", "text", "time"),
    [
        ("dd/MM/yyyy HH:mm:ss", "26/04/2026 10:11:12", "2026-04-26 10:11:12"),
        ("dd/MM/yyyy HH:mm:ss", " 26/04/2026 10:11:12 ", "2026-04-26 10:11:12"),
        ("dd/MM/yyyy", "31/04/2026", None), ("dd/MM/yyyy", "1/4/2026", None),
        ("d/M/yyyy", "1/4/2026", "2026-04-01 00:00:00"),
        ("M/d/yy h:mm a", "4/6/26 12:05 am", "2026-04-06 00:05:00"),
        ("M/d/yy h:mm a", "4/6/26 12:05 PM", "2026-04-06 12:05:00"),
        ("yyyy-MM-dd'T'HH:mm:ss[.SSS]XXX", "2024-01-01T00:00:00.5+02:00", "2023-12-31 22:00:00.500000"),
        ("yyyy-MM-dd'T'HH:mm:ss[.SSS]XXX", "2024-01-01T00:00:00Z", "2024-01-01 00:00:00"),
        ("EEE, d MMM yyyy", "Sat, 29 feb 2020", "2020-02-29 00:00:00"),
        ("d MMMM yyyy", "3 March 2020", "2020-03-03 00:00:00"),
        ("yyyyMMdd HHmm", "20240501 2359", "2024-05-01 23:59:00"),
        ("yyyy 'o''clock' MM.dd", "2024 o'clock 05.01", "2024-05-01 00:00:00"),
        ("yyyy-MM-dd", "2024-05-01x", None), ("yyyy.MM.dd", "2024-05-01", None),
    ],
)  # fmt: skip
def test_patterns(pattern: str, text: str, time: str | None) -> None:
    assert parsed(pattern, text) == time


@pytest.mark.parametrize(
    "pattern", ["dd/MM", "dd/MM/yyyy dd", "qq/MM/yyyy", "yyyy[MM dd", "yyyyMMdd'", "MMMMM d yyyy"]
)
def test_what_is_no_pattern(pattern: str) -> None:
    with pytest.raises(ValueError):
        regex_of(pattern)


def test_a_letter_about_a_time_says_how_others_are_read(tmp_path) -> None:
    (tmp_path / "taxis.csv").write_text("id|ts|x|y\na|26/04/2026 10:00:00|1|NA\nb|2026-04-26|1|2\n")
    plain = make_stream("id STRING, ts TIMESTAMP, x DOUBLE, y DOUBLE")
    bars = replace(plain, written=Written("|"))
    letter = ingest(bars, tmp_path / "taxis.csv").letters.to_pylist()[0]
    assert letter["reason"] == "unreadable_time"
    assert letter["detail"].endswith("as ISO 8601 has it; time_format = 'dd/MM/yyyy HH:mm:ss' reads others")
    danish = replace(plain, written=Written("|", ("NA",), "dd/MM/yyyy HH:mm:ss"))
    first, second = ingest(danish, tmp_path / "taxis.csv").letters.to_pylist()
    assert (first["reason"], second["reason"]) == ("missing_place", "unreadable_time")
    assert second["detail"].endswith("as 'dd/MM/yyyy HH:mm:ss' says")
    assert ingest(replace(danish, y="x"), tmp_path / "taxis.csv").readings["ts"].to_pylist() == [
        datetime.datetime(2026, 4, 26, 10)
    ]
