"""Conditions go down to whoever can judge them first: a scan, or one side of a join."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from sanderling.plan.expressions.written import renamed
from sanderling.plan.logical import Filter, Scan, filtered, shared_in, with_children
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, is_by_place, place_of
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node, children_of


def push_down(root: Node) -> Node:
    """What others read too has to stay as it is, and the nearest are those among all."""
    shared, known = shared_in(root), dict[int, Node]()

    def look(node: Node) -> Node:
        if id(node) not in known:
            found = _without(node, shared) if isinstance(node, Filter) else node
            known[id(node)] = with_children(found, [look(child) for child in children_of(found)])
        return known[id(node)]

    return look(root)


def _without(node: Filter, shared: Set[int]) -> Node:
    """A filter without what went down."""
    child, left = node.child, list[Expression]()
    for condition in node.conditions:
        lower = _sunk(child, condition, shared)
        child = child if lower is None else lower
        left += [condition] if lower is None else []
    return filtered(child, left)


def _sunk(node: Node, condition: Expression, shared: Set[int]) -> Node | None:
    """A node that judges the condition somewhere below; None: it cannot."""
    if id(node) in shared:
        return None
    match node:
        case Scan(is_nearest=False):
            columns = {by_place(i): o.expression.column for i, o in enumerate(node.outputs)}
            return replace(node, where=(*node.where, renamed(condition, columns)))
        case Filter(child=child, conditions=conditions):
            lower = _sunk(child, condition, shared)
            return None if lower is None else filtered(lower, conditions)
        case nodes.Select(child=child, columns=columns):
            below = {by_place(i): c.column for i, c in enumerate(columns) if c.is_plain}
            if not _places(condition) <= below.keys():
                return None
            lower = _sunk(child, renamed(condition, below), shared)
            return None if lower is None else replace(node, child=lower)
        case nodes.Sample(child=child) | nodes.Ticking(child=child) | nodes.Recent(child=child):
            lower = _sunk(child, condition, shared)
            return None if lower is None else replace(node, child=lower)
        case nodes.Distinct(child):
            lower = _sunk(child, condition, shared)
            return None if lower is None else replace(node, child=lower)
        case nodes.Join():
            return _to_side(node, condition, shared)
        case nodes.Neighbours(left=left):
            return _to_seekers(node, condition, shared) if _is_of(left, condition) else None
        case _:
            return None


def _to_side(join: nodes.Join, condition: Expression, shared: Set[int]) -> Node | None:
    """Of rows of tables, which are for all queries, nothing of one may be asked."""
    width, places = len(join.left.types), sorted(map(place_of, _places(condition)))
    if not places or places[-1] < width:
        side, condition_there = join.left, condition
    elif places[0] >= width and not join.is_left:
        moved = {by_place(place): by_place(place - width) for place in places}
        side, condition_there = join.right, renamed(condition, moved)
    else:
        return None
    if nodes.is_table(side):
        return None
    lower = _sunk(side, condition_there, shared) or filtered(side, [condition_there])
    return replace(join, left=lower) if side is join.left else replace(join, right=lower)


def _is_of(left: Node, condition: Expression) -> bool:
    return all(place_of(place) < len(left.types) for place in _places(condition))


def _to_seekers(node: nodes.Neighbours, condition: Expression, shared: Set[int]) -> Node:
    """Whose neighbours are told may be chosen before; who they are is not to depend on it."""
    lower = _sunk(node.left, condition, shared) or filtered(node.left, [condition])
    return replace(node, left=lower)


def _places(condition: Expression) -> frozenset[str]:
    return frozenset(filter(is_by_place, condition.reads))
