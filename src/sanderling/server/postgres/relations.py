"""What looks like a table to a client: streams, tables, and queries with their answers."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass

import pyarrow as pa

from sanderling.catalog import Stream, Table
from sanderling.errors import Place, QueryError, ServerError, did_you_mean
from sanderling.plan.many.cohorts import Member
from sanderling.server.rights.statements import OWN
from sanderling.server.rights.tokens import Token
from sanderling.server.service import Service
from sanderling.server.shown.columns import columns_of
from sanderling.server.shown.shapes import drawn
from sanderling.types import TYPES

# The query over a stream that holds all columns of the last reading of each object.
ALL = OWN + "all of "
# It begins with a tick: whoever asks first waits for that, if readings come.
SECONDS_TO_BEGIN, SECONDS_BETWEEN_LOOKS = 3.0, 0.05


@dataclass(frozen=True, slots=True)
class Relation:
    """Names of columns are made different, as a table's are."""

    name: str
    kind: str  # stream, table, query, trigger, pattern
    columns: tuple[tuple[str, pa.DataType], ...]
    key: str | None
    said: str

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.columns))


class Relations:
    """Those that a token may see. A client sees which columns a stream has, and nobody's readings."""

    def __init__(self, service: Service, token: Token):
        self.service, self.token = service, token

    def all(self) -> list[Relation]:
        """May wait for the session."""
        seen, may_see = self.service.host.seen(), self.service.statements.may_see
        members = [m for m in seen.members if not m.name.startswith(OWN) and may_see(self.token, m.name)]
        return [*map(_of_stream, seen.streams), *map(_of_table, seen.tables), *map(_of_member, members)]

    async def rows(self, names: dict[str, Place]) -> dict[str, pa.Table]:
        """Of each name its rows, all as at the end of one batch."""
        hub = self.service.hub
        there = {r.name.casefold(): r for r in await hub.beside(self.all)}
        tables = {t.name.casefold(): t for t in (await hub.beside(self.service.host.seen)).tables}
        channels, found = {}, {}
        for name, place in names.items():
            relation = there.get(name.casefold())
            if relation is None:
                shown = [r.name for r in there.values()]
                raise QueryError(
                    "query.unknown_table", f'nothing is named "{name}"', did_you_mean(name, shown), place
                )
            if relation.kind == "table":
                found[name] = _rows_of(tables[name.casefold()], relation)
            else:
                channels[name] = relation, await hub.channel(await self._query_of(relation, place))
        for name, (relation, channel) in channels.items():  # nothing is waited for in between
            rows = channel.whole().rows
            found[name] = rows.select(rows.column_names[2:]).rename_columns(relation.schema.names)
        return found

    async def _query_of(self, relation: Relation, place: Place) -> str:
        """The query that holds it."""
        if relation.kind != "stream":
            return relation.name
        if not self.token.is_operator:
            raise ServerError(
                "auth.forbidden", f'all objects of "{relation.name}" are for operators',
                "REGISTER QUERY name AS SELECT …, and ask that", place,
            )  # fmt: skip
        begin = await self.service.hub.beside(self._keep, relation)
        until = time.monotonic() + SECONDS_TO_BEGIN
        while self.service.hub.tick_of([relation.name]) < begin and time.monotonic() < until:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        return ALL + relation.name

    def _keep(self, relation: Relation) -> int:
        """The tick at which it begins, which is the next where nobody has asked before."""
        host, name = self.service.host, ALL + relation.name
        with host.alone():
            if host.member(name) is None:
                listed = ", ".join(_quoted(column) for column, _ in relation.columns)
                host.run(f"REGISTER QUERY {_quoted(name)} AS SELECT {listed} FROM {_quoted(relation.name)}")
            member = host.member(name)
            assert member is not None
            return member.begin


def _of_stream(stream: Stream) -> Relation:
    columns = tuple((c.name, c.type.arrow) for c in stream.columns)
    return Relation(stream.name, "stream", columns, stream.key, "a stream: the last reading of each object")


def _of_table(table: Table) -> Relation:
    types = {c.name: pa.string() if c.name == table.region else c.type.arrow for c in table.columns}
    return Relation(table.name, "table", tuple(types.items()), table.key, f"a table: {table.path}")


def _of_member(member: Member) -> Relation:
    taken: dict[str, int] = {}
    columns = []
    for column in columns_of(member):
        count = taken[column.name] = taken.get(column.name, 0) + 1
        name = column.name if count == 1 else f"{column.name}_{count}"
        columns.append((name, TYPES[column.type].arrow))
    return Relation(member.name, member.query.kind, tuple(columns), None, member.sql)


def _rows_of(table: Table, relation: Relation) -> pa.Table:
    """Its regions as GeoJSON."""
    rows = table.rows
    if table.region is not None:
        at = rows.column_names.index(table.region)
        shapes = [None if o is None else json.dumps(drawn(o)) for o in rows.column(table.region).to_pylist()]
        rows = rows.set_column(at, table.region, pa.array(shapes, pa.string()))
    return rows.select(relation.schema.names)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
