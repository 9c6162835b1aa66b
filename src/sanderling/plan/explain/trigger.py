"""A trigger's constraint graph in words: the completed matrix, and how long events are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sanderling.clock import show_duration
from sanderling.plans.constraint_graph import Compare, Graph, complete
from sanderling.plans.expression import Expression
from sanderling.plans.nodes import Solve
from sanderling.plans.trigger_graph import stated
from sanderling.plans.trigger_space import LEAST, WHOLE, side_of
from sanderling.space.sphere import MAP_SLACK

# What is said with < is a microsecond less; people read the rounder bound. It may follow from several.
ROUND_US, MOST_STRICT = 1_000, 100
MOST_COMPARES = 8


def words_of_solve(node: Solve) -> str:
    report = "first" if node.is_first else "all"
    names = ", ".join(v.name for v in node.variables)
    return f"solve: {names}, report {report}, expiry {node.expiry}, index {node.index}"


def notes_of_solve(
    node: Solve, columns: Sequence[Sequence[str]], constants: pa.Table, row: int
) -> tuple[str, ...]:
    """For the trigger whose constants stand in this row; `columns` are what people call those of branches."""

    def value_of(constant: Expression) -> object:
        return constants.column(constant.column)[row].as_py()

    graph = complete(stated(node, value_of))
    rest = (f"and, of what is found: {node.rest.words}",) if node.rest is not None else ()
    halos = np.array([value_of(halo) for halo in node.halos], np.float64)
    return (*_matrix(graph), *_compares(node, graph, columns), *rest, _expiry(graph), _route(node, halos))


def _matrix(graph: Graph) -> list[str]:
    """A line for each variable: when, in seconds after its own event, and how far away the others are."""
    names = list(graph.names)
    cells = [["", *names]]
    for i, name in enumerate(names):
        cells.append([name, *("·" if i == j else _pair(graph, i, j) for j in range(len(names)))])
    widths = [max(len(line[k]) for line in cells) for k in range(len(names) + 1)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in cells]


def _pair(graph: Graph, i: int, j: int) -> str:
    times = f"{_least(int(graph.after[i, j]))}, {_most(int(graph.until[i, j]))} s"
    far, near = graph.far[i, j], graph.near[i, j]
    # What only follows is a little wider than it is; nobody wants to see that.
    bounds = [f"{'<' if graph.near_strict[i, j] else '<='} {near:.6g}"] if np.isfinite(near) else []
    if far > 0 or graph.far_strict[i, j]:
        bounds.insert(0, f"{'>' if graph.far_strict[i, j] else '>='} {far:.6g}")
    return ", ".join([times, *bounds])


def _least(us: int) -> str:
    return f"({_seconds(-_rounder(-us))}" if _rounder(-us) != -us else f"[{_seconds(us)}"


def _most(us: int) -> str:
    return f"{_seconds(_rounder(us))})" if _rounder(us) != us else f"{_seconds(us)}]"


def _rounder(us: int) -> int:
    """The bound that was written, if this one is a little below it."""
    missing = -us % ROUND_US
    return us + missing if missing <= MOST_STRICT else us


def _seconds(us: int) -> str:
    return f"{us / 1_000_000:.15g}"


def _compares(node: Solve, graph: Graph, columns: Sequence[Sequence[str]]) -> list[str]:
    words = [_compare(node, graph, columns, c, k) for k, c in enumerate(node.compares)]
    more = [f"and {len(words) - MOST_COMPARES} more"] if len(words) > MOST_COMPARES else []
    return ["compared: " + ", ".join([*words[:MOST_COMPARES], *more])] if words else []


def _compare(node: Solve, graph: Graph, columns: Sequence[Sequence[str]], c: Compare, k: int) -> str:
    left, right = (
        _value(graph.names[v], columns[node.values[value].branch][node.values[value].column])
        for v, value in ((c.i, c.left), (c.j, c.right))
    )
    return f"{left} - {right} {c.op} {graph.constants[k]:g}" if c.is_difference else f"{left} {c.op} {right}"


def _value(name: str, words: str) -> str:
    """A column of a variable; what is computed, in the words of whoever wrote it first."""
    return f"{name}.{words}" if words.isidentifier() else f"({words}) of {name}"


def _route(node: Solve, halos: npt.NDArray[np.float64]) -> str:
    """Where events are sent to: those of a variable to all tracts that are no further away than this."""
    if not node.halos or (halos == WHOLE).all():
        return "routed by query"
    far = np.where(halos > (2 * MAP_SLACK if node.is_globe else 2 * LEAST), halos, 0.0)
    words = ", ".join(f"{v.name} {far[v.branch]:.6g}" for v in node.variables)
    where = "by space, on a flat map" if node.is_globe else "by space"
    return f"routed {where}: tracts of {side_of(halos.max()):.6g}, halo {words}"


def _expiry(graph: Graph) -> str:
    kept = [
        f"{name} {show_duration(_rounder(int(us)))}" if us else f"{name} not at all"
        for name, us in zip(graph.names, graph.loose, strict=True)
    ]
    return "kept at most: " + ", ".join(kept)
