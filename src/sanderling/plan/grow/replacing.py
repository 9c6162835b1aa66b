"""REPLACE: a query of a plan goes on as another of its shape, from a tick on.

what its scans ask    the regions of before are gone at that tick, and others come: the difference is told
how long it waits     the constants of its tree are others: what it remembers is kept
anything else         another shape, which would have to begin anew
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sanderling.clock import ALWAYS, NEVER
from sanderling.plan.build.asked import Asked
from sanderling.plan.logical import Query, Scan, with_expressions
from sanderling.plan.many.cohorts import Cohort, Former, Later, Member, Part, TableRows
from sanderling.plans import nodes
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Node

# Says why something cannot be replaced.
Refuse = Callable[[str], Exception]


def replacing(member: Member, query: Query, sql: str, tick: int, refuse: Refuse) -> Cohort:
    """The query from a tick on; of one that is in no plan yet, with what it is before."""
    if query.template_key != member.query.template_key:
        raise refuse(
            "it is of another shape: only regions, constants of conditions and durations may be others"
        )
    before = _by_itself(member)
    tick = max(tick, before.since)
    found = Cohort.of_one(member.name, query, sql, member.begin)
    parts, former = [], list(before.former)
    for place, (old, new) in enumerate(zip(before.parts, found.parts, strict=True)):
        if _is_same(old, new):
            parts.append(replace(old, is_anew=False))
            continue
        _refuse_scan(old, new, refuse)
        former.append(Former(place, _until(old, tick)))
        parts.append(replace(new, rows=_rows(tick, NEVER), is_anew=True))
    _refuse_others(before, found, refuse)
    first, later = before.of_tree_at_first(), before.later
    if not before.of_tree().equals(found.of_tree()):
        later = (*later, Later(tick, found.of_tree()))
    is_planned = member.number is not None
    return replace(
        found, parts=tuple(parts), end=member.cohort.end[member.row : member.row + 1].copy(), since=tick,
        former=() if is_planned else tuple(former), first=first, later=later,
    )  # fmt: skip


def _by_itself(member: Member) -> Cohort:
    """What is a cohort of one already knows what it was before."""
    cohort, row = member.cohort, member.row
    if len(cohort) == 1:
        return cohort
    parts = tuple(
        replace(part, asked=part.asked.of(row), constants=part.constants.slice(row, 1))
        for part in cohort.parts
    )
    return replace(
        cohort, query=member.own, names=cohort.names.slice(row, 1), sql=cohort.sql.slice(row, 1),
        begin=cohort.begin[row : row + 1], end=cohort.end[row : row + 1],
        is_there=cohort.is_there[row : row + 1], constants=cohort.constants.slice(row, 1), parts=parts,
    )  # fmt: skip


def _is_same(old: Part, new: Part) -> bool:
    return old.constants.equals(new.constants) and _asks_same(old.asked, new.asked)


def _asks_same(one: Asked, other: Asked) -> bool:
    areas = zip(one.areas.numbers, other.areas.numbers, strict=True)
    is_there = one.areas.kind == other.areas.kind and one.areas.wkb == other.areas.wkb
    is_near = one.nearest is None or other.nearest is None or _near(one) == _near(other)
    is_following = (None if one.focals is None else one.focals.to_pylist()) == (
        None if other.focals is None else other.focals.to_pylist()
    )
    return is_there and is_near and is_following and all(np.array_equal(a, b) for a, b in areas)


def _near(asked: Asked) -> list[object]:
    near = asked.nearest
    assert near is not None
    keys = None if near.focals is None else near.focals.to_pylist()
    return [near.k.tolist(), near.x.tolist(), near.y.tolist(), keys]


def _refuse_scan(old: Part, new: Part, refuse: Refuse) -> None:
    if old.scan.is_nearest:
        raise refuse("whom it looks for with kNN would be others")
    if old.scan.table is not None:
        raise refuse("what it asks of a table's regions would be something else")
    if old.asked.focals is not None or new.asked.focals is not None:
        raise refuse("a region that follows an object would be another")


def _until(part: Part, tick: int) -> Part:
    came = int(part.rows.came_us[0]) if len(part.rows.number) else ALWAYS
    return replace(part, rows=_rows(came, tick))


def _rows(came: int, gone: int) -> TableRows:
    return TableRows(*(np.array([value], np.int64) for value in (-1, came, gone)))


def _refuse_others(before: Cohort, found: Cohort, refuse: Refuse) -> None:
    """Of a tree only durations may be others: what remembers nothing cannot be asked again."""
    old, new = before.of_tree(), found.of_tree()
    judged = {name for tree in found.query.trees for name in _judged(tree.root)}
    for name in new.column_names:
        if name in judged and not old.column(name).equals(new.column(name)):
            raise refuse("a constant that is not of one stream's condition would be another")


def _judged(root: Node) -> Iterator[str]:
    """What a tree reads besides durations."""
    for node in nodes.numbered(root):
        durations = [id(duration) for duration in _durations(node)]
        read: list[Expression] = []

        def look(expression: Expression, read: list[Expression] = read) -> Expression:
            read.append(expression)
            return expression

        with_expressions(node, look)
        yield from (name for e in read if id(e) not in durations for name in e.reads)


def _durations(node: Node) -> Iterator[Expression]:
    if isinstance(node, nodes.Persisting):
        yield from (node.stay, node.grace)
    if isinstance(node, nodes.Match):
        yield from (step.stay for step in node.steps)
        yield from (duration for presence in node.presences for duration in _durations(presence))
        yield from (bound.within for position in node.positions for bound in position.bounds)


def is_of_several(query: Query) -> bool:
    """Whether it reads several streams, each with its own clock."""
    return len({scan.stream.name for scan in query.scans if isinstance(scan, Scan)}) > 1


__all__ = ["is_of_several", "replacing"]
