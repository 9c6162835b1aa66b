"""Too much text on Spark: an error of ours with its code, and nothing of Spark's in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sanderling.deliver.targets import Targets
from sanderling.errors import QueryError
from sanderling.plan.planner import Planner
from sanderling.settings import Settings
from sanderling.spark.run import RunOptions, run_plan

SCRIPT = """
CREATE STREAM taxi (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y)
  WITH (path = '{path}');
REGISTER QUERY long AS SELECT id, repeat('x', 65536) AS t FROM taxi;
"""


def test_too_much_text_ends_a_run_with_a_code(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "taxi.csv"
    path.write_text("id,ts,x,y\n" + "".join(f"{n},1,0,0\n" for n in range(9000)))
    script = SCRIPT.format(path=path)
    planner = Planner()
    planner.run_script(script)
    options = RunOptions(
        Targets(tmp_path / "updates.jsonl", False, None), "local[2]", 1, tmp_path / "c", Settings()
    )
    with pytest.raises(QueryError) as caught:
        run_plan(planner.plan(), script, options, spark)
    assert caught.value.code == "query.too_large"
    assert "Traceback" not in str(caught.value) and not (tmp_path / "updates.jsonl").exists()
