"""Real readings, in order and out of order: as of a time an archive, files and updates say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.ask.replay import Replay, Times
from sanderling.clock import tick_end
from sanderling.ingest.files import find_files, unpack
from sanderling.plan.planner import Planner
from tests.ask.archived import archived, past_of
from tests.ask.asking import asked, of_files, rows_of
from tests.engine.direct import DirectRun
from tests.ingest.streams import real
from tests.long import so_many
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
}  # fmt: skip
QUERIES = (
    "SELECT {key} AS who FROM v INSIDE {place}",
    "SELECT COUNT(*) AS n, COUNT(DISTINCT {key}) AS who FROM v [RANGE 10 MINUTES] INSIDE {place}",
    "SELECT {key} AS who FROM v WINDOW 50 ROWS",
)


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
