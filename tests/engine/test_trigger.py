"""A trigger in the engine: how many events it keeps, and that it holds no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.plan.explain import explain_query
from sanderling.plan.living import LivingPlan
from sanderling.plan.planner import Planner
from tests.engine.direct import DirectRun
from tests.engine.test_figures import WAYS, figures_of

STREAM = (
    "CREATE STREAM E (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, p STRING) KEY id TIME ts LOCATION (x, y);"
)
COLLISION = """
CREATE TRIGGER collision FOR E AS V1, E AS V2, E AS V3
WHEN V1.p = 'A' AND V2.p = 'B' AND V3.p = 'C'
 AND DISTANCE(V1, V2) < 1 AND V2.ts - V1.ts IN [0, 5]
 AND DISTANCE(V2, V3) < 1 AND V3.ts - V2.ts IN [1, 5]
"""
# Figure 2 of the paper; what is after the last closes its tick, and is no event of the trigger.
READINGS = """id,ts,x,y,p
a1,1,0,0,A
b1,2,5,5,B
b2,3,0.5,0,B
c1,3,0.5,0.5,C
c2,6,0.5,0.5,C
d1,7,0,0,D
"""


@WAYS
@pytest.mark.parametrize("how", ["", "WITH (expiry = 'loose')", "WITH (index = 'lists')"])
def test_a1_and_b2_are_kept_and_what_cannot_be_needed_is_not(
    tmp_path: Path, how: str, shards: int, slice_bytes: int, turns: bool
) -> None:
    path = tmp_path / "e.csv"
    path.write_text(READINGS)
    planner = Planner()
    planner.run_script(STREAM + COLLISION + how)
    run = DirectRun(planner.plan(), shards, slice_bytes, takes_turns=turns)
    run.feed_file("E", path)
    assert figures_of(run, "collision")["solve"] == ("5", "1", "2")


def test_the_expiry_of_each_variable_is_explained() -> None:
    planner = Planner()
    planner.run_script(STREAM + COLLISION)
    lines = [row[0] for row in explain_query(planner.plan(), "collision").rows]
    assert any(line.endswith("kept at most: V1 10 seconds, V2 5 seconds, V3 not at all") for line in lines)


def test_its_answer_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text(READINGS)
    living = LivingPlan()
    living.execute(STREAM + COLLISION)
    run = DirectRun(living.start().plan)
    run.feed_file("E", path)
    assert len(run.updates) == 1
    assert run.ask("collision") == []
