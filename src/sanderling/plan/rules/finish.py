"""What is computed of the rows of one scan, and nothing else, is computed by the shards."""

from __future__ import annotations

from dataclasses import replace

from sanderling.plan.expressions.written import renamed
from sanderling.plan.logical import Filter, Scan
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, is_by_place
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node
from sanderling.plans.plan import OutputColumn


def finish(root: Node) -> Node:
    found = None if isinstance(root, Scan) else _of_scan(root)
    if found is None:
        return root
    scan, columns = found
    return scan.showing([OutputColumn("", column) for column in columns])


def _of_scan(node: Node) -> tuple[Scan, list[Expression]] | None:
    """The scan, and a node's columns as what the scan shows; None: there is more between them."""
    match node:
        case Scan():
            return node, [replace(o.expression, words="") for o in node.outputs]
        case Filter():
            return None
        case nodes.Select(child, None, columns):
            below = _of_scan(child)
            found = [] if below is None else [_of(column, below[1]) for column in columns]
            written = [column for column in found if column is not None]
            return None if below is None or len(written) < len(columns) else (below[0], written)
        case _:
            return None


def _of(column: Expression, below: list[Expression]) -> Expression | None:
    """A column of what is below; None where one is computed of another that is computed."""
    under = {by_place(i): expression for i, expression in enumerate(below)}
    if column.is_plain and column.column in under:
        found = under[column.column]
        return replace(found, words=found.words or column.words)
    read = {name: under[name] for name in column.reads if is_by_place(name)}
    if not all(expression.is_plain for expression in read.values()):
        return None
    return renamed(column, {name: expression.column for name, expression in read.items()})
