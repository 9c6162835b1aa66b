"""Which operator works for which node of a tree."""

from __future__ import annotations

from sanderling.operate.sql.aggregate import Aggregate
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.distinct import Distinct
from sanderling.operate.sql.first import First
from sanderling.operate.sql.join import Join
from sanderling.operate.sql.select import Select
from sanderling.operate.sql.union import Union
from sanderling.operate.trigger.solve import Solve
from sanderling.plans import nodes as tree
from sanderling.plans.nodes import Node
from sanderling.route.by_space import ALONE, Partition


def operator_of(
    node: Node, constants: Constants, partition: Partition = ALONE
) -> Select | Join | Aggregate | Distinct | First | Union | Solve | None:
    """None for what comes from outside."""
    match node:
        case tree.Branch() | tree.TableRows():
            return None
        case tree.Select():
            return Select(node, constants)
        case tree.Aggregate():
            return Aggregate(node)
        case tree.Distinct():
            return Distinct(node)
        case tree.First():
            return First(node, constants)
        case tree.Join():
            return Join(node, constants)
        case tree.Union():
            return Union()
        case tree.Solve():
            return Solve(node, constants, partition)
