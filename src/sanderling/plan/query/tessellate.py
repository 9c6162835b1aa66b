"""TESSELLATE in FROM: the last readings of each tile, said in terms of other nodes.

readings, with the tile that each is in ─► Latest ◄─ tiles that there are
                                             └─► joined with what is shown of tiles, as it is now
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Column, Stream, Table
from sanderling.errors import QueryError
from sanderling.language.statements import Bracket, Span, TessellateWindow
from sanderling.plan.expressions.check import span_of
from sanderling.plan.expressions.written import plain, renamed, selected
from sanderling.plan.logical import Scan
from sanderling.plan.names.sides import RowScope, Side, different_spaces
from sanderling.plans import nodes
from sanderling.plans.columns import by_place, of_table
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn
from sanderling.plans.window import Coming

if TYPE_CHECKING:
    from sanderling.plan.query.blocks import Block
    from sanderling.plan.query.joining import Joining

HINT = "write TESSELLATE BY (SELECT region, name FROM districts) ROWS 1000"


@dataclass(frozen=True, slots=True)
class Tiles:
    """Rows of a table of regions, and what is shown of them, by what it is called."""

    table: Table
    alias: str
    shown: dict[str, Column]
    where: tuple[exp.Expr, ...]
    span: Span

    @classmethod
    def of(cls, block: Block, side: Side, asked: TessellateWindow) -> Tiles | None:
        """Checked; None: tiles are the values of a column."""
        if asked.select is None:
            return None
        table = _table_of(block, asked, asked.select)
        where = asked.select.args.get("where")
        relation = asked.select.args["from_"].this
        found = cls(table, relation.alias_or_name, {}, (where.this,) if where else (), asked.span)
        regions = [item for item in asked.select.expressions if not found._shows(block, side, item)]
        if len(regions) != 1:
            message = f'one column of TESSELLATE is the region of "{table.name}"'
            raise block.refuse_at(asked.span, "query.wrong_type", message, HINT)
        if table.is_globe != side.is_globe:
            other = Side(found.alias, table, asked.span)
            raise block.refuse_at(asked.span, *different_spaces(other))
        return found

    def _shows(self, block: Block, side: Side, item: exp.Expr) -> bool:
        """Whether an item is something else than the region."""
        inner, span = item.unalias(), span_of(item) or self.span
        assert self.table.region is not None
        if not isinstance(inner, exp.Column):
            message = "TESSELLATE takes columns of a table as they are"
            raise block.refuse_at(span, "query.unsupported", message, "compute it in the select list outside")
        if inner.name.casefold() == self.table.region.casefold():
            return False
        column = self.table.column(inner.name)
        if column is None:
            message, hint = f'"{self.table.name}" has no column "{inner.name}"', "name one of its columns"
            raise block.refuse_at(span, "query.unknown_column", message, hint)
        name = item.alias_or_name
        if name in self.shown or side.relation.column(name) is not None:
            message = f'"{name}" is a column of "{side.alias}" too'
            hint = f"give it another name: SELECT region, {inner.name} AS district_{inner.name}"
            raise block.refuse_at(span, "query.duplicate_column", message, hint)
        self.shown[name] = column
        return True

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(name, column.type) for name, column in self.shown.items())


def _table_of(block: Block, asked: TessellateWindow, select: exp.Select) -> Table:
    known = ("expressions", "from_", "where")
    odd = [word for word, value in select.args.items() if value and word not in known]
    source = select.args.get("from_")
    if odd or source is None or not isinstance(source.this, exp.Table):
        message = "TESSELLATE takes regions from one table, with WHERE if you like"
        raise block.refuse_at(asked.span, "query.unsupported", message, HINT)
    found = block.named(source.this)
    if not isinstance(found, Table) or found.region is None:
        message, hint = f'"{source.this.name}" is no table of regions', "load one from GeoJSON"
        raise block.refuse_at(asked.span, "query.wrong_type", message, hint)
    return found


def tessellated(
    joining: Joining, side: Side, bracket: Bracket, columns: Sequence[tuple[int, Column]],
    conditions: Sequence[exp.Expr],
) -> nodes.Node:  # fmt: skip
    """What a side brings whose window holds the last readings of tiles."""
    assert bracket.tiles is not None and isinstance(side.relation, Stream)
    return _Tessellated(joining, side, side.relation, bracket, bracket.tiles).over(columns, conditions)


@dataclass(frozen=True, slots=True)
class _Tessellated:
    """One such window."""

    joining: Joining
    side: Side
    stream: Stream
    bracket: Bracket
    asked: TessellateWindow

    def over(self, columns: Sequence[tuple[int, Column]], conditions: Sequence[exp.Expr]) -> nodes.Node:
        self._refuse_beside(conditions)
        number, stream, tiles = self.joining.sides.index(self.side), self.stream, self.side.tiles
        own = [key for key in columns if tiles is None or key[1].name not in tiles.shown]
        wide = dict.fromkeys(own)
        asked = [stream.column(name) for name in (stream.key, stream.time)]
        by = None if self.asked.column is None else self._column(self.asked.column.text)
        wide |= dict.fromkeys((number, column) for column in (*asked, by) if column is not None)
        scan = replace(self.joining.scan(self.side, stream, list(wide), []), window=Coming(), refresh=None)
        at = {column.name: place for place, (owner, column) in enumerate(wide) if owner == number}
        key, time = at[stream.key], at[stream.time]
        if tiles is None:
            assert by is not None
            found: nodes.Node = nodes.Latest(scan, None, at[by.name], key, time, self.asked.n)
        else:
            found = self._of_table(scan, tiles, key, time)
        shown = self._shown(found, columns, list(wide))
        if self.bracket.refresh is None:
            return shown
        return nodes.Sample(shown, self.bracket.refresh, stream.tick_us)

    def _of_table(self, scan: Scan, tiles: Tiles, key: int, time: int) -> nodes.Node:
        """Tiles are known by the key of their table, which shows what is asked of them as they are now."""
        table, work = tiles.table, self.joining.work
        name = of_table(table.key)
        column = table.column(table.key)
        assert column is not None
        called = OutputColumn("", Expression.of_column(name, column.type, f"{tiles.alias}.{table.key}"))
        where = (*scan.where, *self._chosen(tiles))
        scan = replace(scan, table=table, where=where).showing([*scan.outputs, called])
        work.tables.append(table.name)
        there = nodes.TableRows(table.name, (table.key,), (column.type,), tiles.alias)
        place = len(scan.outputs) - 1
        found: nodes.Node = nodes.Latest(scan, there, place, key, time, self.asked.n)
        if not tiles.shown:
            return found
        names = dict.fromkeys((table.key, *(c.name for c in tiles.shown.values())))
        read = [c for n in names if (c := table.column(n)) is not None]
        rows = nodes.TableRows(
            table.name, tuple(c.name for c in read), tuple(c.type for c in read), tiles.alias
        )
        words = f"tile = {tiles.alias}.{table.key}"
        return nodes.Join(found, rows, (place,), (0,), words=words)

    def _chosen(self, tiles: Tiles) -> list[Expression]:
        scope = RowScope(self.joining.block.text, tiles.span, [Side(tiles.alias, tiles.table, tiles.span)])
        columns = tiles.table.columns
        scope.places = {(0, column.name): place for place, column in enumerate(columns)}
        names = {by_place(place): of_table(column.name) for place, column in enumerate(columns)}
        constants = self.joining.work.constants
        found = self.joining.selects.conditions(list(tiles.where), scope, constants)
        return [renamed(condition, names) for condition in found]

    def _shown(
        self, found: nodes.Node, columns: Sequence[tuple[int, Column]], wide: list[tuple[int, Column]]
    ) -> nodes.Node:
        whole, tiles = plain(found.types), self.side.tiles
        names = [] if not isinstance(found, nodes.Join) else _names(found.right)
        places = []
        for key in columns:
            if key in wide:
                places.append(wide.index(key))
            else:
                assert tiles is not None
                places.append(len(wide) + 1 + names.index(tiles.shown[key[1].name].name))
        return selected(found, None, [whole[place] for place in places], [c.name for _, c in columns])

    def _column(self, name: str) -> Column:
        found = self.stream.column(name)
        if found is None:
            assert self.asked.column is not None
            message = f'"{self.stream.name}" has no column "{name}"'
            hint = "TESSELLATE BY a column of the stream, or BY (SELECT region FROM districts)"
            raise self._refuse(self.asked.column.span, "query.unknown_column", message, hint)
        return found

    def _refuse(self, span: Span, code: str, message: str, hint: str) -> QueryError:
        return self.joining.block.refuse_at(span, code, message, hint)

    def _refuse_beside(self, conditions: Sequence[exp.Expr]) -> None:
        """What a shard would do before the window does."""
        block, alias = self.joining.block, self.side.alias
        message = hint = ""
        if block.nearest is not None:
            message, hint = f'kNN beside TESSELLATE: "{alias}" has one window', "keep one of them"
        elif block.inside is not None or conditions or self.side.regions is not None:
            message = f'"{alias}" has TESSELLATE, and takes no INSIDE'
            hint = "choose among tiles: TESSELLATE BY (SELECT region FROM districts WHERE …)"
        if message:
            raise self._refuse(self.bracket.span, "query.unsupported", message, hint)


def _names(rows: nodes.Node) -> list[str]:
    assert isinstance(rows, nodes.TableRows)
    return list(rows.columns)
