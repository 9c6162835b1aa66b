"""Queries and patterns that go on as others, however readings are cut, placed and interrupted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given

from sanderling.errors import QueryError
from sanderling.plan.planner import Planner
from tests.properties.chance import Chance, made_of
from tests.properties.pattern_texts import pattern
from tests.properties.runs import fences
from tests.properties.test_sql import MANY, case, declarations, updates_of

__all__ = ["fences"]

# Of one shape, with a region and a constant of a condition; some are merged, some have windows and groups.
SHAPES = (
    "SELECT id, n FROM objects WHERE n > {n} INSIDE {place}",
    "SELECT id, speed FROM objects WHERE n > {n} INSIDE {place} WINDOW 3 SECONDS",
    "SELECT kind, COUNT(*) AS c, MAX(speed) AS m FROM objects WHERE n > {n} INSIDE {place} GROUP BY kind",
    "SELECT id, COUNT(*) AS c FROM objects WHERE n > {n} INSIDE {place} WINDOW 4 SECONDS GROUP BY id",
    "SELECT DISTINCT kind FROM objects WHERE n > {n} INSIDE {place}",
    "SELECT o.id, s.size FROM objects o JOIN sites s ON o.kind = s.kind WHERE o.n > {n} INSIDE {place}",
    "SELECT o.id, p.id AS other FROM objects o, others p WHERE o.kind = p.kind AND o.n > {n}",
    "SELECT id, n FROM objects WHERE n > {n} INSIDE {place} ORDER BY n, id LIMIT 2",
    "WITH a AS (SELECT id FROM objects WHERE n > {n} INSIDE {place}) "
    "SYNCHRONIZE a ON EVENT AS SELECT id FROM a EXCEPT SELECT id FROM a WHERE id IS NULL",
)
PLACES = ("(0, 0, 4, 4)", "(2, 2, 3)", "(-1, 1, 3, 6)", "ring_region", "(0, 0, 4, 4)")


def text(chance: Chance, shape: str) -> str:
    return shape.format(n=chance.choice([-1, 0, 1, 3]), place=chance.choice(PLACES))


def held(lines: list[dict[str, Any]], name: str, tick: str) -> Counter[str]:
    bag: Counter[str] = Counter()
    for line in lines:
        if line["query"] == name and line["tick"] <= tick:
            bag[json.dumps(line["row"])] += line["sign"]
    return bag


@MANY
@given(chance=made_of(lambda chance: chance))
def test_a_query_is_as_the_one_before_and_then_as_the_other(
    chance: Chance, fences: Path, tmp_path: Path
) -> None:
    """Of its answers; and what is told of them is their difference, so that nothing is told twice."""
    one = case(chance, has_changes=True)
    shape = chance.choice(SHAPES)
    old, new, last = (text(chance, shape) for _ in range(3))
    planner = Planner()
    planner.run_script(";\n".join(declarations(tmp_path, fences, one.scene)))
    planner.run_script(f"REGISTER QUERY a AS {old}; REGISTER QUERY b AS {new}; REGISTER QUERY c AS {last}")
    planner.run_script(
        f"REGISTER QUERY q AS {old}; AT 3 REPLACE QUERY q AS {new}; AT 6 REPLACE QUERY q AS {last}"
    )
    changes = [f"AT {change.at_s} {change.sql}" for change in one.scene.changes[1:]]
    planner.run_script(";\n".join(changes))
    tick_s = one.scene.tick_s
    turns = [f"1970-01-01T00:00:{-(-s // tick_s) * tick_s:02}Z" for s in (3, 6)]
    lines = [json.loads(line) for line in updates_of(one, planner.plan(), tmp_path)]
    for tick in sorted({line["tick"] for line in lines}):
        control = "a" if tick < turns[0] else "b" if tick < turns[1] else "c"
        now = held(lines, "q", tick)
        assert +now == +held(lines, control, tick) and min(now.values(), default=0) >= 0, (tick, old, new)
        told = Counter(json.dumps(u["row"]) for u in lines if u["query"] == "q" and u["tick"] == tick)
        signs = {(u["sign"], json.dumps(u["row"])) for u in lines if u["query"] == "q" and u["tick"] == tick}
        assert not [row for row in told if {(1, row), (-1, row)} <= signs]


@MANY
@given(chance=made_of(lambda chance: chance))
def test_the_same_text_changes_nothing(chance: Chance, fences: Path, tmp_path: Path) -> None:
    one = case(chance, has_changes=True)
    asked = pattern(chance, "1" if one.scene.is_integer_key else "'a'")
    planner = Planner()
    planner.run_script(";\n".join(declarations(tmp_path, fences, one.scene)))
    try:
        planner.run_script(f"REGISTER PATTERN p AS {asked}; REGISTER PATTERN q AS {asked}")
    except QueryError as e:
        assert e.code in ("query.bad_pattern", "query.pattern_unsatisfiable"), e
        return
    planner.run_script(f"AT 3 REPLACE PATTERN q AS {asked}; AT 7 REPLACE PATTERN q AS {asked}")
    changes = [f"AT {change.at_s} {change.sql}" for change in one.scene.changes[1:]]
    planner.run_script(";\n".join(changes))
    found: dict[str, list[Any]] = {"p": [], "q": []}
    for line in map(json.loads, updates_of(one, planner.plan(), tmp_path)):
        found[line["query"]].append((line["tick"], line["sign"], line["row"]))
    assert found["p"] == found["q"]
