"""EXPLAIN ANALYZE of a run: operators of all shards and merge partitions tell what they did."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.plan.explain.explain import explain_query
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan

SCRIPT = """
CREATE STREAM cars (id BIGINT, ts BIGINT, x DOUBLE, y DOUBLE, kind STRING) KEY id TIME ts LOCATION (x, y)
  WITH (path = '{path}');
REGISTER QUERY kinds AS SELECT kind, COUNT(*) AS n FROM cars INSIDE (0, 0, 10, 10) GROUP BY kind;
EXPLAIN ANALYZE kinds;
"""


def test_figures_come_from_all_shards(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        f"{car},{tick},{car % 20},0,{'bus' if car % 2 else 'car'}" for tick in (1, 2) for car in range(40)
    ]
    (tmp_path / "cars.csv").write_text("\n".join(["id,ts,x,y,kind", *rows]) + "\n")
    script, planner = SCRIPT.format(path=tmp_path / "cars.csv"), Planner()
    assert planner.run_script(script) == []
    assert planner.analyzed == ["kinds"]
    for name, settings in (("one.jsonl", Settings(is_counted=True)), ("two.jsonl", Settings())):
        options = RunOptions(Targets(tmp_path / name, False, None), "local[2]", 2, settings=settings)
        summary = run_plan(planner.plan(), script, options, spark)
        if settings.is_counted:
            listing = explain_query(planner.plan(), "kinds", summary.figures)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    found = {row[0].lstrip(" │├└─").split(" ")[0]: row[1:4] for row in listing.rows}
    assert found["last"] == ("80", "80", "40")
    # 22 cars, 0 to 10 and 20 to 30, whose kinds do not change; each of two shards puts equal rows together.
    assert found["rows"][:2] == ("4", "4")
    assert found["aggregate:"] == ("4", "2", "2")
