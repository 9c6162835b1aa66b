"""What an object's key decides is finished in its shard: exchanges go up to where rows of two may meet."""

from __future__ import annotations

from sanderling.plan.logical import Scan, is_finished, nodes_of, shared_in, with_children
from sanderling.plans import nodes
from sanderling.plans.columns import is_by_place, of_reading, place_of
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node, children_of

# Places of columns that are plainly the object's key; None: its rows depend on those of other shards.
Keys = frozenset[int] | None
# What is not worth an exchange of its own: it remembers nothing.
PASSING = Scan | nodes.Select | nodes.Union


def place(root: Node) -> Node:
    """Streams that meet do so in merge partitions, where the clocks of all are known."""
    streams = {scan.stream.name for scan in nodes_of(root) if isinstance(scan, Scan)}
    return root if is_finished(root) or len(streams) > 1 else _Placing(root).whole(root)


class _Placing:
    """Of one tree; what stands in it twice is looked at once."""

    def __init__(self, root: Node) -> None:
        self._shared = shared_in(root)
        self._keys: dict[int, Keys] = {}
        self._placed: dict[int, Node] = {}

    def whole(self, root: Node) -> Node:
        """Nothing is left to be merged where the answer shows the key, nor of matches, which stay."""
        match = nodes.match_of(root)
        is_alone = self.keys(root) if match is None else self.keys(match) is not None
        return nodes.Exchange(root, is_keyed=True) if is_alone else self._look(root)

    def _look(self, node: Node) -> Node:
        if id(node) not in self._placed:
            is_below = self.keys(node) is not None and _remembers(node) and not self._is_of_several(node)
            above = node if is_below else with_children(node, [self._look(c) for c in children_of(node)])
            self._placed[id(node)] = nodes.Exchange(node) if is_below else above
        return self._placed[id(node)]

    def _is_of_several(self, node: Node) -> bool:
        """Whether it only looks at what others look at too: that is worked out once, and told as it is."""
        while isinstance(node, nodes.Select):
            node = node.child
            if id(node) in self._shared:
                return True
        return False

    def keys(self, node: Node) -> Keys:
        if id(node) not in self._keys:
            self._keys[id(node)] = self._of(node)
        return self._keys[id(node)]

    def _of(self, node: Node) -> Keys:
        match node:
            case Scan():
                return _shown(node)
            case nodes.Select(child, _, columns):
                below = self.keys(child)
                plain = {i: place_of(c.column) for i, c in enumerate(columns) if _is_of_row(c)}
                return None if below is None else frozenset(i for i, p in plain.items() if p in below)
            case nodes.Join():
                return self._joined(node)
            case nodes.Aggregate(child, groups):
                below = self.keys(child) or frozenset()
                return frozenset(i for i, g in enumerate(groups) if g in below) or None
            case nodes.Sample(child) | nodes.Ticking(child) | nodes.Recent(child) | nodes.Swept(child):
                return self.keys(child)
            case nodes.Distinct(child):
                return self.keys(child) or None
            case nodes.Persisting(child, keys):
                below = self.keys(child) or frozenset()
                return below if below.intersection(keys) else None
            case nodes.Union(children):
                known = [keys for keys in map(self.keys, children) if keys is not None]
                return frozenset.intersection(*known) if len(known) == len(children) else None
            case nodes.SetOperation(left=left, right=right):
                both = (self.keys(left) or frozenset()) & (self.keys(right) or frozenset())
                return self.keys(left) if both else None
            case nodes.Match():
                return self._matched(node)
            case _:
                return None

    def _matched(self, node: nodes.Match) -> Keys:
        """Where an object's key is in that of each step, and is what a step is waited for by.

        Who is ENTERING the first step was not there when the stream began, which no shard knows by itself.
        A program's own state sees all objects of a pattern.
        """
        if node.steps[0].is_entering or node.own:
            return None
        of = [(self.keys(one.child) or frozenset[int]()).intersection(one.keys) for one in node.presences]
        kept = [
            frozenset(i for i, c in enumerate(k) if c in own) for k, own in zip(node.kept, of, strict=True)
        ]
        for step in node.steps[1:]:
            by = zip(node.presences[step.presence].keys, step.of, strict=True)
            before = ((key, place in kept[node.steps[one].presence]) for key, (one, place) in by)
            if not any(is_key and key in of[step.presence] for key, is_key in before):
                return None
        shown = ((i, s, node.steps[s.step]) for i, s in enumerate(node.shown))
        is_shown = (i for i, s, step in shown if s.what == nodes.COLUMN and s.place in kept[step.presence])
        return frozenset(is_shown) if of[0] else None

    def _joined(self, node: nodes.Join) -> Keys:
        """With a table, whose rows every shard has, or by the key.

        What a LEFT JOIN did not find shows no key. A table on the left of one would be told by every shard.
        """
        left, width = self.keys(node.left), len(node.left.types)
        right = self.keys(node.right)
        if nodes.is_table(node.right):
            return left
        if nodes.is_table(node.left):
            return None if right is None or node.is_left else _behind(right, width)
        pairs = zip(node.left_keys, node.right_keys, strict=True)
        if left is None or right is None or not any(one in left and other in right for one, other in pairs):
            return None
        return left if node.is_left else left | _behind(right, width)


def _shown(scan: Scan) -> Keys:
    """The nearest, and the last n, are those of all shards."""
    if scan.is_nearest or scan.is_sighted or (scan.window is not None and scan.window.is_of_all):
        return None
    key = of_reading(scan.stream.key)
    return frozenset(
        i for i, o in enumerate(scan.outputs) if o.expression.is_plain and o.expression.column == key
    )


def _is_of_row(column: Expression) -> bool:
    return column.is_plain and is_by_place(column.column)


def _behind(keys: frozenset[int], width: int) -> frozenset[int]:
    return frozenset(key + width for key in keys)


def _remembers(node: Node) -> bool:
    return not all(isinstance(below, PASSING) for below in nodes_of(node))
