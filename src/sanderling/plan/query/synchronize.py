"""SYNCHRONIZE: what the SELECT behind it reads, as at the last look at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.clock import show_duration
from sanderling.errors import QueryError, did_you_mean, with_article
from sanderling.language.statements import Name, Span, SynchronizeClause
from sanderling.plan.logical import Scan, nodes_of
from sanderling.plan.names.sides import Derived
from sanderling.plan.query.with_clause import Given, GivenNames
from sanderling.plans import nodes

if TYPE_CHECKING:
    from sanderling.plan.query.compose import Work


@contextmanager
def synchronized(work: Work, clause: SynchronizeClause, text: str) -> Iterator[None]:
    """While this lasts, the names are those that are looked at, and tables; each of them has to be read."""
    outside = work.names
    given = [_given(work, name, clause, text) for name in clause.names]
    try:
        work.names = GivenNames({g.name.name.casefold(): g for g in given}, is_all=True)
        yield
    finally:
        work.names = outside
    for name, one in zip(clause.names, given, strict=True):
        if not one.is_read:
            message = f'SYNCHRONIZE names "{name.text}", which the SELECT does not read'
            raise _refuse("query.unused_name", message, "read FROM it, or leave it out", name.span, text)


def _given(work: Work, name: Name, clause: SynchronizeClause, text: str) -> Given:
    identifier = exp.to_identifier(name.text, quoted=True)
    identifier.meta.update(start=name.span.start, end=name.span.end - 1)
    derived = _named(work, name, text)
    if clause.refresh is None:
        return Given(identifier, derived)
    tick_us = _tick_us(derived, name, text)
    every_us = clause.refresh.every_us
    if every_us % tick_us:
        message = f"EVERY {show_duration(every_us)} is not a whole number of ticks"
        hint = f"the tick is {show_duration(tick_us)}: take a multiple of it"
        raise _refuse("query.bad_synchronize", message, hint, clause.span, text)
    return Given(identifier, replace(derived, node=nodes.Sample(derived.node, clause.refresh, tick_us)))


def _named(work: Work, name: Name, text: str) -> Derived:
    found = work.names.get(name.text)
    if found is not None:
        return found
    relations = work.reader.selects.relations
    query = work.reader.query_of(name.text) if relations.kind_of(name.text) == "query" else None
    if query is not None:
        return work.beside(name.text, query)
    kind = relations.kind_of(name.text)
    known = [given.name.name for given in work.names.ready.values()]
    message = (
        f'"{name.text}" is {with_article(kind)}'
        if kind
        else f'nothing that can be read is named "{name.text}"'
    )
    hint = did_you_mean(name.text, known) or "name steps, or registered queries"
    if kind == "stream":
        hint = f"read it in a step: WITH now AS (SELECT … FROM {name.text}) SYNCHRONIZE now …"
    raise _refuse("query.bad_synchronize", message, hint, name.span, text)


def _tick_us(derived: Derived, name: Name, text: str) -> int:
    for node in nodes_of(derived.node):
        if isinstance(node, Scan):
            return node.stream.tick_us
    hint = "leave it out: tables are read as they are"
    raise _refuse("query.bad_synchronize", f'"{name.text}" reads only tables', hint, name.span, text)


def _refuse(code: str, message: str, hint: str, span: Span, text: str) -> QueryError:
    return QueryError(code, message, hint, span.place_in(text))
