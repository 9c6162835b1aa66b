"""Every rule of rules/ on the queries of its file: the tree it is given, and what it makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.plan.logical import Filter, Rule, Scan
from sanderling.plan.planner import Planner
from sanderling.plan.rules import RULES
from sanderling.plans import nodes
from sanderling.plans.nodes import Node, children_of

HERE = Path(__file__).parent / "rules"
DECLARED = """
CREATE STREAM cars (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, speed DOUBLE, kind STRING)
    KEY id TIME ts LOCATION (x, y);
CREATE STREAM people (id STRING, ts BIGINT, x DOUBLE, y DOUBLE, age INT) KEY id TIME ts LOCATION (x, y);
CREATE TABLE owners (plate STRING, owner STRING, since INT) KEY plate WITH (path = '{folder}/owners.csv');
"""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_what_a_rule_makes_of_a_query(rule: Rule, tmp_path: Path, accept: bool) -> None:
    (tmp_path / "owners.csv").write_text("plate,owner,since\na,anna,1\n")
    path, planner = HERE / f"{rule.__name__}.txt", Planner(rules=())
    planner.run_script(DECLARED.format(folder=tmp_path))
    said = []
    for number, story in enumerate(path.read_text().rstrip().split("\n\n")):
        asked = story.split("\nbefore\n")[0]
        sql = "\n".join(line for line in asked.splitlines() if not line.startswith("#"))
        kind, text = ("PATTERN", sql[8:]) if sql.startswith("PATTERN ") else ("QUERY", sql)
        planner.run_script(f"REGISTER {kind} q{number} AS {text}")
        query = planner.queries.get(f"q{number}")
        assert query is not None
        before = query.query.answer.node
        for earlier in RULES[: RULES.index(rule)]:
            before = earlier(before)
        said.append("\n".join([asked, "before", *outline(before), "after", *outline(rule(before))]))
    if accept:
        path.write_text("\n\n".join(said) + "\n")
    assert "\n\n".join(said) + "\n" == path.read_text()


def test_every_rule_has_its_queries() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {rule.__name__ for rule in RULES}


def outline(node: Node, depth: int = 0) -> list[str]:
    below = [line for child in children_of(node) for line in outline(child, depth + 1)]
    return ["  " * depth + words_of(node), *below]


def words_of(node: Node) -> str:
    match node:
        case Scan(where=where):
            of = "the nearest of " if node.is_nearest else "those waited for of " if node.is_waited else ""
            shown = ", ".join(columns_of(node)) or "nothing"
            when = f" {node.refresh.words}" if node.refresh else ""
            return f"scan {of}{node.stream.name}{when}: {shown}" + condition([c.words for c in where])
        case Filter(conditions=conditions):
            return f"filter {' AND '.join(c.words for c in conditions)}"
        case nodes.Select(where=where):
            return f"select {', '.join(columns_of(node)) or 'nothing'}" + condition(
                [where.words] if where else []
            )
        case nodes.TableRows(table, columns):
            return f"table {table}: {', '.join(columns)}"
        case nodes.Join(near=near):
            by = [words for words in (node.words, near.words if near else "") if words]
            return f"{'left join' if node.is_left else 'join'} {' AND '.join(by)}"
        case nodes.Exchange(is_keyed=is_keyed):
            return "exchange of rows that show their key" if is_keyed else "exchange"
        case nodes.Sample(refresh=refresh):
            return f"looked at {refresh.words}"
        case nodes.Aggregate():
            return f"aggregate {', '.join(columns_of(node))}"
        case _:
            return type(node).__name__.lower()


def condition(words: list[str]) -> str:
    return f" where {' AND '.join(words)}" if words else ""


def columns_of(node: Node) -> list[str]:
    """What people call its columns."""
    match node:
        case Scan(outputs=outputs):
            return [o.expression.words for o in outputs]
        case nodes.TableRows(columns=columns):
            return list(columns)
        case nodes.Select(child=child, columns=columns):
            below = columns_of(child)
            return [c.words or below[int(c.column[1:])] for c in columns]
        case nodes.Join(left, right):
            return columns_of(left) + columns_of(right)
        case nodes.Aggregate(child, groups, sums):
            below = columns_of(child)
            of = [below[s.column] if s.column is not None else "*" for s in sums]
            return [*(below[g] for g in groups), *(f"{s.kind}({c})" for s, c in zip(sums, of, strict=True))]
        case _:
            return columns_of(children_of(node)[0])
