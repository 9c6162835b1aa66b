"""TICK() in a condition: from which moment on it holds, or up to which.

TICK() - ts > INTERVAL '5' MINUTE ──► TICK() > ts + INTERVAL '5' MINUTE ──► after ts, shifted by 5 minutes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sanderling.clock import FIRST_US, LAST_US, duration_us, time_of
from sanderling.errors import QueryError
from sanderling.plan.expressions.check import Scope

TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE, exp.EQ: exp.EQ,
}  # fmt: skip
OPPOSITE: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE, exp.LTE: exp.GT, exp.GT: exp.LTE, exp.GTE: exp.LT,
}  # fmt: skip
HINT = "write WHERE TICK() - ts > INTERVAL '5' MINUTE; how long a query has held something is PERSISTENCY"


@dataclass(frozen=True, slots=True)
class Moment:
    """TICK() is after what is computed of a row and shifted, or before it; `is_open`: not at it.

    Without a base the moment is the shift alone, counted from 1970 on.
    """

    base: exp.Expr | None
    shift_us: int
    is_upper: bool
    is_open: bool
    has_number: bool  # seconds were written, and no INTERVAL


def is_tick(node: object) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "TICK"


def has_tick(node: exp.Expr) -> bool:
    return any(map(is_tick, node.walk()))


def parts_of(condition: exp.Expr) -> list[exp.Expr]:
    """What has to hold for a condition to hold, where TICK() is in it: the parts of AND, and of BETWEEN."""
    bare = condition.unnest()
    if not has_tick(bare):
        return [condition]
    if isinstance(bare, exp.And):
        return [part for side in (bare.this, bare.expression) for part in parts_of(side)]
    if isinstance(bare, exp.Between) and not bare.args.get("symmetric"):
        low = exp.GTE(this=bare.this.copy(), expression=bare.args["low"].copy())
        high = exp.LTE(this=bare.this.copy(), expression=bare.args["high"].copy())
        return [low, high]
    return [condition]


def moments(condition: exp.Expr, scope: Scope) -> list[Moment]:
    """One condition with TICK() in it; = has two."""
    bare = condition.unnest()
    is_not = isinstance(bare, exp.Not)
    bare = bare.this.unnest() if is_not else bare
    kind = type(bare)
    if kind not in (OPPOSITE if is_not else TURNED):
        raise refused(condition, scope, "TICK() is compared, by itself or beside AND")
    kind = OPPOSITE[kind] if is_not else kind
    on_left, on_right = has_tick(bare.this), has_tick(bare.expression)
    if on_left and on_right:
        raise refused(condition, scope, "TICK() stands on one side of a comparison")
    here, there = (bare.this, bare.expression) if on_left else (bare.expression, bare.this)
    kind = kind if on_left else TURNED[kind]
    terms = list(_terms(there, 1))
    while not is_tick(here.unnest()):
        here, kind, terms = _without_a_term(here.unnest(), kind, terms, scope)
    if here.unnest().expressions:
        raise scope.refuse(here, "query.wrong_argument_count", "TICK() takes nothing", "write TICK()")
    base, shift, has_number = _gathered(terms)
    sides = [False, True] if kind is exp.EQ else [kind in (exp.LT, exp.LTE)]
    return [Moment(base, shift, is_upper, kind in (exp.LT, exp.GT), has_number) for is_upper in sides]


Term = tuple[int, exp.Expr]  # with its sign


def _without_a_term(
    here: exp.Expr, kind: type[exp.Expr], terms: list[Term], scope: Scope
) -> tuple[exp.Expr, type[exp.Expr], list[Term]]:
    """What is added to TICK() goes to the other side; where TICK() is taken away, the comparison turns."""
    if not isinstance(here, (exp.Add, exp.Sub)) or (has_tick(here.this) and has_tick(here.expression)):
        raise refused(here, scope, "only what is added to TICK(), or taken from it, may stand beside it")
    is_sum, is_left = isinstance(here, exp.Add), has_tick(here.this)
    mine, other = (here.this, here.expression) if is_left else (here.expression, here.this)
    if not is_sum and not is_left:
        turned = [(-sign, term) for sign, term in terms]
        return mine, TURNED[kind], [*_terms(other, 1), *turned]
    return mine, kind, [*terms, *_terms(other, -1 if is_sum else 1)]


def _terms(node: exp.Expr, sign: int) -> Sequence[Term]:
    bare = node.unnest()
    if isinstance(bare, exp.Add):
        return [*_terms(bare.this, sign), *_terms(bare.expression, sign)]
    if isinstance(bare, exp.Sub):
        return [*_terms(bare.this, sign), *_terms(bare.expression, -sign)]
    return [(sign, bare)]


def _gathered(terms: Sequence[Term]) -> tuple[exp.Expr | None, int, bool]:
    """What is computed of a row, what it is shifted by, and whether some of that is a plain number."""
    shift, has_number, left = 0, False, list[Term]()
    for sign, term in terms:
        found = _microseconds(term)
        if found is None:
            left.append((sign, term))
        else:
            shift += sign * found
            has_number |= isinstance(term, exp.Literal) and not term.is_string
    left.sort(key=lambda term: -term[0])  # a time less a time has a first one
    base: exp.Expr | None = None
    for sign, term in left:
        part = exp.paren(term.copy())
        if base is None:
            base = part if sign > 0 else exp.Neg(this=part)
        else:
            base = (exp.Add if sign > 0 else exp.Sub)(this=base, expression=part)
    return base, max(min(shift, LAST_US - FIRST_US), FIRST_US - LAST_US), has_number


def _microseconds(term: exp.Expr) -> int | None:
    """Of a literal: an INTERVAL of a fixed length, seconds, or a time as a text."""
    if isinstance(term, exp.Interval) and isinstance(term.this, exp.Literal):
        unit = term.args.get("unit")
        said = f"{term.this.this} {unit.name if unit is not None else ''}"
        return duration_us(said) if any(c.isalpha() for c in said) else None
    if not isinstance(term, exp.Literal):
        return None
    return time_of(term.this) if term.is_string else round(Fraction(term.this) * 1_000_000)


def refused(node: exp.Expr, scope: Scope, message: str) -> QueryError:
    at = next(n for n in node.walk() if is_tick(n)) if has_tick(node) else node
    return scope.refuse(at, "query.bad_tick", message, HINT)
