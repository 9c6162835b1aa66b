"""NN beside STAY_WITHIN: of those who stay near, the k whose greatest distance in the range is the least.

pairs with how far apart they are ─┬─► those that stay ───────────────────────────────┐
                                   └─► each distance, for as long as the range ─► MAX ─┴─► the first k of each
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sanderling.language.statements import PersistencyClause
from sanderling.plan.expressions.check import Constant
from sanderling.plan.expressions.neighbours import Ranking
from sanderling.plan.expressions.written import plain, selected
from sanderling.plan.names.sides import Derived, Side
from sanderling.plan.query.persistency import persisting
from sanderling.plans import nodes
from sanderling.plans.columns import constant_name
from sanderling.plans.expression import Expression
from sanderling.types import TYPES

if TYPE_CHECKING:
    from sanderling.plan.query.blocks import Block

KEYS = (0, 1)


def without_distance(pairs: Derived) -> Derived:
    """Keys alone."""
    columns = pairs.columns[: len(KEYS)]
    node = selected(pairs.node, None, plain(pairs.node.types)[: len(KEYS)], [c.name for c in columns])
    return replace(pairs, node=node, columns=columns)


def nearest(
    block: Block, pairs: Derived, ranking: Ranking, sides: tuple[Side, Side], stay: PersistencyClause,
    linger: PersistencyClause,
) -> Derived:  # fmt: skip
    """Pairs of keys; `linger` keeps each distance for as long as the range."""
    work, text = block.work, block.text
    stays = persisting(work, without_distance(pairs), stay, text)
    lately = persisting(work, pairs, linger, text)
    farthest = nodes.Aggregate(lately.node, KEYS, (nodes.Sum(nodes.MAX, 2, TYPES["DOUBLE"]),))
    both = nodes.Join(farthest, stays.node, KEYS, KEYS, words="pairs that stay")
    seeker = sides.index(ranking.seeker)
    constant = Constant(constant_name(len(work.constants)), TYPES["BIGINT"], ranking.k)
    work.constants.append(constant)
    orders = (nodes.Order(2, False, False), nodes.Order(1 - seeker, False, True))
    count = Expression.of_column(constant.name, constant.type, "?")
    names = [*(c.name for c in stays.columns), "farthest apart"]
    ranked = selected(both, None, plain(both.types)[: len(names)], names)
    first = nodes.First(ranked, orders, count, by=(seeker,))
    return without_distance(replace(pairs, node=first))
