"""STAY_WITHIN and PASS_WITHIN: two streams joined by where their objects have been, said in terms of others.

STAY_WITHIN(a, b, r)   pairs of keys that are near at NOW, for as long as the range: PERSISTENCY
PASS_WITHIN(a, b, r)   pairs of keys of places that are near, and linger for as long as the range: GRACE

What else is read of a and b is joined to the pairs by key. Of a distance that changes with time the pairs are
those of its largest, with how far apart they are, from which it takes those that are within it (Swelling).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sanderling.catalog import Stream
from sanderling.clock import tick_end
from sanderling.language.grammar.dialect import LocationInside
from sanderling.language.grammar.space.swelling import Swelling
from sanderling.language.statements import Name, PersistencyClause, Span
from sanderling.plan.expressions.check import span_of
from sanderling.plan.expressions.distances import is_constant, located
from sanderling.plan.expressions.neighbours import Ranking, is_nn, ranking_of
from sanderling.plan.names.sides import Derived, Side
from sanderling.plan.query import swollen
from sanderling.plan.query.nearest_trajectories import nearest, without_distance
from sanderling.plan.query.persistency import persisting
from sanderling.plan.query.with_clause import given_names
from sanderling.plans import nodes
from sanderling.plans.window import Lasting

if TYPE_CHECKING:
    from sanderling.plan.query.blocks import Block

STAY, PASS = "STAY_WITHIN", "PASS_WITHIN"
ONE, OTHER = "one of them", "the other"


def is_trajectory(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).upper() in (STAY, PASS)


def by_trajectory(block: Block, conjuncts: Sequence[exp.Expr]) -> list[exp.Expr]:
    """The conditions that are left when the sides of a block have been joined by their trajectories."""
    asked = [Joined.of(block, c.unnest()) for c in conjuncts if is_trajectory(c.unnest())]
    rest = [c for c in conjuncts if not is_trajectory(c.unnest())]
    for condition in rest:
        for part in filter(is_trajectory, condition.walk()):
            message, hint = f"{part.name.upper()} stands alone or beside AND", "it cannot be under OR or NOT"
            raise block.scope.refuse(part, "query.unsupported", message, hint)
    if asked and block.window is not None:
        message, hint = "WINDOW beside a trajectory", "the range stands in brackets: FROM stream [RANGE …] a"
        raise block.refuse_at(block.window.span, "query.duplicate_clause", message, hint)
    sides = {id(side): side for joined in asked for side in joined.sides}.values()
    own = {id(side): [c for c in rest if _is_of(block, side, c)] for side in sides}
    found = [c for c in rest if not any(c is mine for some in own.values() for mine in some)]
    for joined in asked:
        ranking, found = _ranking_of(block, joined, found)
        found += _with_pairs(block, joined, [own[id(side)] for side in joined.sides], ranking)
    passing = {id(side) for joined in asked if joined.is_pass for side in joined.sides}
    for side in sides:
        if id(side) in passing:
            side.relation = block.work.query(_lingering(block, side, own[id(side)], None), block.text)
        side.bracket = None
    return found


@dataclass(frozen=True, slots=True)
class Joined:
    """One condition, checked."""

    condition: exp.Expr
    sides: tuple[Side, Side]
    radius: exp.Expr
    is_pass: bool

    @classmethod
    def of(cls, block: Block, condition: exp.Expr) -> Joined:
        word, parts = condition.name.upper(), condition.expressions
        if len(parts) != 3:
            message, hint = f"{word} takes two streams and a distance", f"write {word}(a, b, 100)"
            raise block.scope.refuse(condition, "query.wrong_argument_count", message, hint)
        one, other = (_side(block, word, part) for part in parts[:2])
        if one is other:
            hint = "name the stream twice in FROM, each time with another alias"
            raise block.scope.refuse(condition, "query.wrong_type", f"{word} is of two in FROM", hint)
        if isinstance(parts[2], Swelling):
            swollen.refuse_odd(block, parts[2])
        if not is_constant(parts[2]):
            message, hint = f"the distance of {word} is the same for all", "write a number"
            raise block.scope.refuse(parts[2], "query.wrong_type", message, hint)
        if _range_of(block, one) != _range_of(block, other):
            assert other.bracket is not None
            message, hint = f"{word} looks at one range of time", "give both streams the same RANGE"
            raise block.refuse_at(other.bracket.span, "query.bad_window", message, hint)
        return cls(condition, (one, other), parts[2], word == PASS)


def _side(block: Block, word: str, part: exp.Expr) -> Side:
    name = located(part)
    side = next((s for s in block.sides if name and s.alias.casefold() == name.casefold()), None)
    if side is None or not isinstance(side.relation, Stream) or side.is_outer:
        hint = f"name two streams of FROM: {word}(a, b, 100)"
        raise block.scope.refuse(part, "query.wrong_type", f"{word} takes streams, joined by JOIN", hint)
    return side


def _range_of(block: Block, side: Side) -> int:
    clause = side.bracket.window if side.bracket is not None else None
    if clause is None or not isinstance(clause.window, Lasting):
        message, hint = f'"{side.alias}" has no RANGE of time', "write FROM stream [RANGE 10 MINUTES] a"
        span = side.span if side.bracket is None else side.bracket.span
        raise block.refuse_at(span, "query.bad_window", message, hint)
    assert side.bracket is not None
    if side.bracket.refresh is not None:
        message, hint = "a trajectory is looked at at every tick", "leave out EVERY"
        raise block.refuse_at(side.bracket.span, "query.unsupported", message, hint)
    return clause.window.size_us


def _is_of(block: Block, side: Side, condition: exp.Expr) -> bool:
    """Whether a condition is about one side alone: where it does not hold, the object is nowhere."""
    if isinstance(condition, LocationInside):
        target, place = condition.args["expression"], condition.this.table
        is_of_table = isinstance(target, exp.Column) and any(
            s.column(target.name) or target.table.casefold() == s.alias.casefold() for s in block.sides
        )
        return place.casefold() == side.alias.casefold() and not is_of_table
    return {number for number, _ in block.uses(condition)} == {block.sides.index(side)}


# ----- as queries


def _ranking_of(
    block: Block, joined: Joined, conditions: list[exp.Expr]
) -> tuple[Ranking | None, list[exp.Expr]]:
    """NN of the two that stay near each other, and the conditions that are left."""
    if joined.is_pass:
        return None, conditions
    rankings = {id(c): ranking_of(c.unnest(), block.scope) for c in conditions if is_nn(c.unnest())}
    wanted = {id(side) for side in joined.sides}
    mine = [c for c in conditions if (r := rankings.get(id(c))) and {id(r.seeker), id(r.ranked)} == wanted]
    if len(mine) > 1:
        message, hint = "NN ranks two trajectories twice", "keep one of them"
        raise block.scope.refuse(mine[1], "query.unsupported", message, hint)
    left = [c for c in conditions if not mine or c is not mine[0]]
    return (rankings[id(mine[0])] if mine else None), left


def _with_pairs(
    block: Block, joined: Joined, own: Sequence[Sequence[exp.Expr]], ranking: Ranking | None
) -> list[exp.Expr]:
    """A side of pairs joins the block; gives the conditions that join it."""
    sources = [
        _places(block, side, mine, joined.is_pass) for side, mine in zip(joined.sides, own, strict=True)
    ]
    name = f"places {len(block.sides)}"
    given = exp.With(expressions=[exp.CTE(this=sources[0], alias=_named(name))])
    is_shared = _are_alike(block, joined.sides, own)
    swelling = joined.radius if isinstance(joined.radius, Swelling) else None
    distance = exp.Anonymous(this="DISTANCE", expressions=[_name(side.alias) for side in joined.sides])
    reach = joined.radius.copy() if swelling is None else swollen.largest(swelling)
    near: exp.Expr = exp.LTE(this=distance, expression=reach)
    names = (ONE, OTHER)
    froms = [
        exp.Table(this=exp.to_identifier(name, quoted=True), alias=_alias(side))
        if is_shared
        else exp.Subquery(this=source, alias=_alias(side))
        for side, source in zip(joined.sides, sources, strict=True)
    ]
    items = [
        exp.alias_(_column(side, _key(side)), name, quoted=True)
        for side, name in zip(joined.sides, names, strict=True)
    ]
    has_distance = swelling is not None or ranking is not None
    if has_distance:
        items.append(swollen.apart(joined.sides, distance))
    if ranking is not None and ranking.is_other:
        near = exp.and_(near, exp.NEQ(this=items[0].this.copy(), expression=items[1].this.copy()), copy=False)
    pairs = exp.Select(
        expressions=items, from_=exp.From(this=froms[0]), joins=[exp.Join(this=froms[1])],
        where=exp.Where(this=near),
        distinct=exp.Distinct() if joined.is_pass and not has_distance else None,
    )  # fmt: skip
    clause = _clause(joined.sides[0], names, stay_us=_waited(block, joined.sides[0]))
    if not joined.is_pass and not has_distance:
        pairs.set("persistency", clause)
    with given_names(block.work, given, block.text) if is_shared else nullcontext():
        found = block.work.query(pairs, block.text)
    if swelling is not None:
        found = swollen.within(found, swelling, _stream(joined.sides[0]))
    if ranking is not None:
        linger = _clause(joined.sides[0], (*names, swollen.APART), grace_us=_waited(block, joined.sides[0]))
        found = nearest(block, found, ranking, joined.sides, clause, linger)
    elif has_distance:
        found = without_distance(found)
        found = _once(found) if joined.is_pass else persisting(block.work, found, clause, block.text)
    side = Side(f"pairs {len(block.sides)}", found, _span(block, joined))
    side.merged += names  # nobody else sees them
    block.sides.append(side)
    return [
        exp.EQ(this=_column(of, _key(of)), expression=_column(side, name))
        for of, name in zip(joined.sides, names, strict=True)
    ]


def _once(derived: Derived) -> Derived:
    return replace(derived, node=nodes.Distinct(derived.node))


def _are_alike(block: Block, sides: tuple[Side, Side], own: Sequence[Sequence[exp.Expr]]) -> bool:
    """Whether both are about the same objects: then they are looked at once."""
    one, other = sides
    extents = [side.bracket is not None and side.bracket.extent is not None for side in sides]
    if _stream(one) is not _stream(other) or any(extents):
        return False
    if any(part for mine in own for c in mine for part in c.find_all(LocationInside)):
        return False
    first, second = ([_without_names(c) for c in mine] for mine in own)
    return first == second


def _without_names(condition: exp.Expr) -> exp.Expr:
    found = condition.copy()
    for column in found.find_all(exp.Column):
        column.set("table", None)
    return found


def _places(block: Block, side: Side, own: Sequence[exp.Expr], is_lingering: bool) -> exp.Select:
    """Where objects are; or have been, and not long ago."""
    shown = _place_of(side)
    return _lingering(block, side, own, shown) if is_lingering else _select(block, side, own, shown)


def _select(block: Block, side: Side, own: Sequence[exp.Expr], names: Iterable[str]) -> exp.Select:
    select = exp.Select(
        expressions=[_column(side, name) for name in names], from_=exp.From(this=_relation(block, side))
    )
    if own:
        select.set("where", exp.Where(this=exp.and_(*(c.copy() for c in own), copy=False)))
    return select


def _lingering(
    block: Block, side: Side, own: Sequence[exp.Expr], shown: tuple[str, ...] | None
) -> exp.Select:
    """Where an object has been, if this is shown; else its last reading that has not been long ago."""
    select = _select(block, side, own, shown or (column.name for column in _stream(side).columns))
    keys = shown or (_key(side),)
    select.set("persistency", _clause(side, keys, grace_us=_waited(block, side)))
    return select


def _relation(block: Block, side: Side) -> exp.Expr:
    """The stream as it stands in FROM, at NOW."""
    select, bracket = block.select, side.bracket
    written = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or [])]
    relation: exp.Expr = written[block.sides.index(side)].copy()
    assert bracket is not None
    has_place = bracket.extent is not None or bracket.nearby is not None
    now = replace(bracket, window=None, refresh=None) if has_place else None
    relation.set("our_window", now)
    return relation


def _waited(block: Block, side: Side) -> int:
    """From the first tick that is within the range of another to that one."""
    assert isinstance(side.relation, Stream)
    tick = side.relation.tick_us
    return tick_end(_range_of(block, side), tick) - tick


def _clause(
    side: Side, per: Sequence[str], stay_us: int = 0, grace_us: int | None = None
) -> PersistencyClause:
    names, is_lingering = tuple(Name(name, side.span) for name in per), grace_us is not None
    return PersistencyClause(stay_us, names, None, grace_us or 0, side.span, not is_lingering, is_lingering)


def _key(side: Side) -> str:
    return _stream(side).key


def _place_of(side: Side) -> tuple[str, ...]:
    stream = _stream(side)
    return tuple(dict.fromkeys((stream.key, stream.x, stream.y)))


def _stream(side: Side) -> Stream:
    assert isinstance(side.relation, Stream)
    return side.relation


def _column(side: Side, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(side.alias, quoted=True))


def _name(alias: str) -> exp.Column:
    return exp.column(exp.to_identifier(alias, quoted=True))


def _alias(side: Side) -> exp.TableAlias:
    return _named(side.alias)


def _named(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))


def _span(block: Block, joined: Joined) -> Span:
    return span_of(joined.condition) or block.span
