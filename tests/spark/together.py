"""Many plans in one run: starting a streaming query costs more than most that a test has to tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from sanderling.plan.logical import rebuilt
from sanderling.plans.nodes import Node, TableRows
from sanderling.plans.plan import Plan, PlannedQueries, PlannedQuery, PlannedTree


def named_apart(plans: Sequence[Plan], letter: str) -> list[Plan]:
    """Each under names that begin with a prefix of its own, s0/, s1/, …, and with numbers of its own."""
    found: list[Plan] = []
    queries = templates = 0
    for number, plan in enumerate(plans):
        found.append(apart(plan, f"{letter}{number}", queries, templates))
        queries += len(plan.queries)
        templates = max([templates, *(t + 1 for t in found[-1].templates())])
    return found


def together(plans: Sequence[Plan]) -> Plan:
    """One plan of those that were named apart."""
    return Plan(
        tuple(s for p in plans for s in p.streams), in_columns([q for p in plans for q in p.queries]), 0,
        tuple(t for p in plans for t in p.tables), tuple(t for p in plans for t in p.trees),
    )  # fmt: skip


def read_from(plan: Plan, folder: Path) -> Plan:
    """The same over what is in this folder, each stream under its own name."""
    streams = [replace(s, stream=replace(s.stream, path=str(folder / s.stream.name))) for s in plan.streams]
    return replace(plan, streams=tuple(streams))


def apart(plan: Plan, prefix: str, queries: int, templates: int) -> Plan:
    """The same plan under other names and numbers, so that many fit into one."""
    streams = []
    for s in plan.streams:
        name = f"{prefix}/{s.stream.name}"
        own = tuple(replace(t, id=t.id + templates, stream=name) for t in s.templates)
        regions = replace(
            s.regions,
            query=(s.regions.query + queries).astype(np.int32),
            template=(s.regions.template + templates).astype(np.int32),
        )
        streams.append(
            replace(s, stream=replace(s.stream, name=name, format="csv"), templates=own, regions=regions)
        )
    renamed = [
        replace(
            q,
            id=q.id + queries,
            name=f"{prefix}/{q.name}",
            stream=f"{prefix}/{q.stream}",
            template=q.template + templates,
        )
        for q in plan.queries
    ]
    trees = [tree_apart(t, prefix, queries, templates) for t in plan.trees]
    tables = [replace(t, name=f"{prefix}/{t.name}") for t in plan.tables]
    return Plan(tuple(streams), in_columns(renamed), 0, tuple(tables), tuple(trees))


def tree_apart(tree: PlannedTree, prefix: str, queries: int, templates: int) -> PlannedTree:
    template = replace(
        tree.template, id=tree.template.id + templates, stream=f"{prefix}/{tree.template.stream}"
    )
    return replace(
        tree, template=template, root=renamed_tables(tree.root, prefix), queries=tree.queries + queries,
        branches=tuple(b + templates for b in tree.branches),
        streams=tuple(f"{prefix}/{s}" for s in tree.streams),
        tables=tuple(f"{prefix}/{n}" for n in tree.tables),
        replaced=tuple(replace(r, query=r.query + queries) for r in tree.replaced),
    )  # fmt: skip


def renamed_tables(root: Node, prefix: str) -> Node:
    """The same tree over tables of other names."""

    def rename(node: Node) -> Node:
        return replace(node, table=f"{prefix}/{node.table}") if isinstance(node, TableRows) else node

    return rebuilt(root, rename)


def in_columns(queries: list[PlannedQuery]) -> PlannedQueries:
    streams = tuple(dict.fromkeys(q.stream for q in queries))
    return PlannedQueries(
        pa.array([q.name for q in queries], pa.string()), streams,
        np.array([streams.index(q.stream) for q in queries], np.int32),
        np.array([q.template for q in queries], np.int32), np.array([q.begin for q in queries], np.int64),
        np.array([q.end for q in queries], np.int64), pa.array([q.sql for q in queries], pa.string()),
    )  # fmt: skip
