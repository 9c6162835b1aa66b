"""WITH: queries that have a name inside one statement.

Each is planned once, and what reads it has its node: what stands twice in a tree is worked out once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Column
from sanderling.language.parse import too_deep
from sanderling.language.statements import Span
from sanderling.plan.expressions.check import span_of
from sanderling.plan.logical import extent_of
from sanderling.plan.names.sides import Derived, RowScope
from sanderling.plans.nodes import Node

if TYPE_CHECKING:
    from sanderling.plan.query.compose import Work

# Of a tree, written out; what people write has some dozens, and Python's own limit is reached at 250.
MOST_NODES, DEEPEST = 10_000, 150


@dataclass(slots=True)
class Given:
    """A query of WITH."""

    name: exp.Identifier
    derived: Derived
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class GivenNames:
    """Those that a query may read, by name without case; and those that come behind it, itself the first."""

    ready: dict[str, Given] = field(default_factory=dict)
    to_come: tuple[str, ...] = ()
    is_all: bool = False  # nothing else may be read but tables

    def get(self, name: str) -> Derived | None:
        given = self.ready.get(name.casefold())
        if given is None:
            return None
        given.is_read = True
        return given.derived

    def beside(self, given: Sequence[Given], to_come: Sequence[str] = ()) -> GivenNames:
        """With these, which hide others of their name."""
        ready = self.ready | {g.name.name.casefold(): g for g in given}
        return GivenNames(ready, tuple(to_come), self.is_all)

    def why_not(self, name: str) -> tuple[str, str] | None:
        """What is wrong with reading a name that nothing outside has, if WITH has it; and what to do."""
        if name.casefold() not in self.to_come:
            return None
        if name.casefold() == self.to_come[0]:
            return (
                f'"{name}" reads itself',
                "a query of WITH reads those before it; RECURSIVE is not supported",
            )
        return f'"{name}" comes later in WITH', "move it before what reads it"


@contextmanager
def given_names(work: Work, clause: exp.With, text: str) -> Iterator[None]:
    """While this lasts, the names of WITH mean its queries. Refuses those that nobody read."""
    outside, given = work.names, list[Given]()
    names = [cte.alias.casefold() for cte in clause.expressions]
    try:
        for number, cte in enumerate(clause.expressions):
            work.names = outside.beside(given, names[number:])
            name = cte.args["alias"].this
            given.append(Given(name, _planned(work, cte, text)))
            refuse_too_large(given[-1].derived.node, span_of(name) or work.statement.name.span, text)
        work.names = outside.beside(given)
        yield
    finally:
        work.names = outside
    unread = next((g.name for g in given if not g.is_read), None)
    if unread is not None:
        message = f'nothing reads "{unread.name}"'
        raise _scope(work, text).refuse(unread, "query.unused_name", message, "read FROM it, or leave it out")


def refuse_too_large(node: Node, span: Span, text: str) -> None:
    """A plan is written out, and explained: a name that reads another twice doubles it."""
    size, depth = extent_of(node)
    if size > MOST_NODES or depth > DEEPEST:
        raise too_deep(text, span.start, span.end)


def _planned(work: Work, cte: exp.CTE, text: str) -> Derived:
    """What its SELECT gives, under the names that it lists."""
    derived = work.query(cte.this, text)
    listed: list[exp.Identifier] = cte.args["alias"].args.get("columns") or []
    if not listed:
        return derived
    scope = _scope(work, text)
    if len(listed) != len(derived.columns):
        message = f'"{cte.alias}" lists {len(listed)} columns, its query has {len(derived.columns)}'
        raise scope.refuse(cte.args["alias"], "query.wrong_type", message, "list as many as it has")
    new: dict[str, exp.Identifier] = {}
    for column in listed:
        if column.name.casefold() in new:
            message = f'two columns are named "{column.name}"'
            raise scope.refuse(column, "query.duplicate_column", message, "give one another name")
        new[column.name.casefold()] = column
    called = {c.name: column.name for c, column in zip(derived.columns, listed, strict=True)}
    place = derived.place and (called[derived.place[0]], called[derived.place[1]])
    return replace(
        derived, columns=tuple(Column(called[c.name], c.type) for c in derived.columns), place=place
    )


def _scope(work: Work, text: str) -> RowScope:
    return RowScope(text, work.statement.name.span, [])
