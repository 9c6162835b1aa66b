"""How far back an answer depends on readings, beside each object's last one before.

NOW, UNTIL NEXT: not at all     RANGE t: so far     all else, such as n ROWS and PERSISTENCY: nobody knows
"""

from __future__ import annotations

from sanderling.plans import nodes
from sanderling.plans.nodes import Node, children_of
from sanderling.plans.plan import Plan
from sanderling.plans.window import Lasting, UntilNext, Window

# What they tell follows from the rows below them at that tick, and from nothing before.
OF_THE_TICK = (
    nodes.Branch, nodes.TableRows, nodes.Exchange, nodes.Select, nodes.Join, nodes.Neighbours,
    nodes.FocalPoints, nodes.Aggregate, nodes.Distinct, nodes.First, nodes.Union, nodes.SetOperation,
)  # fmt: skip


def reach_of(plan: Plan) -> int | None:
    """In microseconds; None: it may depend on all of them.

    Promise (tests/properties/test_once.py): no answer changes if what came before is left out.
    """
    if any(part.previous for part in plan.streams) or not all(_is_of_the_tick(t.root) for t in plan.trees):
        return None
    sizes = [_size(window) for part in plan.streams for window in part.windows]
    found = [size for size in sizes if size is not None]
    return max(found, default=0) if len(found) == len(sizes) else None


def _is_of_the_tick(node: Node) -> bool:
    return isinstance(node, OF_THE_TICK) and all(map(_is_of_the_tick, children_of(node)))


def _size(window: Window) -> int | None:
    if isinstance(window, Lasting):
        return window.size_us
    return 0 if isinstance(window, UntilNext) else None
