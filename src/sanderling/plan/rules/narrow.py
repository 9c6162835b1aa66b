"""Columns that nobody reads are left out, down to the scans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sanderling.plan.expressions.written import all_of, plain, renamed, selected
from sanderling.plan.logical import Filter, Scan, shared_in, with_children
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, is_by_place, place_of
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Near, Node, children_of

# Which columns a node has that had all of them: by their places then, in order.
Kept = list[int]


def narrow(root: Node) -> Node:
    return _Narrowing(root).whole(root)


class _Narrowing:
    """Of one tree; what stands in it twice stays as wide as it is."""

    def __init__(self, root: Node):
        self._shared = shared_in(root)
        self._known: dict[int, Node] = {}

    def whole(self, node: Node) -> Node:
        """With all of its own columns."""
        if id(node) not in self._known:
            self._known[id(node)] = self._with(node, range(len(node.types)))[0]
        return self._known[id(node)]

    def _to(self, node: Node, needed: Iterable[int]) -> tuple[Node, Kept]:
        """With these columns, and others only where they cannot be left out."""
        if id(node) in self._shared:
            return self.whole(node), list(range(len(node.types)))
        return self._with(node, needed)

    def _with(self, node: Node, needed: Iterable[int]) -> tuple[Node, Kept]:
        kept = sorted(set(needed))
        match node:
            case Scan():
                return node.showing([node.outputs[i] for i in kept]), kept
            case Filter(conditions=conditions):
                return self._select(node, all_of(conditions), kept), kept
            case nodes.Select(where=where):
                return self._select(node, where, kept), kept
            case nodes.Sample(child=child):
                below, kept = self._to(child, kept)
                return replace(node, child=below), kept
            case nodes.Join():
                return self._join(node, kept)
        children = [self.whole(child) for child in children_of(node)]
        return with_children(node, children), list(range(len(node.types)))

    def _select(self, node: nodes.Select, where: Expression | None, kept: Kept) -> Node:
        columns = [node.columns[i] for i in kept]
        asked = [*columns, *([where] if where else [])]
        child, there = self._to(node.child, (place for e in asked for place in _places(e)))
        new = {by_place(old): by_place(place) for place, old in enumerate(there)}
        names = [node.names[i] for i in kept if i < len(node.names)]
        return selected(child, where and renamed(where, new), [renamed(c, new) for c in columns], names)

    def _join(self, node: nodes.Join, kept: Kept) -> tuple[Node, Kept]:
        """Keys and places stay, though nobody above may read them."""
        width, near = len(node.left.types), node.near
        left = {*node.left_keys, *(near.left if near else ()), *(i for i in kept if i < width)}
        right = {*node.right_keys, *(near.right if near else ()), *(i - width for i in kept if i >= width)}
        (one, mine), (other, its) = self._side(node.left, left), self._side(node.right, right)
        found = replace(
            node, left=one, right=other, left_keys=tuple(map(mine.index, node.left_keys)),
            right_keys=tuple(map(its.index, node.right_keys)), near=near and _near(near, mine, its),
        )  # fmt: skip
        return found, [*mine, *(i + width for i in its)]

    def _side(self, node: Node, needed: set[int]) -> tuple[Node, Kept]:
        """A join holds what it is given: what cannot be left out below is left out here."""
        found, kept = self._to(node, needed)
        if isinstance(found, nodes.Join) or len(kept) == len(needed):
            return found, kept
        columns = plain(found.types)
        return selected(found, None, [columns[kept.index(i)] for i in sorted(needed)]), sorted(needed)


def _near(near: Near, left: Kept, right: Kept) -> Near:
    (x, y), (u, v) = near.left, near.right
    return replace(near, left=(left.index(x), left.index(y)), right=(right.index(u), right.index(v)))


def _places(expression: Expression) -> set[int]:
    return {place_of(column) for column in expression.reads if is_by_place(column)}
