"""A condition and what is computed of the rows that satisfy it are one step."""

from __future__ import annotations

from sanderling.plan.expressions.written import all_of
from sanderling.plan.logical import Filter, rebuilt
from sanderling.plans import nodes
from sanderling.plans.nodes import Node


def fold(root: Node) -> Node:
    return rebuilt(root, _folded)


def _folded(node: Node) -> Node:
    match node:
        case Filter():
            return node
        case nodes.Select(Filter(child=child, conditions=conditions), None, columns, names):
            return nodes.Select(child, all_of(conditions), columns, names)
        case _:
            return node
