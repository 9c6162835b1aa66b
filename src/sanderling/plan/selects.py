"""A registered SELECT, checked against the catalog: its template, its constants, its regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from sanderling import relational
from sanderling.catalog import Names, Stream, Table
from sanderling.errors import Place, QueryError, did_you_mean
from sanderling.language.dialect import LocationInside
from sanderling.language.parse import too_deep
from sanderling.language.statements import (
    Coverage,
    InsideTarget,
    MovingCircleShape,
    MovingRectShape,
    Name,
    RegisterQuery,
    Span,
)
from sanderling.plan.expressions import (
    TYPE_OF_DUCKDB,
    Constant,
    Scope,
    bind,
    check,
    constant_of,
    duckdb_words,
    lift,
    span_of,
    types_of,
)
from sanderling.plan.families import settle
from sanderling.plan.plans import OutputColumn
from sanderling.plan.rewrite import engine_sql
from sanderling.plan.words import shortened, words_of
from sanderling.types import SqlType

PLAIN_CLAUSES = {"expressions", "from_", "joins", "where"}

Shape = Coverage | MovingRectShape | MovingCircleShape | None


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked query before its template has a number."""

    stream: Stream
    table: Table | None
    shape: Shape
    where: str | None
    where_reads: frozenset[str]
    outputs: tuple[OutputColumn, ...]
    constants: tuple[Constant, ...]
    regions_used: tuple[str, ...]
    where_words: str | None = None

    @property
    def template_key(self) -> tuple[object, ...]:
        types = tuple((c.name, c.type.name) for c in self.constants)
        return (self.stream.name, self.table.name if self.table else None, self.where, self.outputs, types)

    @property
    def is_keyed(self) -> bool:
        shown = {o.source for o in self.outputs if o.is_plain}
        keys = {f"r:{self.stream.key}"} | ({f"q:{self.table.key}"} if self.table else set())
        return keys <= shown


