"""A pattern whose steps have names: where it ends in a script, and that it is what WITH would be."""

from __future__ import annotations

import pytest

from sanderling.errors import QueryError
from sanderling.language import parse_script, read_script
from sanderling.plan.planner import Planner

STREAM = "CREATE STREAM p (id STRING, ts BIGINT, x DOUBLE, y DOUBLE) KEY id TIME ts LOCATION (x, y);\n"
A, B = "SELECT id, x FROM p INSIDE (0, 0, 1, 1) PERSISTENCY 5 SECONDS", "SELECT id FROM p INSIDE (5, 0, 6, 1)"
LINKS = "c = SELECT id FROM a WHERE id NOT IN b; SELECT id FROM c WHERE id IN ENTERING a AS d WITHIN 1 HOUR"
NAMED = f"a = {A}; b = {B}; {LINKS} END"
GIVEN = f"WITH a AS ({A}), b AS ({B}) SELECT id FROM a THEN NOT b THEN ENTERING a AS d WITHIN 1 HOUR"


def test_both_forms_are_one_pattern() -> None:
    planner = Planner()
    planner.run_script(f"{STREAM} REGISTER PATTERN one AS {NAMED}; REGISTER PATTERN other AS {GIVEN};")
    one, other = (planner.queries.get(name) for name in ("one", "other"))
    assert one is not None and other is not None
    assert one.query.template_key == other.query.template_key
    assert [c.value for c in one.own.constants] == [c.value for c in other.own.constants]
    assert len(planner.plan().trees) == 1
    assert one.sql == NAMED


ODD = [
    "a = SELECT CASE WHEN x > 1 THEN 'a; END;' ELSE id END AS id FROM p; SELECT id FROM a END",
    "a = SELECT id FROM p WHERE x > CASE WHEN y > 1 THEN 1 ELSE 2 END; SELECT id FROM a END",
    "a = SELECT id FROM p -- END;\n; /* ; END; */ SELECT id FROM a\nEND",
    "`end` = SELECT id FROM p; SELECT `end`.id FROM `end` END",
]


@pytest.mark.parametrize("named", [NAMED, *ODD])
@pytest.mark.parametrize(
    "before",
    ["REGISTER PATTERN q AS ", "AT '2024-01-01' REGISTER PATTERN `my q` AS ", "register pattern q as "],
)
def test_a_script_goes_on_behind_its_end(named: str, before: str) -> None:
    text = f"{STREAM} {before}{named}; SHOW QUERIES;; {before.replace('q', 'r')}{named}"
    kinds = [type(statement).__name__ for statement in parse_script(text)]
    assert kinds == [type(statement).__name__ for statement in read_script(text)]
    assert len(kinds) == 4 and kinds[2] == "Show"
    Planner().run_script(text)


@pytest.mark.parametrize(
    "behind", ["", ";", "; SHOW QUERIES", "; REGISTER QUERY q AS SELECT id FROM p", " END q; END;"]
)
def test_one_that_does_not_end_is_told_at_itself(behind: str) -> None:
    text = f"{STREAM}REGISTER PATTERN q AS a = {A}; SELECT id FROM a{behind}"
    said = []
    for read in (parse_script, read_script):
        with pytest.raises(QueryError) as caught:
            list(read(text))
        said.append(str(caught.value))
    assert said[0] == said[1] and caught.value.code == "query.syntax"
    assert caught.value.place is not None and caught.value.place.line == 2
