"""Conditions, select lists and windows, checked against the catalog."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from sanderling import relational
from sanderling.errors import QueryError, did_you_mean
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.parse import too_deep
from sanderling.language.statements import RegisterQuery
from sanderling.plan.build.areas import area_of
from sanderling.plan.explain.words import shortened, words_of
from sanderling.plan.expressions.check import (
    TYPE_OF_DUCKDB,
    Constant,
    Scope,
    bind,
    check,
    constant_of,
    duckdb_words,
    is_previous,
    lift,
    resolve_previous,
    types_of,
)
from sanderling.plan.expressions.families import settle
from sanderling.plan.expressions.rewrite import ForEngine, for_engine, pair_column
from sanderling.plan.expressions.written import all_of, bare, of_tree
from sanderling.plan.names.nexts import NEXT, NextScope
from sanderling.plan.query.relations import Relations
from sanderling.plans.columns import constant_name, of_next, of_reading
from sanderling.plans.expression import Expression
from sanderling.plans.plan import OutputColumn
from sanderling.plans.window import There, Until, UntilThere, Window
from sanderling.types import TYPES, SqlType

BESIDE_AND = "under NOT, write INSIDE EXTERIOR OF region; for OR, UNION of two queries"
# What DuckDB calls the types of conditions, and nodes that are nothing else.
CONDITIONS = ("BOOLEAN", '"NULL"', "NULL")
TRUTHS = (exp.Predicate, exp.Connector, exp.Not)


@dataclass(slots=True)
class SelectPlanner:
    """Checks SELECTs against what exists; remembers what it has checked, since templates repeat."""

    relations: Relations
    _conditions: dict[object, tuple[Expression, ...]] = field(default_factory=dict)
    _items: dict[object, Expression] = field(default_factory=dict)

    def forget(self) -> None:
        """Names may mean something else from now on."""
        self._conditions.clear()
        self._items.clear()

    # ----- WINDOW

    def window(self, statement: RegisterQuery, scope: Scope) -> tuple[Window | None, tuple[str, ...]]:
        """The window, and the regions that it names."""
        clause = statement.window
        if clause is None:
            return None, ()
        if statement.nearest is not None:
            place = clause.span.place_in(scope.text)
            hint = "kNN is of each object's last reading; leave out WINDOW"
            raise QueryError("query.unsupported", "kNN does not take a WINDOW yet", hint, place)
        if clause.condition is None:
            return clause.window, ()
        nexts = NextScope(scope, clause.span)
        node, there, named = self._there(clause.condition, nexts)
        for part in filter(is_previous, node.walk()):
            hint = "compare the held reading with NEXT"
            raise nexts.refuse(part, "query.unsupported", "PREVIOUS does not stand in UNTIL", hint)
        check(node, nexts)
        words = self._words(clause.condition, nexts)
        holder = exp.Paren(this=node)
        found, type_ = self._bound(holder, nexts, [])
        if type_ not in CONDITIONS:
            raise nexts.refuse(
                clause.condition, "query.wrong_type",
                f"UNTIL needs a condition, this is {duckdb_words(type_)}", "compare it with something",
            )  # fmt: skip
        (until,) = _conditions_in(found.tree, 1)
        condition = bare(replace(until, words=shortened(words)))
        return UntilThere(condition, there) if there else Until(condition), named

    def _there(
        self, condition: exp.Expr, nexts: NextScope
    ) -> tuple[exp.Expr, tuple[There, ...], tuple[str, ...]]:
        """A condition with columns for what it asks about regions; those, and the names of some."""
        holder, there, named = exp.Paren(this=condition.copy()), list[There](), list[str]()
        for operator in list(holder.find_all(LocationInside)):
            is_next = operator.this.table.upper() == NEXT
            if is_next:
                operator.this.set("table", None)
            shape, used = self.relations.still(operator, nexts)
            area = area_of(shape, nexts.stream.is_globe)
            column = (of_next if is_next else of_reading)(f"__inside {len(there)}")
            numbers = tuple(float(number[0]) for number in area.numbers)
            there.append(There(column, area.kind, numbers, area.wkb))
            named += used
            operator.replace(pair_column(column, operator.this.this))
        nexts.there = [one.column for one in there]
        return holder.this, tuple(there), tuple(named)

    def condition(self, node: exp.Expr, scope: Scope) -> tuple[Expression, list[Constant]]:
        """A condition by itself, and its constants."""
        constants: list[Constant] = []
        found = self.where([node], scope, constants)
        assert found is not None
        return found, constants

    # ----- WHERE and SELECT

    def _pair_types(self, scope: Scope, constants: list[Constant]) -> dict[str, SqlType]:
        return scope.types() | {c.name: c.type for c in constants}

    def where(self, conjuncts: list[exp.Expr], scope: Scope, constants: list[Constant]) -> Expression | None:
        """All of them as one condition; None if there are none. Literals are added to the constants."""
        return all_of(self.conditions(conjuncts, scope, constants))

    def conditions(
        self, conjuncts: list[exp.Expr], scope: Scope, constants: list[Constant]
    ) -> tuple[Expression, ...]:
        """Each of them; checked together, since what is wrong in one may stand before what is in another."""
        if not conjuncts:
            return ()
        node = exp.and_(*conjuncts, copy=True) if len(conjuncts) > 1 else conjuncts[0].copy()
        for part in node.find_all(LocationInside):
            raise scope.refuse(part, "query.unsupported", "INSIDE stands alone or beside AND", BESIDE_AND)
        check(node, scope)
        holder = exp.Paren(this=node)
        lift(holder, scope, constants)
        words = [self._words(part, scope) for part in _parts(holder.this, len(conjuncts))]
        names = self._names(scope, constants)
        found = self._conditions.get((holder.this, *names))
        if found is None:
            key = (holder.this.copy(), *names)  # a copy, since binding changes the tree
            bound = self._bound_condition(holder, scope, constants, conjuncts[0])
            found = self._conditions[key] = _conditions_in(bound, len(conjuncts))
        return tuple(replace(one, words=its) for one, its in zip(found, words, strict=True))

    def _bound_condition(
        self, holder: exp.Expr, scope: Scope, constants: list[Constant], first: exp.Expr
    ) -> exp.Expr:
        """A condition that was not met before: checked, and as the engine is given it."""
        found, type_ = self._bound(holder, scope, constants)
        if type_ not in CONDITIONS:
            raise scope.refuse(
                first, "query.wrong_type", f"a condition is needed here, this is {duckdb_words(type_)}",
                "compare it with something",
            )  # fmt: skip
        return found.tree

    def _words(self, node: exp.Expr, scope: Scope) -> str:
        try:
            return words_of(node)
        except RecursionError as e:
            raise too_deep(scope.text, scope.span.start, scope.span.end) from e

    def _names(self, scope: Scope, constants: list[Constant]) -> tuple[object, ...]:
        """What the same expression means the same under."""
        return (*scope.meaning(), *(c.type.name for c in constants))

    def _bound(self, holder: exp.Expr, scope: Scope, constants: list[Constant]) -> tuple[ForEngine, str]:
        """What stands in the holder, for the evaluating engine, and its type there."""
        resolve_previous(holder, scope)
        self._settle(holder, scope, constants)
        found = for_engine(holder.this, scope)
        types = {n: t for n, t in self._pair_types(scope, constants).items() if n in found.reads}
        return found, bind(holder.this, scope, types)

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

    def expanded(self, select: exp.Select, scope: Scope) -> list[exp.Expr]:
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
            if qualifier and qualifier.casefold() not in (a.casefold() for a in scope.aliases):
                hint = did_you_mean(qualifier, scope.aliases)
                raise scope.refuse(
                    item, "query.unknown_name", f'nothing in FROM is named "{qualifier}"', hint
                )
            aliases = [a for a in scope.aliases if a.casefold() == qualifier.casefold()]
            found = [(a, c) for a in aliases for c in scope.columns_of(a)] if qualifier else scope.starred()
            shown = [(a, c) for a, c in found if not c.name.startswith("__")]  # those that nobody declared
            items += [exp.column(exp.to_identifier(c.name, quoted=True), table=a) for a, c in shown]
        return items

    def output(self, item: exp.Expr, scope: Scope, constants: list[Constant]) -> OutputColumn:
        node = item.this.copy() if isinstance(item, exp.Alias) else item.copy()
        if isinstance(item, exp.Alias) and not (
            isinstance(item.args["alias"], exp.Identifier) and item.alias
        ):
            raise scope.refuse(item, "query.syntax", "this is no name for a column", "write AS and a name")
        check(node, scope)
        bare = node.unnest()
        if isinstance(bare, exp.Column):
            column, type_ = scope.resolve(bare)
            name = item.alias or scope.name_of(bare)
            return OutputColumn(name, Expression.of_column(column, type_, words_of(bare)))
        words = self._words(node, scope)
        name = item.alias or words
        constant = constant_of(bare, constant_name(len(constants)))
        if constant is not None:
            # Without an alias the column is named after the constant: another one is another column.
            constants.append(constant if item.alias else replace(constant, spot=None))
            return OutputColumn(name, Expression.of_column(constant.name, constant.type, "?"))
        names = self._names(scope, [])
        found = self._items.get((node, *names))
        if found is None:
            key = (node.copy(), *names)
            found = self._items[key] = self._bound_item(exp.Paren(this=node), scope)
        return OutputColumn(name, replace(found, words=shortened(words)))

    def _bound_item(self, holder: exp.Expr, scope: Scope) -> Expression:
        """An item of a select list that was not met before: checked, and in the engine's SQL."""
        found, duckdb_type = self._bound(holder, scope, [])
        type_, tree = TYPE_OF_DUCKDB.get(duckdb_type), found.tree
        if duckdb_type.startswith("DECIMAL"):
            type_, tree = TYPES["DOUBLE"], exp.cast(tree, "DOUBLE")
        if duckdb_type == '"NULL"':
            type_, tree = TYPES["INT"], exp.cast(tree, "INT")
        if type_ is None:
            hint = "CAST it, or take a part of it with EXTRACT"
            message = f"an answer cannot hold a column of type {duckdb_words(duckdb_type)}"
            raise scope.refuse(holder, "query.wrong_type", message, hint)
        return of_tree(tree, type_)


def _parts(tree: exp.Expr, n: int) -> list[exp.Expr]:
    """The conditions that were put together as this one, from left to right."""
    last: list[exp.Expr] = []
    while len(last) < n - 1:
        last.append(tree.expression)
        tree = tree.this
    return [tree, *reversed(last)]


def _conditions_in(tree: exp.Expr, n: int) -> tuple[Expression, ...]:
    """Each by itself. NULL has no type then, and is a condition that never holds."""
    boolean = TYPES["BOOLEAN"]
    return tuple(
        of_tree(part if isinstance(part.unnest(), TRUTHS) else exp.cast(part, "BOOLEAN"), boolean)
        for part in _parts(tree, n)
    )
