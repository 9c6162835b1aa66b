"""What operators are called where their rows are counted: for those who count, and for EXPLAIN ANALYZE.

of a stream      an operator that works for all queries of the stream together
of a template    its part for the queries of one shape, or what only they have
"""

from __future__ import annotations

from sanderling.figures.figures import OperatorId
from sanderling.plans.window import Window

# ----- of a stream


def readings(stream: str) -> OperatorId:
    return OperatorId(f"readings {stream}")


def inside_all(stream: str) -> OperatorId:
    return OperatorId(f"inside {stream}")


def nearest_all(stream: str) -> OperatorId:
    return OperatorId(f"knn {stream}")


def windows_all(stream: str) -> OperatorId:
    return OperatorId(f"windows {stream}")


def window(stream: str, of: Window) -> OperatorId:
    return OperatorId(f"window {stream} {of.name}")


def sightings_all(stream: str) -> OperatorId:
    return OperatorId(f"sightings {stream}")


def events(stream: str) -> OperatorId:
    """What all triggers of a stream look at."""
    return OperatorId(f"events {stream}")


def history(stream: str) -> OperatorId:
    """Which all windows of a stream hold together."""
    return OperatorId(f"history {stream}")


# ----- of a template


def inside(template: int) -> OperatorId:
    """INSIDE, the nearest or windows: whatever brings readings and its queries together."""
    return OperatorId(f"inside {template}")


def begun(template: int) -> OperatorId:
    """Objects that a pattern's runs began to wait for: how many, and how many of them were there already."""
    return OperatorId(f"begun {template}")


def where(template: int) -> OperatorId:
    return OperatorId(f"where {template}")


def select(template: int) -> OperatorId:
    return OperatorId(f"select {template}")


def merge(template: int) -> OperatorId:
    return OperatorId(f"merge {template}")


def node(template: int, number: int) -> OperatorId:
    """A node of its tree."""
    return OperatorId(f"tree {template} {number}")


def position(template: int, number: int, at: int) -> OperatorId:
    """A position of a pattern that is such a node: runs that came there, that reached it, that wait there."""
    return OperatorId(f"position {template} {number} {at}")


def ended(template: int, number: int, at: int) -> OperatorId:
    """Runs that ended at a position: broken in, timed out out."""
    return OperatorId(f"ended {template} {number} {at}")


# ----- of a template in a shard: whether WHERE or INSIDE comes first. These are only held, for each shard


def order(template: int) -> OperatorId:
    """1: there is a choice."""
    return OperatorId(f"order {template}")


def inside_first(template: int) -> OperatorId:
    """1: INSIDE was chosen."""
    return OperatorId(f"inside first {template}")


def by_reading(template: int) -> OperatorId:
    """What there would be to judge if WHERE came first."""
    return OperatorId(f"by reading {template}")


def by_pair(template: int) -> OperatorId:
    """What there would be to judge if INSIDE came first."""
    return OperatorId(f"by pair {template}")
