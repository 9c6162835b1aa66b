"""Which operator works for which node of a tree."""

from __future__ import annotations

from sanderling.merge.aggregate import Aggregate
from sanderling.merge.constants import Constants
from sanderling.merge.distinct import Distinct
from sanderling.merge.first import First
from sanderling.merge.join import Join
from sanderling.merge.select import Select
from sanderling.merge.solve import Solve
from sanderling.merge.tracts import ALONE, Partition
from sanderling.merge.union import Union
from sanderling.plan import tree
from sanderling.plan.tree import Node


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
