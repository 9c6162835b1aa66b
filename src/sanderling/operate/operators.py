"""Which operators work for a stream in a shard, and which for a node of a tree."""

from __future__ import annotations

from collections.abc import Sequence

from sanderling.batches import Batch
from sanderling.figures.figures import Figures
from sanderling.operate.inside.inside import Inside
from sanderling.operate.inside.swept import Swept
from sanderling.operate.nearby.focal_points import FocalPoints
from sanderling.operate.nearest.nearest import Nearest
from sanderling.operate.operator import Operator
from sanderling.operate.pattern.match import Match
from sanderling.operate.pattern.matching import Matching
from sanderling.operate.pattern.own_state import States
from sanderling.operate.pattern.recent import Recent
from sanderling.operate.persistency.persisting import Persisting
from sanderling.operate.shard.now import Moved, Now
from sanderling.operate.sql.aggregate.aggregate import Aggregate
from sanderling.operate.sql.constants import Constants
from sanderling.operate.sql.distinct import Distinct
from sanderling.operate.sql.first import First
from sanderling.operate.sql.growing import GrowingAggregate, GrowingDistinct, GrowingFirst
from sanderling.operate.sql.join.join import Join
from sanderling.operate.sql.neighbours import Neighbours
from sanderling.operate.sql.select import Select
from sanderling.operate.sql.set_operation import SetOperation
from sanderling.operate.sql.signed import Signed
from sanderling.operate.sql.union import Union
from sanderling.operate.synchronize.sample import Sample
from sanderling.operate.tessellate.latest import Latest
from sanderling.operate.tick.ticking import Ticking
from sanderling.operate.trajectory.company import Company
from sanderling.operate.trajectory.passing import Passing
from sanderling.operate.trajectory.swelling import Swelling
from sanderling.operate.tree.changes import Changes
from sanderling.operate.trigger.once import Once
from sanderling.operate.trigger.sighted import Sighted
from sanderling.operate.trigger.solve import Solve
from sanderling.operate.where.asks import Asks
from sanderling.operate.where.orders import Orders
from sanderling.operate.window.window import Windowed
from sanderling.plans import nodes
from sanderling.plans.nodes import Node
from sanderling.plans.plan import Over, StreamPlan
from sanderling.route.by_space import ALONE, Partition
from sanderling.space.outlines.polygons import Polygons

OfStream = Operator[Now, Moved, Sequence[Batch]]


def operator_of(
    node: Node, constants: Constants, partition: Partition = ALONE, states: States | None = None
) -> Operator[None, Changes, Signed] | None:
    """None for what comes from outside, and for rows that are as they come."""
    match node:
        case nodes.Branch() | nodes.TableRows() | nodes.Exchange():
            return None
        case nodes.Select():
            return Select(node, constants)
        case nodes.Aggregate():
            return GrowingAggregate(node) if node.is_growing else Aggregate(node)
        case nodes.Distinct():
            return GrowingDistinct(node) if node.is_growing else Distinct(node)
        case nodes.First():
            return GrowingFirst(node, constants) if node.is_growing else First(node, constants)
        case nodes.Join():
            return Join(node, constants)
        case nodes.Neighbours():
            return Neighbours(node)
        case nodes.FocalPoints():
            return FocalPoints(node)
        case nodes.Company():
            return Company(node, constants)
        case nodes.Passing():
            return Passing(node, constants)
        case nodes.Swelling():
            return Swelling(node)
        case nodes.Swept():
            return Swept(node)
        case nodes.Latest():
            return Latest(node)
        case nodes.Union():
            return Union()
        case nodes.SetOperation():
            return SetOperation(node)
        case nodes.Persisting():
            return Persisting(node, constants)
        case nodes.Once():
            return Once(node, constants)
        case nodes.Ticking():
            return Ticking(node, constants)
        case nodes.Recent():
            return Recent(node)
        case nodes.Sample():
            return Sample(node)
        case nodes.Match():
            # What a program's own states decide is worked out run by run.
            return Match(node, constants, states) if node.own else Matching(node, constants)
        case nodes.Solve():
            return Solve(node, constants, partition)


def operators_over(
    plan: StreamPlan, polygons: Polygons, asks: Asks, figures: Figures, orders: Orders
) -> list[OfStream]:
    """In the order in which they tell; none that nobody asks for."""
    is_range = plan.is_over(Over.NOW) & ~plan.is_waited
    is_range[plan.nearest.region] = False
    return [
        *([Inside(plan, asks, polygons)] if is_range.any() else []),
        *([Nearest(plan, asks, polygons)] if len(plan.nearest) else []),
        *([Windowed(plan, polygons, figures, orders)] if plan.windows else []),
        *([Sighted(plan, polygons, figures, orders)] if plan.is_over(Over.EVENTS).any() else []),
    ]
