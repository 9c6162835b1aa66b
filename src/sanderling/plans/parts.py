"""What some need of a plan, and nothing else: shards no names, sources no queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sanderling.plans.plan import NO_NEAREST, NO_QUERIES, Plan, Regions, StreamPlan


def for_shards(plan: Plan) -> Plan:
    """What the shards need of a plan: not the names of queries and their text."""
    return replace(plan, queries=NO_QUERIES)


def for_source(plan: StreamPlan) -> StreamPlan:
    """What a source needs of a plan: which columns and focal objects, not the queries."""
    nothing = np.empty(0)
    ints, floats = nothing.astype(np.int64), nothing.astype(np.float64)
    small, kinds = ints.astype(np.int32), ints.astype(np.int8)
    none = Regions(
        small, small, ints, kinds, floats, floats, floats, floats, ints, ints, ints, ints, ints, small,
        small, (),
    )  # fmt: skip
    return replace(plan, templates=(), constants=(), regions=none, nearest=NO_NEAREST)
