"""FROM, INSIDE and kNN of a registered SELECT: which stream, which table of regions, which shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sanderling.catalog import Names, Stream, Table
from sanderling.errors import Place, QueryError, did_you_mean, with_article
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.grammar.space.lines import exterior_of, no_exterior, unit_in
from sanderling.language.grammar.sql.refusals import instead_of
from sanderling.language.statements import (
    CircleShape,
    Coverage,
    ExteriorShape,
    Focal,
    InsideTarget,
    Name,
    NearestTarget,
    OutlineShape,
    RectShape,
    RegisterQuery,
    Span,
    Value,
    focal_of,
)
from sanderling.plan.declarations import unit_on_plane
from sanderling.plan.expressions.check import Scope, span_of
from sanderling.space.outlines.globe import Fault, fault_of, fault_of_place
from sanderling.space.outlines.outline import motion_of

CLAUSES = {
    "expressions", "from_", "joins", "where", "distinct", "group", "having", "order", "limit", "inside",
    "nearest", "our_window", "persistency",
}  # fmt: skip

Shape = Coverage | None


@dataclass(frozen=True, slots=True)
class Relations:
    """Looks names of FROM and INSIDE up in what exists."""

    streams: Names[Stream]
    tables: Names[Table]
    regions: Names[Coverage]
    kind_of: Callable[[str], str | None]

    # ----- FROM

    def refuse_other_clauses(self, select: exp.Select, text: str, statement: RegisterQuery) -> None:
        for key, value in select.args.items():
            if value and key not in CLAUSES:
                first = value[0] if isinstance(value, list) else value
                place = _place(text, first if isinstance(first, exp.Expr) else None, statement.name.span)
                word = (
                    key.removesuffix("_").removesuffix("s").upper() if key != "kind" else f"SELECT AS {value}"
                )
                raise QueryError("query.unsupported", f"{word} is not supported", instead_of(word), place)
        if not select.expressions:
            place = _place(text, None, statement.name.span)
            raise QueryError("query.syntax", "SELECT lists no columns", "name at least one, or *", place)
        if not select.args.get("from_"):
            place = _place(text, select.expressions[-1], statement.name.span)
            raise QueryError("query.missing_clause", "a query needs FROM and a stream", "add FROM", place)

    def refuse_odd_relation(self, relation: exp.Expr, text: str, span: Span) -> None:
        if not _is_plain_table(relation):
            hint = "FROM stream, or FROM stream AS name"
            place = _place(text, relation, span)
            raise QueryError("query.unsupported", "FROM takes a stream or a table by name", hint, place)

    def relation(
        self, relation: exp.Expr, text: str, span: Span, others: Sequence[str] = ()
    ) -> Stream | Table:
        """What a name of FROM means; `others` could have been meant too."""
        self.refuse_odd_relation(relation, text, span)
        name = relation.name
        found = self.streams.get(name) or self.tables.get(name)
        if found is None:
            hint = did_you_mean(name, [*others, *self.streams, *self.tables]) or "CREATE STREAM first"
            kind = self.kind_of(name)
            if kind:
                hint = f'"{name}" is {with_article(kind)}; FROM takes a stream'
            place = _place(text, relation, span)
            raise QueryError("query.unknown_stream", f'no stream is named "{name}"', hint, place)
        return found

    # ----- INSIDE

    def conjuncts(self, select: exp.Select, on: list[exp.Expr]) -> list[exp.Expr]:
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

    def inside(
        self, statement: RegisterQuery, conjuncts: list[exp.Expr], scope: Scope, of_any: bool = False
    ) -> tuple[Shape, tuple[str, ...]]:
        """The shape of the query, or None where the regions are a table's rows or there are none.

        `of_any`: it may be around an object of another stream.
        """
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
                span.place_in(scope.text),
            )  # fmt: skip
        if not targets:
            return None, ()
        if not of_any and self.is_of_another(targets[0], scope.stream):
            raise of_another(scope)
        return self._shape(targets[0], scope)

    def still(self, operator: LocationInside, scope: Scope) -> tuple[Coverage, tuple[str, ...]]:
        """A region that stands still, and the names that it goes by: of what no pair of both is known."""
        target = self._operator_target(operator, scope)
        shape, used = (None, ()) if target is None else self._shape(target, scope)
        if shape is None or not is_still(shape):
            message, hint = "UNTIL asks about regions that stand still", "name one, or write a coverage"
            raise scope.refuse(operator, "query.unsupported", message, hint)
        return shape, used

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
        name = target if isinstance(target, Name) else None
        if isinstance(target, ExteriorShape):
            name = target.name
        shape = self.coverage(target, scope.text)
        self._refuse_elsewhere(shape, name, scope)
        focal = focal_of(shape)
        if focal is not None:
            self._check_focal(focal, scope, focal.span if name is None else name.span)
        return shape, () if name is None else (name.text,)

    def _refuse_elsewhere(self, shape: Coverage, name: Name | None, scope: Scope) -> None:
        """A unit on a plane, or a shape that the globe has no room for."""
        unit = unit_in(shape)
        here = name.span if name is not None else unit or scope.span
        if not scope.stream.is_globe:
            if unit is not None:
                raise refused(unit_on_plane(), here, scope.text)
            return
        fault = _fault_on_globe(shape)
        if fault is not None:
            span = getattr(shape, "span", None) if name is None else name.span
            raise refused(fault, span or scope.span, scope.text)

    def coverage(self, target: InsideTarget, text: str) -> Coverage:
        """The coverage itself, where a region is meant by its name."""
        if isinstance(target, Name):
            return self._named(target, text)
        if not isinstance(target, ExteriorShape):
            return target
        inner = self._named(target.name, text)
        found = inner if target.is_inner else exterior_of(inner)
        if found is None or (target.is_inner and exterior_of(inner) is None):
            message, hint = no_exterior()
            place = target.name.span.place_in(text)
            raise QueryError("query.bad_coverage", message, hint, place)
        return found

    def _named(self, name: Name, text: str) -> Coverage:
        region = self.regions.get(name.text)
        if region is None:
            place = name.span.place_in(text)
            hint = did_you_mean(name.text, self.regions) or "CREATE REGION first, or write a coverage"
            raise QueryError("query.unknown_region", f'no region is named "{name.text}"', hint, place)
        return region

    # ----- objects of other streams

    def is_of_another(self, target: InsideTarget | NearestTarget | None, stream: Stream) -> bool:
        """Whether it is around an object of another stream than the one that is asked."""
        if isinstance(target, Name):
            target = self.regions.get(target.text)
        if isinstance(target, ExteriorShape):
            target = self.regions.get(target.name.text)
        focal = target.focal if isinstance(target, NearestTarget) else focal_of(target)
        of = focal.of if isinstance(focal, Focal) else None
        return of is not None and of.text.casefold() != stream.name.casefold()

    def stream_of(self, focal: Value, stream: Stream, text: str, span: Span) -> Stream:
        """Whose object it is: the stream's that is asked, or another's that is named."""
        of = focal.of if isinstance(focal, Focal) else None
        if of is None or of.text.casefold() == stream.name.casefold():
            return stream
        found = self.streams.get(of.text)
        if found is None:
            hint = did_you_mean(of.text, self.streams) or "CREATE STREAM first"
            message, at = f'no stream is named "{of.text}"', of.span if span == focal.span else span
            raise QueryError("query.unknown_stream", message, hint, at.place_in(text))
        return found

    # ----- kNN

    def nearest(self, statement: RegisterQuery, scope: Scope, of_any: bool = False) -> NearestTarget | None:
        """What the query asks the nearest of, checked."""
        target = statement.nearest
        if not of_any and self.is_of_another(target, scope.stream):
            raise of_another(scope)
        if target is not None and scope.table is not None:
            place = target.k.span.place_in(scope.text)
            hint = "register one query for each region"
            raise QueryError("query.unsupported", "kNN does not join a table yet", hint, place)
        if target is not None and target.place is not None and scope.stream.is_globe:
            lon, lat = target.place
            fault = fault_of_place(float(lon.value), float(lat.value))
            if fault is not None:
                raise refused(fault, Span(lon.span.start, lat.span.end), scope.text)
        if target is not None and target.focal is not None:
            self._check_focal(target.focal, scope, target.focal.span)
        return target

    def _check_focal(self, focal: Value, scope: Scope, span: Span) -> None:
        stream = self.stream_of(focal, scope.stream, scope.text, span)
        column = stream.column(stream.key)
        assert column is not None
        value = focal.value
        fits = isinstance(value, int) if column.type.is_integer else isinstance(value, str)
        if fits and isinstance(value, int):
            bits = column.type.arrow.bit_width
            fits = -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
        if not fits:
            hint = f"write '{value}'"
            if column.type.is_integer:
                hint = "write it as a whole number without quotes, within the range of its type"
            raise QueryError(
                "query.wrong_type", f"the key {column.name} is {column.type.name}, this focal object is not",
                hint, span.place_in(scope.text),
            )  # fmt: skip


def is_still(shape: Shape) -> bool:
    if isinstance(shape, OutlineShape):
        return motion_of(shape.outline) is None
    return isinstance(shape, RectShape | CircleShape)


def of_another(scope: Scope) -> QueryError:
    """Where only objects of the stream that is asked are followed."""
    message = f'this is around an object of another stream than "{scope.stream.name}"'
    hint = "such a region stands in INSIDE of a query without a window"
    return QueryError("query.unsupported", message, hint, scope.span.place_in(scope.text))


def refused(fault: Fault, span: Span, text: str) -> QueryError:
    """A code, a message and a hint as an error."""
    return QueryError(*fault, span.place_in(text))


def _fault_on_globe(shape: Coverage) -> Fault | None:
    match shape:
        case RectShape(x1, y1, x2, y2):
            return fault_of_place(x1, y1) or fault_of_place(x2, y2)
        case CircleShape(x, y):
            return fault_of_place(x, y)
        case OutlineShape(outline):
            return fault_of(outline)
    return None  # around an object: metres


def _place(text: str, node: exp.Expr | None, fallback: Span) -> Place:
    span = (span_of(node) if node is not None else None) or fallback
    return span.place_in(text)


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
    return _has_only(relation, "this", "alias", "our_window") and bool(is_plain_alias)
