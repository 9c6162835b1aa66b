"""Later steps of a pattern are looked at for those only that have passed the earlier ones.

That is where its runs are in the shard. What they did before does not count, so that nothing changes by it
(docs/decisions/0056).
"""

from __future__ import annotations

from dataclasses import replace

from sanderling.plan.logical import Scan, rebuilt, shared_in
from sanderling.plan.rules.finish import finish
from sanderling.plans import nodes
from sanderling.plans.nodes import Node


def feedback(root: Node) -> Node:
    """A scan, and nothing else, of each object's last reading, that nobody else reads."""
    match = nodes.match_of(root.child) if isinstance(root, nodes.Exchange) and root.is_keyed else None
    if match is None:
        return root
    shared = shared_in(root)
    may_wait = match.may_wait or (False,) * len(match.presences)
    presences = tuple(
        _waited(one, shared) if may else one for one, may in zip(match.presences, may_wait, strict=True)
    )
    return rebuilt(root, lambda node: replace(match, presences=presences) if node is match else node)


def _waited(presence: nodes.Persisting, shared: set[int]) -> nodes.Persisting:
    node, is_own = presence.child, id(presence.child) not in shared
    while isinstance(node, nodes.Select):
        node = node.child
        is_own &= id(node) not in shared
    scan = finish(presence.child)
    if not is_own or not isinstance(scan, Scan) or _is_of_more_than_now(scan):
        return presence
    return replace(presence, child=replace(scan, is_waited=True))


def _is_of_more_than_now(scan: Scan) -> bool:
    return scan.is_nearest or scan.table is not None or scan.window is not None or scan.refresh is not None
