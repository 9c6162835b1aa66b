"""STAY_WITHIN and PASS_WITHIN of objects of streams have operators of their own.

And keys are not looked up that are known.
"""

from __future__ import annotations

from sanderling.plan.expressions.written import plain, renamed
from sanderling.plan.logical import Scan, rebuilt
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, is_by_place, of_reading, place_of
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Company, Node


def company(root: Node) -> Node:
    return rebuilt(rebuilt(root, _in_company), lambda node: _as_one(_without_lookup(node)))


def _in_company(node: Node) -> Node:
    """Pairs of keys that stay near, where either side has an object's last reading and no more."""
    match node:
        case nodes.Persisting(
            nodes.Select(
                nodes.Join(Scan() as left, Scan() as right, (), (), nodes.Near(is_open=False) as near), None,
                (Expression() as one, Expression() as other),
            ),
            keys, stay, _, None, tick_us, is_unbroken=True,
        ):  # fmt: skip
            width, columns = len(left.types), [_place(one), _place(other)]
            if set(keys) != {0, 1} or not _is_last(left) or not _is_last(right):
                return node
            if not _is_key(left, columns[0]) or not _is_key(right, columns[1] - width):
                return node
            return Company(
                left, right, (columns[0], columns[1] - width), (near.left, near.right), near.radius, stay,
                tick_us, near.is_globe, near.words,
            )  # fmt: skip
        case nodes.Distinct(
            nodes.Select(
                nodes.Join(
                    nodes.Persisting(Scan() as left, its, _, grace, None, tick_us, is_lingering=True),
                    nodes.Persisting(Scan() as right, others, goes_on=None, is_lingering=True),
                    (), (), nodes.Near(is_open=False) as near,
                ), None, (Expression() as one, Expression() as other),
            ),
        ):  # fmt: skip
            width, columns = len(left.types), [_place(one), _place(other)]
            places = [{columns[0], *near.left}, {columns[1] - width, *near.right}]
            if [set(its), set(others)] != places or not _is_last(left) or not _is_last(right):
                return node
            if not _is_key(left, columns[0]) or not _is_key(right, columns[1] - width):
                return node
            return nodes.Passing(
                left, right, (columns[0], columns[1] - width), (near.left, near.right), near.radius, grace,
                tick_us, near.is_globe, near.words,
            )  # fmt: skip
        case _:
            return node


def _without_lookup(node: Node) -> Node:
    """A join that finds for each pair the key that it was found by, and shows nothing else."""
    match node:
        case nodes.Join(left, right, (one,), (other,), None, is_left=False):
            if _is_all(left) and _is_found_in(right, other, left):
                return nodes.Select(right, None, (plain(right.types)[other], *plain(right.types)))
            if _is_all(right) and _is_found_in(left, one, right):
                return nodes.Select(left, None, (*plain(left.types), plain(left.types)[one]))
            return node
        case _:
            return node


def _as_one(node: Node) -> Node:
    """What is computed of columns as they are under other names."""
    match node:
        case nodes.Select(nodes.Select(child, None, columns), where, shown, names) if _is_known(columns):
            new = {by_place(i): column.column for i, column in enumerate(columns)}
            return nodes.Select(
                child, where and renamed(where, new), tuple(renamed(c, new) for c in shown), names
            )
        case _:
            return node


def _is_known(columns: tuple[Expression, ...]) -> bool:
    return all(column.is_plain and is_by_place(column.column) and not column.words for column in columns)


def _place(column: Expression) -> int:
    return place_of(column.column) if column.is_plain and is_by_place(column.column) else -1


def _is_last(scan: Scan) -> bool:
    """Whether it has one row an object."""
    is_chosen = scan.is_nearest or scan.is_sighted or scan.table is not None
    return not is_chosen and scan.window is None and scan.refresh is None


def _is_key(scan: Scan, place: int) -> bool:
    if not 0 <= place < len(scan.outputs):
        return False
    shown = scan.outputs[place].expression
    return shown.is_plain and shown.column == of_reading(scan.stream.key)


def _is_all(node: Node) -> bool:
    """Whether it is the keys of all objects that are there, or were not long ago."""
    match node:
        case Scan():
            return len(node.outputs) == 1 and _is_every(node) and _is_key(node, 0)
        case nodes.Select(nodes.Persisting(Scan() as scan, (key,), is_lingering=True), None, (column,)):
            return _place(column) == key and _is_every(scan) and _is_key(scan, key)
        case _:
            return False


def _is_every(scan: Scan) -> bool:
    return _is_last(scan) and scan.is_everywhere and not scan.where


def _stream_of(node: Node) -> str:
    """Of keys of all objects."""
    scan = node.child.child if isinstance(node, nodes.Select) else node  # type: ignore[union-attr]
    assert isinstance(scan, Scan)
    return scan.stream.name


def _is_found_in(node: Node, place: int, keys: Node) -> bool:
    """Whether a column has keys of objects of the same stream, that are there now, or were not long ago."""
    match node:
        case Company():
            found = (node.left, node.right)[place]
            return isinstance(found, Scan) and found.stream.name == _stream_of(keys)
        case nodes.Passing():
            found = (node.left, node.right)[place]
            is_lingering = isinstance(keys, nodes.Select)  # who has passed may be gone
            return is_lingering and isinstance(found, Scan) and found.stream.name == _stream_of(keys)
        case nodes.Select(child, _, columns):
            return columns[place].is_plain and _is_found_in(child, _place(columns[place]), keys)
        case nodes.Join(left, right, is_left=False):
            width = len(left.types)
            inner, there = (left, place) if place < width else (right, place - width)
            return _is_found_in(inner, there, keys)
        case _:
            return False
