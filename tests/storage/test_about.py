"""What an archive is of is read as it was written, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sanderling.errors import SanderlingError
from sanderling.storage.about import NAME, About, Grid
from sanderling.storage.archive import Archive
from sanderling.storage.writer import Writer
from tests.storage.worlds import STREAM, archiving


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    about = About(archiving(tmp_path, "keep = '90 days', late = 'keep', sample = 3"), Grid(0.5, -1, 3, 4))
    about.write(tmp_path)
    assert About.read(tmp_path) == about


def test_columns_may_be_called_as_ours_are(tmp_path: Path) -> None:
    stream = """CREATE STREAM cars (id STRING, at BIGINT, Geometry DOUBLE, Period DOUBLE) KEY id TIME at
      LOCATION (Geometry, Period);"""
    about = About(archiving(tmp_path, stream=stream))
    assert (about.geometry, about.period) == ("geometry_", "period_")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "history.none"), ("{", "history.broken"), ("[]", "history.other_format"),
        ('{"format": 99}', "history.other_format"), ('{"format": 1, "stream": 5}', "history.broken"),
    ],
)  # fmt: skip
def test_what_is_no_archive_of_ours_is_refused(text: str | None, code: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / NAME).write_text(text)
    with pytest.raises(SanderlingError) as refused:
        Archive.open(tmp_path)
    assert refused.value.code == code


def test_a_damaged_log_is_refused(tmp_path: Path) -> None:
    Writer(tmp_path, archiving(tmp_path))
    (tmp_path / "readings" / "_delta_log" / f"{0:020}.json").write_text("{")
    with pytest.raises(SanderlingError) as refused:
        Archive.open(tmp_path)
    assert refused.value.code == "history.broken"


@pytest.mark.parametrize(
    "other", [STREAM.replace("10 seconds", "20 seconds"), STREAM.replace("INT", "BIGINT")]
)
def test_an_archive_of_another_stream_is_not_gone_on_with(other: str, tmp_path: Path) -> None:
    Writer(tmp_path, archiving(tmp_path))
    with pytest.raises(SanderlingError) as refused:
        Writer(tmp_path, archiving(tmp_path, stream=other))
    assert refused.value.code == "history.other_stream"
    Writer(tmp_path, archiving(tmp_path, "keep = '1 day'"))
    assert json.loads((tmp_path / NAME).read_text())["keep_us"] == 86_400_000_000
