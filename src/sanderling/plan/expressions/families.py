"""What may stand beside what: numbers beside numbers, texts beside texts, times beside times.

The engine below would turn one into the other row by row, and a text that is no number would be
NULL without a word; here the author hears of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from sanderling.clock import time_of
from sanderling.plan.expressions import functions
from sanderling.plan.expressions.check import Scope, duckdb_words
from sanderling.plan.expressions.rewrite import for_engine

NUMBER, TEXT, TRUTH, TIME = "a number", "a STRING", "a BOOLEAN", "a time"
FAMILY_OF = {
    "VARCHAR": TEXT,
    "BOOLEAN": TRUTH,
    "TIMESTAMP": TIME,
    "DATE": TIME,
    "TIMESTAMP WITH TIME ZONE": TIME,
}
NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BIGNUM", "U")
# Which family a CAST cannot come from, by the family it goes to.
NO_CAST = {(TIME, NUMBER), (NUMBER, TIME), (TIME, TRUTH), (TRUTH, TIME)}

# What is true or false, whatever stands in it.
PREDICATES = (
    *functions.COMPARISONS, exp.Connector, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike,
    exp.RegexpLike,
)  # fmt: skip
# Operators that are written by the types of their operands.
TAKING_TYPES = (exp.IntDiv, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Ceil, exp.Floor)

TypesOf = Callable[[tuple[str, ...], frozenset[str]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Demand:
    """Parts of an expression that have to be of one family; of the given one, if one is given."""

    node: exp.Expr
    parts: list[exp.Expr]
    family: str | None = None


def settle(node: exp.Expr, scope: Scope, types_of: TypesOf) -> None:
    """Refuses what does not go together; texts beside times become times, casts learn what they cast."""
    demands = list(_demands(node))
    types = _Typed(node, demands, scope, types_of).types if demands else {}
    for demand in demands:
        if isinstance(demand.node, exp.Cast):
            _check_cast(demand.node, types[id(demand.parts[0])], scope)
        else:
            _check(demand, types, scope)


class _Typed:
    """The types of all parts, innermost first.

    What has a type stands as a NULL of it in what is around it, so that nothing is written twice: a twin
    of the expression is taken apart from the inside.
    """

    def __init__(self, node: exp.Expr, demands: list[Demand], scope: Scope, types_of: TypesOf):
        self.scope, self.types_of = scope, types_of
        self.types: dict[int, str] = {}
        twin = node.copy()
        self.twins = {id(n): other for n, other in zip(node.walk(), twin.walk(), strict=True)}
        self.demands = demands
        parts = {id(p): p for d in demands for p in d.parts}
        for part in parts.values():
            if isinstance(part.unnest(), PREDICATES):
                self._know(part, "BOOLEAN")
            elif isinstance(part, exp.Literal):
                self._know(part, _type_of(part))
        for level in _by_depth(node, {at: p for at, p in parts.items() if at not in self.types}):
            self._ask(level)

    def _ask(self, parts: list[exp.Expr]) -> None:
        written = [for_engine(self.twins[id(p)], self.scope) for p in parts]
        reads = frozenset().union(*(w.reads for w in written))
        for part, type_ in zip(parts, self.types_of(tuple(w.sql for w in written), reads), strict=True):
            self._know(part, type_)

    def _know(self, part: exp.Expr, type_: str) -> None:
        self.types[id(part)] = type_
        twin, above = self.twins[id(part)], part.parent
        if isinstance(above, exp.Cast):
            self.twins[id(above)].meta["source"] = type_
        if isinstance(above, TAKING_TYPES):
            for node in (above, self.twins[id(above)]):
                found = tuple(self.types.get(id(p), "DOUBLE") for p in _operands(above))
                node.meta["sources"] = found
        if not isinstance(part, (exp.Column, exp.Literal, exp.Null)):
            twin.replace(exp.Var(this="NULL" if "NULL" in type_ else f"NULL::{type_}"))


def _type_of(literal: exp.Literal) -> str:
    if literal.is_string:
        return "VARCHAR"
    if not literal.this.isdigit() or int(literal.this) >= 2**63:
        return "DOUBLE"
    return "INTEGER" if int(literal.this) < 2**31 else "BIGINT"


def _by_depth(node: exp.Expr, parts: dict[int, exp.Expr]) -> list[list[exp.Expr]]:
    """Parts in which no other is, then those that hold only these, and so on."""
    depth: dict[int, int] = {}
    levels: list[list[exp.Expr]] = []
    for n in reversed(list(node.walk())):
        within = max((depth[id(child)] for child in n.iter_expressions()), default=0)
        if id(n) in parts:
            levels += [[]] if within == len(levels) else []
            levels[within].append(n)
            within += not isinstance(n, (exp.Column, exp.Literal, exp.Null))
        depth[id(n)] = 0 if isinstance(n, PREDICATES) else within
    return levels


def _demands(node: exp.Expr) -> Iterator[Demand]:
    for n in node.walk():
        if isinstance(n, functions.COMPARISONS):
            yield Demand(n, [n.this, n.expression])
        elif isinstance(n, exp.Between):
            yield Demand(n, [n.this, n.args["low"], n.args["high"]])
        elif isinstance(n, (exp.In, exp.Coalesce, exp.Greatest, exp.Least)):
            yield Demand(n, [n.this, *n.expressions])
        elif isinstance(n, exp.Nullif):
            yield Demand(n, [n.this, n.expression])
        elif isinstance(n, exp.Case):
            yield from _of_case(n)
        elif isinstance(n, exp.If) and not isinstance(n.parent, exp.Case):
            yield Demand(n, [n.this], TRUTH)
            yield Demand(n, [p for p in (n.args.get("true"), n.args.get("false")) if p])
        elif isinstance(n, exp.Connector):
            # Long chains are trees to the left: the chain itself is no part.
            yield Demand(n, [p for p in (n.this, n.expression) if not isinstance(p, exp.Connector)], TRUTH)
        elif isinstance(n, exp.Not) or (isinstance(n, exp.Is) and isinstance(n.expression, exp.Boolean)):
            yield Demand(n, [n.this], TRUTH)
        elif isinstance(n, exp.Cast):
            yield Demand(n, [n.this])
        elif isinstance(n, TAKING_TYPES):
            yield Demand(n, _operands(n), NUMBER)


def _operands(n: exp.Expr) -> list[exp.Expr]:
    return [part for part in (n.this, n.args.get("expression")) if part is not None]


def _of_case(n: exp.Case) -> Iterator[Demand]:
    ifs = n.args["ifs"]
    if n.this:
        yield Demand(n, [n.this, *(i.this for i in ifs)])
    else:
        yield Demand(n, [i.this for i in ifs], TRUTH)
    results = [i.args["true"] for i in ifs]
    yield Demand(n, [*results, n.args["default"]] if n.args.get("default") else results)


def family_of(duckdb_type: str) -> str | None:
    """None for NULL, which goes with all, and for what has no family, which goes with itself."""
    if duckdb_type.startswith(NUMBERS) and not duckdb_type.startswith("UUID"):
        return NUMBER
    return FAMILY_OF.get(duckdb_type)


def _check(demand: Demand, types: dict[int, str], scope: Scope) -> None:
    found = [(part, family) for part in demand.parts if (family := family_of(types[id(part)]))]
    wanted = demand.family or next((f for p, f in found if not _is_text(p)), found[0][1] if found else None)
    for part, family in found:
        if family == wanted:
            continue
        if wanted == TIME and _is_text(part):
            _write_as_time(part, scope)
            continue
        what = duckdb_words(types[id(part)])
        if demand.family:
            raise scope.refuse(
                part,
                "query.wrong_type",
                f"this has to be {wanted}, it is {what}",
                "compare it with something",
            )
        other = next(duckdb_words(types[id(p)]) for p, f in found if f == wanted)
        message = f"{other} and {what} do not go together here"
        raise scope.refuse(demand.node, "query.wrong_type", message, _hint(wanted, part))


def _hint(wanted: str | None, part: exp.Expr) -> str:
    if wanted == NUMBER and _is_text(part):
        return "write a number without quotes, or CAST one side"
    return "CAST one side"


def _is_text(part: exp.Expr) -> bool:
    return isinstance(part, exp.Literal) and bool(part.is_string)


def _write_as_time(part: exp.Expr, scope: Scope) -> None:
    time = time_of(part.name)
    if time is None:
        hint = "write '2008-05-23 19:00:00' (UTC)"
        raise scope.refuse(part, "query.wrong_type", f"'{part.name}' is not a time", hint)
    part.replace(exp.Anonymous(this="MAKE_TIMESTAMP", expressions=[exp.Literal.number(time)]))


def _check_cast(cast: exp.Cast, source: str, scope: Scope) -> None:
    cast.meta["source"] = source
    target = NUMBER if cast.to.this in exp.DataType.NUMERIC_TYPES else FAMILY_OF.get(cast.to.sql("duckdb"))
    if cast.to.this in exp.DataType.TEMPORAL_TYPES:
        target = TIME
    if target == TIME and _is_text(cast.this) and time_of(cast.this.name) is None:
        hint = "write '2008-05-23 19:00:00' (UTC)"
        raise scope.refuse(cast, "query.wrong_type", f"'{cast.this.name}' is not a time", hint)
    if (family_of(source), target) in NO_CAST:
        message = f"{duckdb_words(source)} cannot be cast to {cast.to.sql('spark')}"
        hint = "take a part of a time with EXTRACT: EXTRACT(EPOCH FROM ts) is in seconds"
        raise scope.refuse(cast, "query.wrong_type", message, hint)
