"""Rows of a scan that are looked at now and then wait where rows wait anyway: nothing more is remembered."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from sanderling.plan.logical import Scan, rebuilt, shared_in, with_children
from sanderling.plans import nodes
from sanderling.plans.nodes import Node


def look(root: Node) -> Node:
    """What others read too is looked at by them at every tick."""
    shared = shared_in(root)
    return rebuilt(root, lambda node: _looked(node, shared) if isinstance(node, nodes.Sample) else node)


def _looked(sample: nodes.Sample, shared: Set[int]) -> Node:
    return _sunk(sample.child, sample, shared) or sample


def _sunk(node: Node, sample: nodes.Sample, shared: Set[int]) -> Node | None:
    """The same rows as at the last look, if all that is done with those of a scan is row by row."""
    if id(node) in shared:
        return None
    match node:
        case Scan(refresh=None, is_sighted=False):
            return replace(node, refresh=sample.refresh)
        case nodes.Select(child=child):
            below = _sunk(child, sample, shared)
            return None if below is None else with_children(node, [below])
        case _:
            return None
