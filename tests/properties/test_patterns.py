"""Patterns that an object's key decides, however readings are cut, placed and interrupted.

In shards as in merge partitions, where runs are held to the oracle (tests/operate/test_match.py); and with
feedback as without.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given

from sanderling.errors import QueryError
from sanderling.plan.logical import Rule
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plan.rules.feedback import feedback
from sanderling.plan.rules.place import place
from sanderling.plans import operator_ids
from sanderling.plans.plan import Plan
from tests.engine.direct import DirectRun
from tests.properties.chance import Chance, made_of
from tests.properties.pattern_texts import pattern
from tests.properties.runs import fences
from tests.properties.test_sql import MANY, Case, case, declarations, run_of

__all__ = ["fences"]


def planned(
    case: Case, asked: list[str], folder: Path, fences: Path, rules: Sequence[Rule] = RULES
) -> Plan | None:
    """The last is registered again later, and dropped meanwhile; None: the pattern is refused."""
    planner = Planner(rules=rules)
    planner.run_script(";\n".join(declarations(folder, fences, case.scene)))
    try:
        for i, text in enumerate(asked):
            planner.run_script(f"REGISTER PATTERN p{i} AS {text}")
    except QueryError as e:
        assert e.code in ("query.bad_pattern", "query.pattern_unsatisfiable"), e
        return None
    last = len(asked) - 1
    later = [f"AT 3 DROP PATTERN p{last}", f"AT 4 REGISTER PATTERN later AS {asked[last]}"]
    later += [f"AT {change.at_s} {change.sql}" for change in case.scene.changes[1:]]
    planner.run_script(";\n".join(later))
    return planner.plan()


def told_by_steps(run: DirectRun) -> int:
    """Rows, of pairs of a region and a move that met and satisfy its condition."""
    return sum(run.figures.of([operator_ids.select(t)]).rows_in for t in run.plan.templates())


def waited_for(run: DirectRun) -> int:
    """Objects that were there already when somebody began to wait for them."""
    return sum(run.figures.of([operator_ids.begun(t)]).rows_out for t in run.plan.templates())


@MANY
@given(chance=made_of(lambda chance: chance))
def test_where_a_pattern_runs_and_whom_it_looks_at_do_not_show(
    chance: Chance, fences: Path, tmp_path: Path
) -> None:
    one = case(chance, has_changes=True)
    focal = "1" if one.scene.is_integer_key else "'a'"
    asked = [pattern(chance, focal) for _ in range(chance.integer(1, 2))]
    without = [tuple(rule for rule in RULES if rule is not left) for left in (feedback, place)]
    plans = [planned(one, asked, tmp_path, fences, rules) for rules in (RULES, *without)]
    if None in plans:
        return
    assert [plan.is_merged for plan in plans if plan] == [False, False, True]
    placed, all_looked_at, gathered = (run_of(one, plan, tmp_path) for plan in plans if plan)
    assert placed.updates == gathered.updates, asked
    assert placed.updates == all_looked_at.updates, asked
    # Who was there already is told then; and goes and comes, if it has a new row at the tick it is asked at.
    assert told_by_steps(placed) <= told_by_steps(all_looked_at) + 2 * waited_for(placed)
    assert all(json.loads(line)["sign"] == 1 for line in placed.updates)
