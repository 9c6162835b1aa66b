"""A composed query, checked: what shards do of it as branches, the rest as a tree."""

from __future__ import annotations

from dataclasses import dataclass

from sanderling.catalog import Stream
from sanderling.plan.expressions.check import Constant
from sanderling.plan.query.selects import Draft
from sanderling.plans.nodes import Node, solve_of
from sanderling.plans.plan import OutputColumn


@dataclass(frozen=True, slots=True)
class Composition:
    """A checked composed query before its template has a number."""

    branches: tuple[Draft, ...]
    root: Node
    outputs: tuple[OutputColumn, ...]
    constants: tuple[Constant, ...]
    tables: tuple[str, ...]  # whose rows the tree reads
    queries: tuple[str, ...]  # that it reads

    @property
    def is_trigger(self) -> bool:
        return solve_of(self.root) is not None

    @property
    def stream(self) -> Stream:
        return self.branches[0].stream

    @property
    def template_key(self) -> tuple[object, ...]:
        types = tuple((c.name, c.type.name) for c in self.constants)
        return (self.root, self.outputs, types, *(b.template_key for b in self.branches))

    @property
    def streams_used(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(b.stream.name for b in self.branches))

    def used(self, kind: str) -> tuple[str, ...]:
        """The names of a kind that it would miss."""
        own = {"table": self.tables, "query": self.queries}.get(kind, ())
        return (*own, *(name for b in self.branches for name in b.used(kind)))