@dataclass(slots=True)
class SelectPlanner:
    """Checks SELECTs against what exists; remembers what it has checked, since templates repeat."""

    streams: Names[Stream]
    tables: Names[Table]
    regions: Names[Coverage]
    kind_of: Callable[[str], str | None]
    _conditions: dict[object, tuple[str, frozenset[str]]] = field(default_factory=dict)
    _items: dict[object, tuple[str, SqlType, frozenset[str]]] = field(default_factory=dict)

    def forget(self) -> None:
        """Names may mean something else from now on."""
        self._conditions.clear()
        self._items.clear()

    def draft(self, statement: RegisterQuery, text: str) -> Draft:
        select = statement.select
        self._refuse_other_clauses(select, text, statement)
        scope, on = self._scope(select, text, statement.name.span)
        conjuncts = self._conjuncts(select, on)
        inside, used = self._inside(statement, conjuncts, scope)
        constants: list[Constant] = []
        where, where_reads, words = self._where(
            [c for c in conjuncts if not isinstance(c, LocationInside)], scope, constants
        )
        outputs = self._outputs(select, scope, constants)
        return Draft(
            scope.stream, scope.table, inside, where, where_reads, outputs, tuple(constants), used, words
        )

    # ----- FROM

    def _refuse_other_clauses(self, select: exp.Select, text: str, statement: RegisterQuery) -> None:
        for key, value in select.args.items():
            if value and key not in PLAIN_CLAUSES:
                first = value[0] if isinstance(value, list) else value
                place = _place(text, first if isinstance(first, exp.Expr) else None, statement.name.span)
                word = (
                    key.removesuffix("_").removesuffix("s").upper() if key != "kind" else f"SELECT AS {value}"
                )
                raise QueryError("query.unsupported", f"{word} is not supported", "remove it", place)
        if not select.expressions:
            place = _place(text, None, statement.name.span)
            raise QueryError("query.syntax", "SELECT lists no columns", "name at least one, or *", place)
        if not select.args.get("from_"):
            place = _place(text, select.expressions[-1], statement.name.span)
            raise QueryError("query.missing_clause", "a query needs FROM and a stream", "add FROM", place)

    def _scope(self, select: exp.Select, text: str, span: Span) -> tuple[Scope, list[exp.Expr]]:
        relations, on = [select.args["from_"].this], []
        for join in select.args.get("joins") or []:
            if (
                join.side
                or join.kind not in ("", "INNER", "CROSS")
                or not _has_only(join, "this", "on", "kind")
            ):
                raise QueryError(
                    "query.unsupported", "only an inner join with a table of regions is supported yet",
                    "FROM stream o, table t WHERE o.location INSIDE t.region", _place(text, join, span),
                )  # fmt: skip
            relations.append(join.this)
            if join.args.get("on"):
                on.append(join.args["on"])
        stream, table = None, None
        stream_alias = table_alias = ""
        for relation in relations:
            found = self._relation(relation, text, span)
            if isinstance(found, Stream) and stream is None:
                stream, stream_alias = found, relation.alias_or_name
            elif isinstance(found, Table) and table is None:
                table, table_alias = found, relation.alias_or_name
            else:
                what = "stream" if isinstance(found, Stream) else "table"
                raise QueryError(
                    "query.unsupported", f"FROM takes one {what} here", "split the query",
                    _place(text, relation, span),
                )  # fmt: skip
        if stream is None:
            raise QueryError(
                "query.missing_stream", "a continuous query reads a stream; FROM names only a table",
                did_you_mean(relations[0].name, self.streams) or "CREATE STREAM first",
                _place(text, relations[0], span),
            )  # fmt: skip
        if table is not None and stream_alias.casefold() == table_alias.casefold():
            raise QueryError(
                "query.duplicate_name", f'two things in FROM are named "{table_alias}"', "give one an alias",
                _place(text, relations[1], span),
            )  # fmt: skip
        return Scope(text, span, stream, stream_alias, table, table_alias), on

    def _relation(self, relation: exp.Expr, text: str, span: Span) -> Stream | Table:
        place = _place(text, relation, span)
        if not _is_plain_table(relation):
            hint = "FROM stream, or FROM stream AS name"
            raise QueryError("query.unsupported", "FROM takes a stream or a table by name", hint, place)
        name = relation.name
        found = self.streams.get(name) or self.tables.get(name)
        if found is None:
            hint = did_you_mean(name, [*self.streams, *self.tables]) or "CREATE STREAM first"
            kind = self.kind_of(name)
            if kind:
                hint = f'"{name}" is a {kind}; FROM takes a stream'
            raise QueryError("query.unknown_stream", f'no stream is named "{name}"', hint, place)
        return found

    # ----- INSIDE

    def _conjuncts(self, select: exp.Select, on: list[exp.Expr]) -> list[exp.Expr]:
        """What has to hold, taken apart at every AND that is under nothing but ANDs."""
        where = select.args.get("where")
        left = [*reversed(on), *([where.this] if where else [])]
        conjuncts: list[exp.Expr] = []
        while left:
            condition = left.pop()
            bare = condition.unnest()
            if isinstance(bare, exp.And) and (bare is condition or bare.find(LocationInside)):
                left += [bare.expression, bare.this]
            else:
                conjuncts.append(bare if isinstance(bare, LocationInside) else condition)
        return conjuncts

    def _inside(
        self, statement: RegisterQuery, conjuncts: list[exp.Expr], scope: Scope
    ) -> tuple[Shape, tuple[str, ...]]:
        """The shape of the query, or None where the regions are a table's rows or there are none."""
        operators = [c for c in conjuncts if isinstance(c, LocationInside)]
        targets: list[InsideTarget] = [statement.inside] if statement.inside is not None else []
        joins = 0
        for operator in operators:
            target = self._operator_target(operator, scope)
            if target is None:
                joins += 1
            else:
                targets.append(target)
        if joins + len(targets) > 1:
            raise scope.refuse(
                operators[-1],
                "query.unsupported",
                "a query takes one INSIDE",
                "register one query for each region",
            )
        if scope.table is not None and not joins:
            span = statement.name.span
            raise QueryError(
                "query.missing_join", f'nothing joins "{scope.table.name}" with "{scope.stream.name}"',
                f"add WHERE {scope.aliases[0]}.location INSIDE {scope.aliases[1]}.region",
                Place.in_text(scope.text, span.start, span.end),
            )  # fmt: skip
        if not targets:
            return None, ()
        return self._shape(targets[0], scope)

    def _operator_target(self, operator: LocationInside, scope: Scope) -> InsideTarget | None:
        """None for a table's regions, or the one region that is meant."""
        place, target = operator.this, operator.args["expression"]
        if place.table and place.table.casefold() != scope.aliases[0].casefold():
            hint = f"write {scope.aliases[0]}.location"
            raise scope.refuse(place, "query.unknown_name", f'"{place.table}" is not the stream', hint)
        if not isinstance(target, exp.Expression):
            return target  # type: ignore[no-any-return]
        if not isinstance(target, exp.Column) or not isinstance(target.this, exp.Identifier):
            raise scope.refuse(
                operator, "query.syntax", "INSIDE needs a region here", "write t.region, or a region's name"
            )
        table = scope.table
        is_region = table is not None and table.region and target.name.casefold() == table.region.casefold()
        if is_region and (not target.table or target.table.casefold() == scope.aliases[1].casefold()):
            return None
        if not target.table:
            span = span_of(target) or Span(0, 1)
            return Name(target.name, span)
        if table is not None and not table.region:
            raise scope.refuse(
                target, "query.unknown_column", f'table "{table.name}" has no regions', "load it from GeoJSON"
            )
        scope.resolve(target)
        raise scope.refuse(target, "query.wrong_type", f'"{target.name}" is not a region', "write t.region")

    def _shape(self, target: InsideTarget, scope: Scope) -> tuple[Shape, tuple[str, ...]]:
        if isinstance(target, Name):
            region = self.regions.get(target.text)
            if region is None:
                place = Place.in_text(scope.text, target.span.start, target.span.end)
                hint = did_you_mean(target.text, self.regions) or "CREATE REGION first, or write a coverage"
                raise QueryError("query.unknown_region", f'no region is named "{target.text}"', hint, place)
            return region, (target.text,)
        if isinstance(target, (MovingRectShape, MovingCircleShape)):
            self._check_focal(target, scope)
        return target, ()

    def _check_focal(self, shape: MovingRectShape | MovingCircleShape, scope: Scope) -> None:
        column = scope.stream.column(scope.stream.key)
        assert column is not None
        value = shape.focal.value
        fits = isinstance(value, int) if column.type.is_integer else isinstance(value, str)
        if fits and isinstance(value, int):
            bits = column.type.arrow.bit_width
            fits = -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
        if not fits:
            place = Place.in_text(scope.text, shape.focal.span.start, shape.focal.span.end)
            hint = f"write '{value}'"
            if column.type.is_integer:
                hint = "write it as a whole number without quotes, within the range of its type"
            raise QueryError(
                "query.wrong_type", f"the key {column.name} is {column.type.name}, this focal object is not",
                hint, place,
            )  # fmt: skip

    # ----- WHERE and SELECT

    def _pair_types(self, scope: Scope, constants: list[Constant]) -> dict[str, SqlType]:
        types = {f"r:{c.name}": c.type for c in scope.stream.columns}
        if scope.table is not None:
            types |= {f"q:{c.name}": c.type for c in scope.table.columns}
        return types | {c.name: c.type for c in constants}

    def _where(
        self, conjuncts: list[exp.Expr], scope: Scope, constants: list[Constant]
    ) -> tuple[str | None, frozenset[str], str | None]:
        if not conjuncts:
            return None, frozenset(), None
        node = exp.and_(*conjuncts, copy=True) if len(conjuncts) > 1 else conjuncts[0].copy()
        for part in node.find_all(LocationInside):
            raise scope.refuse(
                part, "query.unsupported", "INSIDE stands alone or beside AND", "it cannot be under OR or NOT"
            )
        check(node, scope)
        holder = exp.Paren(this=node)
        lift(holder, scope, constants)
        words = self._words(holder.this, scope)
        names = self._names(scope, constants)
        found = self._conditions.get((holder.this, *names))
        if found is None:
            key = (holder.this.copy(), *names)  # a copy, since binding changes the tree
            found = self._conditions[key] = self._bound_condition(holder, scope, constants, conjuncts[0])
        sql, reads = found
        return sql, reads, shortened(words)

    def _bound_condition(
        self, holder: exp.Expr, scope: Scope, constants: list[Constant], first: exp.Expr
    ) -> tuple[str, frozenset[str]]:
        """A condition that was not met before: checked, and in the engine's SQL."""
        sql, reads, type_ = self._bound(holder, scope, constants)
        if type_ not in ("BOOLEAN", '"NULL"', "NULL"):
            raise scope.refuse(
                first, "query.wrong_type", f"WHERE needs a condition, this is {duckdb_words(type_)}",
                "compare it with something",
            )  # fmt: skip
        return sql, reads

    def _words(self, node: exp.Expr, scope: Scope) -> str:
        try:
            return words_of(node)
        except RecursionError as e:
            raise too_deep(scope.text, scope.span.start, scope.span.end) from e

    def _names(self, scope: Scope, constants: list[Constant]) -> tuple[object, ...]:
        """What the same expression means the same under."""
        table = scope.table.name if scope.table else None
        return (scope.stream.name, table, *scope.aliases, *(c.type.name for c in constants))

    def _bound(
        self, holder: exp.Expr, scope: Scope, constants: list[Constant]
    ) -> tuple[str, frozenset[str], str]:
        """What stands in the holder: its SQL, the pair columns it reads, its type in DuckDB."""
        self._settle(holder, scope, constants)
        sql, reads = engine_sql(holder.this, scope)
        types = {n: t for n, t in self._pair_types(scope, constants).items() if n in reads}
        return sql, reads, bind(holder.this, scope, types)

    def _settle(self, holder: exp.Expr, scope: Scope, constants: list[Constant]) -> None:
        """What stands side by side goes together; an expression that does not bind at all is told as such."""

        def types(expressions: tuple[str, ...], reads: frozenset[str]) -> tuple[str, ...]:
            return types_of(
                expressions, {n: t for n, t in self._pair_types(scope, constants).items() if n in reads}
            )

        try:
            settle(holder, scope, types)
        except relational.Refused:
            bind(holder.this, scope, self._pair_types(scope, constants))
            raise

    def _outputs(
        self, select: exp.Select, scope: Scope, constants: list[Constant]
    ) -> tuple[OutputColumn, ...]:
        outputs: list[OutputColumn] = []
        for item in self._expanded(select, scope):
            outputs.append(self._output(item, scope, constants))
            names = [o.name.casefold() for o in outputs]
            if names[-1] in names[:-1]:
                raise scope.refuse(
                    item,
                    "query.duplicate_column",
                    f'two columns are named "{outputs[-1].name}"',
                    "give one an alias",
                )
        return tuple(outputs)

    def _expanded(self, select: exp.Select, scope: Scope) -> list[exp.Expr]:
        """The select list with * written out."""
        items: list[exp.Expr] = []
        for item in select.expressions:
            if not item.is_star:
                items.append(item)
                continue
            star = item.this if isinstance(item, exp.Column) else item
            if not isinstance(star, exp.Star) or any(star.args.values()):
                raise scope.refuse(
                    item, "query.unsupported", "* takes no further words", "list the columns instead"
                )
            qualifier = item.table if isinstance(item, exp.Column) else ""
            if qualifier and qualifier.casefold() not in scope.sides:
                hint = did_you_mean(qualifier, scope.aliases)
                raise scope.refuse(
                    item, "query.unknown_name", f'nothing in FROM is named "{qualifier}"', hint
                )
            for alias in scope.aliases:
                if not qualifier or qualifier.casefold() == alias.casefold():
                    columns = scope.sides[alias.casefold()].columns
                    items += [
                        exp.column(exp.to_identifier(c.name, quoted=True), table=alias) for c in columns
                    ]
        return items

    def _output(self, item: exp.Expr, scope: Scope, constants: list[Constant]) -> OutputColumn:
        node = item.this.copy() if isinstance(item, exp.Alias) else item.copy()
        if isinstance(item, exp.Alias) and not (
            isinstance(item.args["alias"], exp.Identifier) and item.alias
        ):
            raise scope.refuse(item, "query.syntax", "this is no name for a column", "write AS and a name")
        check(node, scope)
        bare = node.unnest()
        if isinstance(bare, exp.Column):
            column, type_ = scope.resolve(bare)
            return OutputColumn(
                item.alias or column[2:], column, type_, frozenset((column,)), True, words_of(bare)
            )
        words = self._words(node, scope)
        name = item.alias or words
        constant = constant_of(bare, f"q:p{len(constants)}")
        if constant is not None:
            constants.append(constant)
            return OutputColumn(name, constant.name, constant.type, frozenset((constant.name,)), True, "?")
        names = self._names(scope, [])
        found = self._items.get((node, *names))
        if found is None:
            key = (node.copy(), *names)
            found = self._items[key] = self._bound_item(exp.Paren(this=node), scope)
        sql, type_, reads = found
        return OutputColumn(name, sql, type_, reads, False, shortened(words))

    def _bound_item(self, holder: exp.Expr, scope: Scope) -> tuple[str, SqlType, frozenset[str]]:
        """An item of a select list that was not met before: checked, and in the engine's SQL."""
        sql, reads, duckdb_type = self._bound(holder, scope, [])
        found = TYPE_OF_DUCKDB.get(duckdb_type)
        if duckdb_type.startswith("DECIMAL"):
            found, sql = TYPE_OF_DUCKDB["DOUBLE"], f"CAST({sql} AS DOUBLE)"
        if duckdb_type == '"NULL"':
            found, sql = TYPE_OF_DUCKDB["INTEGER"], f"CAST({sql} AS INTEGER)"
        if found is None:
            hint = "CAST it, or take a part of it with EXTRACT"
            message = f"an answer cannot hold a column of type {duckdb_words(duckdb_type)}"
            raise scope.refuse(holder, "query.wrong_type", message, hint)
        return sql, found, reads


def _place(text: str, node: exp.Expr | None, fallback: Span) -> Place:
    span = (span_of(node) if node is not None else None) or fallback
    return Place.in_text(text, span.start, span.end)


def _has_only(node: exp.Expr, *parts: str) -> bool:
    """Whether nothing but these parts was written; what nobody looks at must not be accepted."""
    return all(part in parts for part, value in node.args.items() if value)


def _is_plain_table(relation: exp.Expr) -> bool:
    if not isinstance(relation, exp.Table) or not isinstance(relation.this, exp.Identifier):
        return False
    alias = relation.args.get("alias")
    is_plain_alias = alias is None or (
        _has_only(alias, "this") and isinstance(alias.this, exp.Identifier) and alias.name
    )
    return _has_only(relation, "this", "alias") and bool(is_plain_alias)
