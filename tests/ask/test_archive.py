"""The past in an archive: as of any time that is kept, the last of all, snapshots; and what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling import command
from sanderling.ask.archive import ArchivePast
from sanderling.ask.opened import opened_for
from sanderling.errors import QueryError, SanderlingError
from sanderling.plan import last_queries
from sanderling.plan.planner import Planner
from sanderling.storage import queries
from sanderling.storage.archive import Archive
from sanderling.storage.tend import Tending
from sanderling.storage.writer import Writer
from tests.ask.archived import archived, past_of
from tests.ask.asking import asked, rows_of

STREAM = """CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, off BOOLEAN)
  KEY id TIME ts LOCATION (x, y) GONE off WITH (path = '{path}', tick = 2);
"""
READINGS = "id,ts,x,y,off\n" + "".join(
    f"{who},{20 + second},{second % 7},{second % 5},{'true' if second == 21 and who == 'ben' else ''}\n"
    for second in range(30)
    for who in ("anna", "ben", "carl")
    if who != "ben" or second <= 21
)


@pytest.fixture
def planner(tmp_path: Path) -> Planner:
    (tmp_path / "cars.csv").write_text(READINGS)
    planner = Planner()
    planner.run_script(STREAM.format(path=tmp_path / "cars.csv"))
    return planner


@pytest.fixture
def past(planner: Planner, tmp_path: Path) -> ArchivePast:
    return past_of(archived(planner, "cars", tmp_path, [24_000_000, 36_000_000]))


@pytest.mark.parametrize(
    "sql, rows",
    [
        ("SELECT id, x FROM cars AS OF 30", [("anna", 3.0), ("ben", 3.0), ("carl", 3.0)]),
        ("SELECT id FROM cars AS OF 42 INSIDE (0, 0, 9, 9)", [("anna",), ("carl",)]),
        ("SELECT COUNT(*) AS n FROM cars AS OF 40 [RANGE 4 SECONDS]", [(12,)]),
        ("SELECT COUNT(*) AS n FROM cars AS OF 40 [5 ROWS PER KEY]", [(15,)]),
        ("SELECT COUNT(*) AS n FROM cars BETWEEN 30 AND 33", [(12,)]),
        ("SELECT id FROM LAST cars WHERE x >= 0 kNN (1, 0, 0)", [("anna",)]),
        ("SELECT COUNT(*) AS n FROM LAST cars", [(2,)]),
    ],
)
def test_is_answered(sql: str, rows: list[tuple[object, ...]], planner: Planner, past: ArchivePast) -> None:
    assert rows_of(asked(planner, sql, past)) == rows


@pytest.mark.parametrize(
    "sql, code",
    [
        ("SELECT id FROM cars AS OF 3", "history.not_kept"),
        ("SELECT id FROM cars BETWEEN 3 AND 30", "history.not_kept"),
        ("SELECT id FROM cars AS OF 300", "history.not_yet"),
        ("SELECT id FROM cars BETWEEN 30 AND 300", "history.not_yet"),
        ("SELECT COUNT(*) AS n FROM cars AS OF SNAPSHOT 40 [RANGE 4 SECONDS]", "history.not_exact"),
    ],
)
def test_what_is_not_there_is_refused(sql: str, code: str, planner: Planner, past: ArchivePast) -> None:
    with pytest.raises(QueryError) as e:
        asked(planner, sql, past)
    assert e.value.code == code and e.value.place is not None and e.value.hint


def test_a_stream_without_an_archive_has_no_past(planner: Planner) -> None:
    for times in ("cars AS OF 30", "LAST cars", "cars BETWEEN 1 AND 2", "cars AS OF SNAPSHOT 3"):
        with pytest.raises(QueryError) as e:
            asked(planner, f"SELECT id FROM {times}", ArchivePast({}))
        assert e.value.code == "history.none"


def test_a_window_that_begins_before_what_is_kept_is_refused(planner: Planner, tmp_path: Path) -> None:
    folder = archived(planner, "cars", tmp_path, [24_000_000, 36_000_000], ", keep = '12 seconds'")
    archiving = planner.archive_of("cars")
    assert folder is not None and archiving is not None
    Tending(Writer(folder.folder, archiving)).tend()
    archive = Archive.open(folder.folder)
    begin = (archive.kept_from or 0) // 1_000_000
    assert begin > 20 and archive.has_forgotten
    window = "SELECT COUNT(*) AS n FROM cars AS OF {} [RANGE 8 SECONDS]"
    with pytest.raises(QueryError) as e:
        asked(planner, window.format(begin + 6), past_of(archive))
    assert e.value.code == "history.not_kept" and f"{begin + 8}" in (e.value.hint or "")
    assert rows_of(asked(planner, window.format(begin + 8), past_of(archive))) == [(24,)]


def test_queries_are_known_where_nothing_runs(planner: Planner, tmp_path: Path) -> None:
    """Those that follow an object are where it was last."""
    planner.run_script(
        "REGISTER QUERY depot AS SELECT id FROM cars INSIDE (0, 0, 4, 4);"
        "REGISTER QUERY near AS SELECT id FROM cars kNN (3, 6, 1);"
        "REGISTER QUERY around_anna AS SELECT id FROM cars INSIDE AROUND ('anna', 1)"
    )
    archive = archived(planner, "cars", tmp_path)
    assert archive is not None
    queries.write(archive.folder, last_queries.rows_of(planner.queries.values(), "cars"))
    (anna,) = (row for row in archive.last().to_pylist() if row["id"] == "anna")
    other, past = Planner(), past_of(archive)
    opened_for(other, [archive.folder])
    sql = "SELECT name, focal, k, x, y FROM LAST QUERIES ORDER BY name"
    assert rows_of(asked(other, sql, past)) == [
        ("around_anna", "anna", None, anna["x"], anna["y"]), ("depot", None, None, 2.0, 2.0),
        ("near", None, 3, 6.0, 1.0),
    ]  # fmt: skip
    assert rows_of(asked(other, "SELECT name FROM LAST QUERIES INSIDE (5, 0, 7, 2)", past)) == [("near",)]


def test_an_archive_of_snapshots_is_not_asked_for_more(planner: Planner, tmp_path: Path) -> None:
    past = past_of(archived(planner, "cars", tmp_path, options=", detail = 'snapshots'"))
    for sql in ("SELECT id FROM cars AS OF 30", "SELECT id FROM cars BETWEEN 30 AND 32"):
        with pytest.raises(QueryError) as e:
            asked(planner, sql, past)
        assert e.value.code == "history.not_exact"


def test_a_named_archive_declares_its_stream(
    planner: Planner, past: ArchivePast, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = tmp_path / "past of cars"
    assert list(opened_for(Planner(), [folder])) == ["cars"]
    select = "SELECT id FROM cars AS OF 42 ORDER BY id DESC"
    command.app(["ask", select, "--archive", str(folder), "--format", "csv"], standalone_mode=False)
    assert capfdbinary.readouterr().out == b'"id"\n"carl"\n"anna"\n'
    with pytest.raises(SanderlingError) as e:
        opened_for(Planner(), [tmp_path])
    assert e.value.code == "history.none"
