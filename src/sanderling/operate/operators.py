"""Which operator works for which node of a tree."""

from __future__ import annotations

from sanderling.operate.changes import Changes
from sanderling.operate.operator import Operator
from sanderling.operate.sql.aggregate import Aggregate
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.distinct import Distinct
from sanderling.operate.sql.first import First
from sanderling.operate.sql.join import Join
from sanderling.operate.sql.select import Select
from sanderling.operate.sql.set_operation import SetOperation
from sanderling.operate.sql.signed import Signed
from sanderling.operate.sql.union import Union
from sanderling.operate.trigger.solve import Solve
from sanderling.plans import nodes
from sanderling.plans.nodes import Node
from sanderling.route.by_space import ALONE, Partition


def operator_of(
    node: Node, constants: Constants, partition: Partition = ALONE
) -> Operator[None, Changes, Signed] | None:
    """None for what comes from outside."""
    match node:
        case nodes.Branch() | nodes.TableRows():
            return None
        case nodes.Select():
            return Select(node, constants)
        case nodes.Aggregate():
            return Aggregate(node)
        case nodes.Distinct():
            return Distinct(node)
        case nodes.First():
            return First(node, constants)
        case nodes.Join():
            return Join(node, constants)
        case nodes.Union():
            return Union()
        case nodes.SetOperation():
            return SetOperation(node)
        case nodes.Solve():
            return Solve(node, constants, partition)
