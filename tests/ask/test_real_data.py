"""Real readings, in order and out of order: as of a time an archive, files and updates say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.ask.replay import Replay, Times
from sanderling.clock import tick_end
from sanderling.ingest.files import find_files, unpack
from sanderling.plan.grow.living import LivingPlan
from sanderling.plan.planner import Planner
from tests.ask.archived import archived, past_of
from tests.ask.asking import asked, of_files, rows_of
from tests.engine.direct import DirectRun
from tests.ingest.streams import real
from tests.long import so_many
from tests.properties.test_backfill import Kept
from tests.properties.test_once import counted, told_up_to

MINUTE = 60_000_000
STREAMS = {
    "cabs": (
        "sf-cabs", "cabs_2h.csv.gz",
        "cab_id STRING, unix_time BIGINT, lon DOUBLE, lat DOUBLE) KEY cab_id TIME unix_time "
        "LOCATION (lon, lat",
        "tick = 60", "cab_id", "(-122.42, 37.77, 0.02)",
    ),
    "buses": (
        "riga", "vehicle_positions.csv.gz",
        "id STRING, timestamp BIGINT, longitude DOUBLE, latitude DOUBLE) KEY id TIME timestamp "
        "LOCATION (longitude, latitude", "tick = 60, lateness = 300, stale_after = 900", "id",
        "(24.11, 56.95, 0.02)",
    ),
    "flights": (
        "flights", "switzerland.csv.gz",
        "timestamp TIMESTAMP, icao24 STRING, longitude DOUBLE, latitude DOUBLE) KEY icao24 TIME timestamp "
        "LOCATION (longitude, latitude", "tick = 60, stale_after = 600", "icao24", "(8.55, 47.45, 0.4)",
    ),
}  # fmt: skip
QUERIES = (
    "SELECT {key} AS who FROM v INSIDE {place}",
    "SELECT COUNT(*) AS n, COUNT(DISTINCT {key}) AS who FROM v [RANGE 10 MINUTES] INSIDE {place}",
    "SELECT {key} AS who FROM v WINDOW 50 ROWS",
)


@pytest.mark.parametrize("name", so_many(["flights", "buses"], [*STREAMS]))
def test_queries_that_come_in_the_middle_are_as_from_the_start(name: str, tmp_path: Path) -> None:
    """One of them told since an hour before, or what there is of it."""
    folder, file, columns, options, key, place = STREAMS[name]
    (found,) = unpack(find_files(str(real(folder, file))), tmp_path)
    header, *lines = Path(found.path).read_text().splitlines(keepends=True)
    pieces = [tmp_path / f"{n}.csv" for n in range(2)]
    for piece, some in zip(pieces, (lines[: len(lines) // 2], lines[len(lines) // 2 :]), strict=True):
        piece.write_text(header + "".join(some))
    stream = f"CREATE STREAM v ({columns}) WITH ({options}); CREATE ARCHIVE past OF v WITH (path = '{{}}')"
    asked_for = [query.format(key=key, place=place) for query in QUERIES]
    living = LivingPlan()
    living.execute(stream.format(tmp_path / "past"))
    run = Kept(living.start().plan, 2, living=living).begin(tmp_path / "past")
    run.feed_file("v", pieces[0])
    began, last = run.closed_to + MINUTE, run.closed_to - 60 * MINUTE
    comes = ";".join(f"REGISTER QUERY q{n} AS {select}" for n, select in enumerate(asked_for))
    early = f"AT {last // 1_000_000} REGISTER QUERY early AS {asked_for[0]}"
    run.execute(f"{comes};{early}")
    run.feed_file("v", pieces[1], is_last=True)
    planner = Planner()
    planner.run_script(f"{stream.format(tmp_path / 'other')};{comes};{early}")
    whole = DirectRun(planner.plan(), 2)
    for piece in pieces:
        whole.feed_file("v", piece, is_last=piece == pieces[1])
    for query in ("q0", "q1", "q2", "early"):
        for tick in (began, began + 30 * MINUTE, None):
            wanted = told_up_to(whole.updates, query, tick)
            assert told_up_to(run.updates, query, tick) == wanted, (query, tick)
    mine, theirs = ([u for u in one.updates if '"early"' in u] for one in (run, whole))
    assert mine == theirs


@pytest.mark.parametrize("name", STREAMS)
def test_as_of_any_time_all_say_the_same(name: str, tmp_path: Path) -> None:
    folder, file, columns, options, key, place = STREAMS[name]
    (found,) = unpack(find_files(str(real(folder, file))), tmp_path)
    selects = [query.format(key=key, place=place) for query in QUERIES]
    planner = Planner()
    planner.run_script(
        f"CREATE STREAM v ({columns}) WITH (path = '{found.path}', format = 'csv', {options});"
        + ";".join(f"REGISTER QUERY q{n} AS {select}" for n, select in enumerate(selects))
    )
    run = DirectRun(planner.plan(), 2)
    run.feed_file("v", Path(found.path), is_last=True)
    archive = archived(planner, "v", tmp_path)
    assert archive is not None and archive.kept_from is not None and archive.archived_to is not None
    length, shares = archive.archived_to - archive.kept_from, so_many((0.7,), (0.1, 0.3, 0.5, 0.7, 0.9))
    for time in (archive.kept_from + int(length * share) for share in shares):
        for number, select in enumerate(selects):
            wanted = told_up_to(run.updates, f"q{number}", tick_end(time, MINUTE))
            sql = f"AT {time // 1_000_000} {select}"
            assert wanted and counted(rows_of(asked(planner, sql, past_of(archive)))) == wanted, sql
    assert counted(of_files(planner, sql, tmp_path)) == wanted
    again = DirectRun(run.plan)
    for _, batches in Replay.of(planner, {"v": archive}, Times()).told():
        again._collect(batches)
    assert again.updates == run.updates
